"""`tf.test.TestCase`: unit tests with assertions about tensors."""

from __future__ import annotations

import contextlib
import random
import shutil
import tempfile
import threading
import unittest
from collections.abc import Callable, Generator, Mapping
from typing import Any, NamedTuple

import numpy as np

from tapejax._src.core import errors, nest
from tapejax._src.core.device_spec import DeviceSpec
from tapejax._src.core.dtypes import as_dtype
from tapejax._src.core.indexed_slices import IndexedSlices
from tapejax._src.core.ragged_tensor import RaggedTensor
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine.registry import public
from tapejax._src.function.testing_assertions import ContainerAssertions
from tapejax._src.ops.random_seed import set_seed
from tapejax._src.ops.sparse_tensor import SparseTensor

Array = np.ndarray[Any, Any]


class SparseTensorValue(NamedTuple):
    """The arrays of a sparse tensor."""

    indices: Any
    values: Any
    dense_shape: Any


def _evaluated(value: Any) -> Any:
    if isinstance(value, (Tensor, Variable)):
        return value.numpy()
    if isinstance(value, SparseTensor):
        parts = (value.indices, value.values, value.dense_shape)
        return SparseTensorValue(*[part.numpy() for part in parts])
    if isinstance(value, RaggedTensor):
        return value.numpy()
    if isinstance(value, IndexedSlices):
        return IndexedSlices(_evaluated(value.values), _evaluated(value.indices))
    return value() if callable(value) else value


class _Session:
    """What tests of TensorFlow 1 run their tensors with."""

    def run(self, fetches: Any, feed_dict: Any = None, *args: Any, **kwargs: Any) -> Any:
        """The values of tensors."""
        del args, kwargs
        if feed_dict:
            raise NotImplementedError("There are no placeholders: call a function of the values.")
        return nest.map_structure(_evaluated, fetches)


class _Thread:
    """A thread whose failure fails the test that joins it."""

    def __init__(self, test: unittest.TestCase, target: Callable[[], Any]) -> None:
        self._test = test
        self._target = target
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        try:
            self._target()
        except BaseException as error:  # noqa: BLE001  it is raised where the thread is joined
            self._error = error

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def join(self) -> None:
        """Wait for the thread; its failure fails the test."""
        self._thread.join()
        if self._error is not None:
            self._test.fail(f"Error in checkedThread: {self._error}")

    def is_alive(self) -> bool:
        """Whether it is running."""
        return self._thread.is_alive()


@public("test.TestCase")
class TestCase(ContainerAssertions):
    """A `unittest.TestCase` with assertions about tensors, and seeds set before each test.

    Args:
        methodName: The method to run.

    Example:
        >>> import tapejax as tf
        >>> class SquareTest(tf.test.TestCase):
        ...     def test_square(self):
        ...         self.assertAllClose(tf.square([1.0, 2.0]), [1.0, 4.0])
        >>> SquareTest("test_square").run().wasSuccessful()
        True

    Differs from TensorFlow:
        It is built on Python's `unittest` alone; the rarer assertions of absl are missing.
    """

    def __init__(self, methodName: str = "runTest") -> None:
        super().__init__(methodName)
        self._folder: str | None = None

    def setUp(self) -> None:
        """Set all seeds to what TensorFlow's tests start with."""
        super().setUp()
        random.seed(42)
        np.random.seed(42)
        set_seed(87654321)

    def get_temp_dir(self) -> str:
        """A folder of this test, removed after it."""
        if self._folder is None:
            self._folder = tempfile.mkdtemp(prefix="tapejax_test_")
            self.addCleanup(shutil.rmtree, self._folder, ignore_errors=True)
        return self._folder

    def evaluate(self, tensors: Any) -> Any:
        """The values of a structure of tensors, as NumPy arrays."""
        return nest.map_structure(_evaluated, tensors)

    def evaluate_if_both_tensors(self, a: Any, b: Any) -> tuple[Any, Any]:
        """The values of two tensors; other objects unchanged."""
        if isinstance(a, (Tensor, Variable)) and isinstance(b, (Tensor, Variable)):
            return self.evaluate(a), self.evaluate(b)
        return a, b

    @contextlib.contextmanager
    def session(
        self, graph: Any = None, config: Any = None, use_gpu: bool = True, force_gpu: bool = False
    ) -> Generator[_Session]:
        """A block with an object whose `run` gives the values of tensors."""
        del graph, config, use_gpu, force_gpu
        yield _Session()

    cached_session = session
    test_session = session

    def checkedThread(
        self, target: Callable[..., Any], args: Any = None, kwargs: Any = None
    ) -> _Thread:
        """A thread; `join` fails the test if it raised."""
        return _Thread(self, lambda: target(*(args or ()), **(kwargs or {})))

    # ------------------------------------------------------------------ arrays
    def _array(self, value: Any) -> Array:
        found = self.evaluate(value)
        if isinstance(found, list) and any(isinstance(x, (Tensor, Variable)) for x in found):
            found = [self.evaluate(x) for x in found]
        return np.asarray(found)

    def _same_shape(self, a: Array, b: Array, msg: Any) -> None:
        text = self._formatMessage(msg, f"Shape mismatch: expected {a.shape}, got {b.shape}.")
        self.assertEqual(a.shape, b.shape, text)

    def _all_close(self, a: Any, b: Any, rtol: float, atol: float, msg: Any, path: str) -> None:
        a, b = self.evaluate(a), self.evaluate(b)
        if hasattr(a, "_asdict"):
            a = a._asdict()
        if hasattr(b, "_asdict"):
            b = b._asdict()
        if isinstance(a, Mapping) != isinstance(b, Mapping):
            self.fail(self._formatMessage(msg, f"{path}: {type(a)} against {type(b)}"))
        if isinstance(a, Mapping):
            self.assertEqual(set(a), set(b), self._formatMessage(msg, f"keys of {path}"))  # pyright: ignore[reportUnknownArgumentType]
            for key in a:  # pyright: ignore[reportUnknownVariableType]
                self._all_close(a[key], b[key], rtol, atol, msg, f"{path}[{key!r}]")
            return
        if isinstance(a, (list, tuple)):
            try:
                arrays = self._array(a), self._array(b)
            except ValueError:  # parts of different shapes
                self.assertEqual(len(a), len(b), self._formatMessage(msg, f"lengths of {path}"))  # pyright: ignore[reportUnknownArgumentType]
                for place, (left, right) in enumerate(zip(a, b, strict=True)):  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
                    self._all_close(left, right, rtol, atol, msg, f"{path}[{place}]")
                return
            a, b = arrays
        a, b = np.asarray(a), np.asarray(b)
        self._same_shape(a, b, msg)
        wide = [x.astype(np.float64) if x.dtype.kind not in "fciub" else x for x in (a, b)]
        np.testing.assert_allclose(*wide, rtol=rtol, atol=atol, err_msg=str(msg or path))

    def assertAllClose(
        self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6, msg: Any = None
    ) -> None:
        """Check that structures of numbers are close: `|a - b| <= atol + rtol * |b|`."""
        self._all_close(a, b, rtol, atol, msg, "a")

    def assertAllCloseAccordingToType(
        self,
        a: Any,
        b: Any,
        rtol: float = 1e-6,
        atol: float = 1e-6,
        float_rtol: float = 1e-6,
        float_atol: float = 1e-6,
        half_rtol: float = 1e-3,
        half_atol: float = 1e-3,
        bfloat16_rtol: float = 1e-2,
        bfloat16_atol: float = 1e-2,
        msg: Any = None,
    ) -> None:
        """`assertAllClose` with tolerances that depend on the coarser dtype."""
        left, right = self._array(a), self._array(b)
        for names, wanted in (
            (("float32", "complex64"), (float_rtol, float_atol)),
            (("float16",), (half_rtol, half_atol)),
            (("bfloat16",), (bfloat16_rtol, bfloat16_atol)),
        ):
            if left.dtype.name in names or right.dtype.name in names:
                rtol, atol = max(rtol, wanted[0]), max(atol, wanted[1])
        self.assertAllClose(left, right, rtol, atol, msg)

    def assertNotAllClose(
        self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6, msg: Any = None
    ) -> None:
        """Check that not all numbers are close."""
        try:
            self.assertAllClose(a, b, rtol, atol)
        except AssertionError:
            return
        self.fail(self._formatMessage(msg, "The two values are close at all elements."))

    def assertAllEqual(self, a: Any, b: Any, msg: Any = None) -> None:
        """Check that tensors have equal shapes and elements; NaN equals NaN."""
        if isinstance(a, RaggedTensor) or isinstance(b, RaggedTensor):
            lists = [x.to_list() if isinstance(x, RaggedTensor) else x for x in (a, b)]
            self.assertEqual(lists[0], lists[1], msg)
            return
        left, right = self._array(a), self._array(b)
        self._same_shape(left, right, msg)
        same = left == right
        if left.dtype.kind in "fc" and right.dtype.kind in "fc":
            same = same | (np.isnan(left) & np.isnan(right))
        if not np.all(same):
            places = np.argwhere(~np.asarray(same))[:10].tolist()
            text = f"not equal at {places}:\n{left}\nagainst\n{right}"
            self.fail(self._formatMessage(msg, text))

    def assertNotAllEqual(self, a: Any, b: Any, msg: Any = None) -> None:
        """Check that tensors differ somewhere."""
        try:
            self.assertAllEqual(a, b)
        except AssertionError:
            return
        self.fail(self._formatMessage(msg, "The two values are equal at all elements."))

    def assertShapeEqual(self, input_a: Any, input_b: Any, msg: Any = None) -> None:
        """Check that two arrays or tensors have one shape."""
        shapes = [tuple(getattr(x, "shape", None) or np.shape(x)) for x in (input_a, input_b)]
        self.assertEqual(shapes[0], shapes[1], msg)

    def assertDTypeEqual(self, target: Any, expected_dtype: Any) -> None:
        """Check the dtype of a tensor."""
        found = self._array(target).dtype
        self.assertEqual(as_dtype(found), as_dtype(expected_dtype))

    def _all(self, holds: Array, a: Array, what: str) -> None:
        if not np.all(holds):
            places = np.argwhere(~np.asarray(holds))[:10].tolist()
            self.fail(f"Not all elements are {what}: not at {places} of\n{a}")

    def assertAllGreater(self, a: Any, comparison_target: Any) -> None:
        """Check that all elements are greater than a number."""
        a = self._array(a)
        self._all(a > comparison_target, a, f"greater than {comparison_target}")

    def assertAllGreaterEqual(self, a: Any, comparison_target: Any) -> None:
        """Check that all elements are at least a number."""
        a = self._array(a)
        self._all(a >= comparison_target, a, f"at least {comparison_target}")

    def assertAllLess(self, a: Any, comparison_target: Any) -> None:
        """Check that all elements are less than a number."""
        a = self._array(a)
        self._all(a < comparison_target, a, f"less than {comparison_target}")

    def assertAllLessEqual(self, a: Any, comparison_target: Any) -> None:
        """Check that all elements are at most a number."""
        a = self._array(a)
        self._all(a <= comparison_target, a, f"at most {comparison_target}")

    def assertAllInRange(
        self,
        target: Any,
        lower_bound: Any,
        upper_bound: Any,
        open_lower_bound: bool = False,
        open_upper_bound: bool = False,
    ) -> None:
        """Check that all elements lie between two bounds."""
        a = self._array(target)
        above = a > lower_bound if open_lower_bound else a >= lower_bound
        below = a < upper_bound if open_upper_bound else a <= upper_bound
        self._all(above & below, a, f"between {lower_bound} and {upper_bound}")

    def assertAllInSet(self, target: Any, expected_set: Any) -> None:
        """Check that all elements are among some."""
        a = self._array(target)
        self._all(np.isin(a, list(expected_set)), a, f"in {expected_set}")

    def assertNear(self, f1: Any, f2: Any, err: float, msg: Any = None) -> None:
        """Check that two numbers differ by at most `err`."""
        if not (f1 == f2 or abs(f1 - f2) <= err):
            self.fail(self._formatMessage(msg, f"{f1!r} != {f2!r} +/- {err!r}"))

    def assertArrayNear(self, farray1: Any, farray2: Any, err: float, msg: Any = None) -> None:
        """Check that the numbers of two lists differ by at most `err`."""
        self.assertEqual(len(farray1), len(farray2), msg)
        for f1, f2 in zip(farray1, farray2, strict=True):
            self.assertNear(float(f1), float(f2), err, msg)

    def assertNDArrayNear(self, ndarray1: Any, ndarray2: Any, err: float, msg: Any = None) -> None:
        """Check that the distance of two arrays is below `err`."""
        distance = float(np.linalg.norm(self._array(ndarray1) - self._array(ndarray2)))
        self.assertLess(distance, err, msg)

    def assertSameStructure(
        self, a: Any, b: Any, aname: str = "a", bname: str = "b", msg: Any = None
    ) -> None:
        """Check that two structures are built alike, of equal parts."""
        del aname, bname
        try:
            nest.assert_same_structure(a, b)
        except (TypeError, ValueError) as error:
            self.fail(self._formatMessage(msg, str(error)))
        self.assertEqual(nest.flatten(a), nest.flatten(b), msg)

    def assertDeviceEqual(self, device1: Any, device2: Any, msg: Any = None) -> None:
        """Check that two names of devices mean the same."""
        specs = [DeviceSpec.from_string(str(device or "")) for device in (device1, device2)]
        self.assertEqual(specs[0], specs[1], msg)

    # ------------------------------------------------------------------ errors
    def assertRaisesOpError(self, expected_err_re_or_predicate: Any) -> Any:
        """Check that a block raises a `tf.errors.OpError` whose text matches."""
        return self.assertRaisesWithPredicateMatch(errors.OpError, expected_err_re_or_predicate)

    def assertRaisesIncompatibleShapesError(
        self, exception_type: Any = errors.InvalidArgumentError
    ) -> Any:
        """Check that a block raises an error about shapes."""
        pattern = r"Incompatible shapes|Dimensions must be equal|required broadcastable shapes"
        return self.assertRaisesWithPredicateMatch(exception_type, pattern)
