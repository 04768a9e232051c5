"""`tf.queue`: queues of TensorFlow 1's input pipelines, which are not supported."""

from __future__ import annotations

from typing import Any

from tapejax._src.engine.registry import public


def _refusal(kind: str) -> NotImplementedError:
    return NotImplementedError(
        f"tf.queue.{kind} belongs to the input pipelines of TensorFlow 1 and is not supported: use "
        "a tf.data.Dataset, or Python's queue.Queue between threads."
    )


@public("queue.QueueBase")
class QueueBase:
    """Not supported: use `tf.data`.

    Args:
        dtypes: The dtypes of the components of an element.
        shapes: Their shapes.
        names: Their names.
        queue_ref: A queue of TensorFlow.

    Raises:
        NotImplementedError: Always.
    """

    def __init__(self, dtypes: Any, shapes: Any, names: Any, queue_ref: Any) -> None:
        raise _refusal("QueueBase")


@public("queue.FIFOQueue")
class FIFOQueue(QueueBase):
    """Not supported: use `tf.data`.

    Args:
        capacity: How many elements it holds.
        dtypes: The dtypes of the components of an element.
        shapes: Their shapes.
        names: Their names.
        shared_name: A name shared by sessions.
        name: A name.

    Raises:
        NotImplementedError: Always.
    """

    def __init__(
        self,
        capacity: int,
        dtypes: Any,
        shapes: Any = None,
        names: Any = None,
        shared_name: str | None = None,
        name: str = "fifo_queue",
    ) -> None:
        raise _refusal("FIFOQueue")


@public("queue.PaddingFIFOQueue")
class PaddingFIFOQueue(QueueBase):
    """Not supported: use `tf.data.Dataset.padded_batch`.

    Args:
        capacity: How many elements it holds.
        dtypes: The dtypes of the components of an element.
        shapes: Their shapes.
        names: Their names.
        shared_name: A name shared by sessions.
        name: A name.

    Raises:
        NotImplementedError: Always.
    """

    def __init__(
        self,
        capacity: int,
        dtypes: Any,
        shapes: Any,
        names: Any = None,
        shared_name: str | None = None,
        name: str = "padding_fifo_queue",
    ) -> None:
        raise _refusal("PaddingFIFOQueue")


@public("queue.PriorityQueue")
class PriorityQueue(QueueBase):
    """Not supported: use Python's `queue.PriorityQueue`.

    Args:
        capacity: How many elements it holds.
        types: The dtypes of the components of an element.
        shapes: Their shapes.
        names: Their names.
        shared_name: A name shared by sessions.
        name: A name.

    Raises:
        NotImplementedError: Always.
    """

    def __init__(
        self,
        capacity: int,
        types: Any,
        shapes: Any = None,
        names: Any = None,
        shared_name: str | None = None,
        name: str = "priority_queue",
    ) -> None:
        raise _refusal("PriorityQueue")


@public("queue.RandomShuffleQueue")
class RandomShuffleQueue(QueueBase):
    """Not supported: use `tf.data.Dataset.shuffle`.

    Args:
        capacity: How many elements it holds.
        min_after_dequeue: How many must be left.
        dtypes: The dtypes of the components of an element.
        shapes: Their shapes.
        names: Their names.
        seed: A seed.
        shared_name: A name shared by sessions.
        name: A name.

    Raises:
        NotImplementedError: Always.
    """

    def __init__(
        self,
        capacity: int,
        min_after_dequeue: int,
        dtypes: Any,
        shapes: Any = None,
        names: Any = None,
        seed: int | None = None,
        shared_name: str | None = None,
        name: str = "random_shuffle_queue",
    ) -> None:
        raise _refusal("RandomShuffleQueue")
