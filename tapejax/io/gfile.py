"""`tf.io.gfile`: files and folders."""

from typing import TYPE_CHECKING

from tapejax._src.ops.gfile import GFile as GFile
from tapejax._src.ops.gfile import copy as copy
from tapejax._src.ops.gfile import exists as exists
from tapejax._src.ops.gfile import get_registered_schemes as get_registered_schemes
from tapejax._src.ops.gfile import glob as glob
from tapejax._src.ops.gfile import isdir as isdir
from tapejax._src.ops.gfile import join as join
from tapejax._src.ops.gfile import listdir as listdir
from tapejax._src.ops.gfile import makedirs as makedirs
from tapejax._src.ops.gfile import mkdir as mkdir
from tapejax._src.ops.gfile import remove as remove
from tapejax._src.ops.gfile import rename as rename
from tapejax._src.ops.gfile import rmtree as rmtree
from tapejax._src.ops.gfile import stat as stat
from tapejax._src.ops.gfile import walk as walk
from tapejax._src.report.missing import missing_attribute

if not TYPE_CHECKING:  # a type checker must go on reporting names that do not exist
    __getattr__ = missing_attribute(__name__)
