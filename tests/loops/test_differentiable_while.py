"""The loop against `lax.scan` of known length, Python loops, and mathematics."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.experimental import io_callback
from jax.sharding import Mesh, PartitionSpec

from tapejax._src.function.loops.checkpoints import Slots, default_slots
from tapejax._src.function.loops.differentiable_while import differentiable_while

SIZE = 3
close = partial(np.testing.assert_allclose, rtol=1e-9, atol=1e-12)


@pytest.fixture(autouse=True)
def _double_precision() -> Iterator[None]:
    with jax.enable_x64(True):
        yield


def cell(matrix: Any, state: Any, index: Any) -> Any:
    return jnp.tanh(matrix @ state) + 0.01 * index


def loop_loss(matrix: Any, state: Any, trips: Any, **options: Any) -> Any:
    """A counter, a state, an accumulator; closes over the matrix and the count."""

    def body(carry: Any) -> Any:
        index, state, total = carry
        state = cell(matrix, state, index)
        return index + 1, state, total + jnp.sum(state**2)

    first = (jnp.int32(0), state, jnp.zeros((), state.dtype))
    _, state, total = differentiable_while(lambda c: c[0] < trips, body, first, **options)
    return total + jnp.sum(state)


def scan_loss(matrix: Any, state: Any, trips: int) -> Any:
    def body(carry: Any, index: Any) -> Any:
        state, total = carry
        state = cell(matrix, state, index)
        return (state, total + jnp.sum(state**2)), None

    first = (state, jnp.zeros((), state.dtype))
    (state, total), _ = lax.scan(body, first, jnp.arange(trips))
    return total + jnp.sum(state)


def example() -> tuple[Any, Any]:
    random = np.random.default_rng(0)
    return jnp.asarray(random.normal(size=(SIZE, SIZE)) * 0.7), jnp.asarray(
        random.normal(size=SIZE)
    )


def all_close(found: Any, expected: Any, rtol: float = 1e-9) -> None:
    assert jax.tree.structure(found) == jax.tree.structure(expected)
    jax.tree.map(
        lambda a, b: np.testing.assert_allclose(a, b, rtol=rtol, atol=1e-11), found, expected
    )


def sine_of_gradient(loss: Callable[..., Any]) -> Callable[..., Any]:
    """A scalar that depends on the gradient: its derivative has one order more."""
    return lambda *at: sum(jnp.sum(jnp.sin(part)) for part in jax.grad(loss, (0, 1))(*at))


def power(x: Any, trips: Any, **options: Any) -> Any:
    """x**trips, whose derivatives everyone knows."""
    return differentiable_while(
        lambda c: c[0] < trips, lambda c: (c[0] + 1, c[1] * x), (0, jnp.ones_like(x)), **options
    )[1]


def avals_in(jaxpr: Any) -> Iterator[Any]:
    for equation in jaxpr.eqns:
        yield from (out.aval for out in equation.outvars)
        for inner in jax.extend.core.jaxprs_in_params(equation.params):
            yield from avals_in(inner)


# ---------------------------------------------------------------------- slots
@pytest.mark.parametrize("exponent", [1, 2, 3, 5])
def test_every_state_that_a_reader_needs_is_in_a_slot_of_its_own(exponent: int) -> None:
    slots = Slots(exponent)
    indices = jnp.arange(1100, dtype=jnp.int32)
    shifts = np.asarray(jax.vmap(slots.shift)(indices))
    rows = np.asarray(jax.vmap(slots.row)(indices, shifts))
    folds = np.asarray(jax.vmap(slots.fold)(indices))
    buffer = np.full(slots.count + 1, -1)
    for last in range(len(indices)):
        buffer[rows[last]] = last
        needed = np.arange(0, last + 1, 1 << shifts[last])
        assert len(needed) <= slots.count
        assert np.array_equal(buffer[folds[needed]], needed)


def test_slots_grow_as_states_shrink_and_never_exceed_the_known_limit() -> None:
    counts = [default_slots(size, None) for size in (1, 256, 2**12, 2**20, 2**24)]
    assert counts == [8192, 1024, 64, 64, 16]
    assert default_slots(256, 10) == 16
    assert Slots.of_count(7).count == 4
    assert Slots.of_count(1).count == 2


# ---------------------------------------------------------------------- first derivatives
@pytest.mark.parametrize(("slots", "counts"), [
    (2, (0, 1, 2, 3, 4, 5, 8, 9, 40)),
    (4, (0, 1, 3, 4, 5, 15, 16, 17, 64, 65, 150)),
    (None, (0, 1, 17)),
])  # fmt: skip
def test_gradients_are_those_of_a_loop_of_known_length(
    slots: int | None, counts: tuple[int, ...]
) -> None:
    at = example()
    gradient = jax.jit(jax.value_and_grad(partial(loop_loss, slots=slots), (0, 1)))
    for trips in counts:
        expected = jax.value_and_grad(partial(scan_loss, trips=trips), (0, 1))(*at)
        all_close(gradient(*at, trips), expected)


def test_a_gradient_needs_no_jit() -> None:
    at = example()
    expected = jax.grad(partial(scan_loss, trips=5), (0, 1))(*at)
    all_close(jax.grad(loop_loss, (0, 1))(*at, 5), expected)


@pytest.mark.parametrize("trips", [0, 1, 7])
def test_powers_have_the_derivatives_of_powers(trips: int) -> None:
    x = jnp.float64(1.3)
    first = jax.grad(power)
    second = jax.grad(first)
    close(power(x, trips), 1.3**trips)
    close(jax.jit(first)(x, trips), trips * 1.3 ** (trips - 1))
    close(jax.jit(second)(x, trips), trips * (trips - 1) * 1.3 ** (trips - 2))


def test_a_gradient_agrees_with_finite_differences_where_data_decide_the_count() -> None:
    def newton(a: Any) -> Any:
        return differentiable_while(
            lambda x: abs(x * x - a) > 1e-13, lambda x: (x + a / x) / 2, jnp.ones_like(a)
        )

    step = 1e-6
    difference = (newton(2.0 + step) - newton(2.0 - step)) / (2 * step)
    np.testing.assert_allclose(jax.grad(newton)(2.0), difference, rtol=1e-7)
    np.testing.assert_allclose(jax.grad(newton)(2.0), 0.5 / np.sqrt(2.0), rtol=1e-7)


def test_loops_nest() -> None:
    def nested(a: Any, loop: Callable[..., Any]) -> Any:
        def outer(carry: Any) -> Any:
            index, total = carry
            y, _ = loop(
                lambda c: (c[0] > 0.3) & (c[1] < 50),
                lambda c: (c[0] * a * 0.5 + 0.1, c[1] + 1),
                (total + 1.0, jnp.int32(0)),
            )
            return index + 1, total * 0.5 + y

        return loop(lambda c: c[0] < 4, outer, (jnp.int32(0), a))[1]

    def python_loop(cond: Any, body: Any, state: Any) -> Any:
        while cond(state):
            state = body(state)
        return state

    found = jax.jit(jax.value_and_grad(partial(nested, loop=differentiable_while)))(1.1)
    all_close(found, jax.value_and_grad(partial(nested, loop=python_loop))(jnp.float64(1.1)))


# ---------------------------------------------------------------------- all derivatives
def test_forward_mode_and_hessians_agree() -> None:
    at = example()
    found, expected = partial(loop_loss, trips=17, slots=4), partial(scan_loss, trips=17)
    direction = tuple(jnp.ones_like(part) for part in at)
    all_close(jax.jit(partial(jax.jvp, found))(at, direction), jax.jvp(expected, at, direction))
    for derivative in (jax.jacfwd, jax.jacrev, jax.hessian):
        all_close(jax.jit(derivative(found, 1))(*at), jax.jit(derivative(expected, 1))(*at), 1e-8)


def test_second_derivatives_of_all_kinds_agree() -> None:
    at = example()
    found, expected = partial(loop_loss, trips=17, slots=4), partial(scan_loss, trips=17)
    reverse = jax.jit(jax.grad(sine_of_gradient(expected), (0, 1)))(*at)
    all_close(jax.jit(jax.grad(sine_of_gradient(found), (0, 1)))(*at), reverse, 1e-8)

    direction = tuple(jnp.ones_like(part) for part in at)

    def product(loss: Any) -> Any:
        return jax.jit(lambda *at: jax.jvp(jax.grad(loss, (0, 1)), at, direction))(*at)

    all_close(product(found), product(expected), 1e-8)

    def slope(loss: Any) -> Any:
        return lambda *at: jax.jvp(loss, at, direction)[1]

    all_close(jax.jit(jax.grad(slope(found)))(*at), jax.grad(slope(expected))(*at), 1e-8)


def test_third_derivatives_agree() -> None:
    at = example()
    found, expected = partial(loop_loss, trips=9, slots=4), partial(scan_loss, trips=9)
    third = jax.grad(sine_of_gradient(sine_of_gradient(expected)), 1)
    all_close(
        jax.jit(jax.grad(sine_of_gradient(sine_of_gradient(found)), 1))(*at), third(*at), 1e-7
    )
    x, cube = jnp.float64(1.3), 5 * 4 * 3 * 1.3**2
    close(jax.jit(jax.jacfwd(jax.grad(jax.jacfwd(power))))(x, 5), cube)


def test_the_transpose_of_the_second_derivative_is_right() -> None:
    matrix, state = example()
    seeds = jnp.linspace(-1.0, 2.0, SIZE)

    def gradient(loss: Any) -> Any:
        return lambda matrix: jax.grad(partial(loss, trips=6), 1)(matrix, state)

    def pulled(loss: Any) -> Any:
        return jax.jit(lambda seeds: jax.vjp(gradient(loss), matrix)[1](seeds))(seeds)

    all_close(pulled(partial(loop_loss, slots=2)), pulled(scan_loss), 1e-8)


# ---------------------------------------------------------------------- batches
def test_examples_of_a_batch_have_counts_of_their_own() -> None:
    matrix, state = example()
    states = jnp.stack([state, -state, state + 1, 2 * state])
    counts = [0, 3, 17, 70]
    gradient = jax.vmap(jax.grad(partial(loop_loss, slots=4), (0, 1)), (None, 0, 0))
    found = jax.jit(gradient)(matrix, states, jnp.asarray(counts))
    for i, trips in enumerate(counts):
        expected = jax.grad(partial(scan_loss, trips=trips), (0, 1))(matrix, states[i])
        all_close(jax.tree.map(lambda part, i=i: part[i], found), expected, 1e-8)


def test_the_gradient_of_a_batch_is_that_of_its_examples() -> None:
    matrix, state = example()
    states = jnp.stack([state, -state])

    def total(loss: Any) -> Any:
        return lambda matrix, states: jnp.sum(jax.vmap(loss, (None, 0))(matrix, states) ** 2)

    found, expected = (
        total(partial(loop_loss, trips=7, slots=2)),
        total(partial(scan_loss, trips=7)),
    )
    at = (matrix, states)
    all_close(jax.jit(jax.grad(found, (0, 1)))(*at), jax.grad(expected, (0, 1))(*at), 1e-8)


def test_a_step_may_use_the_name_of_a_batch_axis() -> None:
    def loss(loop: Any, weight: Any, x: Any) -> Any:
        def of_one(x: Any) -> Any:
            return loop(lambda x: jnp.sin(x) * weight + lax.pmean(x * weight, "batch"), x)

        return jnp.sum(jax.vmap(of_one, axis_name="batch")(x) ** 2)

    def by_while(step: Any, x: Any) -> Any:
        return differentiable_while(lambda c: c[0] < 3, lambda c: (c[0] + 1, step(c[1])), (0, x))[1]

    def by_hand(step: Any, x: Any) -> Any:
        return step(step(step(x)))

    at = (jnp.float64(0.8), jnp.linspace(0.1, 1.0, 4))
    found = jax.jit(jax.grad(partial(loss, by_while), (0, 1)))(*at)
    all_close(found, jax.grad(partial(loss, by_hand), (0, 1))(*at))


# ---------------------------------------------------------------------- what is carried
def test_integers_bools_and_literals_are_carried() -> None:
    def loss(x: Any) -> Any:
        def body(carry: Any) -> Any:
            out = {"count": carry["count"] + 1, "odd": ~carry["odd"], "one": 1.0}
            out["x"] = jnp.where(carry["odd"], carry["x"] * x, carry["x"] + carry["one"])
            return out

        first = {"count": 0, "odd": False, "one": 5.0, "x": x}
        last = differentiable_while(lambda c: c["count"] < 4, body, first)
        return last["x"] * last["count"], last

    (_, last), slope = jax.value_and_grad(loss, has_aux=True)(jnp.float64(2.0))
    # ((x + 5) x + 1) x at x = 2, times four
    close(last["x"], 30.0)
    close(slope, 4 * (3 * 4 + 10 * 2 + 1))
    assert [str(last[key].dtype) for key in ("count", "odd", "one")] == ["int64", "bool", "float64"]
    assert (int(last["count"]), bool(last["odd"]), float(last["one"])) == (4, False, 1.0)


@pytest.mark.parametrize("x64", [True, False])
def test_counters_keep_their_dtype(x64: bool) -> None:
    with jax.enable_x64(x64):
        dtypes = [jnp.int8, jnp.int32, jnp.uint32, *([jnp.int64] if x64 else [])]

        def loss(x: Any) -> Any:
            counters = [jnp.zeros((), dtype) for dtype in dtypes]
            last = differentiable_while(
                lambda c: c[0][0] < 3,
                lambda c: ([counter + 1 for counter in c[0]], c[1] * x),
                (counters, x),
                maximum_iterations=5,
            )
            return last[1], last[0]

        x = jnp.float32(2.0)
        slope, counters = jax.jit(jax.grad(loss, has_aux=True))(x)
        assert [counter.dtype for counter in counters] == dtypes
        assert slope.dtype == jnp.float32
        close(slope, 4 * 2.0**3)
        close(jax.jit(jax.grad(jax.grad(lambda x: loss(x)[0])))(x), 12 * 2.0**2)


def test_a_derivative_may_be_pulled_back_outside_the_scope_that_made_it() -> None:
    x = jnp.float64(1.5)
    value, pull = jax.vjp(lambda x: power(x, 6, slots=2), x)
    with jax.enable_x64(False):
        (slope,) = pull(value)
    assert slope.dtype == jnp.float64
    close(slope, 1.5**6 * 6 * 1.5**5)


def test_float0_and_random_keys_are_carried() -> None:
    nothing = np.zeros((), jax.dtypes.float0)

    def loss(x: Any) -> Any:
        def body(carry: Any) -> Any:
            index, key, nothing, y = carry
            key, now = jax.random.split(key)
            return index + 1, key, nothing, y * x + jax.random.normal(now)

        first = (0, jax.random.key(3), nothing, x)
        return differentiable_while(lambda c: c[0] < 9, body, first, slots=2)[3]

    def by_hand(x: Any) -> Any:
        key, y = jax.random.key(3), x
        for _ in range(9):
            key, now = jax.random.split(key)
            y = y * x + jax.random.normal(now)
        return y

    close(jax.jit(jax.grad(loss))(0.7), jax.grad(by_hand)(0.7))


def test_nothing_may_be_carried() -> None:
    assert differentiable_while(lambda c: jnp.bool_(False), lambda c: c, ()) == ()
    assert (
        jax.grad(lambda x: differentiable_while(lambda c: x > 5.0, lambda c: c, {}) or x)(1.0) == 1
    )


def test_what_is_never_perturbed_has_no_derivative() -> None:
    def loss(x: Any, y: Any) -> Any:
        last = differentiable_while(
            lambda c: c[0] < 3,
            lambda c: (c[0] + 1, c[1] * 2.0, c[2] * c[1], lax.stop_gradient(c[2])),
            (0, y, x, x),
        )
        return last[2] + last[1] + 10.0 * last[3]

    # x (y) (2 y) (4 y): the last stopped value passes nothing on
    assert jax.grad(loss)(3.0, 1.5) == 8 * 1.5**3
    assert jax.grad(loss, 1)(3.0, 1.5) == 3 * 8 * 3.0 * 1.5**2 + 8
    assert (
        jax.grad(lambda x: differentiable_while(lambda c: c < 3, lambda c: c + 1, 0) * x)(2.0) == 3
    )


def test_a_limit_stops_the_loop() -> None:
    for limit, trips in ((0, 0), (-3, 0), (1, 1), (5, 5), (20, 7)):
        slope = jax.grad(partial(power, maximum_iterations=limit))(1.1, 7)
        close(slope, trips * 1.1 ** (trips - 1))
    close(jax.jit(jax.grad(partial(power, maximum_iterations=50, slots=4)))(1.1, 30), 30 * 1.1**29)


# ---------------------------------------------------------------------- errors
def test_a_change_of_shape_or_dtype_names_the_variable_and_both_types() -> None:
    with pytest.raises(TypeError, match=r"'mine'.*variable 1 \(init\['y'\]\).*float64\[2\].*\[4\]"):
        differentiable_while(
            lambda c: c["x"] < 1,
            lambda c: {"x": c["x"], "y": jnp.tile(c["y"], 2)},
            {"x": 0, "y": jnp.zeros(2)},
            name="mine",
        )
    with pytest.raises(
        TypeError, match=r"variable 0 \(init\[0\]\) is int32\[\].*float64\[\] after"
    ):
        differentiable_while(lambda c: c[0] < 1, lambda c: (c[0] + 0.5,), (jnp.int32(0),))


def test_a_change_of_structure_shows_both() -> None:
    with pytest.raises(TypeError, match=r"PyTreeDef\(\(\*, \*\)\).*PyTreeDef\(\[\*, \*\]\)"):
        differentiable_while(lambda c: c[0] < 1, list, (0, 1))


def test_a_condition_must_be_a_scalar_bool() -> None:
    for condition in (lambda c: c, lambda c: jnp.ones(1, bool)):
        with pytest.raises(TypeError, match="scalar bool"):
            differentiable_while(condition, lambda c: c, 1)


# ---------------------------------------------------------------------- inside other things
def test_closures_over_values_being_transformed_are_differentiated() -> None:
    def loss(x: Any, y: Any) -> Any:
        scaled, shifted = jnp.sin(x), y + 1
        return differentiable_while(
            lambda c: c[0] < 4, lambda c: (c[0] + 1, c[1] * scaled + shifted), (0, x * y)
        )[1]

    def by_hand(x: Any, y: Any) -> Any:
        z = x * y
        for _ in range(4):
            z = z * jnp.sin(x) + (y + 1)
        return z

    at = (jnp.float64(0.4), jnp.float64(1.7))
    all_close(jax.grad(loss, (0, 1))(*at), jax.grad(by_hand, (0, 1))(*at))
    with jax.checking_leaks():
        found = jax.jit(jax.hessian(loss, (0, 1)))(*at)
    all_close(found, jax.jit(jax.hessian(by_hand, (0, 1)))(*at))


def test_it_works_inside_scan_cond_and_checkpoint() -> None:
    def loss(loop: Any, a: Any) -> Any:
        def step(carry: Any, x: Any) -> Any:
            carry = lax.cond(x > 0.5, lambda c: loop(a, c + x), lambda c: c * a, carry)
            return carry, carry

        return jnp.sum(lax.scan(step, a, jnp.arange(4.0))[1])

    def by_while(a: Any, x: Any) -> Any:
        return differentiable_while(
            lambda c: c[1] < 3, lambda c: (jnp.sin(c[0]) * a, c[1] + 1), (x, 0), slots=2
        )[0]

    def by_hand(a: Any, x: Any) -> Any:
        return jnp.sin(jnp.sin(jnp.sin(x) * a) * a) * a

    found, expected = partial(loss, by_while), partial(loss, by_hand)
    a = jnp.float64(1.1)
    all_close(jax.jit(jax.value_and_grad(found))(a), jax.value_and_grad(expected)(a))
    close(jax.jit(jax.grad(jax.checkpoint(found)))(a), jax.grad(expected)(a))


def test_it_works_inside_shard_map_with_a_collective_in_the_body() -> None:
    mesh = Mesh(np.array(jax.devices()[:1]), ("device",))
    spec = PartitionSpec("device")

    def gradient(x: Any) -> Any:
        def loss(x: Any) -> Any:
            step = lambda c: (c[0] * 1.5 + 0.5 * lax.pmean(c[0] ** 2, "device"), c[1] + 1)  # noqa: E731
            return jnp.sum(differentiable_while(lambda c: c[1] < 3, step, (x, 0))[0])

        return jax.grad(loss)(x)

    def by_hand(x: Any) -> Any:
        for _ in range(3):
            x = x * 1.5 + 0.5 * x**2
        return jnp.sum(x)

    mapped = jax.shard_map(gradient, mesh=mesh, in_specs=spec, out_specs=spec, check_vma=False)
    x = jnp.linspace(0.0, 0.3, 3)
    close(jax.jit(mapped)(x), jax.grad(by_hand)(x))


# ---------------------------------------------------------------------- callbacks
@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("order", [0, 1, 2])
def test_callbacks_happen_once_a_trip_in_nested_loops_too(ordered: bool, order: int) -> None:
    seen: list[tuple[str, int]] = []

    def note(where: str, index: Any) -> None:
        jax.debug.callback(lambda i: seen.append((where, int(i))), index, ordered=ordered)
        io_callback(lambda i: seen.append((f"io {where}", int(i))), None, index, ordered=ordered)

    def inner(carry: Any) -> Any:
        note("inner", carry[0])
        return carry[0] + 1, jnp.sin(carry[1])

    def outer(carry: Any) -> Any:
        note("outer", carry[0])
        return carry[0] + 1, differentiable_while(lambda c: c[0] < 2, inner, (0, carry[1]))[1]

    def loss(x: Any) -> Any:
        return differentiable_while(lambda c: c[0] < 3, outer, (0, x), slots=2)[1]

    function = loss
    for _ in range(order):
        function = jax.grad(function)
    jax.block_until_ready(jax.jit(function)(0.5))
    jax.effects_barrier()
    trips = [("outer", i) for i in range(3)] + [("inner", i) for i in range(2)] * 3
    assert sorted(seen) == sorted([*trips, *((f"io {where}", i) for where, i in trips)])


def test_callbacks_in_the_condition_and_in_branches_happen_once() -> None:
    seen: list[int] = []

    def loss(x: Any) -> Any:
        def goes_on(carry: Any) -> Any:
            jax.debug.callback(lambda i: seen.append(int(i)), carry[0], ordered=True)
            return carry[0] < 3

        def body(carry: Any) -> Any:
            def loud(y: Any) -> Any:
                jax.debug.callback(lambda i: seen.append(100 + int(i)), carry[0])
                return y * y

            return carry[0] + 1, lax.cond(carry[0] > 0, loud, lambda y: y + 1, carry[1])

        return differentiable_while(goes_on, body, (0, x), slots=2)[1]

    close(jax.jit(jax.grad(loss))(0.5), 4 * 1.5**3)
    jax.effects_barrier()
    assert sorted(seen) == [0, 1, 2, 3, 101, 102]


def test_a_result_of_a_pure_callback_is_used_in_reverse() -> None:
    def loss(x: Any) -> Any:
        def body(carry: Any) -> Any:
            host = jax.pure_callback(
                lambda i: np.float64(i + 1), jax.ShapeDtypeStruct((), jnp.float64), carry[0]
            )
            return carry[0] + 1, carry[1] * x * host

        return differentiable_while(lambda c: c[0] < 4, body, (0, jnp.ones_like(x)), slots=2)[1]

    close(jax.jit(jax.grad(loss))(1.5), 24 * 4 * 1.5**3)


# ---------------------------------------------------------------------- memory
def test_memory_does_not_grow_with_the_trip_count() -> None:
    at = example()
    program = jax.jit(jax.grad(partial(loop_loss, slots=8), (0, 1))).lower(*at, 0).compile()
    state = SIZE * 8 + 4
    analysis = program.memory_analysis()
    assert analysis is not None
    assert analysis.temp_size_in_bytes < 3 * 9 * state + 4096  # buffers, their rows; scalars
    for trips in (3, 2_000):  # one program for all
        expected = jax.grad(partial(scan_loss, trips=trips), (0, 1))(*at)
        all_close(program(*at, np.int64(trips)), expected, 1e-8)


def test_accumulators_and_arrays_that_are_only_written_to_are_not_kept() -> None:
    length = 1_000

    def loss(x: Any) -> Any:
        def body(carry: Any) -> Any:
            index, y, total, written = carry
            y = jnp.sin(y) * x
            written = lax.dynamic_update_index_in_dim(written, y, index, 0)
            return index + 1, y, total + y * y, written

        first = (0, x, jnp.zeros(7), jnp.zeros(length))
        _, _, total, written = differentiable_while(lambda c: c[0] < 50, body, first, slots=16)
        return jnp.sum(total) + jnp.sum(written * jnp.arange(float(length)))

    def by_hand(x: Any) -> Any:
        y, total = x, 0.0
        for i in range(50):
            y = jnp.sin(y) * x
            total = total + 7 * y * y + i * y
        return total

    gradient = jax.jit(jax.grad(loss))
    close(gradient(1.2), jax.jit(jax.grad(by_hand))(1.2))
    shapes = {aval.shape for aval in avals_in(jax.make_jaxpr(gradient)(1.2).jaxpr)}
    assert (17,) in shapes  # one scalar for each row
    assert not {(17, 7), (17, length)} & shapes
