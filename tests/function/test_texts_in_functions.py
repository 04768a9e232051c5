"""Strings in traced functions: constants, arguments, tables chosen from, branches and loops."""

from __future__ import annotations

import pytest

import tapejax


def test_a_string_argument_counts_by_its_value() -> None:
    traces = []

    @tapejax.function
    def shout(text):
        traces.append(1)
        return text + "!"

    results = [shout(tapejax.constant(t)).numpy() for t in ("a", "b", "a")]
    assert results == [b"a!", b"b!", b"a!"]
    assert len(traces) == 2


def test_a_number_chooses_a_string(tf) -> None:
    @tf.function
    def name(i):
        words = tf.constant(["zero", "one", "two"])
        word = tf.gather(words, i)
        return tf.strings.upper(word) + "?", word == "one", tf.strings.length(word)

    upper, same, length = name(tf.constant([2, 1]))
    assert upper.numpy().tolist() == [b"TWO?", b"ONE?"]
    assert same.numpy().tolist() == [False, True]
    assert length.numpy().tolist() == [3, 3]


def test_branches_give_different_strings(tf) -> None:
    @tf.function
    def sign(x):
        if x > 0:
            word = "pos"
        elif x < 0:
            word = "neg"
        else:
            word = tf.constant("zero")
        return word

    assert [sign(tf.constant(x)).numpy() for x in (3, -3, 0)] == [b"pos", b"neg", b"zero"]


def test_a_branch_may_keep_a_string(tf) -> None:
    @tf.function
    def choose(x):
        words = tf.constant(["a", "b"])
        if x > 0:
            words = tf.reverse(words, [0]) + "!"
        return words

    assert choose(tf.constant(1)).numpy().tolist() == [b"b!", b"a!"]
    assert choose(tf.constant(-1)).numpy().tolist() == [b"a", b"b"]


def test_cond_and_switch_case_give_strings(tf) -> None:
    @tf.function
    def pick(p, i):
        first = tf.cond(p, lambda: tf.constant("yes"), lambda: tf.constant("no"))
        second = tf.switch_case(i, [lambda: tf.constant("x"), lambda: tf.constant("y")])
        return first + second

    assert pick(tf.constant(False), tf.constant(1)).numpy() == b"noy"


def test_an_inner_function_takes_a_string_that_is_not_known(tf) -> None:
    @tf.function
    def inner(text, number):
        return text + "?", number

    @tf.function
    def outer(i):
        return inner(tf.constant(["p", "q", "r"])[i], i)

    text, number = outer(tf.constant(2))
    assert text.numpy() == b"r?"
    assert number.numpy() == 2


def test_a_loop_goes_over_strings(tf) -> None:
    @tf.function
    def count(word):
        found = 0
        for other in tf.constant(["a", "b", "a"]):
            if other == word:
                found += 1
        return found

    assert count(tf.constant("a")).numpy() == 2


def test_printing_a_string_that_a_function_chooses(tf, capfd) -> None:
    @tf.function
    def show(i):
        tf.print("word:", tf.constant(["a", "b"])[i], output_stream="file:///dev/stdout")

    show(tf.constant(1))
    assert capfd.readouterr().out == 'word: "b"\n'


def test_a_table_of_integers_is_searched_in_the_program(tf) -> None:
    init = tf.lookup.KeyValueTensorInitializer(
        tf.constant([30, 10, 20], tf.int64), tf.constant([3.0, 1.0, 2.0])
    )
    table = tf.lookup.StaticHashTable(init, -1.0)

    @tf.function
    def twice(x):
        return 2.0 * table.lookup(x + 10)

    assert twice(tf.constant([0, 20, 5], tf.int64)).numpy().tolist() == [2.0, 6.0, -2.0]


def test_a_table_of_strings_takes_what_a_function_chooses(tf) -> None:
    init = tf.lookup.KeyValueTensorInitializer(["a", "b"], ["A", "B"])
    table = tf.lookup.StaticHashTable(init, "?")

    @tf.function
    def name(i):
        return table.lookup(tf.constant(["b", "zz"])[i])

    assert name(tf.constant(0)).numpy() == b"B"
    assert name(tf.constant(1)).numpy() == b"?"


def test_a_mutable_table_changes_at_each_call(tf) -> None:
    table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, 0)

    @tf.function
    def add(word):
        table.insert(word, table.lookup(word) + 1)
        return table.size()

    for _ in range(3):
        size = add(tf.constant(["a"]))
    assert table.lookup(tf.constant(["a"])).numpy().tolist() == [3]
    assert size.numpy() == 1


def test_a_signature_may_have_strings(tf) -> None:
    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def count(words):
        return tf.size(words)

    assert count(tf.constant(["a", "b"])).numpy() == 2
    assert count.get_concrete_function()(tf.constant(["a"])).numpy() == 1


def test_strings_that_change_in_a_loop_are_an_error() -> None:
    @tapejax.function
    def grow(n):
        text = tapejax.constant("a")
        while n > 0:
            text = text + "b"
            n -= 1
        return text

    with pytest.raises(TypeError, match="changes in a `while`"):
        grow(tapejax.constant(2))


def test_branches_with_strings_may_have_different_shapes(tf) -> None:
    @tf.function
    def choose(x):
        return tf.constant(["a", "b"]) if x > 0 else tf.constant("c")

    assert choose(tf.constant(1)).numpy().tolist() == [b"a", b"b"]
    assert choose(tf.constant(0)).numpy() == b"c"


def test_a_variable_of_strings_is_not_read_or_assigned_in_a_function() -> None:
    v = tapejax.Variable("a")
    with pytest.raises(NotImplementedError, match="pass the value as an argument"):
        tapejax.function(lambda: v + "b")()
    with pytest.raises(NotImplementedError, match="assign them outside"):
        tapejax.function(lambda: v.assign("b"))()
    assert v.numpy() == b"a"


def test_ever_new_strings_are_not_kept_as_ever_new_programs(tf) -> None:
    @tf.function
    def greet(name, x):
        return tf.strings.join(["hello ", name]), x * 2.0

    for n in range(30):
        text, number = greet(tf.constant(f"no. {n}"), tf.constant(float(n)))
        assert text.numpy() == f"hello no. {n}".encode()
        assert float(number) == 2.0 * n
    assert greet.experimental_get_tracing_count() <= 8


def test_strings_of_numbers_are_made_when_the_function_runs() -> None:
    made = tapejax.function(lambda x: tapejax.strings.as_string(x))(tapejax.constant(1.0))
    assert made.numpy() == b"1.000000"
    chosen = tapejax.function(lambda x: tapejax.strings.as_string(x > 0))(tapejax.constant(1.0))
    assert chosen.numpy() == b"true"
