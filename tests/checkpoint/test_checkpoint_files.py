"""Files of checkpoints: killed writers, damaged files, foreign objects, and what stays alive."""

from __future__ import annotations

import gc
import json
import multiprocessing
import os
import random
import signal
import struct
import time
import weakref

import numpy as np
import pytest

import tapejax as tf
from tapejax._src.checkpoint import object_graph, paths, tensor_file
from tapejax._src.core.tracking import LISTENERS

KILLS = 20
MUTATIONS = 2000


# ---------------------------------------------------------------------- killed writers
def _write_for_ever(folder):
    """Save checkpoints whose parts all say the same number, until killed."""
    step = tf.Variable(0)
    parts = [tf.Variable(np.zeros(50_000, np.float32)) for _ in range(3)]
    checkpoint = tf.train.Checkpoint(step=step, parts=parts)
    manager = tf.train.CheckpointManager(checkpoint, folder, max_to_keep=2)
    manager.restore_or_initialize()
    while True:
        number = int(step.assign_add(1))
        for part in parts:
            part.assign(np.full(50_000, number, np.float32))
        manager.save()
        with open(os.path.join(folder, "progress"), "w") as file:
            file.write(str(number))


def _progress(folder):
    try:
        return int((folder / "progress").read_text() or 0)
    except FileNotFoundError:
        return 0


@pytest.mark.skipif(os.name != "posix", reason="there is no SIGKILL")
def test_a_writer_killed_at_any_moment_leaves_its_newest_complete_checkpoint(tmp_path):
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tapejax"])
    rng = random.Random(0)
    for _ in range(KILLS):
        before = _progress(tmp_path)
        writer = context.Process(target=_write_for_ever, args=(str(tmp_path),))
        writer.start()
        deadline = time.monotonic() + 60
        while _progress(tmp_path) == before and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(rng.uniform(0, 0.05))
        os.kill(writer.pid, signal.SIGKILL)
        writer.join()
        step, part = tf.Variable(0), tf.Variable(np.zeros(50_000, np.float32))
        latest = tf.train.latest_checkpoint(tmp_path)
        tf.train.Checkpoint(step=step, parts=[part, part]).restore(latest)
        # The kill may have left the note of the progress empty; the checkpoint itself may not lag.
        assert int(step) >= max(_progress(tmp_path), before)
        assert np.all(part.numpy() == int(step))
        kept = tf.train.get_checkpoint_state(tmp_path).all_model_checkpoint_paths
        assert all(tf.train.load_checkpoint(path) for path in kept)


def test_what_killed_writers_left_is_deleted_after_an_hour(tmp_path):
    old = tmp_path / f"ckpt-1.safetensors.{tensor_file.TEMPORARY}0"
    new = tmp_path / f"ckpt-2.safetensors.{tensor_file.TEMPORARY}0"
    for path in (old, new):
        path.write_bytes(b"unfinished")
    os.utime(old, (time.time() - 7200,) * 2)
    tf.train.CheckpointManager(tf.train.Checkpoint(v=tf.Variable(1.0)), tmp_path, 1)
    assert (old.exists(), new.exists()) == (False, True)


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    v = tf.Variable(1.0)
    path = tf.train.Checkpoint(v=v).write(tmp_path / "ckpt")
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}

    def full(handle):
        raise OSError("no space left")

    monkeypatch.setattr(os, "fsync", full)
    v.assign(2.0)
    with pytest.raises(OSError, match="no space"):
        tf.train.Checkpoint(v=v).write(path)
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == before


# ---------------------------------------------------------------------- damaged files
def _state(folder):
    v, w = tf.Variable([1.5, 2.5, 3.5]), tf.Variable(7, dtype=tf.int64)
    return v, w, tf.train.Checkpoint(v=v, inner=[w]), str(folder / "ckpt")


def _mutated(data, rng):
    """The bytes with one thing wrong."""
    data = bytearray(data)
    kind = rng.randrange(5)
    at = rng.randrange(len(data))
    if kind == 0:
        data[at] ^= 1 << rng.randrange(8)
    elif kind == 1:
        data[at] = rng.randrange(256)
    elif kind == 2:
        del data[at:]
    elif kind == 3:
        data[at:at] = bytes(rng.randrange(256) for _ in range(rng.randrange(1, 9)))
    else:
        del data[at : at + rng.randrange(1, 9)]
    return bytes(data)


def test_a_damaged_file_raises_or_restores_exactly_what_was_saved(tmp_path):
    v, w, checkpoint, path = _state(tmp_path)
    checkpoint.write(path)
    file = tmp_path / "ckpt.safetensors"
    good, rng, refused = file.read_bytes(), random.Random(0), 0
    for _ in range(MUTATIONS):
        file.write_bytes(_mutated(good, rng))
        v.assign([0.0, 0.0, 0.0])
        w.assign(0)
        try:
            checkpoint.read(path).expect_partial()
        except tf.errors.DataLossError as error:
            refused += str(file) in error.message
            expected = [0.0, 0.0, 0.0], 0
        else:
            expected = [1.5, 2.5, 3.5], 7
        assert (v.numpy().tolist(), int(w)) == expected
    assert refused > 0.9 * MUTATIONS
    assert not LISTENERS


def _header(**entries):
    text = json.dumps(entries).encode()
    return struct.pack("<Q", len(text)) + text


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"1234567",
        struct.pack("<Q", 2**63) + b"{}",
        struct.pack("<Q", 2) + b"{}",
        _header(),
        _header(__metadata__={"format": "pt"}),
        _header(__metadata__=[]),
        struct.pack("<Q", 200_000) + b"[" * 200_000,
        b"\x80\x04cposix\nsystem\n",
    ],
    ids=range(9),
)
def test_anything_else_than_a_checkpoint_is_refused(tmp_path, data):
    (tmp_path / "ckpt.safetensors").write_bytes(data)
    with pytest.raises(tf.errors.DataLossError, match="damaged or was not written"):
        tf.train.load_checkpoint(tmp_path / "ckpt")


def test_a_graph_that_makes_no_sense_is_refused(tmp_path):
    for nodes in ([], [{"children": {"v": 5}}], [{"children": {}, "value": "gone"}], [3], None):
        tensor_file.write(tmp_path / "ckpt.safetensors", {}, {"nodes": nodes})
        with pytest.raises(tf.errors.DataLossError, match="no sense"):
            tf.train.Checkpoint(v=tf.Variable(1.0)).read(tmp_path / "ckpt")


@pytest.mark.parametrize("text", ["", "nonsense", 'model_checkpoint_path: "x', "a: 1\n" * 3])
def test_a_damaged_list_of_checkpoints_is_none(tmp_path, text):
    (tmp_path / "checkpoint").write_text(text)
    assert tf.train.latest_checkpoint(tmp_path) is None
    assert tf.train.get_checkpoint_state(tmp_path) is None


def test_tensorflows_files_are_named_as_such(tmp_path):
    (tmp_path / "ckpt-1.index").write_bytes(b"")
    (tmp_path / "ckpt-1.data-00000-of-00001").write_bytes(b"")
    with pytest.raises(tf.errors.UnimplementedError, match="written by TensorFlow"):
        tf.train.Checkpoint(v=tf.Variable(1.0)).restore(tmp_path / "ckpt-1")


def test_a_folder_is_no_checkpoint_but_the_error_says_what_to_write(tmp_path):
    with pytest.raises(tf.errors.NotFoundError, match="latest_checkpoint"):
        tf.train.Checkpoint(v=tf.Variable(1.0)).restore(tmp_path)


def test_the_file_is_a_safetensors_file(tmp_path):
    """By the format's own description: length, header, data without holes, aligned."""
    arrays = {
        "a": np.arange(3, dtype=np.int8),
        "b": np.arange(2, dtype=np.float64),
        "c": np.float32([[1, 2]]),
        "d": np.complex64([1 + 2j]),
    }
    tensor_file.write(tmp_path / "x", arrays, {})
    data = (tmp_path / "x").read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    assert set(header.pop("__metadata__")) >= {"format"}
    spans = sorted(entry["data_offsets"] for entry in header.values())
    assert [start for start, _ in spans] == [0, *[end for _, end in spans[:-1]]]
    assert 8 + length + spans[-1][1] == len(data)
    kinds = {"I8": np.int8, "F64": np.float64, "F32": np.float32}
    for name, entry in header.items():
        start, end = entry["data_offsets"]
        array = np.frombuffer(data[8 + length + start : 8 + length + end], kinds[entry["dtype"]])
        assert (8 + length + start) % array.itemsize == 0
        expected = arrays[name].view(np.float32) if name == "d" else arrays[name]
        assert np.array_equal(array.reshape(entry["shape"]), expected.reshape(entry["shape"]))


def test_text_and_rare_dtypes_come_back(tmp_path):
    text = np.array([[b"a", "\N{SNOWMAN}".encode()], [b"", b"x" * 300]], object)
    wide = np.array([1 + 2j, 3], np.complex128)
    tensor_file.write(tmp_path / "x", {"text": text, "wide": wide}, None)
    contents = tensor_file.read(tmp_path / "x")
    found = tensor_file.load(contents, ["text", "wide"])
    assert found["text"].tolist() == text.tolist()
    assert np.array_equal(found["wide"], wide)


# ---------------------------------------------------------------------- objects
class Holder:
    """An object of a class that knows nothing of tapejax."""

    def __init__(self, value):
        self.hidden = tf.Variable(value)


def test_foreign_objects_take_part_by_a_method_or_by_registration(tmp_path, monkeypatch):
    class Own(Holder):
        def _trackable_children(self):
            return {"shown": self.hidden}

    class Known(Holder):
        pass

    with pytest.raises(ValueError, match="_trackable_children"):
        tf.train.Checkpoint(x=Known(1.0))
    monkeypatch.setattr(object_graph, "_CLASSES", list(object_graph._CLASSES))
    object_graph.register(Known, lambda known: {"registered": known.hidden})
    checkpoint = tf.train.Checkpoint(own=Own(1.0), known=Known(2.0))
    path = checkpoint.write(tmp_path / "ckpt")
    names = [name.split("/.")[0] for name, _ in tf.train.list_variables(path)]
    assert names == ["known/registered", "own/shown"]
    for held in (checkpoint.own, checkpoint.known):
        held.hidden.assign(0.0)
    checkpoint.read(path).assert_consumed()
    assert (float(checkpoint.own.hidden), float(checkpoint.known.hidden)) == (1.0, 2.0)


def test_nothing_is_restored_if_one_value_does_not_fit(tmp_path):
    path = tf.train.Checkpoint(a=tf.Variable(1.0), b=tf.Variable([1.0])).write(tmp_path / "c")
    a, b = tf.Variable(0.0), tf.Variable([0.0, 0.0])
    with pytest.raises(ValueError, match="incompatible"):
        tf.train.Checkpoint(a=a, b=b).read(path)
    assert float(a) == 0.0


def test_waiting_for_variables_keeps_nothing_alive(tmp_path):
    path = tf.train.Checkpoint(m=_module(1.0), x=tf.Variable(1.0)).write(tmp_path / "ckpt")
    module = tf.Module()
    tf.train.Checkpoint(m=module).read(path).expect_partial()
    assert len(LISTENERS) == 1
    gone = weakref.ref(module)
    del module
    gc.collect()
    assert gone() is None
    tf.Module().anything = 1
    assert not LISTENERS


def test_a_checkpoint_object_need_not_outlive_its_restore(tmp_path):
    path = tf.train.Checkpoint(m=_module(3.0)).write(tmp_path / "ckpt")
    module = tf.Module()
    tf.train.Checkpoint(m=module).read(path)
    gc.collect()
    module.v = tf.Variable(0.0)
    assert float(module.v) == 3.0
    assert not LISTENERS


def test_what_is_put_into_a_list_later_is_restored_with_the_next_attribute(tmp_path):
    saved = tf.Module()
    saved.parts, saved.last = [_module(1.0), _module(2.0)], tf.Variable(3.0)
    path = tf.train.Checkpoint(m=saved).write(tmp_path / "ckpt")
    module = tf.Module()
    module.parts = []
    status = tf.train.Checkpoint(m=module).read(path)
    module.parts.append(_module(0.0))
    module.parts.append(_module(0.0))
    module.last = tf.Variable(0.0)
    assert [float(part.v) for part in module.parts] == [1.0, 2.0]
    status.assert_consumed()


def _module(value):
    module = tf.Module()
    module.v = tf.Variable(value)
    return module


def test_slots_are_restored_when_they_are_created(tmp_path):
    v, optimizer = tf.Variable([1.0, 2.0]), tf.keras.optimizers.SGD(0.5, momentum=0.5)
    optimizer.apply_gradients([(tf.constant([1.0, 1.0]), v)])
    scaled = tf.keras.optimizers.LossScaleOptimizer(optimizer, initial_scale=4.0)
    path = tf.train.Checkpoint(o=scaled, v=v).save(tmp_path / "ckpt")
    w, twin = tf.Variable([0.0, 0.0]), tf.keras.optimizers.SGD(0.1, momentum=0.5)
    outer = tf.keras.optimizers.LossScaleOptimizer(twin)
    status = tf.train.Checkpoint(o=outer, v=w).restore(path)
    assert float(outer.loss_scale) == 4.0

    @tf.function
    def step():
        outer.apply_gradients([(tf.constant([4.0, 4.0]), w)])

    step()
    assert w.numpy().tolist() == [-0.25, 0.75]  # 0.5 - (0.5 * 0.5 + 0.5 * 1), and so on
    status.assert_consumed()


def test_moving_averages_are_restored(tmp_path):
    v, w = tf.Variable(1.0), tf.Variable(2.0)
    averages = tf.train.ExponentialMovingAverage(0.5)
    averages.apply([v, w])
    path = tf.train.Checkpoint(averages=averages).write(tmp_path / "ckpt")
    averages.average(w).assign(0.0)
    tf.train.Checkpoint(averages=averages).read(path).assert_consumed()
    assert float(averages.average(w)) == 2.0


def test_values_restored_inside_a_tape_are_assigned(tmp_path):
    v = tf.Variable(2.0)
    path = tf.train.Checkpoint(v=v).write(tmp_path / "ckpt")
    v.assign(5.0)
    with tf.GradientTape() as tape:
        before = v * v
        tf.train.Checkpoint(v=v).read(path)
        loss = before + v * v
    assert float(loss) == 29.0
    assert float(tape.gradient(loss, v)) == 14.0


def test_saving_while_tracing_raises(tmp_path):
    checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))

    @tf.function
    def inside():
        checkpoint.save(tmp_path / "ckpt")

    with pytest.raises(RuntimeError, match=r"outside of tf\.function"):
        inside()


def test_what_a_checkpoint_cannot_do_is_refused():
    with pytest.raises(NotImplementedError, match="skip"):
        tf.train.CheckpointOptions(experimental_skip_slot_variables=True)


def test_an_interrupted_overwrite_is_the_old_checkpoint(tmp_path):
    v = tf.Variable(1.0)
    path = tf.train.Checkpoint(v=v).write(tmp_path / "ckpt")
    paths.delete(path)
    assert not os.path.exists(path + ".index")
    with pytest.raises(tf.errors.NotFoundError):
        tf.train.load_checkpoint(path)
