"""Which arguments and values are spelled otherwise now."""

from __future__ import annotations

from typing import Any

from tapejax._src.keras.old_spellings.replacing import Old


def as_float(x: Any) -> Any:
    """An integer as a float."""
    return float(x) if type(x) is int else x


def one_axis(axis: Any) -> Any:
    """`[3]` as 3."""
    return axis[0] if isinstance(axis, (list, tuple)) and len(axis) == 1 else axis


def any_reduction(reduction: Any) -> Any:
    """`"auto"` as the reduction it means outside of strategies."""
    return "sum_over_batch_size" if reduction == "auto" else reduction


OPTIMIZER = (
    Old("lr", "learning_rate"),
    Old("learning_rate", "learning_rate", as_float),
    Old("momentum", "momentum", as_float),
    Old("schedule_decay"),
    Old("gradient_transformers"),
    Old("gradient_aggregator"),
    Old("jit_compile"),
)

LAYERS: dict[str, tuple[Old, ...]] = {
    "LeakyReLU": (Old("alpha", "negative_slope"),),
    "BatchNormalization": (
        Old("axis", "axis", one_axis),
        Old("fused"),
        Old("virtual_batch_size"),
        Old("adjustment"),
    ),
    "LSTM": (Old("dropout_W", "dropout"), Old("dropout_U", "recurrent_dropout")),
    "GRU": (
        Old("inner_activation", "recurrent_activation"),
        Old("dropout_W", "dropout"),
        Old("dropout_U", "recurrent_dropout"),
    ),
    "Dropout": (Old("p", "rate"),),
}
"""Besides the arguments that all layers took; those go through `layers.hooked_init`."""

REGULARIZERS = {"L1": (Old("l", "l1"),), "L2": (Old("l", "l2"),)}

CALLBACKS = {
    "ReduceLROnPlateau": (Old("epsilon", "min_delta"),),
    "TensorBoard": (Old("batch_size"), Old("write_grads"), Old("embeddings_layer_names")),
}

LOSSES = (Old("reduction", "reduction", any_reduction),)

FIT = (
    Old("nb_epoch", "epochs"),
    Old("max_queue_size"),
    Old("workers"),
    Old("use_multiprocessing"),
)
EVALUATE = FIT[1:]
COMPILE = (
    Old("sample_weight_mode"),
    Old("target_tensors"),
    Old("distribute"),
    Old("experimental_run_tf_function"),
    Old("experimental_steps_per_execution", "steps_per_execution"),
)

SLOTS = {
    "m": ("momentum", "m"),
    "v": ("velocity", "v", "u"),
    "vhat": ("velocity_hat",),
    "rms": ("velocity",),
    "mg": ("average_gradient",),
    "accum_grad": ("accumulated_grad",),
    "accum_var": ("accumulated_delta_var",),
    "linear": ("linear",),
}
"""The names of slots up to TensorFlow 2.10, and those of now."""

NAMES = {
    "keras.losses.bce": "binary_crossentropy",
    "keras.losses.BCE": "binary_crossentropy",
    "keras.losses.huber_loss": "huber",
    "keras.losses.cosine_proximity": "cosine_similarity",
    "keras.metrics.cosine_proximity": "cosine_similarity",
    "keras.metrics.CosineProximity": "CosineSimilarity",
    "keras.metrics.bce": "binary_crossentropy",
    "keras.metrics.BCE": "binary_crossentropy",
    "keras.initializers.normal": "RandomNormal",
    "keras.initializers.uniform": "RandomUniform",
    "keras.initializers.one": "Ones",
    "keras.initializers.zero": "Zeros",
    "keras.constraints.maxnorm": "MaxNorm",
    "keras.constraints.nonneg": "NonNeg",
    "keras.constraints.unitnorm": "UnitNorm",
    "keras.layers.CuDNNLSTM": "LSTM",
    "keras.layers.CuDNNGRU": "GRU",
    "keras.layers.SyncBatchNormalization": "BatchNormalization",
}
"""Names of `tf` that are spelled otherwise now, in the same module."""

SAME_AS = {
    "tapejax.initializers": "tapejax.keras.initializers",
    "tapejax.losses": "tapejax.keras.losses",
    "tapejax.metrics": "tapejax.keras.metrics",
    "tapejax.keras.layers.experimental": "tapejax.keras.layers",
    "tapejax.keras.layers.experimental.preprocessing": "tapejax.keras.layers",
}
"""Modules that give the names of another one."""

OLD_MODULES = (
    "tapejax.keras.layers.experimental",
    "tapejax.keras.layers.experimental.preprocessing",
)
"""Those of them that TensorFlow no longer has."""
