"""Devices and the options of TensorFlow's runtime."""

from __future__ import annotations

import subprocess
import sys

import jax
import pytest

import tapejax


def test_the_devices_of_a_machine_without_accelerators(tf):
    cpus = tf.config.list_physical_devices("CPU")
    assert cpus[0].name == "/physical_device:CPU:0"
    assert cpus[0].device_type == "CPU"
    assert tf.config.list_physical_devices("GPU") == []
    assert tf.config.list_physical_devices("nonsense") == []
    assert tf.config.list_logical_devices("CPU")[0].name == "/device:CPU:0"


def test_a_device_prints_its_name_and_type(tf):
    device = tf.config.PhysicalDevice("a", "b")
    assert repr(device) == "PhysicalDevice(name='a', device_type='b')"
    assert repr(tf.config.LogicalDevice("a", "b")) == "LogicalDevice(name='a', device_type='b')"
    assert device == tf.config.PhysicalDevice("a", "b")


def test_as_many_devices_are_listed_as_jax_has():
    assert len(tapejax.config.list_physical_devices()) == len(jax.local_devices())


def test_hiding_accelerators_that_are_not_there_is_fine(tf):
    tf.config.set_visible_devices([], "GPU")
    tf.config.set_visible_devices(tf.config.list_physical_devices("CPU"))
    assert tf.config.get_visible_devices("CPU") == tf.config.list_physical_devices("CPU")
    assert tf.config.get_visible_devices("GPU") == []


def test_the_device_that_programs_run_on_cannot_be_hidden(tf):
    tf.zeros([1]).numpy()
    with pytest.raises(RuntimeError, match="Visible devices cannot be modified after being init"):
        tf.config.set_visible_devices([], "CPU")


@pytest.mark.parametrize("unknown", ["x", None])
def test_an_unknown_device_is_refused(tf, unknown):
    with pytest.raises(ValueError, match="Unrecognized device"):
        tf.config.set_visible_devices([unknown], "GPU")
    with pytest.raises(ValueError, match="Unrecognized device"):
        tf.config.experimental.set_memory_growth(unknown, True)
    with pytest.raises(ValueError, match="Unrecognized device"):
        tf.config.experimental.get_memory_growth(unknown)


def test_memory_growth_is_for_accelerators(tf):
    cpu = tf.config.list_physical_devices("CPU")[0]
    with pytest.raises(ValueError, match="Cannot set memory growth on non-GPU"):
        tf.config.experimental.set_memory_growth(cpu, True)


@pytest.mark.parametrize(
    "name",
    [
        None,
        "",
        "/CPU:0",
        "cpu",
        "cpu:0",
        "/GPU:0",
        "/device:GPU:3",
        "/device:GPU:*",
        "TPU:0",
        "/job:worker/task:1",
        "/job:localhost/replica:0/task:0/device:CPU:0",
        "/job:localhost/cpu:0",
    ],
)
def test_device_names_of_every_form_are_accepted(name):
    tensorflow = pytest.importorskip("tensorflow", reason="there is no wheel for this Python")
    tensorflow.DeviceSpec.from_string(name or "")  # it is a name in TensorFlow
    with tapejax.device(name):
        assert float(tapejax.constant(2.0) * 3.0) == 6.0


@pytest.mark.parametrize(
    "name", ["bogus", "/device:CPU", "/device:XPU:x", "/task:x", "/CPU:0/what", 3]
)
def test_what_is_no_device_name_is_refused(tf, name):
    with pytest.raises(ValueError, match=r"Unknown attribute|invalid literal|string device name"):
        tf.device(name).__enter__()


def test_options_of_the_runtime_are_kept():
    config = tapejax.config
    for kind in ("inter", "intra"):
        getattr(config.threading, f"set_{kind}_op_parallelism_threads")(2)
        assert getattr(config.threading, f"get_{kind}_op_parallelism_threads")() == 2
        getattr(config.threading, f"set_{kind}_op_parallelism_threads")(0)
    config.optimizer.set_jit(True)
    assert config.optimizer.get_jit() == "autoclustering"
    config.optimizer.set_jit(False)
    assert config.optimizer.get_jit() == ""
    config.set_soft_device_placement(False)
    assert config.get_soft_device_placement() is False
    config.set_soft_device_placement(True)
    config.experimental.enable_tensor_float_32_execution(False)
    assert config.experimental.tensor_float_32_execution_enabled() is False
    config.experimental.enable_tensor_float_32_execution(True)
    assert config.experimental.enable_op_determinism() is None


def test_versions_tell_tapejax_from_the_tensorflow_it_follows():
    major, minor = tapejax.version.VERSION.split(".")[:2]
    assert [major, minor] == ["2", "21"]
    assert f"tapejax-{tapejax.__version__}" == tapejax.version.GIT_VERSION


def test_logical_devices_are_chosen_before_jax_starts():
    program = """
import tapejax as tf
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 3)
assert len(tf.config.get_logical_device_configuration(cpu)) == 3
assert [d.name for d in tf.config.list_logical_devices("CPU")] == [
    f"/device:CPU:{n}" for n in range(3)
]
assert len(tf.config.list_physical_devices("CPU")) == 1
import jax
assert jax.device_count() == 3
assert float(tf.reduce_sum(tf.ones([4]))) == 4.0
try:
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
except RuntimeError as error:
    print("refused:", "JAX_NUM_CPU_DEVICES=2" in str(error))
"""
    command = [sys.executable, "-c", program]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert run.stdout == "refused: True\n"


def test_a_running_process_keeps_its_devices(tf):
    tf.zeros([1]).numpy()
    cpu = tf.config.list_physical_devices("CPU")[0]
    assert tf.config.get_logical_device_configuration(cpu) is None
    with pytest.raises(RuntimeError, match="cannot be modified after being initialized"):
        tf.config.set_logical_device_configuration(
            cpu, [tf.config.LogicalDeviceConfiguration()] * 2
        )
    with pytest.raises(ValueError, match="Setting memory limit on CPU"):
        tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration(9)])


def test_what_devices_say_about_themselves(tf):
    cpu = tf.config.list_physical_devices("CPU")[0]
    assert tf.config.experimental.get_device_details(cpu) == {}
    tf.config.experimental.reset_memory_stats("CPU:0")  # other tests of this process count, too
    found = tf.config.experimental.get_memory_info("CPU:0")
    assert set(found) == {"current", "peak"}
    assert min(found.values()) >= 0
    with pytest.raises(ValueError, match="No matching devices found for 'GPU:0'"):
        tf.config.experimental.get_memory_info("GPU:0")


def test_policies_and_wishes_are_kept(tf):
    tf.config.experimental.set_device_policy("warn")
    assert tf.config.experimental.get_device_policy() == "warn"
    tf.config.experimental.set_device_policy(None)
    assert tf.config.experimental.get_device_policy() == "silent"
    with pytest.raises(ValueError, match="Invalid argument `device_policy`: 'foo'"):
        tf.config.experimental.set_device_policy("foo")
    assert tf.config.experimental.get_synchronous_execution()
    tf.config.optimizer.set_experimental_options({"constant_folding": True, "foo": 1})
    assert tf.config.optimizer.get_experimental_options() == {
        "constant_folding": True,
        "disable_model_pruning": False,
        "disable_meta_optimizer": False,
    }
    assert tf.sysconfig.get_build_info()["is_cuda_build"] is False


@pytest.mark.parametrize(
    "call",
    [
        lambda: tapejax.config.experimental_connect_to_host("x"),
        lambda: tapejax.config.experimental_connect_to_cluster(None),
        lambda: tapejax.config.experimental.ClusterDeviceFilters(),
        lambda: tapejax.sysconfig.get_include(),
        lambda: tapejax.sysconfig.get_lib(),
        lambda: tapejax.sysconfig.get_compile_flags(),
        lambda: tapejax.sysconfig.get_link_flags(),
    ],
)
def test_servers_and_libraries_are_refused(call):
    with pytest.raises(NotImplementedError):
        call()
