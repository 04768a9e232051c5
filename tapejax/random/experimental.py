"""`tf.random.experimental`: what TensorFlow keeps there."""

from typing import TYPE_CHECKING

from tapejax._src.ops.random_algorithm import Algorithm as Algorithm
from tapejax._src.ops.random_generator import Generator as Generator
from tapejax._src.ops.random_generator import create_rng_state as create_rng_state
from tapejax._src.ops.random_generator import get_global_generator as get_global_generator
from tapejax._src.ops.random_generator import set_global_generator as set_global_generator
from tapejax._src.ops.random_index_shuffle import index_shuffle as index_shuffle
from tapejax._src.ops.random_stateless import fold_in as stateless_fold_in  # pyright: ignore[reportUnusedImport]  renamed
from tapejax._src.ops.random_stateless import split as stateless_split  # pyright: ignore[reportUnusedImport]  renamed
from tapejax._src.ops.random_stateless import stateless_shuffle as stateless_shuffle
from tapejax._src.report.missing import missing_attribute

if not TYPE_CHECKING:  # a type checker must go on reporting names that do not exist
    __getattr__ = missing_attribute(__name__)
