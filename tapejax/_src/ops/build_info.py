"""`tf.sysconfig` and the rest of `tf.version`: how the library was built."""

from __future__ import annotations

import collections
from typing import NoReturn

from tapejax._src.engine.registry import public

CXX11_ABI_FLAG = 1
CXX_VERSION = 201703
MONOLITHIC_BUILD = 0
COMPILER_VERSION = "none: tapejax is Python"
GRAPH_DEF_VERSION = 2474
GRAPH_DEF_VERSION_MIN_CONSUMER = 0
GRAPH_DEF_VERSION_MIN_PRODUCER = 0


@public("sysconfig.get_build_info")
def get_build_info() -> collections.OrderedDict[str, bool]:
    """What kinds of accelerators tapejax itself was built for: none, JAX brings them.

    Example:
        >>> import tapejax as tf
        >>> tf.sysconfig.get_build_info()["is_cuda_build"]
        False
    """
    kinds = ("is_cuda_build", "is_rocm_build", "is_tensorrt_build")
    return collections.OrderedDict((kind, False) for kind in kinds)


def _refuse(what: str) -> NoReturn:
    raise NotImplementedError(
        f"tapejax is Python and has no {what}: ops in C++ are written for JAX, see jax.ffi "
        "(jax.ffi.include_dir() has the headers)."
    )


@public("sysconfig.get_include")
def get_include() -> NoReturn:
    """Refused: there are no headers.

    Raises:
        NotImplementedError: Always.
    """
    _refuse("C++ headers")


@public("sysconfig.get_lib")
def get_lib() -> NoReturn:
    """Refused: there is no library to link.

    Raises:
        NotImplementedError: Always.
    """
    _refuse("C++ library")


@public("sysconfig.get_compile_flags")
def get_compile_flags() -> NoReturn:
    """Refused: there are no headers.

    Raises:
        NotImplementedError: Always.
    """
    _refuse("C++ headers")


@public("sysconfig.get_link_flags")
def get_link_flags() -> NoReturn:
    """Refused: there is no library to link.

    Raises:
        NotImplementedError: Always.
    """
    _refuse("C++ library")
