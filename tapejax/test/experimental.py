"""`tf.test.experimental`: waiting for devices."""

from typing import TYPE_CHECKING

from tapejax._src.function.testing_tools import sync_devices as sync_devices
from tapejax._src.report.missing import missing_attribute

if not TYPE_CHECKING:  # a type checker must go on reporting names that do not exist
    __getattr__ = missing_attribute(__name__)
