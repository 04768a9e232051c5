"""`tf.keras.backend`: the functions that Keras 2 was written on, as ops on tensors."""

from typing import TYPE_CHECKING, Any

from tapejax._src.core.naming import name_scope as name_scope
from tapejax._src.keras.backend.arrays import batch_dot as batch_dot
from tapejax._src.keras.backend.arrays import batch_flatten as batch_flatten
from tapejax._src.keras.backend.arrays import concatenate as concatenate
from tapejax._src.keras.backend.arrays import dot as dot
from tapejax._src.keras.backend.arrays import expand_dims as expand_dims
from tapejax._src.keras.backend.arrays import flatten as flatten
from tapejax._src.keras.backend.arrays import foldl as foldl
from tapejax._src.keras.backend.arrays import foldr as foldr
from tapejax._src.keras.backend.arrays import gather as gather
from tapejax._src.keras.backend.arrays import map_fn as map_fn
from tapejax._src.keras.backend.arrays import one_hot as one_hot
from tapejax._src.keras.backend.arrays import permute_dimensions as permute_dimensions
from tapejax._src.keras.backend.arrays import repeat as repeat
from tapejax._src.keras.backend.arrays import repeat_elements as repeat_elements
from tapejax._src.keras.backend.arrays import reshape as reshape
from tapejax._src.keras.backend.arrays import resize_images as resize_images
from tapejax._src.keras.backend.arrays import resize_volumes as resize_volumes
from tapejax._src.keras.backend.arrays import reverse as reverse
from tapejax._src.keras.backend.arrays import squeeze as squeeze
from tapejax._src.keras.backend.arrays import stack as stack
from tapejax._src.keras.backend.arrays import temporal_padding as temporal_padding
from tapejax._src.keras.backend.arrays import tile as tile
from tapejax._src.keras.backend.arrays import transpose as transpose
from tapejax._src.keras.backend.losses import binary_crossentropy as binary_crossentropy
from tapejax._src.keras.backend.losses import binary_focal_crossentropy as binary_focal_crossentropy
from tapejax._src.keras.backend.losses import categorical_crossentropy as categorical_crossentropy
from tapejax._src.keras.backend.losses import (
    categorical_focal_crossentropy as categorical_focal_crossentropy,
)
from tapejax._src.keras.backend.losses import (
    sparse_categorical_crossentropy as sparse_categorical_crossentropy,
)
from tapejax._src.keras.backend.mathematics import abs as abs
from tapejax._src.keras.backend.mathematics import all as all
from tapejax._src.keras.backend.mathematics import any as any
from tapejax._src.keras.backend.mathematics import argmax as argmax
from tapejax._src.keras.backend.mathematics import argmin as argmin
from tapejax._src.keras.backend.mathematics import clip as clip
from tapejax._src.keras.backend.mathematics import cos as cos
from tapejax._src.keras.backend.mathematics import cumprod as cumprod
from tapejax._src.keras.backend.mathematics import cumsum as cumsum
from tapejax._src.keras.backend.mathematics import equal as equal
from tapejax._src.keras.backend.mathematics import exp as exp
from tapejax._src.keras.backend.mathematics import greater as greater
from tapejax._src.keras.backend.mathematics import greater_equal as greater_equal
from tapejax._src.keras.backend.mathematics import in_top_k as in_top_k
from tapejax._src.keras.backend.mathematics import l2_normalize as l2_normalize
from tapejax._src.keras.backend.mathematics import less as less
from tapejax._src.keras.backend.mathematics import less_equal as less_equal
from tapejax._src.keras.backend.mathematics import log as log
from tapejax._src.keras.backend.mathematics import max as max
from tapejax._src.keras.backend.mathematics import maximum as maximum
from tapejax._src.keras.backend.mathematics import mean as mean
from tapejax._src.keras.backend.mathematics import min as min
from tapejax._src.keras.backend.mathematics import minimum as minimum
from tapejax._src.keras.backend.mathematics import not_equal as not_equal
from tapejax._src.keras.backend.mathematics import pow as pow
from tapejax._src.keras.backend.mathematics import prod as prod
from tapejax._src.keras.backend.mathematics import round as round
from tapejax._src.keras.backend.mathematics import sign as sign
from tapejax._src.keras.backend.mathematics import sin as sin
from tapejax._src.keras.backend.mathematics import sqrt as sqrt
from tapejax._src.keras.backend.mathematics import square as square
from tapejax._src.keras.backend.mathematics import std as std
from tapejax._src.keras.backend.mathematics import stop_gradient as stop_gradient
from tapejax._src.keras.backend.mathematics import sum as sum
from tapejax._src.keras.backend.mathematics import switch as switch
from tapejax._src.keras.backend.mathematics import var as var
from tapejax._src.keras.backend.neural import batch_normalization as batch_normalization
from tapejax._src.keras.backend.neural import bias_add as bias_add
from tapejax._src.keras.backend.neural import conv1d as conv1d
from tapejax._src.keras.backend.neural import conv2d as conv2d
from tapejax._src.keras.backend.neural import conv2d_transpose as conv2d_transpose
from tapejax._src.keras.backend.neural import conv3d as conv3d
from tapejax._src.keras.backend.neural import depthwise_conv2d as depthwise_conv2d
from tapejax._src.keras.backend.neural import dropout as dropout
from tapejax._src.keras.backend.neural import elu as elu
from tapejax._src.keras.backend.neural import hard_sigmoid as hard_sigmoid
from tapejax._src.keras.backend.neural import local_conv1d as local_conv1d
from tapejax._src.keras.backend.neural import local_conv2d as local_conv2d
from tapejax._src.keras.backend.neural import pool2d as pool2d
from tapejax._src.keras.backend.neural import pool3d as pool3d
from tapejax._src.keras.backend.neural import relu as relu
from tapejax._src.keras.backend.neural import separable_conv2d as separable_conv2d
from tapejax._src.keras.backend.neural import sigmoid as sigmoid
from tapejax._src.keras.backend.neural import softmax as softmax
from tapejax._src.keras.backend.neural import softplus as softplus
from tapejax._src.keras.backend.neural import softsign as softsign
from tapejax._src.keras.backend.neural import spatial_2d_padding as spatial_2d_padding
from tapejax._src.keras.backend.neural import spatial_3d_padding as spatial_3d_padding
from tapejax._src.keras.backend.neural import tanh as tanh
from tapejax._src.keras.backend.sequences import ctc_batch_cost as ctc_batch_cost
from tapejax._src.keras.backend.sequences import ctc_decode as ctc_decode
from tapejax._src.keras.backend.sequences import (
    ctc_label_dense_to_sparse as ctc_label_dense_to_sparse,
)
from tapejax._src.keras.backend.sequences import rnn as rnn
from tapejax._src.keras.backend.settings import backend as backend
from tapejax._src.keras.backend.settings import clear_session as clear_session
from tapejax._src.keras.backend.settings import epsilon as epsilon
from tapejax._src.keras.backend.settings import floatx as floatx
from tapejax._src.keras.backend.settings import function as function
from tapejax._src.keras.backend.settings import get_uid as get_uid
from tapejax._src.keras.backend.settings import gradients as gradients
from tapejax._src.keras.backend.settings import image_data_format as image_data_format
from tapejax._src.keras.backend.settings import in_test_phase as in_test_phase
from tapejax._src.keras.backend.settings import in_train_phase as in_train_phase
from tapejax._src.keras.backend.settings import is_keras_tensor as is_keras_tensor
from tapejax._src.keras.backend.settings import learning_phase as learning_phase
from tapejax._src.keras.backend.settings import learning_phase_scope as learning_phase_scope
from tapejax._src.keras.backend.settings import (
    manual_variable_initialization as manual_variable_initialization,
)
from tapejax._src.keras.backend.settings import placeholder as placeholder
from tapejax._src.keras.backend.settings import print_tensor as print_tensor
from tapejax._src.keras.backend.settings import reset_uids as reset_uids
from tapejax._src.keras.backend.settings import set_epsilon as set_epsilon
from tapejax._src.keras.backend.settings import set_floatx as set_floatx
from tapejax._src.keras.backend.settings import set_image_data_format as set_image_data_format
from tapejax._src.keras.backend.settings import set_learning_phase as set_learning_phase
from tapejax._src.keras.backend.values import arange as arange
from tapejax._src.keras.backend.values import batch_get_value as batch_get_value
from tapejax._src.keras.backend.values import batch_set_value as batch_set_value
from tapejax._src.keras.backend.values import cast as cast
from tapejax._src.keras.backend.values import cast_to_floatx as cast_to_floatx
from tapejax._src.keras.backend.values import constant as constant
from tapejax._src.keras.backend.values import count_params as count_params
from tapejax._src.keras.backend.values import dtype as dtype
from tapejax._src.keras.backend.values import eval as eval
from tapejax._src.keras.backend.values import eye as eye
from tapejax._src.keras.backend.values import get_value as get_value
from tapejax._src.keras.backend.values import int_shape as int_shape
from tapejax._src.keras.backend.values import is_sparse as is_sparse
from tapejax._src.keras.backend.values import moving_average_update as moving_average_update
from tapejax._src.keras.backend.values import ndim as ndim
from tapejax._src.keras.backend.values import ones as ones
from tapejax._src.keras.backend.values import ones_like as ones_like
from tapejax._src.keras.backend.values import random_bernoulli as random_bernoulli
from tapejax._src.keras.backend.values import random_binomial as random_binomial
from tapejax._src.keras.backend.values import random_normal as random_normal
from tapejax._src.keras.backend.values import random_normal_variable as random_normal_variable
from tapejax._src.keras.backend.values import random_uniform as random_uniform
from tapejax._src.keras.backend.values import random_uniform_variable as random_uniform_variable
from tapejax._src.keras.backend.values import set_value as set_value
from tapejax._src.keras.backend.values import shape as shape
from tapejax._src.keras.backend.values import to_dense as to_dense
from tapejax._src.keras.backend.values import truncated_normal as truncated_normal
from tapejax._src.keras.backend.values import update as update
from tapejax._src.keras.backend.values import update_add as update_add
from tapejax._src.keras.backend.values import update_sub as update_sub
from tapejax._src.keras.backend.values import variable as variable
from tapejax._src.keras.backend.values import zeros as zeros
from tapejax._src.keras.backend.values import zeros_like as zeros_like
from tapejax._src.report.missing import guest_attribute

if TYPE_CHECKING:  # Keras is a guest: what it has is known when it is loaded

    def __getattr__(name: str) -> Any: ...

else:
    __getattr__ = guest_attribute(__name__)
