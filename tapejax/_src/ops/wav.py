"""`tf.audio`: sound as WAV files of 16 bits."""

from __future__ import annotations

import struct
from typing import Any, NamedTuple

import numpy as np

from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.engine.convert import as_tensor, constant_tensor, known_value
from tapejax._src.engine.registry import public
from tapejax._src.engine.texts import text_tensor
from tapejax._src.ops.file_contents import scalar_text
from tapejax._src.ops.shape_checks import brackets


class DecodeWav(NamedTuple):
    """What `tf.audio.decode_wav` returns.

    Attributes:
        audio: `[samples, channels]` float32 in [-1, 1).
        sample_rate: Samples in a second, a scalar int32.
    """

    audio: Any
    sample_rate: Any


def _failed(message: str) -> InvalidArgumentError:
    return InvalidArgumentError(f"{message} [Op:DecodeWav]")


def _chunks(data: bytes) -> dict[bytes, bytes]:
    """The parts of a file by their names."""
    for mark, start in ((b"RIFF", 0), (b"WAVE", 8)):
        found_mark = data[start : start + 4]
        if len(found_mark) < 4:
            raise _failed("Data too short when trying to read string")
        if found_mark != mark:
            shown = found_mark.decode("ascii", "replace")
            raise _failed(f"Header mismatch: Expected {mark.decode()} but found {shown}")
    found: dict[bytes, bytes] = {}
    at = 12
    while at + 8 <= len(data):
        name, size = data[at : at + 4], struct.unpack_from("<I", data, at + 4)[0]
        if at + 8 + size > len(data):
            raise _failed(f"Data too short when trying to read the chunk {name!r}")
        found.setdefault(name, data[at + 8 : at + 8 + size])
        at += 8 + size + size % 2
    return found


@public("audio.decode_wav")
def decode_wav(
    contents: Any, desired_channels: int = -1, desired_samples: int = -1, name: str | None = None
) -> DecodeWav:
    """The sound of a WAV file of 16 bits.

    Args:
        contents: A string, scalar: the file.
        desired_channels: How many channels there shall be: superfluous ones are left out, missing
            ones are copies of the last. -1: as many as in the file.
        desired_samples: How many samples there shall be: superfluous ones are left out, missing
            ones are zero. -1: as many as in the file.
        name: Ignored.

    Returns:
        `(audio, sample_rate)`: float32 `[samples, channels]` in [-1, 1), and int32.

    Raises:
        InvalidArgumentError: If it is no such file.

    Example:
        >>> import tapejax as tf
        >>> file = tf.audio.encode_wav([[0.0], [0.5]], 8000)
        >>> sound = tf.audio.decode_wav(file)
        >>> sound.audio.shape, sound.sample_rate.numpy()
        (TensorShape([2, 1]), np.int32(8000))
    """
    parts = _chunks(scalar_text(contents, "contents", "DecodeWav"))
    head = parts.get(b"fmt ", b"")
    if len(head) < 16:
        raise _failed("Data too short when trying to read the format of a WAV file")
    form, channels, rate, _, _, bits = struct.unpack_from("<HHIIHH", head)
    if form != 1 or bits != 16:
        raise _failed(
            "Bad audio format for WAV: Expected 1 (PCM) with 16 bits per sample, but got "
            f"{form} with {bits}"
        )
    if b"data" not in parts:
        raise _failed("No data chunk found")
    data = parts[b"data"]
    samples = np.frombuffer(data[: len(data) // (2 * channels) * 2 * channels], "<i2")
    audio = samples.reshape(-1, channels).astype(np.float32) / 32768
    if desired_channels != -1:
        extra = max(desired_channels - channels, 0)
        audio = np.concatenate([audio, np.repeat(audio[:, -1:], extra, 1)], 1)[:, :desired_channels]
    if desired_samples != -1:
        audio = np.pad(audio, ((0, max(desired_samples - len(audio), 0)), (0, 0)))
        audio = audio[:desired_samples]
    return DecodeWav(constant_tensor(np.array(audio)), constant_tensor(np.array(rate, np.int32)))


@public("audio.encode_wav")
def encode_wav(audio: Any, sample_rate: Any, name: str | None = None) -> Any:
    """A WAV file of 16 bits.

    Args:
        audio: float32 `[samples, channels]`; what is outside [-1, 1] is clipped.
        sample_rate: Samples in a second, a scalar int32.
        name: Ignored.

    Returns:
        A string, scalar.

    Raises:
        InvalidArgumentError: If the shapes do not fit, or there is no channel.

    Example:
        >>> import tapejax as tf
        >>> len(tf.audio.encode_wav([[0.0], [0.5]], 8000).numpy())
        48
    """
    sound, rate = known_value(as_tensor(audio)), known_value(as_tensor(sample_rate))
    if sound.ndim != 2:
        raise InvalidArgumentError(
            f"audio must be 2-dimensional: {brackets(sound.shape)} [Op:EncodeWav]"
        )
    if rate.ndim:
        raise InvalidArgumentError(
            f"Input sample_rate should be a scalar tensor, got {brackets(rate.shape)} instead "
            "[Op:EncodeWav]"
        )
    channels = sound.shape[1]
    if not channels:
        raise InvalidArgumentError(f"audio must have channels: {brackets(sound.shape)}")
    scaled = np.clip(sound.astype(np.float32) * np.float32(32768), -32768, 32767)
    data = np.rint(scaled).astype("<i2").tobytes()
    second = int(rate) * 2 * channels
    head = struct.pack("<HHIIHH", 1, channels, int(rate), second, 2 * channels, 16)
    made = b"WAVEfmt " + struct.pack("<I", 16) + head + b"data" + struct.pack("<I", len(data))
    return text_tensor(b"RIFF" + struct.pack("<I", len(made) + len(data)) + made + data)
