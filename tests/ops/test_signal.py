"""Fourier transforms, frames and windows: NumPy's values, exact inverses, TensorFlow's errors."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import tapejax

RNG = np.random.default_rng(3)
COMPLEX = RNG.normal(size=(3, 4, 5)) + 1j * RNG.normal(size=(3, 4, 5))
REAL = RNG.normal(size=(3, 4, 5))
FORMS = [
    {},
    {"axes": [0]},
    {"axes": [0, 2], "norm": "ortho"},
    {"axes": (-1, 0), "norm": "forward"},
    {"fft_length": [2, 6, 5]},
    {"fft_length": [5, 3], "axes": [2, 0], "norm": "backward"},
]


def in_numpy(function: Callable[..., Any], x: Any, form: dict[str, Any]) -> Any:
    s = form.get("fft_length")
    axes = form.get("axes") if s is None else form.get("axes", range(x.ndim))
    return function(x, s, axes, form.get("norm"))


@pytest.mark.parametrize("form", FORMS, ids=str)
@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft"])
def test_transforms_over_any_axes_are_numpys(name: str, form: dict[str, Any]) -> None:
    x = REAL if name == "rfft" else COMPLEX
    ours = getattr(tapejax.signal, name + "nd")(tapejax.constant(x), **form)
    theirs = in_numpy(getattr(np.fft, name + "n"), x, form)
    np.testing.assert_allclose(ours.numpy(), theirs, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft"])
def test_the_transforms_with_all_arguments_given_are_numpys(name: str) -> None:
    x = REAL if name == "rfft" else COMPLEX
    result = {"rfft": [tapejax.complex128], "irfft": [tapejax.float64]}.get(name, [])
    ours = getattr(tapejax, name + "nd")(x, [2, 6], [0, 2], *result)
    theirs = getattr(np.fft, name + "n")(x, (2, 6), (0, 2))
    np.testing.assert_allclose(ours.numpy(), theirs, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ["rfft", "irfft"])
def test_transforms_over_three_axes_are_numpys(name: str) -> None:
    x = REAL if name == "rfft" else COMPLEX
    ours = getattr(tapejax.signal, name + "3d")(tapejax.constant(x), [2, 5, 8])
    theirs = getattr(np.fft, name + "n")(x, (2, 5, 8), (0, 1, 2))
    np.testing.assert_allclose(ours.numpy(), theirs, rtol=0, atol=1e-12)


def test_gradients_over_any_axes_preserve_the_inner_product() -> None:
    x, weights = tapejax.Variable(COMPLEX), np.conj(COMPLEX[::-1])
    with tapejax.GradientTape() as tape:
        y = tapejax.signal.fftnd(x, axes=[0, 1])
        inner = tapejax.reduce_sum(tapejax.math.real(y * np.conj(weights)))
    gradient = tape.gradient(inner, x).numpy()
    np.testing.assert_allclose(
        np.sum((gradient.conj() * COMPLEX).real),
        np.sum((weights.conj() * np.fft.fftn(COMPLEX, axes=(0, 1))).real),
        rtol=1e-12,
    )


def test_what_is_no_tensor_counts_as_single_precision(tf: ModuleType) -> None:
    assert tf.signal.rfft(np.ones(4)).dtype == tf.complex64
    assert tf.signal.rfft(tf.constant(np.ones(4))).dtype == tf.complex128
    assert tf.signal.irfft([1.0, 2.0]).dtype == tf.float32
    np.testing.assert_array_equal(tf.signal.rfft([1, 2, 3]).shape, [2])


@pytest.mark.parametrize(
    ("program", "error", "text"),
    [
        (lambda tf: tf.signal.fft(tf.ones(3)), "InvalidArgumentError", "'Tcomplex'|not in the"),
        (lambda tf: tf.signal.fft(1j), "InvalidArgumentError", "rank of at least 1"),
        (lambda tf: tf.signal.fft2d([1j]), "InvalidArgumentError", "rank of at least 2"),
        (lambda tf: tf.signal.rfft(tf.constant([1, 2])), ValueError, "RFFT requires tf.float32"),
        (lambda tf: tf.signal.irfft(tf.ones(3)), ValueError, "IRFFT requires tf.complex64"),
        (lambda tf: tf.signal.rfft(1.0), ValueError, "must have rank at least 1"),
        (lambda tf: tf.signal.rfft2d([1.0]), ValueError, "must have rank at least 2"),
        (lambda tf: tf.signal.rfft([1.0], [3, 3]), "InvalidArgumentError", r"have shape \[1\]"),
        (lambda tf: tf.signal.rfft([1.0], [-1]), "InvalidArgumentError", "but got: -1"),
        (lambda tf: tf.signal.dct([1.0], axis=0), NotImplementedError, "axis must be -1"),
        (lambda tf: tf.signal.dct([1.0], n=0), ValueError, "n should be a positive integer"),
        (lambda tf: tf.signal.dct([1.0], 5), ValueError, "Types I, II, III and IV"),
        (lambda tf: tf.signal.dct([1.0], norm="l2"), ValueError, "Unknown normalization"),
        (lambda tf: tf.signal.dct(tf.ones(1), 1), ValueError, "greater than one"),
        (lambda tf: tf.signal.idct(tf.ones(3), 1, norm="ortho"), ValueError, "not supported"),
        (lambda tf: tf.signal.dct(tf.constant([1])), TypeError, "int32|float32"),
        (lambda tf: tf.signal.frame(1.0, 2, 1), ValueError, "must have rank at least 1"),
        (lambda tf: tf.signal.frame([1.0], [2], 1), ValueError, "must have rank 0"),
        (lambda tf: tf.signal.frame([1.0], 2, 0), "InvalidArgumentError", "zero|at least 1"),
        (lambda tf: tf.signal.frame([1.0], 1, 1, axis=1), IndexError, "out of range"),
        (lambda tf: tf.signal.frame([1], 1, 1, True, 0.5), TypeError, "0.5"),
        (lambda tf: tf.signal.overlap_and_add([1.0], 1), ValueError, "rank at least 2"),
        (
            lambda tf: tf.signal.overlap_and_add([[1.0]], 0),
            "InvalidArgumentError",
            "frame_step|Pad",
        ),
        (lambda tf: tf.signal.hann_window(3, dtype=tf.int32), ValueError, "floating point type"),
        (lambda tf: tf.signal.hann_window(-1), "InvalidArgumentError", "-1"),
        (lambda tf: tf.signal.kaiser_window(0), "InvalidArgumentError", "0"),
        (lambda tf: tf.signal.vorbis_window([3]), ValueError, "rank 0"),
        (lambda tf: tf.signal.mdct([1.0], 6), ValueError, "multiple of 4"),
        (lambda tf: tf.signal.inverse_stft(tf.ones([2, 3]), 4, 2), ValueError, "IRFFT requires"),
        (lambda tf: tf.signal.inverse_mdct(tf.ones(4)), ValueError, "rank at least 2"),
        (lambda tf: tf.signal.fftshift([1, 2], 1), "InvalidArgumentError", "out of bounds"),
        (lambda tf: tf.signal.linear_to_mel_weight_matrix(0), ValueError, "must be positive"),
        (
            lambda tf: tf.signal.linear_to_mel_weight_matrix(upper_edge_hertz=5e3),
            ValueError,
            "Nyquist",
        ),
        (
            lambda tf: tf.signal.linear_to_mel_weight_matrix(lower_edge_hertz=4e3),
            ValueError,
            "4000.0 >= upper_edge_hertz 3800.0",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning")  # TensorFlow's, for a step 0
def test_bad_arguments_raise_tensorflows_errors(
    tf: ModuleType, program: Any, error: Any, text: str
) -> None:
    kind = getattr(tf.errors, error) if isinstance(error, str) else error
    with pytest.raises(kind, match=text):
        program(tf)


def test_a_transform_of_length_zero_is_an_error() -> None:
    # TensorFlow ends the process.
    with pytest.raises(tapejax.errors.InvalidArgumentError, match="no zero-sized FFTs"):
        tapejax.signal.irfft(tapejax.ones([3, 1], tapejax.complex64))


def test_axes_of_a_transform_are_checked() -> None:
    x = tapejax.constant(COMPLEX)
    with pytest.raises(tapejax.errors.InvalidArgumentError, match="each axis once"):
        tapejax.signal.fftnd(x, axes=[0, -3])
    with pytest.raises(tapejax.errors.InvalidArgumentError, match="out of range"):
        tapejax.signal.fftnd(x, axes=[3])
    with pytest.raises(ValueError, match="`norm` must be"):
        tapejax.signal.fftnd(x, norm="l2")
    with pytest.raises(tapejax.errors.InvalidArgumentError, match=r"shape \[1\]"):
        tapejax.signal.fftnd(x, [2, 2], [0])


@pytest.mark.parametrize("step", [1, 2, 3, 5])
def test_frames_are_slices_of_the_signal(tf: ModuleType, step: int) -> None:
    x = np.arange(11.0)
    frames = tf.signal.frame(x, 4, step).numpy()
    np.testing.assert_array_equal(frames, [x[s : s + 4] for s in range(0, 8, step)])


@pytest.mark.parametrize(("length", "step"), [(400, 160), (256, 64), (9, 3)])
def test_a_signal_is_recovered_from_its_spectra(tf: ModuleType, length: int, step: int) -> None:
    x = np.random.default_rng(0).normal(size=(2, 2 * length + 3 * step))
    window_fn = tf.signal.inverse_stft_window_fn(step, tf.signal.hamming_window)
    spectra = tf.signal.stft(x, length, step, window_fn=tf.signal.hamming_window)
    back = tf.signal.inverse_stft(spectra, length, step, window_fn=window_fn).numpy()
    covered = slice(length, back.shape[-1] - length)
    np.testing.assert_allclose(back[:, covered], x[:, covered], rtol=0, atol=1e-12)


@pytest.mark.parametrize("norm", [None, "ortho"])
@pytest.mark.parametrize("window", ["vorbis_window", "kaiser_bessel_derived_window", None])
def test_a_signal_is_recovered_from_its_modified_cosine_transforms(
    tf: ModuleType, norm: str | None, window: str | None
) -> None:
    x = np.random.default_rng(0).normal(size=64)
    window_fn = None if window is None else getattr(tf.signal, window)
    bins = tf.signal.mdct(x, 16, window_fn, norm=norm)
    back = tf.signal.inverse_mdct(bins, window_fn, norm).numpy()
    np.testing.assert_allclose(back[8:-8], x[8:-8], rtol=0, atol=1e-12)


def test_a_window_function_gets_a_length_and_a_dtype_as_tensorflow_gives_them(
    tf: ModuleType,
) -> None:
    seen = []

    def window_fn(length: Any, dtype: Any) -> Any:
        seen.append((length.dtype, length.shape.rank, dtype))
        return tf.ones([length], dtype)

    tf.signal.stft(tf.zeros([8]), 4, 2, window_fn=window_fn)
    assert seen == [(tf.int32, 0, tf.float32)]


def test_a_spectrogram_in_a_function_has_the_gradient_of_the_eager_one(tf: ModuleType) -> None:
    def loss(x: Any) -> Any:
        spectra = tf.abs(tf.signal.stft(x, 8, 4))
        mel = tf.matmul(spectra, tf.signal.linear_to_mel_weight_matrix(4, 5, dtype=x.dtype))
        return tf.reduce_sum(tf.signal.mfccs_from_log_mel_spectrograms(tf.math.log(mel + 1)) ** 2)

    x = tf.constant(np.random.default_rng(5).normal(size=32))
    gradients = []
    for call in (loss, tf.function(loss)):
        with tf.GradientTape() as tape:
            tape.watch(x)
            value = call(x)
        gradients.append(tape.gradient(value, x).numpy())
    np.testing.assert_allclose(*gradients, rtol=1e-10)
    assert np.any(gradients[0])


def test_the_shape_parameter_of_a_kaiser_window_has_a_gradient(tf: ModuleType) -> None:
    beta = tf.Variable(5.0, dtype=tf.float64)
    with tf.GradientTape() as tape:
        total = tf.reduce_sum(tf.signal.kaiser_window(7, beta, tf.float64))
    step = 1e-6
    ends = [np.sum(np.kaiser(7, 5.0 + sign * step)) for sign in (1, -1)]
    slope = (ends[0] - ends[1]) / (2 * step)
    np.testing.assert_allclose(tape.gradient(total, beta).numpy(), slope, rtol=1e-7)
