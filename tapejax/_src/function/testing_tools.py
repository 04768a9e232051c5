"""The rest of `tf.test`: derivatives by differences, what was built, and running tests."""

from __future__ import annotations

import functools
import platform
import sys
import time
import unittest
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import jax
import numpy as np

from tapejax._src.core.tensor import Tensor
from tapejax._src.engine.convert import as_tensor, constant_tensor
from tapejax._src.engine.recorder import flush
from tapejax._src.engine.registry import public
from tapejax._src.ops.devices import list_physical_devices
from tapejax._src.tape.gradient_tape import GradientTape

Array = np.ndarray[Any, Any]
_STEP = 1.0 / 1024


def _real(array: Array) -> Array:
    """A flat view as real numbers; two for each complex one."""
    flat: Any = np.ascontiguousarray(array).reshape(-1)
    return flat.view(flat.real.dtype) if flat.dtype.kind == "c" else flat


def _unit(like: Array, place: int, size: float) -> Array:
    """Zeros like an array but for one of its real numbers."""
    out = np.zeros(like.shape, like.dtype)
    flat: Any = out.reshape(-1)
    (flat.view(flat.real.dtype) if flat.dtype.kind == "c" else flat)[place] = size
    return out


def _theoretical(f: Callable[..., Any], x: Sequence[Tensor], which: int) -> Array:
    with GradientTape(persistent=True) as tape:
        tape.watch(x[which])
        y = f(*x)
    out, source = y.numpy(), x[which].numpy()
    rows: list[Array] = []
    for place in range(_real(out).size):
        seed = constant_tensor(_unit(out, place, 1.0))
        gradient = tape.gradient(y, x[which], output_gradients=seed)
        found = np.zeros_like(source) if gradient is None else as_tensor(gradient).numpy()
        rows.append(_real(found))
    return np.stack(rows) if rows else np.zeros((0, _real(source).size), source.dtype)


def _numeric(f: Callable[..., Any], x: Sequence[Tensor], which: int, delta: float) -> Array:
    source = x[which].numpy()
    coarse = source.dtype.itemsize == 2
    columns: list[Array] = []
    for place in range(_real(source).size):
        values: list[Array] = []
        for sign in (1.0, -1.0):
            moved = list(x)
            moved[which] = constant_tensor(source + _unit(source, place, sign * delta))
            values.append(_real(f(*moved).numpy()))
        wide = [value.astype(np.float32) if coarse else value for value in values]
        columns.append(((wide[0] - wide[1]) / (2 * delta)).astype(values[0].dtype))
    out = _real(f(*x).numpy())
    return np.stack(columns, axis=1) if columns else np.zeros((out.size, 0), out.dtype)


@public("test.compute_gradient")
def compute_gradient(
    f: Callable[..., Any], x: Any, delta: float | None = None
) -> tuple[tuple[Array, ...], tuple[Array, ...]]:
    """The derivatives of a function by a tape, and by differences of its values.

    Args:
        f: A function of the tensors in `x` that returns one tensor.
        x: A list of tensors or of what converts to them.
        delta: The step of the differences; 1/1024 by default.

    Returns:
        `(theoretical, numerical)`: for each of `x` a matrix `[size of f(*x), size of x]`; a complex
        number counts as two real ones.

    Raises:
        ValueError: If `x` is not a list.
        TypeError: If an element of `x` is not floating.

    Example:
        >>> import tapejax as tf
        >>> by_tape, by_differences = tf.test.compute_gradient(tf.square, [[1.0, 3.0]])
        >>> by_tape[0].tolist()
        [[2.0, 0.0], [0.0, 6.0]]
    """
    if not isinstance(x, (list, tuple)):
        raise ValueError(
            "`x` must be a list or tuple of values convertible to a Tensor "
            f"(arguments to `f`), not a {type(x)}"
        )
    tensors = [as_tensor(value) for value in x]  # pyright: ignore[reportUnknownVariableType]
    for tensor in tensors:
        if not (tensor.dtype.is_floating or tensor.dtype.is_complex):
            raise TypeError(
                f"compute_gradient() needs floating arguments, got dtype {tensor.dtype.name}"
            )
    step = _STEP if delta is None else delta
    places = range(len(tensors))
    theoretical = tuple([_theoretical(f, tensors, place) for place in places])
    return theoretical, tuple([_numeric(f, tensors, place, step) for place in places])


# ---------------------------------------------------------------------- what there is
@public("test.gpu_device_name")
def gpu_device_name() -> str:
    """The name of a GPU, or an empty text.

    Example:
        >>> import tapejax as tf
        >>> tf.test.gpu_device_name() in ("", "/device:GPU:0")
        True
    """
    return "/device:GPU:0" if list_physical_devices("GPU") else ""


@public("test.is_gpu_available")
def is_gpu_available(
    cuda_only: bool = False, min_cuda_compute_capability: tuple[int, int] | None = None
) -> bool:
    """Whether there is a GPU.

    Args:
        cuda_only: Whether it must be one of CUDA.
        min_cuda_compute_capability: The least capability it must have, such as (7, 0).

    Example:
        >>> import tapejax as tf
        >>> tf.test.is_gpu_available() == bool(tf.config.list_physical_devices("GPU"))
        True
    """
    if not list_physical_devices("GPU"):
        return False
    for device in jax.local_devices():
        capability = getattr(device, "compute_capability", None)
        known = tuple(int(part) for part in str(capability or "0.0").split("."))
        is_cuda = "rocm" not in str(getattr(device.client, "platform_version", "")).lower()
        if cuda_only and not is_cuda:
            continue
        if min_cuda_compute_capability is None or known >= tuple(min_cuda_compute_capability):
            return True
    return False


@public("test.is_built_with_cuda")
def is_built_with_cuda() -> bool:
    """Whether JAX runs on a GPU of CUDA here; tapejax itself is built for nothing."""
    return is_gpu_available(cuda_only=True)


@public("test.is_built_with_rocm")
def is_built_with_rocm() -> bool:
    """Whether JAX runs on a GPU of ROCm here; tapejax itself is built for nothing."""
    return is_gpu_available() and not is_gpu_available(cuda_only=True)


@public("test.is_built_with_gpu_support")
def is_built_with_gpu_support() -> bool:
    """Whether JAX runs on a GPU here."""
    return is_gpu_available()


@public("test.is_built_with_xla")
def is_built_with_xla() -> bool:
    """True: every program is compiled by XLA."""
    return True


@public("test.is_cpu_target_available")
def is_cpu_target_available(target: str) -> bool:
    """Whether XLA can compile for a kind of CPU: for the one of this machine.

    Args:
        target: Such as "x86" or "aarch64".
    """
    here = {"x86_64": "x86", "amd64": "x86", "arm64": "aarch64"}
    machine = platform.machine().lower()
    return {"x86_64": "x86"}.get(target, target) == here.get(machine, machine)


@public("test.experimental.sync_devices")
def sync_devices() -> None:
    """Wait until everything recorded has run.

    Example:
        >>> import tapejax as tf
        >>> tf.test.experimental.sync_devices()
    """
    flush()
    for array in jax.live_arrays():
        array.block_until_ready()


# ---------------------------------------------------------------------- running tests
@public("test.main")
def main(argv: Sequence[str] | None = None) -> None:
    """Run the tests of the script that was started, then end the process.

    Args:
        argv: The command line; by default that of the process.
    """
    unittest.main(module="__main__", argv=list(argv or sys.argv))


@public("test.disable_with_predicate")
def disable_with_predicate(pred: Callable[[], bool], skip_message: str) -> Callable[[Any], Any]:
    """A decorator that skips a test method if `pred()` holds when it runs.

    Args:
        pred: A function without arguments.
        skip_message: The reason.

    Returns:
        A decorator.

    Example:
        >>> import tapejax as tf
        >>> class MyTest(tf.test.TestCase):
        ...     @tf.test.disable_with_predicate(lambda: True, "not today")
        ...     def test_nothing(self):
        ...         self.fail()
        >>> len(MyTest("test_nothing").run().skipped)
        1
    """

    def decorator(method: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(method)
        def decorated(self: Any, *args: Any, **kwargs: Any) -> Any:
            if pred():
                self.skipTest(skip_message)
            return method(self, *args, **kwargs)

        return decorated

    return decorator


@public("test.with_eager_op_as_function")
def with_eager_op_as_function(cls: Any = None, only_as_function: bool = False) -> Any:
    """Return the class as it is: how TensorFlow runs its eager ops means nothing here.

    Args:
        cls: A class of tests.
        only_as_function: Ignored.

    Returns:
        The class, or without one a decorator.
    """
    del only_as_function
    return (lambda given: given) if cls is None else cls


@public("test.Benchmark")
class Benchmark:
    """A base class of benchmarks that report what they measured.

    Example:
        >>> import tapejax as tf
        >>> tf.test.Benchmark().report_benchmark(iters=10, wall_time=0.5, name="step")["name"]
        'step'
    """

    def report_benchmark(
        self,
        iters: int | None = None,
        cpu_time: float | None = None,
        wall_time: float | None = None,
        throughput: float | None = None,
        extras: Any = None,
        name: str | None = None,
        metrics: Any = None,
    ) -> dict[str, Any]:
        """Write a line with the numbers given to standard error; returns them."""
        numbers = {
            "name": name or type(self).__name__,
            "iters": iters,
            "cpu_time": cpu_time,
            "wall_time": wall_time,
            "throughput": throughput,
            "extras": extras,
            "metrics": metrics,
        }
        found = {key: value for key, value in numbers.items() if value is not None}
        sys.stderr.write(f"entry {found}\n")
        return found

    def evaluate(self, tensors: Any) -> Any:
        """The values of a list of tensors."""
        return [as_tensor(tensor).numpy() for tensor in tensors]

    def run_op_benchmark(
        self,
        sess: Any,
        op_or_tensor: Any,
        feed_dict: Any = None,
        burn_iters: int = 2,
        min_iters: int = 10,
        store_trace: bool = False,
        store_memory_usage: bool = True,
        name: str | None = None,
        extras: Any = None,
        mbs: float = 0,
    ) -> dict[str, Any]:
        """Time a function without arguments, given in the place of a graph's op.

        Raises:
            NotImplementedError: If `op_or_tensor` cannot be called.
        """
        del sess, feed_dict, store_trace, store_memory_usage, mbs
        if not callable(op_or_tensor):
            raise NotImplementedError(
                "There are no graphs whose ops could be run again: pass a function."
            )
        seconds: list[float] = []
        for count in range(burn_iters + min_iters):
            start = time.perf_counter()
            op_or_tensor()
            sync_devices()
            if count >= burn_iters:
                seconds.append(time.perf_counter() - start)
        wall = float(np.median(seconds)) if seconds else 0.0
        return self.report_benchmark(iters=min_iters, wall_time=wall, name=name, extras=extras)


def _no_protos(what: str) -> NoReturn:
    raise NotImplementedError(f"{what}: tapejax has no protocol buffers of graphs and sessions.")


@public("test.benchmark_config")
def benchmark_config() -> NoReturn:
    """Refused: there are no sessions to configure.

    Raises:
        NotImplementedError: Always.
    """
    _no_protos("tf.test.benchmark_config")


@public("test.assert_equal_graph_def")
def assert_equal_graph_def(expected: Any, actual: Any) -> NoReturn:
    """Refused: there are no graphs to compare.

    Args:
        expected: A graph.
        actual: A graph.

    Raises:
        NotImplementedError: Always.
    """
    del expected, actual
    _no_protos("tf.test.assert_equal_graph_def")


@public("test.create_local_cluster")
def create_local_cluster(
    num_workers: int,
    num_ps: int,
    protocol: str = "grpc",
    worker_config: Any = None,
    ps_config: Any = None,
) -> NoReturn:
    """Refused: there are no servers.

    Args:
        num_workers: How many workers.
        num_ps: How many parameter servers.
        protocol: Ignored.
        worker_config: Ignored.
        ps_config: Ignored.

    Raises:
        NotImplementedError: Always.
    """
    del num_workers, num_ps, protocol, worker_config, ps_config
    raise NotImplementedError(
        "There are no TensorFlow servers. Start several processes, each of which calls "
        "jax.distributed.initialize()."
    )
