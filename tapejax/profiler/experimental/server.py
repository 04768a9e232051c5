"""`tf.profiler.experimental.server`: profiles asked for over the network."""

from typing import TYPE_CHECKING

from tapejax._src.ops.profiler import start_server as start  # pyright: ignore[reportUnusedImport]  renamed
from tapejax._src.report.missing import missing_attribute

if not TYPE_CHECKING:  # a type checker must go on reporting names that do not exist
    __getattr__ = missing_attribute(__name__)
