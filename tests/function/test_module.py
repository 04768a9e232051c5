"""`tf.Module`: which variables it finds, in which order, and its names."""

from __future__ import annotations

import copy
from types import SimpleNamespace
from typing import NamedTuple

import pytest


def names(variables):
    return [v.name for v in variables]


def dense(tf):
    """A module class with a trainable and a fixed variable."""

    class Dense(tf.Module):  # pyright: ignore[reportUntypedBaseClass]
        def __init__(self, name=None):
            super().__init__(name=name)
            self.w = tf.Variable(1.0, name="w")
            self.b = tf.Variable(2.0, name="b", trainable=False)

        @tf.Module.with_name_scope
        def build(self):
            return tf.Variable(0.0, name="k").name

        def plain(self):
            return tf.Variable(0.0, name="p").name

    return Dense


def nested(tf):
    cls = dense(tf)
    module = tf.Module(name="top")
    module.z = cls()
    in_dict = {
        "q": cls(),
        "c": tf.Variable(7.0, name="c"),
        "t": (tf.Variable(8.0, name="t"),),
    }
    module.a = [cls(), tf.Variable(5.0, name="l"), in_dict]
    module.same = module.a[1]
    return module


def test_own_variables_come_by_attribute_name_then_those_of_submodules(tf):
    module = nested(tf)
    assert names(module.variables) == [f"{n}:0" for n in "lctbwbwbw"]
    assert names(module.trainable_variables) == [f"{n}:0" for n in "lctwww"]
    assert names(module.non_trainable_variables) == ["b:0"] * 3
    assert isinstance(module.variables, tuple)


def test_capital_letters_sort_first(tf):
    module = tf.Module()
    module.d = {"b": tf.Variable(1.0, name="b"), "a": tf.Variable(1.0, name="a")}
    module.C = tf.Variable(1.0, name="C")
    module.B = tf.Variable(1.0, name="B")
    assert names(module.variables) == ["B:0", "C:0", "a:0", "b:0"]


def test_fields_of_a_named_tuple_keep_their_order(tf):
    class Pair(NamedTuple):
        b: object
        a: object

    module = tf.Module()
    module.pair = Pair(tf.Variable(1.0, name="b"), tf.Variable(1.0, name="a"))
    assert names(module.variables) == ["b:0", "a:0"]


def test_modules_that_refer_to_each_other_are_found_once(tf):
    first, second = tf.Module(), tf.Module()
    first.me, first.other, second.back = first, second, first
    first.v = tf.Variable(1.0)
    assert len(first.submodules) == 1
    assert first.submodules[0] is second
    assert len(first.variables) == 1


def test_submodules_are_those_of_lists_and_dicts_too(tf):
    module = nested(tf)
    assert [m.name for m in module.submodules] == ["dense"] * 3
    assert module.submodules[2] is module.z


def test_an_assigned_list_stays_a_list(tf):
    module = tf.Module()
    module.l = [1, 2]
    module.l.append(tf.Variable(3.0))
    assert isinstance(module.l, list)
    assert module.l[:2] == [1, 2]
    assert len(module.variables) == 1


def test_a_dict_may_grow_after_it_was_assigned(tf):
    module = tf.Module()
    module.d = {"x": tf.Variable(1.0)}
    module.d["y"] = tf.Variable(2.0)
    assert isinstance(module.d, dict)
    assert len(module.variables) == 2


def test_a_deleted_attribute_is_forgotten(tf):
    module = tf.Module()
    module.v = tf.Variable(1.0)
    del module.v
    assert module.variables == ()


def test_objects_that_are_no_modules_are_not_looked_into(tf):
    module = tf.Module()
    module.plain = SimpleNamespace(v=tf.Variable(1.0))
    module.text, module.set = "text", {1, 2}
    assert module.variables == ()


def test_a_dict_whose_keys_have_no_order_raises(tf):
    module = tf.Module()
    module.d = {1: tf.Variable(1.0), "a": tf.Variable(1.0)}
    with pytest.raises(ValueError, match="Error processing property 'd'"):
        _ = module.variables


@pytest.mark.parametrize(
    ("cls", "name"),
    [
        ("Module", "module"),
        ("FooBarHTTP2Net", "foo_bar_http2_net"),
        ("ABTest", "ab_test"),
        ("A", "a"),
        ("Layer2D", "layer2_d"),
    ],
)
def test_the_default_name_is_the_class_name_in_snake_case(tf, cls, name):
    assert type(cls, (tf.Module,), {})().name == name


@pytest.mark.parametrize("name", ["", "a b", "1a", "a/b"])
def test_a_name_must_be_an_identifier(tf, name):
    with pytest.raises(ValueError, match="is not a valid module name"):
        tf.Module(name=name)


def test_a_scoped_method_names_its_variables_after_the_module(tf):
    module = dense(tf)(name="outer")
    assert (module.build(), module.plain(), module.w.name) == ("outer/k:0", "p:0", "w:0")


def test_the_scope_is_that_of_the_creation(tf):
    cls = dense(tf)
    before = cls(name="before")
    with tf.name_scope("x"):
        inside = cls(name="inside")
        assert (before.build(), inside.build()) == ("before/k:0", "x/inside/k:0")
    assert (inside.build(), inside.name_scope.name) == ("x/inside/k:0", "x/inside/")


def test_a_module_that_did_not_call_its_base_finds_variables_and_has_no_name(tf):
    class Forgetful(tf.Module):  # pyright: ignore[reportUntypedBaseClass]
        def __init__(self):
            self.v = tf.Variable(1.0)

    module = Forgetful()
    assert len(module.variables) == 1
    with pytest.raises(AttributeError, match="name"):
        _ = module.name


def test_a_deep_copy_has_variables_of_its_own(tf):
    module = tf.Module()
    module.v = tf.Variable(1.0)
    module.l = [module.v]
    twin = copy.deepcopy(module)
    twin.v.assign(5.0)
    assert float(module.v) == 1.0
    assert twin.l[0] is twin.v


def test_a_module_trains(tf):
    class Line(tf.Module):  # pyright: ignore[reportUntypedBaseClass]
        def __init__(self):
            super().__init__()
            self.slope, self.shift = tf.Variable(1.0), tf.Variable(0.0)

        def __call__(self, x):
            return self.slope * x + self.shift

    line = Line()
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum((line(tf.constant([1.0, 2.0])) - [3.0, 5.0]) ** 2)
    gradients = tape.gradient(loss, line.trainable_variables)
    assert [float(g) for g in gradients] == pytest.approx([-10.0, -16.0])
