"""TensorFlow 2's tape API on JAX: `import tapejax as tf`.

Eager TensorFlow code with `tf.GradientTape` runs as compiled XLA programs: ops are recorded,
recorded programs are recognised when they repeat, and run when a value is needed.
"""

from typing import TYPE_CHECKING

from tapejax import audio as audio
from tapejax import autodiff as autodiff
from tapejax import autograph as autograph
from tapejax import bitwise as bitwise
from tapejax import compat as compat
from tapejax import config as config
from tapejax import data as data
from tapejax import debugging as debugging
from tapejax import distribute as distribute
from tapejax import dtypes as dtypes
from tapejax import errors as errors
from tapejax import experimental as experimental
from tapejax import image as image
from tapejax import initializers as initializers
from tapejax import io as io
from tapejax import keras as keras
from tapejax import linalg as linalg
from tapejax import lookup as lookup
from tapejax import losses as losses
from tapejax import math as math
from tapejax import metrics as metrics
from tapejax import nest as nest
from tapejax import nn as nn
from tapejax import optimizers as optimizers
from tapejax import profiler as profiler
from tapejax import quantization as quantization
from tapejax import queue as queue
from tapejax import ragged as ragged
from tapejax import random as random
from tapejax import raw_ops as raw_ops
from tapejax import sets as sets
from tapejax import signal as signal
from tapejax import sparse as sparse
from tapejax import strings as strings
from tapejax import summary as summary
from tapejax import sysconfig as sysconfig
from tapejax import test as test
from tapejax import tpu as tpu
from tapejax import train as train
from tapejax import types as types
from tapejax import version as version
from tapejax._src.core.device_spec import DeviceSpec as DeviceSpec
from tapejax._src.core.dtypes import DType as DType
from tapejax._src.core.dtypes import as_dtype as as_dtype
from tapejax._src.core.dtypes import bfloat16 as bfloat16
from tapejax._src.core.dtypes import bool_ as bool  # pyright: ignore[reportUnusedImport]  renamed
from tapejax._src.core.dtypes import complex64 as complex64
from tapejax._src.core.dtypes import complex128 as complex128
from tapejax._src.core.dtypes import double as double
from tapejax._src.core.dtypes import float16 as float16
from tapejax._src.core.dtypes import float32 as float32
from tapejax._src.core.dtypes import float64 as float64
from tapejax._src.core.dtypes import half as half
from tapejax._src.core.dtypes import int8 as int8
from tapejax._src.core.dtypes import int16 as int16
from tapejax._src.core.dtypes import int32 as int32
from tapejax._src.core.dtypes import int64 as int64
from tapejax._src.core.dtypes import qint8 as qint8
from tapejax._src.core.dtypes import qint16 as qint16
from tapejax._src.core.dtypes import qint32 as qint32
from tapejax._src.core.dtypes import quint8 as quint8
from tapejax._src.core.dtypes import quint16 as quint16
from tapejax._src.core.dtypes import resource as resource
from tapejax._src.core.dtypes import string as string
from tapejax._src.core.dtypes import uint8 as uint8
from tapejax._src.core.dtypes import uint16 as uint16
from tapejax._src.core.dtypes import uint32 as uint32
from tapejax._src.core.dtypes import uint64 as uint64
from tapejax._src.core.dtypes import variant as variant
from tapejax._src.core.indexed_slices import IndexedSlices as IndexedSlices
from tapejax._src.core.naming import name_scope as name_scope
from tapejax._src.core.shapes import TensorShape as TensorShape
from tapejax._src.core.specs import IndexedSlicesSpec as IndexedSlicesSpec
from tapejax._src.core.specs import TensorSpec as TensorSpec
from tapejax._src.core.specs import TypeSpec as TypeSpec
from tapejax._src.core.variable import VariableAggregation as VariableAggregation
from tapejax._src.core.variable import VariableSynchronization as VariableSynchronization
from tapejax._src.core.version import __version__ as __version__
from tapejax._src.function.accumulating import foldl as foldl
from tapejax._src.function.accumulating import foldr as foldr
from tapejax._src.function.accumulating import scan as scan
from tapejax._src.function.batching import (
    nondifferentiable_batch_function as nondifferentiable_batch_function,
)
from tapejax._src.function.control_flow import case as case
from tapejax._src.function.control_flow import cond as cond
from tapejax._src.function.control_flow import switch_case as switch_case
from tapejax._src.function.control_flow import while_loop as while_loop
from tapejax._src.function.execution import control_dependencies as control_dependencies
from tapejax._src.function.execution import executing_eagerly as executing_eagerly
from tapejax._src.function.execution import get_logger as get_logger
from tapejax._src.function.execution import group as group
from tapejax._src.function.execution import init_scope as init_scope
from tapejax._src.function.execution import no_op as no_op
from tapejax._src.function.function import function as function
from tapejax._src.function.function import inside_function as inside_function
from tapejax._src.function.graph_era import AggregationMethod as AggregationMethod
from tapejax._src.function.graph_era import CriticalSection as CriticalSection
from tapejax._src.function.graph_era import Graph as Graph
from tapejax._src.function.graph_era import Operation as Operation
from tapejax._src.function.graph_era import RegisterGradient as RegisterGradient
from tapejax._src.function.graph_era import check_pinned as check_pinned
from tapejax._src.function.graph_era import get_current_name_scope as get_current_name_scope
from tapejax._src.function.graph_era import guarantee_const as guarantee_const
from tapejax._src.function.graph_era import import_graph_def as import_graph_def
from tapejax._src.function.graph_era import is_symbolic_tensor as is_symbolic_tensor
from tapejax._src.function.graph_era import load_library as load_library
from tapejax._src.function.graph_era import load_op_library as load_op_library
from tapejax._src.function.graph_era import no_gradient as no_gradient
from tapejax._src.function.graph_era import timestamp as timestamp
from tapejax._src.function.graph_era import tuple_ as tuple  # pyright: ignore[reportUnusedImport]  renamed
from tapejax._src.function.graph_era import type_spec_from_value as type_spec_from_value
from tapejax._src.function.graph_gradients import gradients as gradients
from tapejax._src.function.graph_gradients import hessians as hessians
from tapejax._src.function.mapping import map_fn as map_fn
from tapejax._src.function.mapping import vectorized_map as vectorized_map
from tapejax._src.function.module import Module as Module
from tapejax._src.function.python_functions import numpy_function as numpy_function
from tapejax._src.function.python_functions import py_function as py_function
from tapejax._src.function.tensor_array import TensorArray as TensorArray
from tapejax._src.ops.approx_top_k import approx_top_k as approx_top_k
from tapejax._src.ops.arithmetic import abs as abs
from tapejax._src.ops.arithmetic import add as add
from tapejax._src.ops.arithmetic import divide as divide
from tapejax._src.ops.arithmetic import divide as truediv  # pyright: ignore[reportUnusedImport]  renamed
from tapejax._src.ops.arithmetic import maximum as maximum
from tapejax._src.ops.arithmetic import minimum as minimum
from tapejax._src.ops.arithmetic import multiply as multiply
from tapejax._src.ops.arithmetic import negative as negative
from tapejax._src.ops.arithmetic import realdiv as realdiv
from tapejax._src.ops.arithmetic import sign as sign
from tapejax._src.ops.arithmetic import subtract as subtract
from tapejax._src.ops.arithmetic import truncatediv as truncatediv
from tapejax._src.ops.arithmetic import truncatemod as truncatemod
from tapejax._src.ops.assertions import Assert as Assert
from tapejax._src.ops.assertions import assert_equal as assert_equal
from tapejax._src.ops.assertions import assert_greater as assert_greater
from tapejax._src.ops.assertions import assert_less as assert_less
from tapejax._src.ops.blocks import batch_to_space as batch_to_space
from tapejax._src.ops.blocks import reverse_sequence as reverse_sequence
from tapejax._src.ops.blocks import sequence_mask as sequence_mask
from tapejax._src.ops.blocks import space_to_batch as space_to_batch
from tapejax._src.ops.blocks import space_to_batch_nd as space_to_batch_nd
from tapejax._src.ops.casting import bitcast as bitcast
from tapejax._src.ops.casting import cast as cast
from tapejax._src.ops.casting import saturate_cast as saturate_cast
from tapejax._src.ops.clipping import clip_by_global_norm as clip_by_global_norm
from tapejax._src.ops.clipping import clip_by_norm as clip_by_norm
from tapejax._src.ops.clipping import clip_by_value as clip_by_value
from tapejax._src.ops.comparison import equal as equal
from tapejax._src.ops.comparison import greater as greater
from tapejax._src.ops.comparison import greater_equal as greater_equal
from tapejax._src.ops.comparison import less as less
from tapejax._src.ops.comparison import less_equal as less_equal
from tapejax._src.ops.comparison import logical_and as logical_and
from tapejax._src.ops.comparison import logical_not as logical_not
from tapejax._src.ops.comparison import logical_or as logical_or
from tapejax._src.ops.comparison import not_equal as not_equal
from tapejax._src.ops.complex_parts import complex as complex
from tapejax._src.ops.constants import constant as constant
from tapejax._src.ops.constants import convert_to_tensor as convert_to_tensor
from tapejax._src.ops.constants import get_static_value as get_static_value
from tapejax._src.ops.constants import is_tensor as is_tensor
from tapejax._src.ops.convolution_gradients import conv as conv
from tapejax._src.ops.counting import histogram_fixed_width as histogram_fixed_width
from tapejax._src.ops.counting import histogram_fixed_width_bins as histogram_fixed_width_bins
from tapejax._src.ops.counting import searchsorted as searchsorted
from tapejax._src.ops.counting import unique as unique
from tapejax._src.ops.counting import unique_with_counts as unique_with_counts
from tapejax._src.ops.creation import eye as eye
from tapejax._src.ops.creation import fill as fill
from tapejax._src.ops.creation import linspace as linspace
from tapejax._src.ops.creation import one_hot as one_hot
from tapejax._src.ops.creation import ones as ones
from tapejax._src.ops.creation import ones_like as ones_like
from tapejax._src.ops.creation import range as range
from tapejax._src.ops.creation import zeros as zeros
from tapejax._src.ops.creation import zeros_like as zeros_like
from tapejax._src.ops.ctc_decoding import edit_distance as edit_distance
from tapejax._src.ops.cumulative import cumsum as cumsum
from tapejax._src.ops.devices import device as device
from tapejax._src.ops.einsum import einsum as einsum
from tapejax._src.ops.elementwise import acos as acos
from tapejax._src.ops.elementwise import acosh as acosh
from tapejax._src.ops.elementwise import asin as asin
from tapejax._src.ops.elementwise import asinh as asinh
from tapejax._src.ops.elementwise import atan as atan
from tapejax._src.ops.elementwise import atan2 as atan2
from tapejax._src.ops.elementwise import atanh as atanh
from tapejax._src.ops.elementwise import cos as cos
from tapejax._src.ops.elementwise import cosh as cosh
from tapejax._src.ops.elementwise import exp as exp
from tapejax._src.ops.elementwise import sigmoid as sigmoid
from tapejax._src.ops.elementwise import sin as sin
from tapejax._src.ops.elementwise import sinh as sinh
from tapejax._src.ops.elementwise import tan as tan
from tapejax._src.ops.elementwise import tanh as tanh
from tapejax._src.ops.fingerprints import fingerprint as fingerprint
from tapejax._src.ops.fourier_axes import fftnd_of as fftnd  # pyright: ignore[reportUnusedImport]  renamed
from tapejax._src.ops.fourier_axes import ifftnd_of as ifftnd  # pyright: ignore[reportUnusedImport]  renamed
from tapejax._src.ops.fourier_axes import irfftnd_of as irfftnd  # pyright: ignore[reportUnusedImport]  renamed
from tapejax._src.ops.fourier_axes import rfftnd_of as rfftnd  # pyright: ignore[reportUnusedImport]  renamed
from tapejax._src.ops.gathering import gather as gather
from tapejax._src.ops.gathering import gather_nd as gather_nd
from tapejax._src.ops.host_print import print as print
from tapejax._src.ops.initializers import Constant as constant_initializer  # pyright: ignore[reportUnusedImport]  renamed
from tapejax._src.ops.initializers import Ones as ones_initializer  # pyright: ignore[reportUnusedImport]  renamed
from tapejax._src.ops.initializers import RandomNormal as random_normal_initializer  # pyright: ignore[reportUnusedImport]  renamed
from tapejax._src.ops.initializers import RandomUniform as random_uniform_initializer  # pyright: ignore[reportUnusedImport]  renamed
from tapejax._src.ops.initializers import Zeros as zeros_initializer  # pyright: ignore[reportUnusedImport]  renamed
from tapejax._src.ops.joining import concat as concat
from tapejax._src.ops.joining import pad as pad
from tapejax._src.ops.joining import split as split
from tapejax._src.ops.joining import stack as stack
from tapejax._src.ops.joining import unstack as unstack
from tapejax._src.ops.matmul import matmul as matmul
from tapejax._src.ops.matmul import tensordot as tensordot
from tapejax._src.ops.matrix_functions import sqrtm as matrix_square_root  # pyright: ignore[reportUnusedImport]  renamed
from tapejax._src.ops.norm import norm as norm
from tapejax._src.ops.number_texts import as_string as as_string
from tapejax._src.ops.operators import Tensor as Tensor
from tapejax._src.ops.operators import Variable as Variable
from tapejax._src.ops.operators import newaxis as newaxis
from tapejax._src.ops.permuting import reverse as reverse
from tapejax._src.ops.permuting import roll as roll
from tapejax._src.ops.permuting import transpose as transpose
from tapejax._src.ops.permuting import unravel_index as unravel_index
from tapejax._src.ops.powers import pow as pow
from tapejax._src.ops.powers import sqrt as sqrt
from tapejax._src.ops.powers import square as square
from tapejax._src.ops.ragged_tensor import RaggedTensor as RaggedTensor
from tapejax._src.ops.ragged_tensor import RaggedTensorSpec as RaggedTensorSpec
from tapejax._src.ops.reduction import reduce_all as reduce_all
from tapejax._src.ops.reduction import reduce_any as reduce_any
from tapejax._src.ops.reduction import reduce_max as reduce_max
from tapejax._src.ops.reduction import reduce_mean as reduce_mean
from tapejax._src.ops.reduction import reduce_min as reduce_min
from tapejax._src.ops.reduction import reduce_prod as reduce_prod
from tapejax._src.ops.reduction import reduce_sum as reduce_sum
from tapejax._src.ops.registered_conversion import (
    register_tensor_conversion_function as register_tensor_conversion_function,
)
from tapejax._src.ops.registered_conversion import variable_creator_scope as variable_creator_scope
from tapejax._src.ops.rounding import floor as floor
from tapejax._src.ops.rounding import round as round
from tapejax._src.ops.scattering import scatter_nd as scatter_nd
from tapejax._src.ops.scattering import tensor_scatter_nd_add as tensor_scatter_nd_add
from tapejax._src.ops.scattering import tensor_scatter_nd_max as tensor_scatter_nd_max
from tapejax._src.ops.scattering import tensor_scatter_nd_min as tensor_scatter_nd_min
from tapejax._src.ops.scattering import tensor_scatter_nd_sub as tensor_scatter_nd_sub
from tapejax._src.ops.scattering import tensor_scatter_nd_update as tensor_scatter_nd_update
from tapejax._src.ops.selecting import boolean_mask as boolean_mask
from tapejax._src.ops.selecting import dynamic_partition as dynamic_partition
from tapejax._src.ops.selecting import dynamic_stitch as dynamic_stitch
from tapejax._src.ops.selecting import where as where
from tapejax._src.ops.selection import argmax as argmax
from tapejax._src.ops.selection import argmin as argmin
from tapejax._src.ops.shape_queries import broadcast_dynamic_shape as broadcast_dynamic_shape
from tapejax._src.ops.shape_queries import broadcast_static_shape as broadcast_static_shape
from tapejax._src.ops.shape_queries import rank as rank
from tapejax._src.ops.shape_queries import (
    required_space_to_batch_paddings as required_space_to_batch_paddings,
)
from tapejax._src.ops.shape_queries import shape as shape
from tapejax._src.ops.shape_queries import shape_n as shape_n
from tapejax._src.ops.shape_queries import size as size
from tapejax._src.ops.shaping import broadcast_to as broadcast_to
from tapejax._src.ops.shaping import ensure_shape as ensure_shape
from tapejax._src.ops.shaping import expand_dims as expand_dims
from tapejax._src.ops.shaping import identity as identity
from tapejax._src.ops.shaping import identity_n as identity_n
from tapejax._src.ops.shaping import meshgrid as meshgrid
from tapejax._src.ops.shaping import repeat as repeat
from tapejax._src.ops.shaping import reshape as reshape
from tapejax._src.ops.shaping import squeeze as squeeze
from tapejax._src.ops.shaping import tile as tile
from tapejax._src.ops.slicing import slice as slice
from tapejax._src.ops.slicing import strided_slice as strided_slice
from tapejax._src.ops.sorting import argsort as argsort
from tapejax._src.ops.sorting import sort as sort
from tapejax._src.ops.sparse_tensor import SparseTensor as SparseTensor
from tapejax._src.ops.sparse_tensor import SparseTensorSpec as SparseTensorSpec
from tapejax._src.ops.spectral import eig as eig
from tapejax._src.ops.spectral import eigvals as eigvals
from tapejax._src.ops.spread import reduce_logsumexp as reduce_logsumexp
from tapejax._src.ops.static_assertions import assert_rank as assert_rank
from tapejax._src.ops.sums import add_n as add_n
from tapejax._src.ops.sums import scalar_mul as scalar_mul
from tapejax._src.ops.tensor_protos import make_ndarray as make_ndarray
from tapejax._src.ops.tensor_protos import make_tensor_proto as make_tensor_proto
from tapejax._src.ops.volume_patches import extract_volume_patches as extract_volume_patches
from tapejax._src.ops.volume_patches import parallel_stack as parallel_stack
from tapejax._src.report.missing import missing_attribute
from tapejax._src.tape.arguments import UnconnectedGradients as UnconnectedGradients
from tapejax._src.tape.custom_gradient import custom_gradient as custom_gradient
from tapejax._src.tape.custom_gradient import grad_pass_through as grad_pass_through
from tapejax._src.tape.custom_gradient import recompute_grad as recompute_grad
from tapejax._src.tape.custom_gradient import stop_gradient as stop_gradient
from tapejax._src.tape.gradient_tape import GradientTape as GradientTape
from tapejax._src.tape.interop import jax_call as jax_call

if not TYPE_CHECKING:  # a type checker must go on reporting names that do not exist
    __getattr__ = missing_attribute(__name__)
