"""Each workload as one writes it in eager PyTorch. Imported only where torch is installed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch  # pyright: ignore[reportMissingImports]
from torch.nn import functional  # pyright: ignore[reportMissingImports]

from benchmarks import problems
from benchmarks.workloads import Step


def _start(problem: problems.Problem) -> tuple[list[Any], list[Any]]:
    """The data and the parameters as tensors; labels become int64, as torch wants them."""
    data = [
        torch.tensor(array.astype(np.int64) if array.dtype == np.int32 else array)
        for array in problem.data
    ]
    return data, [torch.tensor(value, requires_grad=True) for value in problem.parameters]


def _adam(loss: Callable[[], Any], parameters: Sequence[Any]) -> Step:
    optimizer = torch.optim.Adam(parameters, lr=problems.ADAM_RATE, eps=1e-7)

    def step() -> Any:
        optimizer.zero_grad()
        value = loss()
        value.backward(inputs=parameters)
        optimizer.step()
        return value.detach()

    return step


def _sgd(loss: Callable[[], Any], parameters: Sequence[Any]) -> Step:
    def step() -> Any:
        value = loss()
        gradients = torch.autograd.grad(value, parameters)
        with torch.no_grad():
            for parameter, gradient in zip(parameters, gradients, strict=True):
                parameter.sub_(problems.SGD_RATE * gradient)
        return value.detach()

    return step


def scalar() -> Step:
    """The derivative of x * x."""
    _, (x,) = _start(problems.scalar())
    return lambda: torch.autograd.grad(x * x, x)[0]


def linear_regression() -> Step:
    """Least squares."""
    (x, y), (w, b) = _start(problems.linear_regression())
    return _sgd(lambda: ((x @ w + b - y) ** 2).mean(), [w, b])


def mlp() -> Step:
    """A classifier with one hidden layer."""
    (x, labels), parameters = _start(problems.mlp())
    w1, b1, w2, b2 = parameters

    def loss() -> Any:
        logits = functional.relu(x @ w1 + b1) @ w2 + b2
        return functional.cross_entropy(logits, labels)

    return _adam(loss, parameters)


def pinn() -> Step:
    """Burgers' equation."""
    (x, t), parameters = _start(problems.pinn())
    x.requires_grad_()
    t.requires_grad_()

    def loss() -> Any:
        z = torch.cat([x, t], 1)
        for k in range(0, 6, 2):
            z = torch.tanh(z @ parameters[k] + parameters[k + 1])
        u = z @ parameters[6] + parameters[7]
        u_x, u_t = torch.autograd.grad(u.sum(), [x, t], create_graph=True)
        (u_xx,) = torch.autograd.grad(u_x.sum(), x, create_graph=True)
        return ((u_t + u * u_x - problems.PINN_VISCOSITY * u_xx) ** 2).mean()

    return _adam(loss, parameters)


def cnn() -> Step:
    """Two convolutions with pooling, in torch's own layout."""
    problem = problems.cnn()
    (images, labels), _ = _start(problem)
    images = images.permute(0, 3, 1, 2).contiguous()
    k1, b1, k2, b2, w, b = problem.parameters
    values = [k1.transpose(3, 2, 0, 1), b1, k2.transpose(3, 2, 0, 1), b2, w, b]
    parameters = [torch.tensor(np.ascontiguousarray(value), requires_grad=True) for value in values]

    def loss() -> Any:
        h = functional.conv2d(images, parameters[0], parameters[1], padding=1)
        h = functional.max_pool2d(functional.relu(h), 2)
        h = functional.conv2d(h, parameters[2], parameters[3], padding=1)
        h = functional.max_pool2d(functional.relu(h), 2)
        flat = h.permute(0, 2, 3, 1).reshape(32, -1)
        return functional.cross_entropy(flat @ parameters[4] + parameters[5], labels)

    return _adam(loss, parameters)


def maml() -> Step:
    """Meta-learning with second-order gradients."""
    data, parameters = _start(problems.maml())

    def error(weights: Sequence[Any], x: Any, y: Any) -> Any:
        w1, b1, w2, b2, w3, b3 = weights
        z = functional.relu(x @ w1 + b1)
        return ((functional.relu(z @ w2 + b2) @ w3 + b3 - y) ** 2).mean()

    def loss() -> Any:
        total: Any = 0.0
        for n in range(0, len(data), 4):
            x, y, x_test, y_test = data[n : n + 4]
            gradients = torch.autograd.grad(error(parameters, x, y), parameters, create_graph=True)
            adapted = [
                p - problems.MAML_RATE * g for p, g in zip(parameters, gradients, strict=True)
            ]
            total = total + error(adapted, x_test, y_test)
        return total / problems.MAML_TASKS

    return _adam(loss, parameters)


def rnn() -> Step:
    """The Python loop of 50 steps."""
    (x, y), parameters = _start(problems.rnn())
    w_in, w_state, b, w_out = parameters
    initial = torch.zeros((32, 64))

    def loss() -> Any:
        state = initial
        for n in range(problems.RNN_STEPS):
            state = torch.tanh(x[:, n] @ w_in + state @ w_state + b)
        return ((state @ w_out - y) ** 2).mean()

    return _sgd(loss, parameters)


def jacobian() -> Step:
    """`torch.func.jacrev`."""
    (x,), (w1, b1, w2, b2) = _start(problems.jacobian())
    jacobian_at = torch.func.jacrev(lambda x: torch.tanh(x @ w1 + b1) @ w2 + b2)
    return lambda: jacobian_at(x).sum().detach()


WORKLOADS: dict[str, Callable[[], Step]] = {
    "scalar": scalar,
    "linear_regression": linear_regression,
    "mlp": mlp,
    "pinn": pinn,
    "cnn": cnn,
    "maml": maml,
    "rnn": rnn,
    "jacobian": jacobian,
}
