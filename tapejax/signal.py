"""`tf.signal`: signals."""

from typing import TYPE_CHECKING

from tapejax._src.ops.cosine_transforms import dct as dct
from tapejax._src.ops.cosine_transforms import idct as idct
from tapejax._src.ops.cosine_transforms import (
    mfccs_from_log_mel_spectrograms as mfccs_from_log_mel_spectrograms,
)
from tapejax._src.ops.fourier import fft as fft
from tapejax._src.ops.fourier import fft2d as fft2d
from tapejax._src.ops.fourier import fft3d as fft3d
from tapejax._src.ops.fourier import fftshift as fftshift
from tapejax._src.ops.fourier import ifft as ifft
from tapejax._src.ops.fourier import ifft2d as ifft2d
from tapejax._src.ops.fourier import ifft3d as ifft3d
from tapejax._src.ops.fourier import ifftshift as ifftshift
from tapejax._src.ops.fourier_axes import fftnd as fftnd
from tapejax._src.ops.fourier_axes import ifftnd as ifftnd
from tapejax._src.ops.fourier_axes import irfftnd as irfftnd
from tapejax._src.ops.fourier_axes import rfftnd as rfftnd
from tapejax._src.ops.fourier_real import irfft as irfft
from tapejax._src.ops.fourier_real import irfft2d as irfft2d
from tapejax._src.ops.fourier_real import irfft3d as irfft3d
from tapejax._src.ops.fourier_real import rfft as rfft
from tapejax._src.ops.fourier_real import rfft2d as rfft2d
from tapejax._src.ops.fourier_real import rfft3d as rfft3d
from tapejax._src.ops.framing import frame as frame
from tapejax._src.ops.framing import overlap_and_add as overlap_and_add
from tapejax._src.ops.short_time import inverse_mdct as inverse_mdct
from tapejax._src.ops.short_time import inverse_stft as inverse_stft
from tapejax._src.ops.short_time import inverse_stft_window_fn as inverse_stft_window_fn
from tapejax._src.ops.short_time import linear_to_mel_weight_matrix as linear_to_mel_weight_matrix
from tapejax._src.ops.short_time import mdct as mdct
from tapejax._src.ops.short_time import stft as stft
from tapejax._src.ops.signal_windows import hamming_window as hamming_window
from tapejax._src.ops.signal_windows import hann_window as hann_window
from tapejax._src.ops.signal_windows import (
    kaiser_bessel_derived_window as kaiser_bessel_derived_window,
)
from tapejax._src.ops.signal_windows import kaiser_window as kaiser_window
from tapejax._src.ops.signal_windows import vorbis_window as vorbis_window
from tapejax._src.report.missing import missing_attribute

if not TYPE_CHECKING:  # a type checker must go on reporting names that do not exist
    __getattr__ = missing_attribute(__name__)
