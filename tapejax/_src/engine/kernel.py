"""Kernels: pure functions of arrays, with the shape rule and the derivatives that follow from them.

A kernel is what a program consists of. Its shape rule is `jax.eval_shape`, its derivatives are
`jax.vjp` and `jax.jvp` of the function, made once per set of shapes and kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import jaxpr_as_fun

from tapejax._src.core.avals import Aval, make_aval
from tapejax._src.engine.checks import BoundCheck
from tapejax._src.engine.dependence import dependence
from tapejax._src.engine.stopped import stopped

Avals = tuple[Aval, ...]

FLAT_LIST: Any = object()
"""In place of a tree: results are handed out in a plain list."""


class Traced:
    """What tracing a kernel at given avals tells: its outputs and what each depends on."""

    __slots__ = ("depends", "outs", "tree")

    def __init__(self, outs: Avals, tree: Any, depends: tuple[int, ...]) -> None:
        self.outs = outs
        self.tree = tree
        self.depends = depends


class Kernel:
    """One op with its static arguments: a pure function of arrays.

    Attributes:
        name: What it is called in programs, error messages and pictures.
        fn: The function, from arrays to an array or a container of arrays.
        groups: For each input the number of its dtype group (-1: a group of its own); inputs of one
            group must agree, and Python numbers take its dtype.
        node: TensorFlow's name of the op, for error texts.
        gradient: 'vjp', 'none' (no gradient flows) or 'lookup' (asking for one is an error).
        blocked: Inputs no gradient flows to.
        sparse: (parameter, indices) positions whose gradient is an `IndexedSlices`, or None.
        assigns: For the value given to a variable: whether that variable is trainable. Else None.
        custom: Number of inputs whose cotangents a user's function gives, or None.
        check: (fails, message) for failures that depend on values, or None.
        half: Whether it is the forward or backward half of a split kernel: connections then also
            run through integer and boolean residuals.
        proper: Of a forward half, how many outputs are not residuals.
        mismatch: What is raised when inputs of one group disagree, if not InvalidArgumentError.
        expansion: For a traced function: its ops, to be recorded one by one instead of the kernel.
        checked_twin: The same with a check of its results; see `engine/numerics.py`.
        effect: Whether running it has an effect, such as printing: it runs once in each run of its
            program, in order, though nothing needs its results.
        codes: Of an op whose results are strings, the kernel that computes their codes. Else None.
    """

    __slots__ = (
        "_pulls",
        "_pushes",
        "_splits",
        "_traced",
        "_unchecked",
        "allowed",
        "assigns",
        "blocked",
        "broadcast",
        "check",
        "checked_twin",
        "codes",
        "custom",
        "effect",
        "expansion",
        "fn",
        "gradient",
        "groups",
        "half",
        "jit",
        "mismatch",
        "name",
        "node",
        "proper",
        "sparse",
    )

    def __init__(
        self,
        name: str,
        fn: Callable[..., Any],
        *,
        groups: tuple[int, ...] = (),
        node: str | None = None,
        gradient: str = "vjp",
        blocked: frozenset[int] = frozenset(),
        sparse: tuple[int, int] | None = None,
        assigns: bool | None = None,
        custom: int | None = None,
        check: Any = None,
        allowed: tuple[str, ...] | None = None,
        broadcast: bool = False,
        expansion: Any = None,
        half: bool = False,
        mismatch: type[Exception] | None = None,
        effect: bool = False,
        codes: Kernel | None = None,
    ) -> None:
        self.name = name
        self.fn = fn = stopped(fn) if gradient == "none" else fn
        self.jit = jax.jit(fn)
        self.groups = groups
        self.node = node or name
        self.gradient = gradient
        self.blocked = blocked
        self.sparse = sparse
        self.assigns = assigns
        self.custom = custom
        self.check = None if check is None else BoundCheck(check.fails, check.message)
        self.allowed = allowed
        self.broadcast = broadcast
        self.expansion = expansion
        self.half = half
        self.effect = effect
        self.proper = 0
        self.mismatch = mismatch
        self.codes = codes
        self._traced: dict[Avals, Traced] = {}
        self._splits: dict[Any, Split] = {}
        self._pulls: dict[Any, Pull] = {}
        self._pushes: dict[Any, Push] = {}
        self._unchecked: Kernel | None = None
        self.checked_twin: Kernel | None = None

    def unchecked(self) -> Kernel:
        """The same kernel without its check, for values that have been checked already."""
        if self._unchecked is None:
            twin = Kernel(
                self.name,
                self.fn,
                groups=self.groups,
                node=self.node,
                gradient=self.gradient,
                blocked=self.blocked,
                sparse=self.sparse,
                allowed=self.allowed,
                broadcast=self.broadcast,
                mismatch=self.mismatch,
                effect=self.effect,
            )
            self._unchecked = twin
        return self._unchecked

    def of_codes(self) -> Kernel:
        """A kernel whose results are strings: those whose codes this one computes."""
        return Kernel(self.name, self.fn, node=self.node, codes=self)

    def __repr__(self) -> str:
        return f"<Kernel {self.name}>"

    def traced(self, avals: Avals) -> Traced:
        """Outputs, container and dependence at the given avals."""
        found = self._traced.get(avals)
        if found is None:
            with jax.enable_x64(True):
                stage = self.jit.trace(*[aval.struct for aval in avals])
            leaves, tree = jax.tree.flatten(stage.out_info)
            outs = tuple(make_aval(tuple(leaf.shape), leaf.dtype) for leaf in leaves)
            single = tree == _LEAF
            if tree == jax.tree.structure([0] * len(leaves)):
                tree = FLAT_LIST
            found = Traced(outs, None if single else tree, dependence(stage.jaxpr.jaxpr))
            self._traced[avals] = found
        return found

    def outs(self, avals: Avals) -> Avals:
        """The avals of the outputs, flat."""
        return self.traced(avals).outs

    def run(self, arrays: Sequence[Any]) -> list[Any]:
        """The outputs, flat."""
        return jax.tree.leaves(self.jit(*arrays))

    def reads(self, avals: Avals) -> tuple[int, ...]:
        """For each output the inputs it is connected to by differentiation, as a bit mask.

        Connected means that the output is computed from the input, as TensorFlow records it, even
        where the derivative happens to be zero.
        """
        traced = self.traced(avals)
        if self.gradient == "none" or self.assigns is not None:
            return (0,) * len(traced.outs)
        if self.custom is not None:
            return tuple((1 << self.custom) - 1 if out.inexact else 0 for out in traced.outs)
        empty = sum(1 << i for i, a in enumerate(avals) if 0 in a.shape)  # JAX reads none of these
        if self.half:
            shut = sum(1 << i for i in self.blocked)  # for the outputs proper, not for residuals
            return tuple(
                (mask | empty) & ~(shut if n < self.proper else 0)
                for n, mask in enumerate(traced.depends)
            )
        open_inputs = sum(
            1 << i for i, a in enumerate(avals) if a.inexact and i not in self.blocked
        )
        return tuple(
            (mask | empty) & open_inputs if out.inexact else 0
            for mask, out in zip(traced.depends, traced.outs, strict=True)
        )

    # ------------------------------------------------------------------ derivatives
    def split(self, wanted: tuple[int, ...], avals: Avals) -> Split:
        """The kernel as a forward half that also returns residuals, and its backward half."""
        key = (wanted, avals)
        found = self._splits.get(key)
        if found is None:
            found = self._splits[key] = Split(self, wanted, avals)
        return found

    def pull(self, wanted: tuple[int, ...], given: tuple[int, ...], avals: Avals) -> Pull:
        """The pullback computed from the inputs alone (recomputing what it needs)."""
        key = (wanted, given, avals)
        found = self._pulls.get(key)
        if found is None:
            found = self._pulls[key] = Pull(self, wanted, given, avals)
        return found

    def push(self, wanted: tuple[int, ...], avals: Avals) -> Push:
        """The pushforward: tangents of the inputs `wanted` to tangents of the outputs."""
        key = (wanted, avals)
        found = self._pushes.get(key)
        if found is None:
            found = self._pushes[key] = Push(self, wanted, avals)
        return found


_LEAF = jax.tree.structure(0)


def _restricted(
    fn: Callable[..., Any], inputs: Sequence[Any], wanted: tuple[int, ...]
) -> Callable[..., tuple[Any, ...]]:
    """`fn` as a function of its inputs `wanted`, with flat outputs."""

    def of_wanted(*values: Any) -> tuple[Any, ...]:
        full = list(inputs)
        for position, value in zip(wanted, values, strict=True):
            full[position] = value
        return tuple(jax.tree.leaves(fn(*full)))

    return of_wanted


def _cotangents(outs: Avals, given: tuple[int, ...], values: Sequence[Any]) -> tuple[Any, ...]:
    """One cotangent per output: those `given`, zeros elsewhere (float0 for integers)."""
    by_output = dict(zip(given, values, strict=True))
    full: list[Any] = []
    for position, aval in enumerate(outs):
        if position in by_output:
            full.append(by_output[position])
        elif aval.inexact:
            full.append(jnp.zeros(aval.shape, aval.dtype))
        else:
            full.append(np.zeros(aval.shape, jax.dtypes.float0))
    return tuple(full)


def _varying_as(cotangent: Any, like: Any) -> Any:
    """A cotangent that varies over the mesh axes its output varies over, inside `shard_map`."""
    axes = _varying_axes(like)
    if not axes or isinstance(cotangent, np.ndarray):
        return cotangent
    missing = axes - _varying_axes(cotangent)
    return jax.lax.pcast(cotangent, tuple(missing), to="varying") if missing else cotangent


def _varying_axes(array: Any) -> frozenset[str]:
    """The mesh axes an array varies over, inside `shard_map`."""
    found = jax.typeof(array)
    newer = getattr(found, "manual_axis_type", None)
    return frozenset(getattr(found, "vma", ()) if newer is None else newer.varying)


class Backward:
    """A backward kernel with the inputs that can get something other than a structural zero."""

    __slots__ = ("kernel", "positions")

    def __init__(self, kernel: Kernel | None, positions: tuple[int, ...]) -> None:
        self.kernel = kernel
        self.positions = positions


class Split:
    """A kernel split at its residuals.

    Attributes:
        forward: Kernel giving the outputs followed by the residuals.
        wanted: The inputs it can be differentiated by.
        count: The number of outputs proper.
        saved: Which inputs (then outputs) the backward half reads besides the residuals.
    """

    __slots__ = (
        "_avals",
        "_backward",
        "_from_values",
        "_primal",
        "_tree",
        "count",
        "forward",
        "saved",
        "wanted",
    )

    def __init__(self, kernel: Kernel, wanted: tuple[int, ...], avals: Avals) -> None:
        self.wanted = wanted
        self.count = len(kernel.outs(avals))
        self._avals = avals
        self._primal = kernel
        self._backward: dict[tuple[int, ...], Backward] = {}
        self._tree: Any = None
        self._from_values: list[int | None] = []

        def forward(*inputs: Any) -> tuple[Any, ...]:
            outs, pullback = jax.vjp(
                _restricted(kernel.fn, inputs, wanted), *[inputs[i] for i in wanted]
            )
            residuals, self._tree = jax.tree.flatten(pullback)
            values = (*inputs, *outs)
            self._from_values = [
                next((j for j, v in enumerate(values) if v is residual), None)
                for residual in residuals
            ]
            kept = [r for r, j in zip(residuals, self._from_values, strict=True) if j is None]
            return (*outs, *kept)

        # Traced once: another trace (for a second derivative) may choose other residuals.
        with jax.enable_x64(True):
            jaxpr = jax.make_jaxpr(forward)(*[aval.struct for aval in avals])
        self.forward = Kernel(
            kernel.name,
            jaxpr_as_fun(jaxpr),
            node=kernel.node,
            blocked=kernel.blocked,
            half=True,
            effect=kernel.effect,
        )
        self.forward.proper = self.count
        self.saved = tuple(j for j in self._from_values if j is not None)

    def residual_avals(self) -> Avals:
        """The avals of the residuals the forward half adds."""
        return self.forward.outs(self._avals)[self.count :]

    def backward(self, given: tuple[int, ...]) -> Backward:
        """The backward half, given cotangents of the outputs `given`.

        Its inputs are the `saved` values, the residuals, then those cotangents.
        """
        found = self._backward.get(given)
        if found is None:
            found = self._backward[given] = self._make_backward(given)
        return found

    def _make_backward(self, given: tuple[int, ...]) -> Backward:
        outs = self._primal.outs(self._avals)
        values = self._avals + outs
        saved, tree, from_values = self.saved, self._tree, list(self._from_values)
        n_saved = len(saved)
        n_kept = len(from_values) - n_saved

        def pullback(*inputs: Any) -> tuple[Any, ...]:
            taken = iter(inputs[:n_saved])
            kept = iter(inputs[n_saved : n_saved + n_kept])
            residuals = [next(kept) if j is None else next(taken) for j in from_values]
            cotangents = _cotangents(outs, given, inputs[n_saved + n_kept :])
            return jax.tree.unflatten(tree, residuals)(cotangents)

        avals = (
            *[values[j] for j in saved],
            *self.residual_avals(),
            *[outs[o] for o in given],
        )
        return nonzero_part(
            f"{self._primal.name}.backward",
            pullback,
            avals,
            n_saved + n_kept,
            self.wanted,
            self._primal.node,
        )


def nonzero_part(
    name: str,
    fn: Callable[..., tuple[Any, ...]],
    avals: Avals,
    first: int,
    wanted: tuple[int, ...],
    node: str,
) -> Backward:
    """Drop the outputs of a linear `fn` that do not depend on its inputs from `first` on.

    A linear function's output that does not read its argument is zero, and a zero need not be
    computed.
    """
    whole = Kernel(name, fn, node=node, half=True)
    linear = -1 << first
    alive = tuple(n for n, mask in enumerate(whole.traced(avals).depends) if mask & linear)
    positions = tuple(wanted[n] for n in alive)
    if len(alive) == len(wanted):
        return Backward(whole, positions)
    if not alive:
        return Backward(None, ())

    def part(*inputs: Any) -> tuple[Any, ...]:
        outs = fn(*inputs)
        return tuple(outs[n] for n in alive)

    return Backward(Kernel(name, part, node=node, half=True), positions)


class Pull:
    """A pullback from the inputs: kernel inputs are the op's inputs, then the given cotangents."""

    __slots__ = ("backward",)

    def __init__(
        self, kernel: Kernel, wanted: tuple[int, ...], given: tuple[int, ...], avals: Avals
    ) -> None:
        outs = kernel.outs(avals)
        count = len(avals)

        def pullback(*inputs: Any) -> tuple[Any, ...]:
            primals = inputs[:count]
            values, pull = jax.vjp(
                _restricted(kernel.fn, primals, wanted), *[primals[i] for i in wanted]
            )
            cotangents = _cotangents(outs, given, inputs[count:])
            return pull(tuple(map(_varying_as, cotangents, values)))

        self.backward = nonzero_part(
            f"{kernel.name}.backward",
            pullback,
            (*avals, *[outs[o] for o in given]),
            count,
            wanted,
            kernel.node,
        )


class Push:
    """A pushforward: kernel inputs are the op's inputs, then the tangents of `wanted`.

    Attributes:
        kernel: Gives the tangents of the outputs `positions`, or None when all are zero.
    """

    __slots__ = ("kernel", "positions")

    def __init__(self, kernel: Kernel, wanted: tuple[int, ...], avals: Avals) -> None:
        outs = kernel.outs(avals)
        inexact = tuple(n for n, out in enumerate(outs) if out.inexact)
        count = len(avals)

        def pushforward(*inputs: Any) -> tuple[Any, ...]:
            primals = inputs[:count]
            _, tangents = jax.jvp(
                _restricted(kernel.fn, primals, wanted),
                tuple(primals[i] for i in wanted),
                tuple(inputs[count:]),
            )
            return tuple(tangents[n] for n in inexact)

        part = nonzero_part(
            f"{kernel.name}.forward",
            pushforward,
            (*avals, *[avals[i] for i in wanted]),
            count,
            inexact,
            kernel.node,
        )
        self.kernel = part.kernel
        self.positions = part.positions
