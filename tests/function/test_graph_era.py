"""Names that belong to graphs, conversions of users, creators of variables."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import tapejax


def test_device_specs_are_read_merged_and_written(tf):
    spec = tf.DeviceSpec.from_string("/job:w/task:1/GPU:0")
    assert (spec.job, spec.replica, spec.task) == ("w", None, 1)
    assert (spec.device_type, spec.device_index) == ("GPU", 0)
    merged = spec.make_merged_spec(tf.DeviceSpec.from_string("/cpu:1"))
    assert merged.to_string() == "/job:w/task:1/device:CPU:1"
    assert tf.DeviceSpec(device_type="gpu").replace(job="x").to_string() == "/job:x/device:GPU:*"
    assert spec == tf.DeviceSpec.from_string("/job:w/task:1/device:GPU:0")
    assert hash(spec) == hash(tf.DeviceSpec.from_string("/job:w/task:1/device:GPU:0"))
    assert repr(spec).startswith("<DeviceSpec(job=w, replica=None, task=1, device_type=GPU")
    with pytest.raises(ValueError, match="Unknown attribute 'foo'"):
        tf.DeviceSpec.from_string("/foo:1")


def test_symbolic_tensors_scopes_and_tuples(tf):
    outside = tf.constant(1.0)
    seen = {}

    @tf.function
    def function(x):
        with tf.name_scope("a"), tf.name_scope("b"):
            seen["scope"] = tf.get_current_name_scope()
        seen["symbolic"] = [tf.is_symbolic_tensor(v) for v in (x, x + 1, outside, 3.0)]
        return tf.tuple([x, x * 2.0, tf.guarantee_const(x)])

    assert [float(v) for v in function(tf.constant(2.0))] == [2.0, 4.0, 2.0]
    assert seen["scope"].endswith("a/b")
    assert seen["symbolic"] == [True, True, False, False]
    assert tf.get_current_name_scope() == ""
    given = [outside, None]
    assert tf.tuple(given) == given


def test_the_time_is_that_of_each_call(tf):
    function = tf.function(lambda: tf.timestamp())
    first, second = float(function()), float(function())
    assert 1.6e9 < first < second
    assert tf.timestamp().dtype == tf.float64


def test_specs_of_values(tf):
    assert tf.type_spec_from_value(np.zeros(3)) == tf.TensorSpec([3], tf.float64)
    assert tf.type_spec_from_value(3.0) == tf.TensorSpec([], tf.float32)
    sparse = tf.sparse.from_dense([[0, 1]])
    assert tf.type_spec_from_value(sparse) == tf.SparseTensorSpec([1, 2], tf.int32)
    ragged = tf.ragged.constant([[1], [2, 3]])
    assert isinstance(tf.type_spec_from_value(ragged), tf.RaggedTensorSpec)
    slices = tf.IndexedSlices(tf.zeros([1, 2]), tf.constant([0]))
    assert isinstance(tf.type_spec_from_value(slices), tf.IndexedSlicesSpec)
    with pytest.raises(TypeError, match="Could not build a TypeSpec"):
        tf.type_spec_from_value(object())


def test_a_class_with_a_conversion_is_a_tensor_everywhere(tf):
    class Metres:
        def __init__(self, value):
            self.value = value

    def convert(metres, dtype=None, name=None, as_ref=False):
        if dtype is not None and not dtype.is_floating:
            return NotImplemented
        return tf.constant(metres.value, dtype)

    tf.register_tensor_conversion_function(Metres, convert)
    assert float(tf.constant(1.0) + Metres(2.0)) == 3.0
    assert float(tf.square(Metres(3.0))) == 9.0
    assert tf.convert_to_tensor(Metres(1.0), tf.float64).dtype == tf.float64
    assert (tf.constant(1.0, tf.float64) + Metres(2.0)).dtype == tf.float64
    with pytest.raises((TypeError, ValueError)):
        tf.convert_to_tensor(Metres(1.0), tf.int32)
    with pytest.raises(TypeError, match="must be a type"):
        tf.register_tensor_conversion_function(3, convert)
    with pytest.raises(TypeError, match="numeric types"):
        tf.register_tensor_conversion_function(int, convert)


def test_a_list_of_such_objects_is_a_tensor_too():
    class Litres:
        pass

    tapejax.register_tensor_conversion_function(Litres, lambda v, **kw: tapejax.constant(2.0))
    assert tapejax.convert_to_tensor([Litres(), Litres()]).numpy().tolist() == [2.0, 2.0]


def test_a_conversion_of_another_dtype_is_refused():
    class Wrong:
        pass

    tapejax.register_tensor_conversion_function(Wrong, lambda v, **kw: tapejax.constant(1))
    with pytest.raises(RuntimeError, match="incompatible dtype"):
        tapejax.convert_to_tensor(Wrong(), tapejax.float32)


def test_creators_make_the_variables_of_a_block(tf):
    order = []

    def outer(make, **kwargs):
        order.append("outer")
        return make(**kwargs)

    def inner(make, **kwargs):
        order.append("inner")
        kwargs["initial_value"] = 7.0
        return make(**kwargs)

    with tf.variable_creator_scope(outer), tf.variable_creator_scope(inner):
        v = tf.Variable(1.0, trainable=False)
    assert float(v) == 7.0
    assert not v.trainable
    assert order == ["inner", "outer"]
    assert float(tf.Variable(1.0)) == 1.0


def test_a_critical_section_lets_one_thread_in(tf):
    section, inside, most = tf.CriticalSection(), [], []

    def body():
        inside.append(1)
        most.append(len(inside))
        inside.pop()
        return tf.constant(1.0)

    threads = [threading.Thread(target=section.execute, args=(body,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1] * 8


def test_a_critical_section_that_is_entered_twice_is_refused():
    section = tapejax.CriticalSection()
    with pytest.raises(ValueError, match="already running"):
        section.execute(lambda: section.execute(lambda: 1))
    assert section.execute(lambda: 2) == 2


def test_batched_functions_pass_no_gradient(tf):
    @tf.nondifferentiable_batch_function(1, 10, 100)
    def double(x):
        return x * 2.0

    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = double(x)
    assert y.numpy().tolist() == [2.0, 4.0]
    if tf is tapejax:  # TensorFlow raises a LookupError
        assert tape.gradient(y, x) is None


def test_fingerprints_of_rows_are_those_of_tensorflow():
    tensorflow = pytest.importorskip("tensorflow")
    for data in (["a", "b", "abc" * 30], np.arange(4), [[1.0, 2.0], [3.0, 4.0]], [["a", "b"]]):
        expected = tensorflow.fingerprint(data).numpy()
        np.testing.assert_array_equal(tapejax.fingerprint(data).numpy(), expected)


def test_fingerprints_need_an_axis_and_a_known_method(tf):
    with pytest.raises(tf.errors.InvalidArgumentError, match="at least one dimension"):
        tf.fingerprint("abc")
    with pytest.raises(tf.errors.InvalidArgumentError, match="Unsupported fingerprint method"):
        tf.fingerprint(["abc"], "foo")


def test_gradients_of_node_types_are_registered_once(tf):
    tf.no_gradient("TapejaxTestNodeA")
    rule = tf.RegisterGradient("TapejaxTestNodeB")(lambda op, gradient: gradient)
    assert callable(rule)
    with pytest.raises(KeyError, match="Registering two gradient"):
        tf.RegisterGradient("TapejaxTestNodeB")(rule)
    with pytest.raises(TypeError, match="op_type must be a string"):
        tf.RegisterGradient(3)


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda tf: tf.Graph(), "@tf.function"),
        (lambda tf: tf.Operation(), "Call the op's function"),
        (lambda tf: tf.import_graph_def(None), "as Python code"),
        (lambda tf: tf.load_op_library("x.so"), "jax.ffi"),
        (lambda tf: tf.load_library("x.so"), "jax.ffi"),
    ],
)
def test_what_needs_graphs_says_what_to_write(call, match):
    with pytest.raises(NotImplementedError, match=match):
        call(tapejax)


def test_pinned_memory_is_not_known(tf):
    with pytest.raises(tf.errors.FailedPreconditionError):
        tf.check_pinned(tf.constant(1.0))


def test_assertions_at_the_top(tf):
    tf.assert_equal([1.0], 1.0)
    tf.assert_less([1.0], 2.0)
    tf.assert_rank([1.0], 1)
    with pytest.raises(tf.errors.InvalidArgumentError, match="x > y did not hold"):
        tf.assert_greater([1.0], 2.0)
