"""What the environment says about the cluster: `TF_CONFIG`."""

from __future__ import annotations

import json
import os
from typing import Any


def check_single_worker(cluster_resolver: Any) -> None:
    """Refuse a cluster of several processes.

    Raises:
        NotImplementedError: If there is one.
        ValueError: If `TF_CONFIG` is no JSON.
    """
    spec: Any = None
    if cluster_resolver is not None and hasattr(cluster_resolver, "cluster_spec"):
        spec = cluster_resolver.cluster_spec()
        spec = spec.as_dict() if hasattr(spec, "as_dict") else spec
    text = os.environ.get("TF_CONFIG")
    if spec is None and text:
        try:
            spec = json.loads(text).get("cluster")
        except ValueError as error:
            raise ValueError(f"TF_CONFIG is no JSON: {text!r}") from error
    workers = [
        task for kind in ("chief", "master", "worker") for task in (spec or {}).get(kind, ())
    ]
    if len(workers) > 1:
        raise NotImplementedError(
            f"MultiWorkerMirroredStrategy: the cluster has {len(workers)} workers, and tapejax "
            "trains in one process for now. Use tf.distribute.MirroredStrategy on the devices of "
            "one machine."
        )
