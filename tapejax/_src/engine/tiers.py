"""Rent, then buy: a structure is compiled when running it op by op has cost as much.

A loop that always records the same program is compiled at once. Only when many structures are new
(a sequence length that changes every step, say) do programs first run op by op.
"""

from __future__ import annotations

import time
from collections import deque
from typing import Any

import jax

from tapejax._src.engine.executable import Executable, Plan, Request
from tapejax._src.engine.program import Program
from tapejax._src.engine.statistics import COUNTERS

FREE = 8
WINDOW = 32
"""More than FREE new structures among the last WINDOW runs are churn."""
PER_PROGRAM = 0.15
PER_OP = 0.003
PER_KERNEL = 0.03
"""Estimated seconds to compile a program, for each of its ops, and a kernel on its own."""


class Tiers:
    """What decides between compiling and running op by op."""

    def __init__(self) -> None:
        self.recent: deque[int] = deque()
        self.compiled_kernels: set[Any] = set()

    def worth_compiling(self, node: Program, request: Request) -> bool:
        """Whether to compile this structure now."""
        now = COUNTERS.flushes
        if node.rented is None:
            node.rented = {}
        if request not in node.rented:
            node.rented[request] = 0.0
            self.recent.append(now)
        while self.recent and self.recent[0] < now - WINDOW:
            self.recent.popleft()
        if len(self.recent) <= FREE:
            return True
        plan = Plan(node, request.live, None, {})
        price = PER_PROGRAM + PER_OP * len(plan.ops)
        unseen = len(_kernel_keys(plan) - self.compiled_kernels)
        return unseen * PER_KERNEL + node.rented[request] > price

    def rent(self, node: Program, request: Request, executable: Executable) -> Any:
        """The executable's call, its time added to what this structure has cost."""
        plan: Plan = executable.call
        self.compiled_kernels |= _kernel_keys(plan)

        def run(*arguments: Any) -> Any:
            COUNTERS.interpreted += 1
            started = time.thread_time()
            with jax.enable_x64(True):
                outs = plan(*arguments)
            assert node.rented is not None
            node.rented[request] += time.thread_time() - started
            return outs

        return run


def _kernel_keys(plan: Plan) -> set[Any]:
    return {(kernel, tuple([plan.avals[i] for i in ins])) for kernel, ins, _ in plan.ops}


TIERS = Tiers()
