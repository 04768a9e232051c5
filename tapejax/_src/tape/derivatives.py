"""More questions to a tape than TensorFlow's: products with the jacobian and second derivatives."""

from __future__ import annotations

import functools
from collections.abc import Generator, Sequence
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, cast

import jax.numpy as jnp
import numpy as np

from tapejax._src.core import nest
from tapejax._src.core.tensor import Tensor
from tapejax._src.engine.convert import as_tensor
from tapejax._src.engine.kernel import Kernel
from tapejax._src.engine.recording import record
from tapejax._src.tape.arguments import (
    UnconnectedGradients,
    flat_sources,
    flat_targets,
    one_tensor,
    pack_gradients,
    value_of,
    zero_if_unconnected,
    zeros,
    zeros_like_value,
)
from tapejax._src.tape.sweep import ADD

if TYPE_CHECKING:
    from tapejax._src.tape.gradient_tape import GradientTape

NONE = UnconnectedGradients.NONE
USED = (
    "A non-persistent GradientTape can only be used to compute one set of gradients (or jacobians)"
)


class Derivatives:
    """The questions of `GradientTape` that TensorFlow's has not.

    Each may be asked where `gradient` may, uses a non-persistent tape up as `gradient` does, and is
    itself recorded: by outer tapes, and in a `tf.function`.
    """

    is_open_to_questions = False
    _persistent = False
    _recording = False
    _kept_open = False

    @contextmanager
    def kept_open(self, recording: bool = True) -> Generator[None]:
        """Ask in the `with` block without using the tape up, and record what is asked.

        Raises:
            RuntimeError: If the tape is used up, or was never entered.
        """
        if not self.is_open_to_questions:
            raise RuntimeError(USED)
        outer = self._persistent, self._kept_open
        self._persistent = self._kept_open = True
        tape = cast("GradientTape", self)
        try:
            with tape if recording and not self._recording else nullcontext():
                yield
        finally:
            self._persistent, self._kept_open = outer

    def vjp(
        self,
        target: Any,
        sources: Any,
        cotangents: Any,
        unconnected_gradients: UnconnectedGradients | str = NONE,
    ) -> Any:
        """Vector-Jacobian product: `gradient` with `output_gradients`.

        Args:
            target: Tensor or nested structure of tensors.
            sources: Tensors or variables, in any nested structure.
            cotangents: One tensor for each target, of its shape and dtype.
            unconnected_gradients: What to return for a source the target does not depend on.

        Returns:
            For each source a tensor of its shape and dtype, or None.

        Raises:
            RuntimeError: If the tape is used up, or was never entered.

        Example:
            >>> import tapejax as tf
            >>> x = tf.Variable([1.0, 2.0])
            >>> with tf.GradientTape() as tape:
            ...     y = x * x
            >>> tape.vjp(y, x, tf.constant([1.0, 10.0])).numpy().tolist()
            [2.0, 40.0]
        """
        tape = cast("GradientTape", self)
        return tape.gradient(target, sources, cotangents, unconnected_gradients)

    def jvp(
        self,
        target: Any,
        sources: Any,
        tangents: Any,
        unconnected_gradients: UnconnectedGradients | str = NONE,
    ) -> Any:
        """Jacobian-vector product: how the target changes when the sources move along a direction.

        The vector-Jacobian product is linear in its vector; differentiating it by that vector gives
        the product from the other side, so that nothing has to be known before the block, as a
        `tf.autodiff.ForwardAccumulator` has to.

        Args:
            target: Tensor or nested structure of tensors.
            sources: Tensors or variables, in any nested structure.
            tangents: One tensor for each source, of its shape and dtype.
            unconnected_gradients: What to return for a target that depends on none of the sources.

        Returns:
            For each target a tensor of its shape and dtype, or None.

        Raises:
            RuntimeError: If the tape is used up, or was never entered.
            ValueError: If tangents do not fit the sources.

        Example:
            >>> import tapejax as tf
            >>> x = tf.Variable([1.0, 2.0])
            >>> with tf.GradientTape() as tape:
            ...     y = x * x
            >>> tape.jvp(y, x, tf.constant([1.0, 10.0])).numpy().tolist()
            [2.0, 40.0]
        """
        tape = cast("GradientTape", self)
        zero = zero_if_unconnected(unconnected_gradients)
        targets, flat = flat_targets(target), flat_sources(sources)
        given = _fitting(tangents, flat, "tangent")
        places = [n for n, t in enumerate(targets) if value_of(t).aval.inexact]
        probes = [zeros_like_value(value_of(targets[n])) for n in places]
        inner = type(tape)(watch_accessed_variables=False)
        with inner:
            inner.watch(probes)
            pulled = tape.gradient([targets[n] for n in places], flat, probes)
            pairs = [(as_tensor(g), t) for g, t in zip(pulled, given, strict=True) if g is not None]
        pushed: Sequence[Any] = [None] * len(probes)
        if pairs:
            pushed = inner.gradient([g for g, _ in pairs], probes, [t for _, t in pairs])
        found = dict(zip(places, pushed, strict=True))
        results = [found.get(n) for n in range(len(targets))]
        if zero:
            results = [
                zeros_like_value(value_of(t)) if r is None else r
                for r, t in zip(results, targets, strict=True)
            ]
        return results[0] if isinstance(target, Tensor) else nest.pack_sequence_as(target, results)

    def hvp(
        self,
        target: Any,
        sources: Any,
        vectors: Any,
        unconnected_gradients: UnconnectedGradients | str = NONE,
    ) -> Any:
        """Product of the Hessian of the sum of the targets with vectors.

        Args:
            target: Tensor or nested structure of tensors.
            sources: Tensors or variables, in any nested structure.
            vectors: One tensor for each source, of its shape and dtype.
            unconnected_gradients: What to return for a source on which the gradient does not
                depend.

        Returns:
            For each source a tensor of its shape and dtype, or None.

        Raises:
            RuntimeError: If the tape is used up, was never entered, or is not persistent and its
                values were read in the meantime.
            ValueError: If vectors do not fit the sources.

        Example:
            >>> import tapejax as tf
            >>> x = tf.Variable([1.0, 2.0])
            >>> with tf.GradientTape() as tape:
            ...     y = tf.reduce_sum(x ** 3)
            >>> tape.hvp(y, x, tf.constant([1.0, 10.0])).numpy().tolist()
            [6.0, 120.0]
        """
        tape = cast("GradientTape", self)
        flat = flat_sources(sources)
        given = _fitting(vectors, flat, "vector")
        with _reopened(tape, "hvp"):
            gradients = tape.gradient(target, flat)
            pairs = [
                (as_tensor(g), v) for g, v in zip(gradients, given, strict=True) if g is not None
            ]
        products = tape.gradient(
            [g for g, _ in pairs], flat, [v for _, v in pairs], unconnected_gradients
        )
        return pack_gradients(sources, products)

    def hessian(
        self,
        target: Any,
        sources: Any,
        unconnected_gradients: UnconnectedGradients | str = NONE,
    ) -> Any:
        """All second derivatives of a scalar.

        Args:
            target: A scalar tensor.
            sources: Tensors or variables, in any nested structure.
            unconnected_gradients: What to return for a pair of sources with no second derivative.

        Returns:
            For one source a tensor of shape `source.shape + source.shape`. For a structure that
            structure twice: `result[i][j]` has the shape `sources[i].shape + sources[j].shape`.

        Raises:
            RuntimeError: As of `hvp`.
            ValueError: If the target is not a scalar.

        Example:
            >>> import tapejax as tf
            >>> x = tf.Variable([1.0, 2.0])
            >>> with tf.GradientTape() as tape:
            ...     y = x[0] ** 2 * x[1]
            >>> tape.hessian(y, x).numpy().tolist()
            [[4.0, 2.0], [2.0, 0.0]]
        """
        tape = cast("GradientTape", self)
        zero = zero_if_unconnected(unconnected_gradients)
        scalar, flat = one_tensor(target, "hessian"), flat_sources(sources)
        if scalar.aval.shape:
            raise ValueError(
                f"hessian takes a scalar, got a target of shape {list(scalar.aval.shape)}. Reduce "
                "it, for instance by tf.reduce_sum."
            )
        with _reopened(tape, "hessian"):
            gradients = [_dense(g) for g in tape.gradient(scalar, flat)]
        option = UnconnectedGradients.ZERO if zero else NONE
        rows: list[Any] = []
        for gradient, source in zip(gradients, flat, strict=True):
            row = _row(tape, gradient, value_of(source), flat, option)
            rows.append(pack_gradients(sources, row))
        tape.gradient([], [])  # a tape that is not persistent is used up now
        return pack_gradients(sources, rows)

    def laplacian(self, target: Any, sources: Any) -> Any:
        """The sum of the unmixed second derivatives of each example, as in differential equations.

        Args:
            target: Tensor `[batch, ...]`; each example must depend on that of the sources only.
            sources: Coordinates: a tensor `[batch, dimensions]`, or several, such as one of shape
                `[batch, 1]` for each coordinate.

        Returns:
            Tensor of the target's shape and dtype.

        Raises:
            RuntimeError: As of `hvp`.
            ValueError: If the batches differ.

        Example:
            >>> import tapejax as tf
            >>> x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
            >>> with tf.GradientTape() as tape:
            ...     tape.watch(x)
            ...     u = x[:, 0] ** 3 * x[:, 1]
            >>> tape.laplacian(u, x).numpy().tolist()  # 6 x y
            [12.0, 72.0]
        """
        tape = cast("GradientTape", self)
        values, flat = one_tensor(target, "laplacian"), flat_sources(sources)
        for source in flat:
            _check_batch(values, value_of(source))
        parts = int(np.prod(values.aval.shape[1:], dtype=np.int64))
        columns: list[Any] = []
        with _reopened(tape, "laplacian"):
            gradients = [
                [_dense(g) for g in tape.gradient(values, flat, _unit(values, n, parts))]
                for n in range(parts)
            ]
        for found in gradients:
            terms = [_trace(tape, g, s) for g, s in zip(found, flat, strict=True) if g is not None]
            columns.append([term for term in terms if term is not None])
        tape.gradient([], [])
        return _columns(columns, values)


# ---------------------------------------------------------------------- the tape goes on
@contextmanager
def _reopened(tape: GradientTape, what: str) -> Generator[None]:
    """Record in the tape again what is asked of it, so that it can be differentiated too.

    Raises:
        RuntimeError: If the tape is used up, or has forgotten what second derivatives need.
    """
    if tape.is_open_to_questions and tape.past.entries and not tape.keeps_inputs:
        raise RuntimeError(
            f"GradientTape.{what} needs the values of the block, and a tape that is not persistent "
            "has let go of them when some were read. Write tf.GradientTape(persistent=True), or "
            "ask before reading values."
        )
    with tape.kept_open():
        yield


def _row(
    tape: GradientTape, gradient: Any, source: Tensor, flat: Sequence[Any], option: Any
) -> list[Any]:
    if gradient is not None:
        with tape.kept_open(recording=False):
            return tape.jacobian(gradient, flat, unconnected_gradients=option)
    if option is NONE:
        return [None] * len(flat)
    return [zeros(source.aval.shape + value_of(s).aval.shape, source) for s in flat]


def _trace(tape: GradientTape, gradient: Any, source: Any) -> Any:
    """For each example the sum of the derivatives of `gradient[:, j]` by `source[:, j]`."""
    with tape.kept_open(recording=False):
        if len(gradient.aval.shape) == 1:
            return tape.gradient(gradient, source)
        rows = tape.batch_jacobian(gradient, source)
    return record(TRACE, [rows])


def _traces(rows: Any) -> Any:
    batch, size = rows.shape[0], int(np.prod(rows.shape[1 : 1 + (rows.ndim - 1) // 2]))
    return jnp.trace(rows.reshape((batch, size, size)), axis1=1, axis2=2)


TRACE = Kernel("trace", _traces, node="Trace")


def _columns(columns: Sequence[Sequence[Any]], values: Tensor) -> Any:
    """The sums of the terms of each column, in the shape of the target."""
    batch = (values.aval.shape[0],)
    sums: list[Any] = []
    for terms in columns:
        total = zeros(batch, values) if not terms else terms[0]
        for term in terms[1:]:
            total = record(ADD, [total, term])
        sums.append(total)
    return record(_stack_kernel(values.aval.shape), sums)


@functools.cache
def _stack_kernel(shape: tuple[int, ...]) -> Kernel:
    return Kernel("stack", lambda *sums: jnp.stack(sums, axis=1).reshape(shape), node="Pack")


def _dense(gradient: Any) -> Any:
    return None if gradient is None else as_tensor(gradient)


def _unit(values: Tensor, part: int, parts: int) -> Tensor | None:
    """The output gradient that picks one of the values of each example; None if there is one."""
    if parts == 1:
        return None
    shape = values.aval.shape
    unit = np.zeros((shape[0], parts), values.dtype.as_numpy_dtype)
    unit[:, part] = 1
    return as_tensor(unit.reshape(shape))


def _check_batch(target: Tensor, source: Tensor) -> None:
    y, x = target.aval.shape, source.aval.shape
    if not y or not x or y[0] != x[0]:
        raise ValueError(
            f"laplacian takes a target and sources of one batch, [batch, ...]; got the shapes "
            f"{list(y)} and {list(x)}."
        )


def _fitting(vectors: Any, flat: Sequence[Any], what: str) -> list[Tensor]:
    """One vector for each source.

    Raises:
        ValueError: If number, shape or dtype does not fit.
    """
    given = nest.flatten(vectors)
    if len(given) != len(flat):
        raise ValueError(f"{len(given)} {what}s were given for {len(flat)} sources; give one each.")
    fitted: list[Tensor] = []
    for vector, source in zip(given, flat, strict=True):
        value = value_of(source)
        tensor = as_tensor(vector, value.dtype)
        if tensor.aval.shape != value.aval.shape:
            raise ValueError(
                f"A {what} of shape {list(tensor.aval.shape)} was given for a source of shape "
                f"{list(value.aval.shape)}; they must be equal."
            )
        fitted.append(tensor)
    return fitted
