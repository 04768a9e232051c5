"""A while loop over arrays with rules for all derivatives.

Write `c` for the constants of the body, `x` for what it carries, and `F(c, x0)` for the state when
the loop stops. (The trip count is piecewise constant: it has no derivative of its own.)

*Forward mode* runs the loop on pairs (state, tangent): the *tangent loop*, again a `Loop`.

*Reverse mode* needs the states in the opposite order. The loop also records some of them
(`checkpoints`), and the sweep recovers the others (`sweep`). Only the parts of the state whose
value a derivative of a step depends on are recorded: an accumulator or an array that is only
written to costs nothing.

Both belong to one linear map `v -> DF v` (`linear_loop`) which JAX transposes.

*Higher derivatives* never differentiate the checkpointing. The derivative of the sweep in
direction `u`, which is the second derivative of a scalar,

    d/du (DF^T w) = grad <w, DF u>,

is a reverse sweep of the tangent loop: first-order rules again, for a loop with twice the state.
By the symmetry of second derivatives its transpose has the same form.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.core import ShapedArray as Aval
from jax.custom_derivatives import SymbolicZero

from tapejax._src.function.loops import jaxprs
from tapejax._src.function.loops.checkpoints import Slots, allocate, default_slots, write
from tapejax._src.function.loops.jaxprs import Program
from tapejax._src.function.loops.linear_loop import LinearMap, Side, is_zero
from tapejax._src.function.loops.sweep import visit_all, visit_by_segments

Arrays = Sequence[Any]


class Options(NamedTuple):
    """What does not change the values of a loop.

    Attributes:
        bound: The most trips that its condition lets it make, or None.
        slots: How many states to record, or None.
        name: For people who read jaxprs.
    """

    bound: int | None
    slots: int | None
    name: str


class Arguments(NamedTuple):
    """The arguments of a loop, which it takes one after the other."""

    condition_constants: Arrays
    body_constants: Arrays
    carry: Arrays


class Loop:
    """A loop whose condition and body are programs.

    Attributes:
        condition: Takes its constants and the carry; returns one bool.
        body: Takes its constants and the carry; returns the next carry.
        options: See `Options`.
        carried: The types of the carry.
        count_by_kind: How many arguments there are of each kind.
        constants: The types of the constants of the body.
        run: The loop as a differentiable function of all `Arguments`; returns the last carry.
    """

    def __init__(self, condition: Program, body: Program, options: Options) -> None:
        """A loop. The types of its carry are those of what the body returns."""
        self.condition = condition
        self.body = body
        self.options = options
        self.carried = body.out_avals
        count = len(self.carried)
        self.count_by_kind = (len(condition.avals) - count, len(body.avals) - count, count)
        self.constants = body.avals[: self.count_by_kind[1]]
        self._plans: dict[tuple[tuple[bool, ...], tuple[bool, ...]], Plan] = {}
        self.run = jax.custom_jvp(self._run)
        self.run.defjvp(self._differentiate, symbolic_zeros=True)

    def split(self, arguments: Arrays) -> Arguments:
        """The arguments by their kinds."""
        of_condition, rest = _cut(arguments, self.count_by_kind[0])
        return Arguments(of_condition, *_cut(rest, self.count_by_kind[1]))

    def join(self, kinds: Arguments) -> list[Any]:
        """The arguments one after the other."""
        return [*kinds.condition_constants, *kinds.body_constants, *kinds.carry]

    def _run(self, *arguments: Any) -> tuple[jax.Array, ...]:
        given = self.split(arguments)

        def condition(carry: Arrays) -> jax.Array:
            return self.condition(*given.condition_constants, *carry)[0]

        def body(carry: Arrays) -> tuple[jax.Array, ...]:
            return tuple(self.body(*given.body_constants, *carry))

        return lax.while_loop(condition, body, tuple(given.carry))

    def plan(self, moving: Sequence[bool]) -> Plan:
        """How to differentiate by some of the arguments.

        Args:
            moving: For each argument whether its tangent may be nonzero.
        """
        _, constants, carry = self.split(moving)
        while True:  # what moves in one step makes more of the carry move in the next
            out = self.body.perturbed([*constants, *carry])
            more = [before or after for before, after in zip(carry, out, strict=True)]
            if more == [*carry]:
                break
            carry = more
        key = (tuple(constants), tuple(carry))
        if key not in self._plans:
            self._plans[key] = Plan(self, _places(constants), _places(carry))
        return self._plans[key]

    def _differentiate(
        self, primals: Arrays, tangents: Arrays
    ) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        plan = self.plan(_moving(primals, tangents))
        if not plan.carry:
            out = self.run(*primals)
            return tuple(out), tuple(_zero_like(value) for value in out)
        recorded = plan.record(*primals)
        return tuple(recorded[: len(self.carried)]), plan.tangents_out(primals, tangents, recorded)


class Plan:
    """A loop differentiated by some of its arguments: all that is known before it runs.

    Attributes:
        loop: The loop.
        constants: Positions of the constants of the body to differentiate by.
        carry: Positions in the carry that may have a nonzero tangent.
        record: The loop with recording. Returns the last carry, the trip count and the buffers.
        record_silently: The same without callbacks.
    """

    def __init__(self, loop: Loop, constants: list[int], carry: list[int]) -> None:
        """A plan for these constants and parts of the carry."""
        self.loop = loop
        self.constants = constants
        self.carry = carry
        self._condition = loop.condition.silent()
        self._body = loop.body.silent()
        if not carry:
            return
        self._pull = jaxprs.trace_closed(self._pull_back, self._pull_avals).silent()
        self._pull = self._pull.restricted([True] * len(self._pull.out_avals))
        self._needed = self._find_needed()
        wanted = set(self._needed)
        self._advance = self._body.restricted([i in wanted for i in range(len(loop.carried))])
        self._slots, self._is_whole = self._choose_slots()
        self.record = self._recorder(loop.condition, loop.body)
        self.record_silently = self._recorder(self._condition, self._body)

    # ------------------------------------------------------------------ what is recorded
    @property
    def _pull_avals(self) -> list[Aval]:
        carried = self.loop.carried
        return [*self.loop.constants, *carried, *(carried[i] for i in self.carry)]

    def _pull_back(self, *values: Any) -> list[jax.Array]:
        """The transposed derivative of one step.

        Args:
            *values: Constants, the carry before the step, cotangents of what moves after it.

        Returns:
            Cotangents of what moves among the constants, then in the carry before the step.
        """
        constants, rest = _cut(values, len(self.loop.constants))
        carry, cotangents = _cut(rest, len(self.loop.carried))

        def step(moving_constants: Arrays, moving_carry: Arrays) -> list[jax.Array]:
            out = self._body(
                *_replaced(constants, self.constants, moving_constants),
                *_replaced(carry, self.carry, moving_carry),
            )
            return [out[i] for i in self.carry]

        moving = [constants[i] for i in self.constants], [carry[i] for i in self.carry]
        of_constants, of_carry = jax.vjp(step, *moving)[1](list(cotangents))
        return [*of_constants, *of_carry]

    def _find_needed(self) -> list[int]:
        """Positions in the carry whose value some step's derivative depends on, however later."""
        count = len(self.loop.constants)
        needed = list(self._pull.used[count : count + len(self.loop.carried)])
        while True:
            inputs = self._body.restricted(needed).used[count:]
            more = [now or before for now, before in zip(needed, inputs, strict=True)]
            if more == needed:
                return _places(needed)
            needed = more

    def _choose_slots(self) -> tuple[Slots, bool]:
        """The layout of the buffers, and whether there is a row for every state."""
        bound = self.loop.options.bound
        avals = [self.loop.carried[i] for i in self._needed]
        size = sum(int(np.prod(aval.shape)) * aval.dtype.itemsize for aval in avals)
        count = self.loop.options.slots or default_slots(size, bound)
        slots = Slots.of_count(count)
        return slots, bound is not None and bound <= slots.count

    # ------------------------------------------------------------------ the recorded loop
    def _recorder(self, condition: Program, body: Program) -> Callable[..., Any]:
        record = jax.custom_jvp(functools.partial(self._record, condition, body))

        def differentiate(
            primals: Arrays, tangents: Arrays
        ) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
            # The trip count and the recorded states are given no tangent. Only the sweep reads
            # them, and its own derivative follows from the arguments of the loop.
            recorded = record(*primals)
            plan = self.loop.plan(_moving(primals, tangents))
            found: tuple[Any, ...] = tuple(
                _zero_like(value) for value in recorded[: len(self.loop.carried)]
            )
            if plan.carry:
                own = recorded if plan is self else plan.record_silently(*primals)
                found = plan.tangents_out(primals, tangents, own)
            extra = tuple(_zero_like(value) for value in recorded[len(found) :])
            return tuple(recorded), (*found, *extra)

        record.defjvp(differentiate, symbolic_zeros=True)
        return record

    def _record(self, condition: Program, body: Program, *arguments: Any) -> tuple[Any, ...]:
        given = self.loop.split(arguments)

        def goes_on(state: Any) -> jax.Array:
            return condition(*given.condition_constants, *state[1])[0]

        def step(state: Any) -> tuple[jax.Array, list[jax.Array], list[jax.Array]]:
            index, carry, buffers = state
            row = index if self._is_whole else self._slots.row(index, self._slots.shift(index))
            buffers = write(buffers, row, self._needed_of(carry))
            return index + 1, body(*given.body_constants, *carry), buffers

        buffers = self._allocate(self._needed_of(given.carry))
        state = (jnp.int32(0), list(given.carry), buffers)
        trips, carry, buffers = lax.while_loop(goes_on, step, state)
        return (*carry, trips, *buffers)

    def _allocate(self, state: Sequence[jax.Array]) -> list[jax.Array]:
        bound = self.loop.options.bound
        if self._is_whole and bound is not None:
            return allocate(state, max(bound, 1))
        return self._slots.allocate(state)

    def _needed_of(self, carry: Arrays) -> list[Any]:
        return [carry[i] for i in self._needed]

    # ------------------------------------------------------------------ the linear map
    def tangents_out(self, primals: Arrays, tangents: Arrays, recorded: Arrays) -> tuple[Any, ...]:
        """The tangents of the last carry.

        Args:
            primals: All arguments of the loop.
            tangents: Theirs.
            recorded: What `record` returned for them.

        Returns:
            A tangent or a symbolic zero for each part of the carry.
        """
        count = len(self.loop.carried)
        residuals = [*primals, *recorded[count:]]
        avals = tuple(self.loop.carried[i] for i in self.carry)
        linear_map = LinearMap(
            Side(self._push),
            Side(self._sweep, self._sweep_derivative),
            len(residuals),
            avals,
            self.loop.options.name,
        )
        found = linear_map(residuals, self._directions(primals, tangents))
        out = [_zero_like(value) for value in recorded[:count]]
        return tuple(_replaced(out, self.carry, found))

    def _directions(self, primals: Arrays, tangents: Arrays) -> list[jax.Array]:
        """The tangents of what moves, in its order."""
        values, moving = self.loop.split(primals), self.loop.split(tangents)
        pairs = [(values.body_constants[i], moving.body_constants[i]) for i in self.constants]
        pairs += [(values.carry[i], moving.carry[i]) for i in self.carry]
        return [jnp.zeros_like(value) if _is_zero(dx) else dx for value, dx in pairs]

    def _parts(self, values: Arrays) -> tuple[Arguments, jax.Array, Arrays, Arrays]:
        """The arguments of the linear map: those of the loop, trips, buffers, inputs."""
        arguments, rest = _cut(values, sum(self.loop.count_by_kind))
        buffers, inputs = _cut(rest[1:], len(self._needed))
        return self.loop.split(arguments), rest[0], buffers, inputs

    def _push(self, *values: Any) -> list[jax.Array]:
        """Tangents of what moves -> tangents of the last carry."""
        given, _, _, directions = self._parts(values)
        return self.push_forward(given, directions)

    def push_forward(self, given: Arguments, directions: Arrays) -> list[jax.Array]:
        """`DF v`, by the tangent loop.

        Args:
            given: The arguments of the loop.
            directions: `v`: tangents of what moves among the constants, then in the carry.
        """
        of_constants, of_carry = _cut(directions, len(self.constants))
        out = self._tangent_loop.run(
            *given.condition_constants,
            *given.body_constants,
            *of_constants,
            *given.carry,
            *of_carry,
        )
        return list(out[len(self.loop.carried) :])

    @functools.cached_property
    def _tangent_loop(self) -> Loop:
        loop = self.loop
        constants = [loop.constants[i] for i in self.constants]
        carry = [*loop.carried, *(loop.carried[i] for i in self.carry)]

        def condition(*values: Any) -> list[jax.Array]:
            return self._condition(*values[: len(values) - len(self.carry)])

        def body(*values: Any) -> list[jax.Array]:
            primal_constants, rest = _cut(values, len(loop.constants))
            of_constants, rest = _cut(rest, len(constants))
            primal_carry, of_carry = _cut(rest, len(loop.carried))

            def step(moving_constants: Arrays, moving_carry: Arrays) -> list[jax.Array]:
                return self._body(
                    *_replaced(primal_constants, self.constants, moving_constants),
                    *_replaced(primal_carry, self.carry, moving_carry),
                )

            at = (
                [primal_constants[i] for i in self.constants],
                [primal_carry[i] for i in self.carry],
            )
            out, moved = jax.jvp(step, at, (list(of_constants), list(of_carry)))
            return [*out, *(moved[i] for i in self.carry)]

        of_condition = loop.condition.avals[: loop.count_by_kind[0]]
        return Loop(
            jaxprs.trace_closed(condition, [*of_condition, *carry]).silent(),
            jaxprs.trace_closed(body, [*loop.constants, *constants, *carry]).silent(),
            loop.options._replace(name=f"{loop.options.name}'"),
        )

    def _sweep(self, *values: Any) -> list[jax.Array]:
        """Cotangents of the last carry -> cotangents of what moves."""
        given, trips, buffers, cotangents = self._parts(values)
        sums = [jaxprs.zeros(self.loop.constants[i]) for i in self.constants]
        count = len(self.loop.carried)
        unknown: list[Any] = [None] * count

        def visit(state: Arrays, carry: Any) -> Any:
            cotangents, sums = carry
            full = _replaced(unknown, self._needed, state)
            found = self._pull(*given.body_constants, *full, *cotangents)
            of_constants, of_carry = _cut(found, len(sums))
            added = [total + part for total, part in zip(sums, of_constants, strict=True)]
            return list(of_carry), added

        def advance(state: Arrays) -> list[jax.Array]:
            return self._advance(*given.body_constants, *_replaced(unknown, self._needed, state))

        def from_rows(trips: jax.Array, carry: Any) -> Any:
            return visit_all(buffers, trips, visit, carry)

        def by_segments(trips: jax.Array, carry: Any) -> Any:
            return visit_by_segments(self._slots, buffers, trips, advance, visit, carry)

        carry = (list(cotangents), sums)
        if self._is_whole:
            carry = from_rows(trips, carry)
        else:
            # Where the predicate is a batch both branches run for all: each makes no trip for the
            # examples of the other.
            fits = trips <= self._slots.count
            carry = lax.cond(
                fits,
                lambda carry: from_rows(jnp.where(fits, trips, 0), carry),
                lambda carry: by_segments(jnp.where(fits, 0, trips), carry),
                carry,
            )
        cotangents, sums = carry
        return [*sums, *cotangents]

    # ------------------------------------------------------------------ second derivatives
    def _sweep_derivative(self, values: Arrays, tangents: Arrays) -> Sequence[jax.Array]:
        """The derivative of `_sweep` by the arguments of the loop, for fixed cotangents."""
        given, _, _, cotangents = self._parts(values)
        arguments = self.loop.join(given)
        moving = tangents[: len(arguments)]
        other = self.loop.plan(_moving(arguments, moving))
        avals = self._moving_avals
        if not other.carry:
            return [jaxprs.zeros(aval) for aval in avals]
        residuals = [*arguments, *cotangents]
        linear_map = LinearMap(
            Side(functools.partial(self._curvature, self, other)),
            Side(functools.partial(self._curvature, other, self)),
            len(residuals),
            avals,
            f"{self.loop.options.name}''",
        )
        return linear_map(residuals, other._directions(arguments, moving))

    def _curvature(self, rows: Plan, columns: Plan, *values: Any) -> list[jax.Array]:
        """`grad <w, DF u>` by what moves in `rows`, for a direction `u` of `columns`.

        `w` are cotangents of what moves in this plan.
        """
        arguments, rest = _cut(values, sum(self.loop.count_by_kind))
        cotangents, directions = _cut(rest, len(self.carry))
        given = self.loop.split(arguments)

        def directional(moving_constants: Arrays, moving_carry: Arrays) -> list[jax.Array]:
            at = Arguments(
                given.condition_constants,
                _replaced(given.body_constants, rows.constants, moving_constants),
                _replaced(given.carry, rows.carry, moving_carry),
            )
            found = dict(zip(columns.carry, columns.push_forward(at, directions), strict=True))
            return [
                found[i] if i in found else jaxprs.zeros(self.loop.carried[i]) for i in self.carry
            ]

        of_constants, of_carry = jax.vjp(
            directional,
            [given.body_constants[i] for i in rows.constants],
            [given.carry[i] for i in rows.carry],
        )[1](list(cotangents))
        return [*of_constants, *of_carry]

    @property
    def _moving_avals(self) -> tuple[Aval, ...]:
        constants = [self.loop.constants[i] for i in self.constants]
        return (*constants, *(self.loop.carried[i] for i in self.carry))


def _is_zero(tangent: Any) -> bool:
    return tangent is None or isinstance(tangent, SymbolicZero) or is_zero(tangent)


def _moving(primals: Arrays, tangents: Arrays) -> list[bool]:
    return [
        not _is_zero(tangent) and jaxprs.is_inexact(primal.dtype)
        for primal, tangent in zip(primals, tangents, strict=True)
    ]


def _zero_like(value: Any) -> Any:
    return SymbolicZero(jaxprs.tangent_aval(Aval(value.shape, value.dtype)))


def _places(mask: Sequence[bool]) -> list[int]:
    return [i for i, chosen in enumerate(mask) if chosen]


def _cut(values: Arrays, place: int) -> tuple[Arrays, Arrays]:
    return values[:place], values[place:]


def _replaced(values: Arrays, places: Sequence[int], new: Arrays) -> list[Any]:
    out = list(values)
    for i, value in zip(places, new, strict=True):
        out[i] = value
    return out
