"""`tf.train.CheckpointManager`: the last few checkpoints of a folder."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tapejax._src.checkpoint import paths, tensor_file
from tapejax._src.checkpoint.checkpoint import Checkpoint
from tapejax._src.checkpoint.options import CheckpointOptions
from tapejax._src.core.variable import Variable
from tapejax._src.engine.registry import public

_HOUR = 3600.0


@public("train.CheckpointManager")
class CheckpointManager:
    """Keeps the last few checkpoints of a folder and deletes older ones.

    Args:
        checkpoint: The `tf.train.Checkpoint` to save.
        directory: The folder.
        max_to_keep: How many checkpoints to keep, or None to keep all.
        keep_checkpoint_every_n_hours: Besides, keep one for each such span of time for ever.
        checkpoint_name: What the names of the checkpoints start with.
        step_counter: A variable that counts steps.
        checkpoint_interval: How many steps at least lie between two checkpoints.
        init_fn: What `restore_or_initialize` calls if there is nothing to restore.
        last_checkpoint_step: The step of the last checkpoint of an earlier run.

    Raises:
        ValueError: If `max_to_keep` is not positive, or there is an interval and no counter.

    Example:
        >>> import tempfile
        >>> import tapejax as tf
        >>> step = tf.Variable(0)
        >>> folder = tempfile.mkdtemp()
        >>> manager = tf.train.CheckpointManager(tf.train.Checkpoint(step=step), folder, 2)
        >>> for _ in range(3):
        ...     _ = step.assign_add(1)
        ...     _ = manager.save()
        >>> [path.rpartition("/")[2] for path in manager.checkpoints]
        ['ckpt-2', 'ckpt-3']
    """

    def __init__(
        self,
        checkpoint: Checkpoint,
        directory: Any,
        max_to_keep: int | None,
        keep_checkpoint_every_n_hours: float | None = None,
        checkpoint_name: str = "ckpt",
        step_counter: Variable | None = None,
        checkpoint_interval: int | None = None,
        init_fn: Callable[[], Any] | None = None,
        last_checkpoint_step: int | None = None,
    ) -> None:
        if max_to_keep is not None and max_to_keep <= 0:
            raise ValueError(
                f"Expected a positive integer or `None` for `max_to_keep`, got {max_to_keep}."
            )
        if checkpoint_interval is not None and step_counter is None:
            raise ValueError(
                "`step_counter` should be passed if `checkpoint_interval` is not None."
            )
        self._checkpoint = checkpoint
        self._directory = os.fspath(directory)
        self._max_to_keep = max_to_keep
        self._every = keep_checkpoint_every_n_hours
        self._prefix = os.path.join(self._directory, checkpoint_name)
        self._step_counter = step_counter
        self._interval = checkpoint_interval
        self._init_fn = init_fn
        self._last_step = last_checkpoint_step
        state = paths.get_checkpoint_state(self._directory)
        self._times: dict[str, float] = {}
        self._latest: str | None = None
        self._last_preserved = time.time()
        if state is not None:
            self._take_over(state)
        _forget_unfinished(self._directory)

    def _take_over(self, state: paths.CheckpointState) -> None:
        """Go on where an earlier run stopped."""
        self._latest = paths.latest_checkpoint(self._directory)
        self._last_preserved = state.last_preserved_timestamp or self._last_preserved
        known = state.all_model_checkpoint_paths
        times = state.all_model_checkpoint_timestamps
        times = times if len(times) == len(known) else [time.time()] * len(known)
        pairs = zip(known, times, strict=True)
        self._times = {path: at for path, at in pairs if os.path.exists(path + paths.DATA)}

    @property
    def directory(self) -> str:
        """The folder."""
        return self._directory

    @property
    def checkpoint(self) -> Checkpoint:
        """What is saved."""
        return self._checkpoint

    @property
    def checkpoint_interval(self) -> int | None:
        """How many steps at least lie between two checkpoints."""
        return self._interval

    @property
    def latest_checkpoint(self) -> str | None:
        """The path of the latest checkpoint, or None."""
        return self._latest

    @property
    def checkpoints(self) -> list[str]:
        """The paths of the checkpoints that may be deleted later, the oldest first."""
        return list(self._times)

    def save(
        self,
        checkpoint_number: Any = None,
        check_interval: bool = True,
        options: CheckpointOptions | None = None,
    ) -> str | None:
        """Write a checkpoint, then delete those that are too many.

        Args:
            checkpoint_number: Its number. Default: one more than the last.
            check_interval: Whether to keep to `checkpoint_interval`.
            options: See `tf.train.CheckpointOptions`.

        Returns:
            The path of the checkpoint, or None if the interval is not over.
        """
        if not self._is_due(check_interval):
            return None
        counter = self._checkpoint.save_counter.assign_add(1)
        number = int(counter if checkpoint_number is None else checkpoint_number)
        path = self._checkpoint.write(f"{self._prefix}-{number}", options)
        self._times.pop(path, None)
        self._times[path] = time.time()
        self._latest = path
        surplus = self._surplus()
        # First no file names them, then they are gone: a reader never looks for what is not there.
        paths.write_state(
            self._directory, path, [*self._times], [*self._times.values()], self._last_preserved
        )
        for old in surplus:
            paths.delete(old)
        return path

    def _is_due(self, check_interval: bool) -> bool:
        """Whether enough steps were made; a step is never saved twice."""
        if self._interval is None or self._step_counter is None:
            return True
        step, last = int(self._step_counter), self._last_step
        too_early = last is not None and step < last + self._interval
        if step == last or (check_interval and too_early):
            return False
        self._last_step = step
        return True

    def _surplus(self) -> list[str]:
        """Take the oldest off the list until it is short enough; return those to delete."""
        surplus: list[str] = []
        while self._max_to_keep is not None and len(self._times) > self._max_to_keep:
            path, at = next(iter(self._times.items()))
            del self._times[path]
            if self._every and at - self._every * _HOUR >= self._last_preserved:
                self._last_preserved = at
            else:
                surplus.append(path)
        return surplus

    def restore_or_initialize(self) -> str | None:
        """Restore the latest checkpoint, or call `init_fn` if there is none.

        Returns:
            The path of the checkpoint, or None.
        """
        if self._latest is not None:
            self._checkpoint.restore(self._latest)
            if self._step_counter is not None:
                self._last_step = int(self._step_counter)
            return self._latest
        if self._init_fn is not None:
            self._init_fn()
        return None

    def sync(self) -> None:
        """Nothing to wait for: a checkpoint is complete when `save` returns."""


def _forget_unfinished(folder: str) -> None:
    """Delete what programs left that were killed while they saved, more than an hour ago."""
    for path in Path(folder).glob(f"*.{tensor_file.TEMPORARY}*"):
        try:
            if time.time() - path.stat().st_mtime > _HOUR:
                path.unlink()
        except FileNotFoundError:  # its writer, or another manager, was faster
            continue


@public("train.checkpoints_iterator")
def checkpoints_iterator(
    checkpoint_dir: Any,
    min_interval_secs: float = 0,
    timeout: float | None = None,
    timeout_fn: Callable[[], bool] | None = None,
) -> Iterator[str]:
    """Wait for new checkpoints of a folder and yield their paths.

    Args:
        checkpoint_dir: The folder.
        min_interval_secs: Seconds at least from one to the next.
        timeout: Seconds to wait for a new one, or None to wait for ever.
        timeout_fn: Called when they are over: iteration ends if it returns true, or if there is no
            such function.

    Yields:
        The path of each checkpoint that is the latest when the folder is looked at.

    Example:
        >>> import tempfile
        >>> import tapejax as tf
        >>> folder = tempfile.mkdtemp()
        >>> path = tf.train.Checkpoint(step=tf.Variable(1)).save(folder + "/ckpt")
        >>> [found == path for found in tf.train.checkpoints_iterator(folder, timeout=0)]
        [True]
    """
    last: str | None = None
    while True:
        new = _next_checkpoint(checkpoint_dir, last, timeout)
        if new is None:
            if timeout_fn is None or timeout_fn():
                return
            continue
        start = time.time()
        last = new
        yield new
        time.sleep(max(0.0, start + min_interval_secs - time.time()))


def _next_checkpoint(folder: Any, last: str | None, timeout: float | None) -> str | None:
    end = None if timeout is None else time.time() + timeout
    while True:
        found = paths.latest_checkpoint(folder)
        if found is not None and found != last:
            return found
        left = 1.0 if end is None else end - time.time()
        if left <= 0:
            return None
        time.sleep(min(left, 0.2))
