"""Executables: a program prepared for the values a run wants from it, compiled or not."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.core import Tracer

from tapejax._src.core.avals import make_aval
from tapejax._src.core.config import SETTINGS
from tapejax._src.engine.checks import BoundCheck
from tapejax._src.engine.kernel import Kernel, Split
from tapejax._src.engine.program import Op, Program, needed, run_ops
from tapejax._src.engine.statistics import COUNTERS

LOGGER = logging.getLogger("tapejax")

Extra = dict[int, tuple[Split, tuple[int, ...]]]
"""Ops split for a tape that outlives the run: first output -> (split, residual numbers)."""

Chains = Mapping[int, tuple[int, ...]]
"""Final value of an assigned variable -> its leaf (or -1), then every value assigned, in order."""

_DETAILS = 8
CHEAP = 12
"""A program of so few ops is rather compiled once more than made to return what nobody asked."""


class Request(NamedTuple):
    """What a run wants from a program.

    Attributes:
        live: Numbers of the values wanted.
        donated: Positions of the leaves whose buffers may be reused.
        tags: What else distinguishes it (values kept for tapes), or None.
    """

    live: tuple[int, ...]
    donated: tuple[int, ...]
    tags: Any


class Check(NamedTuple):
    """An op that can fail: its first output, kernel, check, inputs and the user's line."""

    first: int
    kernel: Kernel
    bound: BoundCheck
    ins: tuple[int, ...]
    line: tuple[str, int, str] | None


class Plan:
    """A program as a function of its leaves: only the ops that the wanted values need.

    Calling it with (floats, ints, *leaves) returns the live values and the failure record: per
    check whether it failed and its details, or None without checks. An assigned value stays what it
    was from the first failed check on, and no effect happens after it.
    """

    def __init__(
        self,
        node: Program,
        live: Sequence[int],
        extra: Extra | None,
        chains: Chains,
        effects: bool = True,
    ) -> None:
        path = node.path()
        self.live = tuple(live)
        self.leaf_numbers = [number for n in path for number, _ in n.leaves]
        self.scalars = [scalar for n in path for scalar in n.scalars]
        self.constants = {k: v for n in path for k, v in n.constants.items()}
        self.avals = node.table()
        self.checks = [
            Check(outs[0], kernel, kernel.check, ins, n.line_of(outs[0]))
            for n in path
            for kernel, ins, outs in n.ops
            if kernel.check is not None
        ]
        self.chains = {n: chains[n] for n in live if n in chains} if self.checks else {}
        ops = node.split_ops()
        if extra:
            ops = [_with_residuals(op, extra) for op in ops]
        also = [i for check in self.checks for i in check.ins]
        also += [step for chain in self.chains.values() for step in chain if step >= 0]
        given = {*self.leaf_numbers, *self.constants, *[number for number, _ in self.scalars]}
        self.effects = effects and node.effects
        computable = _computable(ops, given) if self.effects else ()
        self.ops, self.needed = needed(ops, [*live, *also], computable)
        self.absent = self.needed - given.union(*[op[2] for op in self.ops])
        """Values needed that this program cannot compute."""

    def __call__(self, floats: Any, ints: Any, *leaves: Any) -> tuple[list[Any], Any]:
        env: dict[int, Any] = dict(self.constants)
        env.update(zip(self.leaf_numbers, leaves, strict=True))
        place = {True: 0, False: 0}
        for number, is_float in self.scalars:
            source = floats if is_float else ints
            env[number] = source[place[is_float]].astype(self.avals[number].dtype)
            place[is_float] += 1
        rows: dict[int, Any] = {}
        if self.effects and self.checks:
            self._run_guarded(env, rows)
        else:
            run_ops(self.ops, env)
        if not self.checks:
            return [env[number] for number in self.live], None
        for check in self.checks:
            if check.first not in rows:
                rows[check.first] = _failure(check, env)
        failures = jnp.stack([rows[check.first] for check in self.checks])
        return [self._gated(number, env, failures) for number in self.live], failures

    def _run_guarded(self, env: dict[int, Any], rows: dict[int, Any]) -> None:
        """Run the ops; those with an effect only if nothing before them failed."""
        checks = iter(self.checks)
        check = next(checks, None)
        failed: Any = None
        for op in self.ops:
            kernel, ins, outs = op
            while kernel.effect and check is not None and outs and check.first < outs[0]:
                row = rows[check.first] = _failure(check, env)
                failed = row[0] > 0 if failed is None else failed | (row[0] > 0)
                check = next(checks, None)
            if kernel.effect and failed is not None:
                found = _unless(failed, kernel, [env[i] for i in ins])
                env.update(zip(outs, found, strict=True))
            else:
                run_ops([op], env)

    def _gated(self, number: int, env: dict[int, Any], failures: Any) -> Any:
        chain = [step for step in self.chains.get(number, (number,)) if step >= 0]
        value = env[chain[0]]
        for step in chain[1:]:
            before = [n for n, check in enumerate(self.checks) if check.first < step]
            failed = jnp.any(failures[jnp.asarray(before, int), 0] > 0) if before else False
            value = jnp.where(failed, value, env[step])
        return value


def _computable(ops: Sequence[Op], given: set[int]) -> set[int]:
    """The values a program can compute: not what a jacobian's body makes of its placeholder."""
    found = set(given)
    for _, ins, outs in ops:
        if found.issuperset(ins):
            found.update(outs)
    return found


def _unless(failed: Any, kernel: Kernel, arrays: list[Any]) -> list[Any]:
    """Run a kernel, or give zeros if something has failed."""
    outs = kernel.outs(tuple([make_aval(tuple(x.shape), x.dtype) for x in arrays]))

    def zeros(*_: Any) -> list[Any]:
        return [jnp.zeros(out.shape, out.dtype) for out in outs]

    def run(*values: Any) -> list[Any]:
        return kernel.run(values)

    if not isinstance(failed, Tracer):
        return zeros() if failed else run(*arrays)
    return jax.lax.cond(failed, zeros, run, *arrays)


def _with_residuals(op: Op, extra: Extra) -> Op:
    split = extra.get(op[2][0]) if op[2] else None
    return op if split is None else (split[0].forward, op[1], op[2] + split[1])


def _failure(check: Check, env: dict[int, Any]) -> Any:
    details = check.bound.fails(*[env[i] for i in check.ins])
    row = [jnp.asarray(d).astype(jnp.float64).reshape(()) for d in details[:_DETAILS]]
    return jnp.stack(row + [jnp.zeros((), jnp.float64)] * (_DETAILS - len(row)))


class Executable:
    """A way to run a program.

    Attributes:
        call: Function of (floats, ints, *leaves).
        live: The values it returns, in its own order.
        donated: The leaf positions whose buffers it takes.
        order: For each requested value its place among those returned.
        in_order: Whether they are returned just as requested.
        checks: Ops that can fail, in program order.
        compiled: Whether `call` is an XLA executable.
        owns_outputs: Whether each output is a buffer nobody else holds: not when one value is
            handed out twice, nor when ops run one by one may have returned their input.
    """

    __slots__ = (
        "call",
        "checks",
        "compiled",
        "donated",
        "in_order",
        "live",
        "order",
        "owns_outputs",
    )

    def __init__(
        self,
        call: Any,
        live: tuple[int, ...],
        donated: tuple[int, ...],
        request: Request,
        checks: list[Check],
        compiled: bool,
    ) -> None:
        self.call = call
        self.live = live
        self.donated = donated
        self.checks = checks
        self.compiled = compiled
        place = {number: n for n, number in enumerate(live)}
        self.order = [place[number] for number in request.live]
        self.in_order = self.order == list(range(len(live)))
        self.owns_outputs = compiled and len(set(self.order)) == len(self.order)

    def serving(self, request: Request) -> Executable:
        """The same executable with its outputs picked for another request."""
        return Executable(self.call, self.live, self.donated, request, self.checks, self.compiled)


def compile_program(
    node: Program,
    request: Request,
    chains: Chains,
    arguments: tuple[Any, ...],
    extra: Extra | None,
) -> Executable:
    """Compile the program for a request.

    Outputs are ordered so that XLA reuses each donated buffer for the value that replaces it.
    Scalars that were differentiated (losses) are always returned: reading one now and then must not
    need a second executable.

    Args:
        node: The program.
        request: What is wanted.
        chains: The variables assigned.
        arguments: (floats, ints, *leaves) of this run, for their avals and placement.
        extra: Ops to split for tapes that outlive the run.
    """
    started = time.perf_counter()
    plan = Plan(node, request.live, extra, chains)
    targets = [number for n in node.path() for number in n.scalar_targets]
    wanted = tuple(dict.fromkeys((*request.live, *targets)))
    if len(plan.ops) > CHEAP and len(wanted) > len(request.live):
        plan = Plan(node, wanted, extra, chains)
    else:
        wanted = request.live
    position = {number: n for n, number in enumerate(plan.leaf_numbers)}
    free = set(request.donated)
    pairs = {
        final: position[chain[0]]
        for final, chain in chains.items()
        if final in wanted and position.get(chain[0]) in free and chain[0] in plan.needed
    }
    plan.live = tuple(sorted(wanted, key=lambda n: (0, pairs[n]) if n in pairs else (1, 0)))
    donated = tuple(sorted(set(pairs.values())))

    def program(*args: Any) -> Any:
        return plan(*args)

    program.__name__ = f"tapejax_{len(plan.ops)}_ops"
    with jax.enable_x64(True):
        stage = jax.jit(program, donate_argnums=tuple(n + 2 for n in donated))
        call = stage.lower(*arguments).compile()
    seconds = time.perf_counter() - started
    COUNTERS.compiles += 1
    COUNTERS.compile_seconds += seconds
    if SETTINGS.log_compiles:
        LOGGER.warning("compiled %d ops in %.3f s, last at %s", len(plan.ops), seconds, node.line)
    return Executable(call, plan.live, donated, request, plan.checks, compiled=True)


def interpret_program(
    node: Program, request: Request, chains: Chains, extra: Extra | None
) -> Executable:
    """Run the program op by op, with the functions the kernels have compiled for themselves."""
    plan = Plan(node, request.live, extra, chains)
    return Executable(plan, plan.live, (), request, plan.checks, compiled=False)
