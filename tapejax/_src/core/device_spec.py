"""`tf.DeviceSpec`: the parts of a device's name."""

from __future__ import annotations

from typing import Any, Self

_KINDS = ("CPU", "GPU", "TPU", "XLA_CPU", "XLA_GPU", "CUSTOM")


class DeviceSpec:
    """A device by job, replica, task, type and number; what is None is left open.

    Args:
        job: The name of a job.
        replica: The number of a replica.
        task: The number of a task.
        device_type: Such as "CPU" or "GPU".
        device_index: The number of the device.

    Example:
        >>> import tapejax as tf
        >>> tf.DeviceSpec(job="worker", device_type="GPU", device_index=1).to_string()
        '/job:worker/device:GPU:1'
        >>> tf.DeviceSpec.from_string("/gpu:0").device_type
        'GPU'
    """

    __slots__ = ("_parts",)

    _parts: tuple[Any, ...]

    def __init__(
        self,
        job: str | None = None,
        replica: int | None = None,
        task: int | None = None,
        device_type: str | None = None,
        device_index: int | None = None,
    ) -> None:
        def number(value: Any) -> int | None:
            return None if value is None else int(value)

        kind = None if device_type is None else str(device_type).upper()
        name = None if job is None else str(job)
        self._parts = (name, number(replica), number(task), kind, number(device_index))

    @property
    def job(self) -> str | None:
        """The name of the job."""
        return self._parts[0]

    @property
    def replica(self) -> int | None:
        """The number of the replica."""
        return self._parts[1]

    @property
    def task(self) -> int | None:
        """The number of the task."""
        return self._parts[2]

    @property
    def device_type(self) -> str | None:
        """The type, in capitals."""
        return self._parts[3]

    @property
    def device_index(self) -> int | None:
        """The number of the device among those of its type."""
        return self._parts[4]

    @classmethod
    def from_string(cls, spec: str) -> Self:
        """The spec of a name such as `/job:worker/task:1/device:GPU:0`.

        Raises:
            ValueError: If this is not the name of a device.
        """
        found: dict[str, Any] = {}
        for part in (spec or "").split("/"):
            _read(part.split(":"), found, spec)
        return cls(**found)

    def parse_from_string(self, spec: str) -> Self:
        """The spec of a name; the object is not changed."""
        return self.from_string(spec)

    def make_merged_spec(self, dev: DeviceSpec) -> DeviceSpec:
        """A spec with the parts of `dev`, and those of this one where `dev` leaves them open."""
        pairs = zip(self._parts, dev._parts, strict=True)
        parts: list[Any] = [mine if theirs is None else theirs for mine, theirs in pairs]
        return type(self)(*parts)

    def replace(self, **kwargs: Any) -> DeviceSpec:
        """A spec with some parts replaced."""
        names = ("job", "replica", "task", "device_type", "device_index")
        parts: dict[str, Any] = {**dict(zip(names, self._parts, strict=True)), **kwargs}
        return type(self)(**parts)

    def to_string(self) -> str:
        """The name, such as `/job:worker/device:GPU:0`."""
        job, replica, task, kind, number = self._parts
        text = "" if job is None else f"/job:{job}"
        text += "" if replica is None else f"/replica:{replica}"
        text += "" if task is None else f"/task:{task}"
        if kind is not None:
            text += f"/device:{kind}:{'*' if number is None else number}"
        return text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DeviceSpec) and self._parts == other._parts

    def __hash__(self) -> int:
        return hash(self._parts)

    def __repr__(self) -> str:
        job, replica, task, kind, number = self._parts
        return (
            f"<DeviceSpec(job={job}, replica={replica}, task={task}, device_type={kind}, "
            f"device_index={number})>"
        )


def _read(words: list[str], found: dict[str, Any], whole: str) -> None:
    """Read one part of a name into the arguments of a spec."""
    name, values = words[0], words[1:]
    if not name:
        return
    if name == "job" and len(values) == 1:
        found["job"] = values[0]
    elif name in ("replica", "task") and len(values) == 1:
        found[name] = int(values[0])
    elif name.upper() in _KINDS and len(values) < 2:
        found["device_type"] = name.upper()
        _number(values, found)
    elif name == "device" and len(values) in (1, 2):
        found["device_type"] = values[0]
        _number(values[1:], found)
    else:
        raise ValueError(
            f"Unknown attribute '{name}' is encountered while parsing the device spec: '{whole}'. "
            "Write for instance '/CPU:0' or '/job:worker/device:GPU:0'."
        )


def _number(values: list[str], found: dict[str, Any]) -> None:
    if values and values[0] != "*":
        found["device_index"] = int(values[0])
