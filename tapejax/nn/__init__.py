"""`tf.nn`: building blocks of neural networks."""

from typing import TYPE_CHECKING

from tapejax._src.ops.activation import crelu as crelu
from tapejax._src.ops.activation import elu as elu
from tapejax._src.ops.activation import gelu as gelu
from tapejax._src.ops.activation import leaky_relu as leaky_relu
from tapejax._src.ops.activation import relu as relu
from tapejax._src.ops.activation import relu6 as relu6
from tapejax._src.ops.activation import selu as selu
from tapejax._src.ops.activation import silu as silu
from tapejax._src.ops.activation import silu as swish  # pyright: ignore[reportUnusedImport]  renamed
from tapejax._src.ops.approx_top_k import approx_max_k as approx_max_k
from tapejax._src.ops.approx_top_k import approx_min_k as approx_min_k
from tapejax._src.ops.blocks import depth_to_space as depth_to_space
from tapejax._src.ops.blocks import space_to_batch as space_to_batch
from tapejax._src.ops.blocks import space_to_depth as space_to_depth
from tapejax._src.ops.candidate_sampling import all_candidate_sampler as all_candidate_sampler
from tapejax._src.ops.candidate_sampling import (
    fixed_unigram_candidate_sampler as fixed_unigram_candidate_sampler,
)
from tapejax._src.ops.collapsing import collapse_repeated as collapse_repeated
from tapejax._src.ops.convolution import atrous_conv2d as atrous_conv2d
from tapejax._src.ops.convolution import conv1d as conv1d
from tapejax._src.ops.convolution import conv2d as conv2d
from tapejax._src.ops.convolution import conv3d as conv3d
from tapejax._src.ops.convolution import convolution as convolution
from tapejax._src.ops.convolution import depthwise_conv2d as depthwise_conv2d
from tapejax._src.ops.convolution import separable_conv2d as separable_conv2d
from tapejax._src.ops.convolution_gradients import (
    depthwise_conv2d_backprop_filter as depthwise_conv2d_backprop_filter,
)
from tapejax._src.ops.convolution_gradients import (
    depthwise_conv2d_backprop_input as depthwise_conv2d_backprop_input,
)
from tapejax._src.ops.cross_entropy import l2_loss as l2_loss
from tapejax._src.ops.cross_entropy import log_poisson_loss as log_poisson_loss
from tapejax._src.ops.cross_entropy import (
    sigmoid_cross_entropy_with_logits as sigmoid_cross_entropy_with_logits,
)
from tapejax._src.ops.cross_entropy import (
    weighted_cross_entropy_with_logits as weighted_cross_entropy_with_logits,
)
from tapejax._src.ops.ctc import ctc_loss as ctc_loss
from tapejax._src.ops.ctc import ctc_unique_labels as ctc_unique_labels
from tapejax._src.ops.ctc_decoding import ctc_beam_search_decoder as ctc_beam_search_decoder
from tapejax._src.ops.ctc_decoding import ctc_greedy_decoder as ctc_greedy_decoder
from tapejax._src.ops.dilation import dilation2d as dilation2d
from tapejax._src.ops.dilation import erosion2d as erosion2d
from tapejax._src.ops.dropout import dropout as dropout
from tapejax._src.ops.elementwise import sigmoid as sigmoid
from tapejax._src.ops.elementwise import softplus as softplus
from tapejax._src.ops.elementwise import softsign as softsign
from tapejax._src.ops.elementwise import tanh as tanh
from tapejax._src.ops.embedding_sparse import embedding_lookup_sparse as embedding_lookup_sparse
from tapejax._src.ops.embedding_sparse import (
    safe_embedding_lookup_sparse as safe_embedding_lookup_sparse,
)
from tapejax._src.ops.fractional_pooling import fractional_avg_pool as fractional_avg_pool
from tapejax._src.ops.fractional_pooling import fractional_max_pool as fractional_max_pool
from tapejax._src.ops.gathering import embedding_lookup as embedding_lookup
from tapejax._src.ops.isotonic import isotonic_regression as isotonic_regression
from tapejax._src.ops.learned_unigram import (
    learned_unigram_candidate_sampler as learned_unigram_candidate_sampler,
)
from tapejax._src.ops.loss_scaling import compute_average_loss as compute_average_loss
from tapejax._src.ops.loss_scaling import scale_regularization_loss as scale_regularization_loss
from tapejax._src.ops.loss_scaling import sufficient_statistics as sufficient_statistics
from tapejax._src.ops.norm import l2_normalize as l2_normalize
from tapejax._src.ops.normalization import (
    batch_norm_with_global_normalization as batch_norm_with_global_normalization,
)
from tapejax._src.ops.normalization import batch_normalization as batch_normalization
from tapejax._src.ops.normalization import bias_add as bias_add
from tapejax._src.ops.normalization import (
    local_response_normalization as local_response_normalization,
)
from tapejax._src.ops.normalization import local_response_normalization as lrn  # pyright: ignore[reportUnusedImport]  renamed
from tapejax._src.ops.normalization import moments as moments
from tapejax._src.ops.normalization import normalize_moments as normalize_moments
from tapejax._src.ops.normalization import weighted_moments as weighted_moments
from tapejax._src.ops.pooling import avg_pool as avg_pool
from tapejax._src.ops.pooling import avg_pool1d as avg_pool1d
from tapejax._src.ops.pooling import avg_pool2d as avg_pool2d
from tapejax._src.ops.pooling import avg_pool3d as avg_pool3d
from tapejax._src.ops.pooling import max_pool as max_pool
from tapejax._src.ops.pooling import max_pool1d as max_pool1d
from tapejax._src.ops.pooling import max_pool2d as max_pool2d
from tapejax._src.ops.pooling import max_pool3d as max_pool3d
from tapejax._src.ops.pooling_argmax import max_pool_with_argmax as max_pool_with_argmax
from tapejax._src.ops.pooling_argmax import pool as pool
from tapejax._src.ops.rnn_wrappers import RNNCellDeviceWrapper as RNNCellDeviceWrapper
from tapejax._src.ops.rnn_wrappers import RNNCellDropoutWrapper as RNNCellDropoutWrapper
from tapejax._src.ops.rnn_wrappers import RNNCellResidualWrapper as RNNCellResidualWrapper
from tapejax._src.ops.sampled_losses import compute_accidental_hits as compute_accidental_hits
from tapejax._src.ops.sampled_losses import nce_loss as nce_loss
from tapejax._src.ops.sampled_losses import sampled_softmax_loss as sampled_softmax_loss
from tapejax._src.ops.selection import zero_fraction as zero_fraction
from tapejax._src.ops.softmax import log_softmax as log_softmax
from tapejax._src.ops.softmax import softmax as softmax
from tapejax._src.ops.softmax import (
    softmax_cross_entropy_with_logits as softmax_cross_entropy_with_logits,
)
from tapejax._src.ops.softmax import (
    sparse_softmax_cross_entropy_with_logits as sparse_softmax_cross_entropy_with_logits,
)
from tapejax._src.ops.sorting import in_top_k as in_top_k
from tapejax._src.ops.sorting import top_k as top_k
from tapejax._src.ops.space_batches import with_space_to_batch as with_space_to_batch
from tapejax._src.ops.transposed_convolution import (
    atrous_conv2d_transpose as atrous_conv2d_transpose,
)
from tapejax._src.ops.transposed_convolution import conv1d_transpose as conv1d_transpose
from tapejax._src.ops.transposed_convolution import conv2d_transpose as conv2d_transpose
from tapejax._src.ops.transposed_convolution import conv3d_transpose as conv3d_transpose
from tapejax._src.ops.transposed_convolution import conv_transpose as conv_transpose
from tapejax._src.report.missing import missing_attribute
from tapejax.nn import experimental as experimental

if not TYPE_CHECKING:  # a type checker must go on reporting names that do not exist
    __getattr__ = missing_attribute(__name__)
