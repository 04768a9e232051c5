"""`if`, `while` and `for` in functional form.

The blocks become functions inside the user's function, which share its variables by `nonlocal`. Two
more functions read and write the variables that a construct may change: its state. The operators
call the blocks once or many times, or trace them and set the state to what the trace computes.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from tapejax._src.function.autograph.calls import Calls
from tapejax._src.function.autograph.escapes import Escapes
from tapejax._src.function.autograph.expressions import Expressions
from tapejax._src.function.autograph.liveness import Liveness
from tapejax._src.function.autograph.names import Names, names_of
from tapejax._src.function.autograph.normalization import Declarations, Normalization
from tapejax._src.function.autograph.syntax import (
    is_static_test,
    parameters,
    root_of,
    split_docstring,
)
from tapejax._src.function.autograph.templates import (
    OPERATORS,
    arguments,
    binding,
    constant,
    declarations,
    define,
    header,
    load,
    operator,
    place,
    place_all,
    store,
    thunk,
)

_VALUES = f"{OPERATORS}values"


@dataclass
class _Scope:
    """What is known about the function at hand.

    Attributes:
        liveness: Its live names.
        broken: The flags that end its `for` loops.
        always: Names that are state wherever they change, as others may read them at any time.
        declared: Its declarations.
        needed: For it and each block around, the names that blocks inside declare `nonlocal`.
    """

    liveness: Liveness
    broken: dict[ast.For, str]
    always: set[str]
    declared: Declarations
    needed: list[set[str]] = field(default_factory=list)


class _State(NamedTuple):
    """What a construct may change: names, attributes `a.b`, containers; and two functions."""

    names: list[str]
    paths: list[str]
    containers: list[str]
    getter: str
    setter: str

    @property
    def everything(self) -> tuple[str, ...]:
        return (*self.names, *self.paths, *self.containers)

    def arguments(self) -> list[ast.expr]:
        """The last arguments of the operator of a construct."""
        return [load(self.getter), load(self.setter), constant(self.everything)]


class Statements(Expressions):
    """Converts the statements of one function and of the functions defined inside it."""

    def __init__(self, calls: Calls) -> None:
        """Starts with a function of which nothing is known yet; `function_body` says more.

        Args:
            calls: Knows which calls need no conversion.
        """
        super().__init__(calls)
        self._count = 0
        self._scope = _Scope(Liveness([], (), {}), {}, set(), Declarations())

    def _fresh(self, purpose: str) -> str:
        """An internal name that nothing else has."""
        self._count += 1
        return f"{OPERATORS}{purpose}{self._count}"

    def inner_body(self, node: ast.FunctionDef) -> list[ast.stmt]:
        """The converted body of a function defined inside the one at hand.

        Args:
            node: The inner function.

        Returns:
            Its new body.
        """
        outer = self._scope, self.first_parameter, self.depth
        body = self.function_body(node)
        self._scope, self.first_parameter, self.depth = outer
        return body

    def function_body(self, node: ast.FunctionDef) -> list[ast.stmt]:
        """The converted body of a function.

        Args:
            node: The function; its body is changed in place.

        Returns:
            The new body.
        """
        own = parameters(node.args)
        self.first_parameter = own[0] if node.args.posonlyargs or node.args.args else None
        self.depth = 0
        docstring, body = split_docstring(node.body)
        if not body:
            return docstring
        normalization = Normalization(self._fresh)
        body = normalization.body(body)
        declared = normalization.declarations
        foreign = declared.global_names | declared.nonlocal_names
        always = foreign | names_of(*body).captured
        escapes = Escapes(self._fresh)
        body = escapes.function(body)
        liveness = Liveness(body, always, escapes.broken)
        self._scope = _Scope(liveness, escapes.broken, always, declared, [set()])
        body = self._block(body)
        local = (self._scope.needed.pop() | declared.local_names) - foreign - set(own)
        head = declarations(declared.global_names, declared.nonlocal_names) + binding(local)
        return docstring + place_all(head, header(node)) + body

    def _block(self, body: Iterable[ast.stmt]) -> list[ast.stmt]:
        done: list[ast.stmt] = []
        for statement in body:
            done += self._statement(statement)
        return done

    def _inside(self, body: Iterable[ast.stmt]) -> list[ast.stmt]:
        """A block that runs under a condition."""
        self.depth += 1
        done = self._block(body)
        self.depth -= 1
        return done

    def _statement(self, statement: ast.stmt) -> list[ast.stmt]:
        match statement:
            case ast.If(test=test) if not is_static_test(test):
                return self._if(statement)
            case ast.If():
                statement.test = self.visit(statement.test)
                statement.body = self._inside(statement.body)
                statement.orelse = self._inside(statement.orelse)
            case ast.While():
                return self._while(statement)
            case ast.For():
                return self._for(statement)
            case ast.With():
                for item in statement.items:
                    item.context_expr = self.visit(item.context_expr)
                statement.body = self._block(statement.body)
            case ast.Try() | ast.TryStar():
                for handler in statement.handlers:
                    handler.body = self._block(handler.body)
                statement.body = self._block(statement.body)
                statement.orelse = self._block(statement.orelse)
                statement.finalbody = self._block(statement.finalbody)
            case ast.Match():
                statement.subject = self.visit(statement.subject)
                for case in statement.cases:
                    case.guard = None if case.guard is None else self.visit(case.guard)
                    case.body = self._block(case.body)
            case _:
                return [self.visit(statement)]
        return [statement]

    def _if(self, statement: ast.If) -> list[ast.stmt]:
        body, orelse = names_of(*statement.body), names_of(*statement.orelse)
        around = self._scope.liveness.around[statement]
        changed = sorted(body.stores | orelse.stores)
        out = [name for name in changed if name in around.after | self._scope.always]
        dead = [name for name in changed if name in around.inside.difference(out)]
        state = self._state(out + dead, body, orelse)
        on_true = self._define("if", state, lambda: self._inside(statement.body))
        on_false = self._define("else", state, lambda: self._inside(statement.orelse))
        call = operator(
            "if_stmt",
            self.visit(statement.test),
            load(on_true.name),
            load(on_false.name),
            *state.arguments(),
            constant(tuple(dead)),
        )
        made = [*self._accessors(state), on_true, on_false]
        return self._construct(statement, made, call, statement.test)

    def _while(self, statement: ast.While) -> list[ast.stmt]:
        names = names_of(*statement.body)
        state = self._state(self._loop_names(statement, names.stores), names)
        test: ast.stmt = place(ast.Return(self.visit(statement.test)), statement.test)
        go_on = define(self._fresh("test"), arguments(), [test])
        body = self._define("loop", state, lambda: self._inside(statement.body))
        call = operator("while_stmt", load(go_on.name), load(body.name), *state.arguments())
        made = [*self._accessors(state), go_on, body]
        return self._construct(statement, made, call, statement.test)

    def _for(self, statement: ast.For) -> list[ast.stmt]:
        names, target = names_of(*statement.body), names_of(statement.target)
        changed = names.stores | target.stores
        state = self._state(self._loop_names(statement, changed), names, target)
        item = self._fresh("item")
        assign = ast.Assign([self.visit(statement.target)], load(item))
        first: ast.stmt = place(assign, statement.target)
        body = self._define("loop", state, lambda: [first, *self._inside(statement.body)], item)
        made = [*self._accessors(state), body]
        keep_going: ast.expr = constant(None)
        if statement in self._scope.broken:
            go_on = operator("not_", load(self._scope.broken[statement]))
            made.append(define(self._fresh("keep_going"), arguments(), [ast.Return(go_on)]))
            keep_going = load(made[-1].name)
        iterable = self.visit(statement.iter)
        call = operator("for_stmt", iterable, keep_going, load(body.name), *state.arguments())
        return self._construct(statement, made, call, statement.iter)

    def _construct(
        self, statement: ast.stmt, made: list[ast.FunctionDef], call: ast.Call, at: ast.AST
    ) -> list[ast.stmt]:
        """The functions of a construct, then the call of its operator, with the user's places."""
        return [*place_all([*made], header(statement)), place(ast.Expr(call), at)]

    def _loop_names(self, statement: ast.stmt, changed: set[str]) -> list[str]:
        inside = self._scope.liveness.around[statement].inside
        return sorted(name for name in changed if name in inside or name in self._scope.always)

    def _state(self, names: list[str], *blocks: Names) -> _State:
        """The state of a construct that changes `names` and what its blocks assign through."""
        changed = {name for block in blocks for name in block.stores}
        paths = {path for block in blocks for path in block.attributes}
        containers = {path for block in blocks for path in block.containers}
        # What is reached through a name that changes too is not the same object before and after.
        return _State(
            names,
            sorted(path for path in paths if root_of(path) not in changed),
            sorted(path for path in containers - paths if root_of(path) not in changed),
            self._fresh("get_state"),
            self._fresh("set_state"),
        )

    def _declarations(self, names: Iterable[str]) -> list[ast.stmt]:
        """Makes a function of the construct use the variables of the function at hand."""
        of_module = self._scope.declared.global_names.intersection(names)
        of_function = set(names) - of_module
        self._scope.needed[-1] |= of_function
        return declarations(of_module, of_function)

    def _define(
        self,
        purpose: str,
        state: _State,
        make_body: Callable[[], list[ast.stmt]],
        *parameter_names: str,
    ) -> ast.FunctionDef:
        """A block as a function.

        Names that blocks inside it share, but that are not state here, are its own variables: each
        run starts without them.
        """
        self._scope.needed.append(set())
        body = make_body()
        shared = self._scope.needed.pop()
        head = self._declarations(state.names) + binding(shared.difference(state.names))
        return define(self._fresh(purpose), arguments(parameter_names), head + body)

    def _accessors(self, state: _State) -> list[ast.FunctionDef]:
        """The functions that read and write the state."""
        values = [_value_or_undefined(path) for path in state.everything]
        read: ast.stmt = ast.Return(ast.Tuple(values, ast.Load()))
        write = self._declarations(state.names)
        for position, path in enumerate(state.everything):
            value = ast.Subscript(load(_VALUES), constant(position), ast.Load())
            if position < len(state.names):
                write += _assign_or_delete(path, value)
            elif path in state.paths:
                write.append(ast.If(_is_undefined(value), [ast.Pass()], [store(path, value)]))
            else:
                write.append(ast.Expr(operator("restore", _value_or_undefined(path), value)))
        return [
            define(state.getter, arguments(), [read]),
            define(state.setter, arguments([_VALUES]), write),
        ]


def _value_or_undefined(path: str) -> ast.expr:
    return operator("load", thunk(load(path)), constant(path))


def _is_undefined(value: ast.expr) -> ast.expr:
    kind = ast.Attribute(value, "__class__", ast.Load())
    return ast.Compare(kind, [ast.Is()], [load(f"{OPERATORS}.Undefined")])


def _assign_or_delete(name: str, value: ast.expr) -> list[ast.stmt]:
    """Sets a variable; an undefined one is unbound, for Python to complain if it is read."""
    unbound: list[ast.stmt] = [ast.Delete([ast.Name(name, ast.Del())])]
    return [store(name, value), ast.If(_is_undefined(value), unbound, [])]
