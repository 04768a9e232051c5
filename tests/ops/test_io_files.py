"""Files, folders and files of records, as in TensorFlow."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import numpy as np
import pytest
import tensorflow
from ops.outcomes import each, outcome

import tapejax
from tapejax._src.ops.checksums import crc32c
from tapejax._src.ops.record_files import read_records


@pytest.fixture
def root(tmp_path: Path) -> str:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "x.txt").write_text("hello\nworld\n")
    (tmp_path / "a" / "y.txt").write_text("other")
    return str(tmp_path)


def tree(root: str) -> list:
    return sorted((folder, sorted(inner), sorted(files)) for folder, inner, files in os.walk(root))


@each(
    "tf.io.gfile.makedirs(root + '/a/b')",
    "tf.io.gfile.makedirs(root + '/a/b')",
    "tf.io.gfile.mkdir(root + '/a')",
    "tf.io.gfile.mkdir(root + '/q/r')",
    "tf.io.gfile.exists(root + '/a')",
    "tf.io.gfile.exists(root + '/nope')",
    "tf.io.gfile.isdir(root + '/a')",
    "tf.io.gfile.isdir(root + '/a/x.txt')",
    "sorted(tf.io.gfile.listdir(root + '/a'))",
    "tf.io.gfile.listdir(root + '/nope')",
    "tf.io.gfile.listdir(root + '/a/x.txt')",
    "tf.io.gfile.copy(root + '/a/x.txt', root + '/a/y.txt')",
    "tf.io.gfile.copy(root + '/a/x.txt', root + '/a/y.txt')",
    "tf.io.gfile.copy(root + '/a/x.txt', root + '/a/y.txt', overwrite=True)",
    "tf.io.gfile.copy(root + '/nope', root + '/k')",
    "sorted(tf.io.gfile.glob(root + '/a/*'))",
    "tf.io.gfile.glob([root + '/a/x*', root + '/a/y*'])",
    "tf.io.gfile.glob(root + '/nope*')",
    "tf.io.gfile.rename(root + '/a/y.txt', root + '/a/z.txt')",
    "tf.io.gfile.rename(root + '/a/x.txt', root + '/a/z.txt')",
    "tf.io.gfile.rename(root + '/nope', root + '/n2')",
    "tf.io.gfile.remove(root + '/a/z.txt')",
    "tf.io.gfile.remove(root + '/a/z.txt')",
    "tf.io.gfile.remove(root + '/a')",
    "[(d, sorted(s), sorted(n)) for d, s, n in tf.io.gfile.walk(root, topdown=False)]",
    "list(tf.io.gfile.walk(root + '/nope'))",
    "tf.io.gfile.join('/tmp', 'a', 'b')",
    "tf.io.gfile.join('gs://b', 'a')",
    "tf.io.gfile.rmtree(root + '/a/b')",
    "tf.io.gfile.rmtree(root + '/nope')",
    "list(tf.io.gfile.GFile(root + '/a/x.txt'))",
    "tf.io.gfile.GFile(root + '/a/x.txt').readlines()",
    "tf.io.gfile.GFile(root + '/a/x.txt').readline()",
    "tf.io.gfile.GFile(root + '/a/x.txt').size()",
    "tf.io.gfile.GFile(root + '/a/x.txt').name",
    "tf.io.gfile.GFile(root + '/a/x.txt').mode",
    "tf.io.gfile.GFile(root + '/a/x.txt').read(3)",
    "tf.io.gfile.GFile(root + '/a/x.txt').write('q')",
    "tf.io.gfile.GFile(root + '/a/x.txt', 'w').read()",
    "tf.io.gfile.GFile(root + '/a/x.txt', 'zz')",
    "tf.io.gfile.GFile(broot + '/a/x.txt').name",
    "tf.io.gfile.exists(b'/tmp')",
    "tf.io.gfile.GFile(root + '/a', 'r').read()",
    "tf.io.gfile.isdir(root + '/nope')",
    "tf.io.gfile.copy(root + '/a/x.txt', root + '/zz/x')",
    "tf.io.gfile.stat(root + '/a/x.txt').length",
    "tf.io.gfile.stat(root + '/a').is_directory",
    "tf.io.gfile.stat(root + '/nope')",
    "tf.io.matching_files(root + '/a/*.txt')",
    "tf.io.matching_files([root + '/*/y.txt', root + '/q*'])",
    "tf.io.matching_files(root + '/nothing/*')",
    "tf.io.match_filenames_once(root + '/a/*')",
    "tf.io.read_file(root + '/a/x.txt')",
    "tf.io.read_file(root + '/nothing')",
    "tf.io.read_file([root])",
    "tf.io.read_file(root)",
    "tf.io.write_file(root + '/new/folder/x', 'hi')",
)
def test_files_and_folders(expression: str, root: str) -> None:
    """The same answer, and the same files afterwards."""
    copy = f"{root}_copy"
    results = []
    for tf in (tensorflow, tapejax):
        shutil.copytree(root, copy)
        os.rename(root, f"{root}_kept")
        os.rename(copy, root)
        results.append((outcome(expression, tf, {"root": root, "sorted": sorted}), tree(root)))
        shutil.rmtree(root)
        os.rename(f"{root}_kept", root)
    assert results[0] == results[1]


def test_a_file_is_written_read_and_sought(tf, tmp_path) -> None:
    path = str(tmp_path / "s.txt")
    file = tf.io.gfile.GFile(path, "w+")
    file.write("abcdef")
    file.flush()
    file.seek(0)
    assert (file.read(2), file.tell(), file.seekable()) == ("ab", 2, True)
    file.seek(offset=1, whence=0)
    assert file.read() == "bcdef"
    file.close()
    with tf.io.gfile.GFile(path, "a") as file:
        file.write("Z")
    with tf.io.gfile.GFile(path, "rb") as file:
        assert file.read() == b"abcdefZ"
    assert list(tf.io.gfile.GFile(path)) == ["abcdefZ"]


def test_other_file_systems_are_an_error_that_says_so() -> None:
    with pytest.raises(tapejax.errors.UnimplementedError, match="'gs' not implemented"):
        tapejax.io.gfile.exists("gs://bucket/file")
    assert tapejax.io.gfile.get_registered_schemes() == ["", "file"]


def test_graphs_are_not_written() -> None:
    with pytest.raises(NotImplementedError, match=r"tf\.train\.Checkpoint"):
        tapejax.io.write_graph(None, "", "")


# ---------------------------------------------------------------------- records
RECORDS = [b"", b"a", b"x" * 1000, bytes(range(256)) * 300]


def test_checksums_are_those_of_the_standard() -> None:
    assert crc32c(b"") == 0
    assert crc32c(b"123456789") == 0xE3069283
    assert crc32c(bytes(32)) == 0x8A9136AA
    assert crc32c(b"\xff" * 32) == 0x62A8AB43


@pytest.mark.parametrize("size", [255, 256, 257, 511, 512, 513, 4096, 10001])
def test_checksums_of_long_data_are_those_of_a_loop(size) -> None:
    data = np.random.default_rng(size).bytes(size)
    value = 0xFFFFFFFF
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
    assert crc32c(data) == value ^ 0xFFFFFFFF


@pytest.mark.parametrize("compression", [None, "", "GZIP", "ZLIB"])
def test_records_interchange_with_tensorflow(compression, tmp_path) -> None:
    paths = [str(tmp_path / name) for name in ("mine", "theirs")]
    for tf, path in zip((tapejax, tensorflow), paths, strict=True):
        with tf.io.TFRecordWriter(path, compression) as writer:
            for record in RECORDS:
                writer.write(record)
    assert list(read_records(paths[1], compression)) == RECORDS
    found = tensorflow.data.TFRecordDataset(paths[0], compression or "")
    assert [record.numpy() for record in found] == RECORDS
    if not compression:
        assert Path(paths[0]).read_bytes() == Path(paths[1]).read_bytes()


def test_options_and_flushing(tmp_path) -> None:
    path = str(tmp_path / "file")
    options = tapejax.io.TFRecordOptions("GZIP", compression_level=9)
    with tapejax.io.TFRecordWriter(path, options) as writer:
        writer.write(b"one")
        writer.flush()
        writer.write("two")
    assert list(read_records(path, "GZIP")) == [b"one", b"two"]
    with pytest.raises(ValueError, match="Not a valid compression_type"):
        tapejax.io.TFRecordOptions("LZ4")


@pytest.mark.parametrize("harm", ["cut", "data", "length", "other"])
def test_damaged_records_are_an_error(harm, tmp_path) -> None:
    path = tmp_path / "file"
    with tapejax.io.TFRecordWriter(str(path)) as writer:
        writer.write(b"hello")
        writer.write(b"world")
    data = bytearray(path.read_bytes())
    if harm == "cut":
        data = data[:-2]
    elif harm == "other":
        data = bytearray(b"something else, not records")
    else:
        data[14 if harm == "data" else 0] ^= 1
    path.write_bytes(bytes(data))
    with pytest.raises(tapejax.errors.DataLossError, match="record at"):
        list(read_records(str(path)))
    with pytest.raises(tensorflow.errors.DataLossError):
        list(tensorflow.data.TFRecordDataset(str(path)))


def test_records_of_another_compression_are_an_error(tmp_path) -> None:
    path = str(tmp_path / "file")
    with tapejax.io.TFRecordWriter(path) as writer:
        writer.write(b"hello")
    for compression in ("GZIP", "ZLIB"):
        with pytest.raises(tapejax.errors.DataLossError):
            list(read_records(path, compression))
    with pytest.raises(tapejax.errors.NotFoundError):
        list(read_records(path + "x"))


@pytest.mark.parametrize("name", ["FIFOQueue", "PriorityQueue"])
def test_queues_are_refused_with_what_to_use_instead(name) -> None:
    with pytest.raises(NotImplementedError, match=r"tf\.data"):
        getattr(tapejax.queue, name)(10, [tapejax.float32])
