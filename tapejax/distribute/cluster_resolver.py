"""`tf.distribute.cluster_resolver`: where TPUs are."""

from typing import TYPE_CHECKING

from tapejax._src.distribute.resolvers import TPUClusterResolver as TPUClusterResolver
from tapejax._src.report.missing import missing_attribute

if not TYPE_CHECKING:  # a type checker must go on reporting names that do not exist
    __getattr__ = missing_attribute(__name__)
