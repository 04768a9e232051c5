"""TFRecord files: checksums, damage, compression."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from tapejax._src.core import errors
from tapejax._src.ops.checksums import crc32c
from tapejax._src.ops.record_files import RecordWriter, read_records


def bitwise_crc32c(data):
    """The checksum by its definition: long division by the polynomial, bit by bit."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def test_known_checksums():
    """The vectors of RFC 3720, B.4."""
    assert crc32c(bytes(32)) == 0x8A9136AA
    assert crc32c(b"\xff" * 32) == 0x62A8AB43
    assert crc32c(bytes(range(32))) == 0x46DD794E


@pytest.mark.parametrize("size", [0, 1, 255, 1023, 1024, 1025, 4096, 5000, 20000])
def test_checksums_of_all_sizes(size):
    data = np.random.default_rng(size).bytes(size)
    assert crc32c(data) == bitwise_crc32c(data)


@pytest.mark.parametrize("compression", ["", "GZIP", "ZLIB"])
def test_records_come_back(tmp_path, compression):
    path = str(tmp_path / "a.tfrecord")
    records = [b"", b"one", b"x" * 5000]
    with RecordWriter(path, compression) as writer:
        for record in records:
            writer.write(record)
    assert list(read_records(path, compression)) == records


def written(tmp_path):
    path = tmp_path / "a.tfrecord"
    with RecordWriter(str(path)) as writer:
        writer.write(b"first")
        writer.write(b"second")
    return path


def test_a_wrong_byte_is_found(tmp_path):
    path = written(tmp_path)
    data = bytearray(path.read_bytes())
    data[12] ^= 1  # in the first record
    path.write_bytes(data)
    with pytest.raises(errors.DataLossError, match="corrupted record at 0"):
        list(read_records(str(path)))


def test_a_wrong_length_is_found(tmp_path):
    path = written(tmp_path)
    data = path.read_bytes()
    path.write_bytes(struct.pack("<Q", 1 << 40) + data[8:])
    with pytest.raises(errors.DataLossError, match="corrupted record at 0"):
        list(read_records(str(path)))


def test_a_file_that_is_cut_off_gives_what_is_whole(tmp_path):
    path = written(tmp_path)
    path.write_bytes(path.read_bytes()[:-3])
    records = read_records(str(path))
    assert next(records) == b"first"
    with pytest.raises(errors.DataLossError, match="truncated record at 21"):
        next(records)


def test_compressed_data_that_is_none(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"not compressed at all")
    with pytest.raises(errors.DataLossError):
        list(read_records(str(path), "GZIP"))
    with pytest.raises(errors.DataLossError):
        list(read_records(str(path), "ZLIB"))
