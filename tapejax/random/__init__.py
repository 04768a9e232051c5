"""`tf.random`: random numbers, TensorFlow's own streams."""

from typing import TYPE_CHECKING

from tapejax._src.ops.candidate_sampling import all_candidate_sampler as all_candidate_sampler
from tapejax._src.ops.candidate_sampling import (
    fixed_unigram_candidate_sampler as fixed_unigram_candidate_sampler,
)
from tapejax._src.ops.candidate_sampling import (
    log_uniform_candidate_sampler as log_uniform_candidate_sampler,
)
from tapejax._src.ops.candidate_sampling import (
    uniform_candidate_sampler as uniform_candidate_sampler,
)
from tapejax._src.ops.learned_unigram import (
    learned_unigram_candidate_sampler as learned_unigram_candidate_sampler,
)
from tapejax._src.ops.random_algorithm import Algorithm as Algorithm
from tapejax._src.ops.random_counts import poisson as poisson
from tapejax._src.ops.random_counts import stateless_binomial as stateless_binomial
from tapejax._src.ops.random_counts import stateless_poisson as stateless_poisson
from tapejax._src.ops.random_gamma import gamma as gamma
from tapejax._src.ops.random_gamma import stateless_gamma as stateless_gamma
from tapejax._src.ops.random_generator import Generator as Generator
from tapejax._src.ops.random_generator import create_rng_state as create_rng_state
from tapejax._src.ops.random_generator import get_global_generator as get_global_generator
from tapejax._src.ops.random_generator import set_global_generator as set_global_generator
from tapejax._src.ops.random_seed import set_seed as set_seed
from tapejax._src.ops.random_stateful import categorical as categorical
from tapejax._src.ops.random_stateful import normal as normal
from tapejax._src.ops.random_stateful import shuffle as shuffle
from tapejax._src.ops.random_stateful import truncated_normal as truncated_normal
from tapejax._src.ops.random_stateful import uniform as uniform
from tapejax._src.ops.random_stateless import fold_in as fold_in
from tapejax._src.ops.random_stateless import split as split
from tapejax._src.ops.random_stateless import stateless_categorical as stateless_categorical
from tapejax._src.ops.random_stateless import stateless_normal as stateless_normal
from tapejax._src.ops.random_stateless import (
    stateless_truncated_normal as stateless_truncated_normal,
)
from tapejax._src.ops.random_stateless import stateless_uniform as stateless_uniform
from tapejax._src.ops.random_truncated import (
    stateless_parameterized_truncated_normal as stateless_parameterized_truncated_normal,
)
from tapejax._src.report.missing import missing_attribute
from tapejax.random import experimental as experimental

if not TYPE_CHECKING:  # a type checker must go on reporting names that do not exist
    __getattr__ = missing_attribute(__name__)
