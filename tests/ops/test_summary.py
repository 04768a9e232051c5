"""`tf.summary`: TensorFlow reads the files; the content is what TensorBoard's plugins write."""

from __future__ import annotations

import glob
import io
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

import tapejax as tf

PIL = pytest.importorskip("PIL.Image", reason="the images are decoded by Pillow")


def events_of(folder: Path) -> list[Any]:
    """The events of the only file of a folder, parsed by TensorFlow's own protocol classes."""
    tensorflow = pytest.importorskip("tensorflow", reason="the reader is TensorFlow")
    (path,) = glob.glob(str(folder / "events.out.tfevents.*"))
    records = tensorflow.data.TFRecordDataset(path).as_numpy_iterator()
    return [tensorflow.compat.v1.Event.FromString(record) for record in records]


def values_of(folder: Path) -> list[tuple[str, int, Any, Any]]:
    """(tag, step, array, metadata) of each value."""
    tensorflow = pytest.importorskip("tensorflow", reason="the reader is TensorFlow")
    found = []
    for event in events_of(folder):
        for value in event.summary.value:
            array = tensorflow.make_ndarray(value.tensor)
            found.append((value.tag, event.step, array, value.metadata))
    return found


@pytest.fixture
def write(tmp_path: Path) -> Any:
    """A function that runs another one under a writer and returns the values in the file."""

    def run(body: Any, step: Any = 3) -> Any:
        writer = tf.summary.create_file_writer(tmp_path)
        with writer.as_default(step=step):
            body()
        writer.close()
        return values_of(tmp_path)

    return run


def test_the_file_begins_with_its_version(tmp_path: Path) -> None:
    tf.summary.create_file_writer(str(tmp_path)).close()
    (first,) = events_of(tmp_path)
    assert first.file_version == "brain.Event:2"
    assert first.source_metadata.writer == "tapejax"
    assert abs(first.wall_time - os.path.getmtime(glob.glob(f"{tmp_path}/*")[0])) < 60


def test_a_scalar_is_float32_with_its_plugin_and_description(write: Any) -> None:
    (found,) = write(lambda: tf.summary.scalar("a/b", 1.5, description="of *what*"))
    tag, step, array, metadata = found
    assert (tag, step, array.dtype, array.shape, float(array)) == ("a/b", 3, np.float32, (), 1.5)
    assert metadata.plugin_data.plugin_name == "scalars"
    assert metadata.plugin_data.content == b""
    assert metadata.summary_description == "of *what*"


@pytest.mark.parametrize("data", [2, np.float64(2), tf.constant(2, tf.int64), tf.Variable(2.0)])
def test_a_scalar_may_be_of_any_real_type(write: Any, data: Any) -> None:
    ((_, _, array, _),) = write(lambda: tf.summary.scalar("x", data))
    assert array.dtype == np.float32
    assert float(array) == 2.0


@pytest.mark.parametrize(
    ("values", "buckets", "expected"),
    [  # what tensorboard.plugins.histogram.summary_v2 writes
        ([1.0, 2.0, 2.5], 3, [[1, 1.5, 1], [1.5, 2, 0], [2, 2.5, 2]]),
        ([], 3, [[0, 0, 0]] * 3),
        ([2.0, 2.0], 3, [[2, 2, 0], [2, 2, 0], [2, 2, 2]]),
        ([[1, 2], [3, 4]], 1, [[1, 4, 4]]),
        ([1.0], 0, np.zeros((0, 3))),
    ],
)
def test_a_histogram_has_rows_of_edges_and_counts(
    write: Any, values: Any, buckets: int, expected: Any
) -> None:
    ((_, _, array, metadata),) = write(lambda: tf.summary.histogram("h", values, buckets=buckets))
    assert array.dtype == np.float64
    np.testing.assert_allclose(array, expected, rtol=1e-15)
    assert metadata.plugin_data.plugin_name == "histograms"


def test_a_histogram_counts_as_numpy_does(write: Any) -> None:
    data = np.random.default_rng(0).normal(size=(50, 20))
    ((_, _, array, _),) = write(lambda: tf.summary.histogram("h", data))
    counts, edges = np.histogram(data, 30)
    np.testing.assert_array_equal(array[:, 2], counts)
    np.testing.assert_allclose(array[:, 0], edges[:-1], rtol=1e-12)
    np.testing.assert_allclose(array[:, 1], edges[1:], rtol=1e-12)


def test_images_are_png_files_after_their_size(write: Any) -> None:
    data = np.linspace(-0.2, 1.2, 4 * 3 * 2 * 3).reshape(4, 3, 2, 3).astype(np.float32)
    ((_, _, array, metadata),) = write(lambda: tf.summary.image("im", data, max_outputs=2))
    assert metadata.plugin_data.plugin_name == "images"
    assert array[:2].tolist() == [b"2", b"3"]
    assert len(array) == 4
    for place in range(2):
        pixels = np.asarray(PIL.open(io.BytesIO(array[2 + place])))
        expected = np.floor(np.clip(data[place], 0, 1) * 255.5)
        np.testing.assert_array_equal(pixels, expected.astype(np.uint8))


def test_texts_keep_their_shape(write: Any) -> None:
    ((_, _, array, metadata),) = write(lambda: tf.summary.text("t", [["a", "bé"]]))
    assert array.tolist() == [[b"a", "bé".encode()]]
    assert metadata.plugin_data.plugin_name == "text"


def test_sounds_are_wav_files_with_empty_labels(write: Any) -> None:
    data = tf.constant([[[0.5], [-1.0]]] * 5)
    ((_, _, array, metadata),) = write(lambda: tf.summary.audio("s", data, 8000))
    assert array.shape == (3, 2)
    assert set(array[:, 1]) == {b""}
    sound, rate = tf.audio.decode_wav(array[0, 0])
    assert int(rate) == 8000
    np.testing.assert_array_equal(sound.numpy(), [[0.5], [-1.0]])
    assert metadata.plugin_data.plugin_name == "audio"
    assert metadata.plugin_data.content == b"\x10\x0b"


def test_name_scopes_are_part_of_the_tag(write: Any) -> None:
    def body() -> None:
        with tf.name_scope("train"):
            tf.summary.scalar("loss value", 1.0)
            with tf.summary.experimental.summary_scope("own", "default") as (tag, scope):
                assert (tag, scope) == ("train/own", "train/own/")

    assert [value[0] for value in write(body)] == ["train/loss value"]


def test_a_tensor_of_any_dtype_is_written_with_its_metadata(write: Any) -> None:
    metadata = tf.compat.v1.SummaryMetadata()
    metadata.plugin_data.plugin_name = "mine"
    metadata.plugin_data.content = b"\x00\xff"

    def body() -> None:
        assert bool(tf.summary.write("n", tf.constant([1, -2], tf.int64), metadata=metadata))
        assert bool(tf.summary.write("f", lambda: tf.constant(3.0)))

    first, second = write(body)
    assert first[2].tolist() == [1, -2]
    assert first[2].dtype == np.int64
    assert first[3].plugin_data.plugin_name == "mine"
    assert first[3].plugin_data.content == b"\x00\xff"
    assert float(second[2]) == 3.0


def test_without_a_writer_nothing_is_recorded_and_no_step_is_needed() -> None:
    assert not bool(tf.summary.scalar("x", 1.0))
    assert not bool(tf.summary.should_record_summaries())
    with tf.summary.create_noop_writer().as_default(step=1):
        assert not bool(tf.summary.scalar("x", 1.0))
        assert tf.summary.experimental.get_step() is None


def test_a_step_is_needed(tmp_path: Path) -> None:
    with tf.summary.create_file_writer(tmp_path).as_default():
        with pytest.raises(ValueError, match="No step set"):
            tf.summary.scalar("x", 1.0)
        with pytest.raises(TypeError, match="int64"):
            tf.summary.scalar("x", 1.0, step=1.5)


def test_the_default_step_may_be_a_variable_that_functions_read(write: Any) -> None:
    step = tf.Variable(0, dtype=tf.int64)

    @tf.function
    def train(x: Any) -> Any:
        step.assign_add(1)
        return tf.summary.scalar("loss", tf.reduce_sum(x))

    def body() -> None:
        for number in range(3):
            assert bool(train(tf.fill([2], float(number))))

    found = write(body, step)
    assert [(value[1], float(value[2])) for value in found] == [(1, 0.0), (2, 2.0), (3, 4.0)]
    assert train.experimental_get_tracing_count() == 1


def test_a_function_records_under_a_condition_that_is_a_tensor(write: Any) -> None:
    @tf.function
    def train(x: Any, step: Any) -> Any:
        with tf.summary.record_if(tf.equal(step % 2, 0)):
            recorded = tf.summary.scalar("x", x, step=step)
            tf.summary.histogram("h", tf.stack([x, x + 1]), step=step, buckets=1)
            tf.summary.image("i", tf.fill([1, 2, 2, 1], x), step=step)
            tf.summary.text("t", "même", step=step)
        return recorded

    def body() -> None:
        for number in range(4):
            recorded = train(tf.constant(number / 4), tf.constant(number, tf.int64))
            assert bool(recorded) == (number % 2 == 0)

    found = write(body)
    assert [(tag, step) for tag, step, _, _ in found] == [
        (tag, step) for step in (0, 2) for tag in ("x", "h", "i", "t")
    ]
    assert found[5][2].tolist() == [[0.5, 1.5, 2.0]]
    assert PIL.open(io.BytesIO(found[6][2][2])).getpixel((0, 0)) == 127
    assert found[7][2].item().decode() == "même"


def test_a_loop_and_a_branch_record_each_time(write: Any) -> None:
    @tf.function
    def count(n: Any) -> Any:
        total = tf.constant(0.0)
        for i in tf.range(n):
            total += 1.0
            if i > 1:
                tf.summary.scalar("total", total, step=tf.cast(i, tf.int64))
        return total

    found = write(lambda: count(tf.constant(4)))
    assert [(step, float(value)) for _, step, value, _ in found] == [(2, 3.0), (3, 4.0)]


@pytest.mark.parametrize("condition", [False, lambda: False, tf.constant(False)])
def test_record_if_holds_back_what_is_not_wanted(write: Any, condition: Any) -> None:
    def body() -> None:
        with tf.summary.record_if(condition):
            assert not bool(tf.summary.scalar("x", 1.0))
            assert not bool(tf.summary.should_record_summaries())
        assert bool(tf.summary.scalar("y", 1.0))

    assert [value[0] for value in write(body)] == ["y"]


def test_a_condition_that_is_no_boolean_is_refused(tmp_path: Path) -> None:
    writer = tf.summary.create_file_writer(tmp_path)
    with writer.as_default(step=0), tf.summary.record_if(3), pytest.raises(TypeError, match="bool"):
        tf.summary.scalar("x", 1.0)


def test_leaving_the_block_flushes_and_restores(tmp_path: Path) -> None:
    writer = tf.summary.create_file_writer(tmp_path, filename_suffix=".mine")
    with writer.as_default(step=7) as entered:
        assert entered is writer
        assert tf.summary.experimental.get_step() == 7
        tf.summary.scalar("x", 1.0)
    assert tf.summary.experimental.get_step() is None
    assert not bool(tf.summary.should_record_summaries())
    assert len(values_of(tmp_path)) == 1
    assert glob.glob(f"{tmp_path}/*.mine")


def test_an_error_in_the_block_restores_too(tmp_path: Path) -> None:
    with pytest.raises(KeyError), tf.summary.create_file_writer(tmp_path).as_default(step=1):
        raise KeyError("the user's")
    assert tf.summary.experimental.get_step() is None
    assert not bool(tf.summary.should_record_summaries())


def test_a_closed_writer_is_refused(tmp_path: Path) -> None:
    writer = tf.summary.create_file_writer(tmp_path)
    with writer.as_default(step=1):
        writer.close()
        with pytest.raises(tf.errors.FailedPreconditionError, match="is closed"):
            tf.summary.scalar("x", 1.0)
    for use in (writer.as_default, writer.set_as_default, writer.init):
        with pytest.raises(RuntimeError, match="already closed"):
            use()
    writer.flush()
    writer.close()


def test_a_default_writer_serves_its_thread_only(tmp_path: Path) -> None:
    seen: list[bool] = []
    with tf.summary.create_file_writer(tmp_path).as_default(step=1):
        thread = threading.Thread(
            target=lambda: seen.append(bool(tf.summary.should_record_summaries()))
        )
        thread.start()
        thread.join()
    assert seen == [False]


def test_what_was_recorded_survives_a_program_that_never_closes(tmp_path: Path) -> None:
    program = (
        "import tapejax as tf, sys\n"
        "tf.summary.create_file_writer(sys.argv[1]).set_as_default()\n"
        "tf.summary.scalar('x', 2.5, step=9)\n"
    )
    subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=True)
    assert [(t, s, float(v)) for t, s, v, _ in values_of(tmp_path)] == [("x", 9, 2.5)]


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (lambda: tf.summary.scalar("x", [1.0], step=1), ValueError, "Expected scalar shape"),
        (lambda: tf.summary.image("x", tf.zeros([4, 4, 3]), step=1), ValueError, "rank 4"),
        (
            lambda: tf.summary.image("x", tf.zeros([1, 4, 4, 5]), step=1),
            tf.errors.InvalidArgumentError,
            "channels, got 5",
        ),
        (lambda: tf.summary.audio("x", tf.zeros([4, 4]), 9, step=1), ValueError, "rank 3"),
        (
            lambda: tf.summary.audio("x", tf.zeros([1, 4, 1]), 9, step=1, encoding="mp3"),
            ValueError,
            "encoding",
        ),
        (lambda: tf.summary.text("x", 3, step=1), TypeError, "tf.string"),
        (lambda: tf.summary.histogram("x", [1.0], step=1, buckets=-1), ValueError, "negative"),
        (lambda: tf.summary.write("x", 1.0, step=1, metadata=3), TypeError, "SummaryMetadata"),
        (lambda: tf.summary.create_file_writer(None), ValueError, "cannot be None"),
        (lambda: tf.summary.create_file_writer(3), TypeError, "PathLike"),
        (lambda: tf.summary.graph(None), NotImplementedError, "Profile"),
    ],
)
def test_bad_input_is_refused(tmp_path: Path, call: Any, kind: type[Exception], text: str) -> None:
    writer = tf.summary.create_file_writer(tmp_path)
    with writer.as_default(), pytest.raises(kind, match=text):
        call()
    writer.close()
    assert len(events_of(tmp_path)) == 1


def test_a_folder_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(tf.errors.FailedPreconditionError, match="file"):
        tf.summary.create_file_writer(tmp_path / "file" / "logs")


def test_the_files_can_be_read_back(tmp_path: Path) -> None:
    writer = tf.summary.create_file_writer(tmp_path)
    with writer.as_default(step=4):
        tf.summary.scalar("loss", 0.25)
        value = tf.compat.v1.Summary.Value(tag="old", simple_value=0.5)
        summary = tf.compat.v1.Summary(value=[value]).SerializeToString()
        assert bool(tf.summary.experimental.write_raw_pb(summary, step=5))
    tf.summary.flush(writer)
    (path,) = glob.glob(f"{tmp_path}/*")
    first, loss, old = tf.compat.v1.train.summary_iterator(path)
    assert first.file_version == "brain.Event:2"
    assert (loss.step, loss.summary.value[0].tag) == (4, "loss")
    assert float(tf.make_ndarray(loss.summary.value[0].tensor)) == 0.25
    assert (old.step, old.summary.value[0].simple_value) == (5, 0.5)
    assert old.summary.value[0].HasField("simple_value")
    assert not old.summary.value[0].HasField("tensor")


def test_a_raw_summary_in_a_function_is_written_in_each_call(tmp_path: Path) -> None:
    value = tf.compat.v1.Summary.Value(tag="raw", simple_value=0.5)
    summary = tf.compat.v1.Summary(value=[value]).SerializeToString()

    @tf.function
    def step(number: Any) -> Any:
        with tf.summary.record_if(number > 0):
            return tf.summary.experimental.write_raw_pb(summary, step=number)

    writer = tf.summary.create_file_writer(tmp_path)
    with writer.as_default():
        found = [bool(step(tf.constant(n, tf.int64))) for n in range(3)]
    writer.close()
    assert found == [False, True, True]
    assert [event.step for event in events_of(tmp_path)[1:]] == [1, 2]


def test_messages_are_those_of_protocol_buffers() -> None:
    theirs = pytest.importorskip("tensorflow", reason="the classes compared with").compat.v1
    for library in (tf.compat.v1, theirs):
        event = library.Event(wall_time=1.5, step=-3, file_version="v")
        event.summary.value.add(tag="a", simple_value=0.5).metadata.display_name = "é"
        assert library.Event.FromString(event.SerializeToString()) == event
    ours = tf.compat.v1.Event.FromString(event.SerializeToString())
    assert ours.SerializeToString() == event.SerializeToString()
    assert str(ours) == str(event)
    with pytest.raises(TypeError):
        ours.file_version = 3
    with pytest.raises(ValueError, match="Error parsing"):
        tf.compat.v1.Event.FromString(b"\x0a\x01a")


def test_trace_export_needs_a_trace(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="Must enable trace"):
        tf.summary.trace_export("x")
    with pytest.raises(ValueError, match="profiler_outdir"):
        tf.summary.trace_on(profiler=True)
    tf.summary.trace_on(graph=False, profiler=True, profiler_outdir=str(tmp_path))
    float(tf.reduce_sum(tf.ones([8])))
    tf.summary.trace_export("x", step=0)
    assert glob.glob(f"{tmp_path}/plugins/profile/*/*.xplane.pb")


def test_a_profile_is_written_or_thrown_away(tmp_path: Path) -> None:
    profiler = tf.profiler.experimental
    with pytest.raises(tf.errors.UnavailableError, match="No profiler is running"):
        profiler.stop()
    profiler.start(str(tmp_path), {"host_tracer_level": 1})
    with pytest.raises(tf.errors.AlreadyExistsError, match="Another profiler"):
        profiler.start(str(tmp_path))
    profiler.stop(save=False)
    assert not os.listdir(tmp_path)
    options = profiler.ProfilerOptions(python_tracer_level=0)
    with (
        profiler.Profile(tmp_path, options),
        profiler.Trace("train", step_num=1, _r=1) as trace,
    ):
        trace.set_metadata(loss=1)
        float(tf.reduce_sum(tf.ones([8])))
    assert glob.glob(f"{tmp_path}/plugins/profile/*/*.xplane.pb")
    with pytest.raises(ValueError, match="delay_ms"):
        profiler.start(tmp_path, profiler.ProfilerOptions(delay_ms=3))
    for refused in (
        tf.profiler.experimental.client.trace,
        tf.profiler.experimental.client.monitor,
    ):
        with pytest.raises(NotImplementedError, match="Profile"):
            refused("grpc://localhost:6009", "logs", 100)


def test_a_trace_is_thrown_away(tmp_path: Path) -> None:
    tf.summary.trace_on(graph=False, profiler=True, profiler_outdir=str(tmp_path))
    tf.summary.trace_off()
    assert not os.listdir(tmp_path)
    with pytest.raises(ValueError, match="Must enable trace"):
        tf.summary.trace_export("x")


def test_a_process_listens_for_profilers() -> None:
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    tf.profiler.experimental.server.start(port)
    try:
        with socket.create_connection(("localhost", port), timeout=10):
            pass
    finally:
        jax.profiler.stop_server()


def test_the_step_may_be_set_for_the_thread(write: Any) -> None:
    def body() -> None:
        tf.summary.experimental.set_step(8)
        tf.summary.scalar("x", 1.0)

    assert [step for _, step, _, _ in write(body, None)] == [8]
    tf.summary.experimental.set_step(None)
    assert tf.summary.experimental.get_step() is None
