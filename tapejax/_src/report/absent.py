"""TensorFlow's names that tapejax leaves out on purpose, and what takes their place."""

from __future__ import annotations

from collections.abc import Mapping

_EXAMPLES = "Read records with `tf.data.TFRecordDataset` and `tf.io.parse_single_example`."
_SERVICE = "One process reads its data itself: use `tf.data` without the service."
_STRUCTURES = (
    "Use a `typing.NamedTuple` of tensors, or a `tf.Module`: functions, loops and "
    "gradients take them apart."
)
_LATE = "Nothing to do: values are computed when they are read, and errors are raised there."
_DISPATCH = "Write a function that chooses by the class of its argument."
_DTYPES = "The smallest float of tensors has 16 bits, the smallest integer 8: cast to one of these."
_CLUSTER = "Processes find each other by `TF_CONFIG`; `tapejax launch -n N script.py` sets it."
_WORKERS = "Use `tf.distribute.MultiWorkerMirroredStrategy`, all of whose workers are equal."
_PREEMPTED = "Save with `tf.train.CheckpointManager`; `tapejax launch` starts all workers again."
_TPU = "A TPU is a JAX device like any other: programs run on it as they are."

ABSENT: Mapping[str, str] = {
    "NoneTensorSpec": "`tf.TypeSpec.from_value` is not needed for None.",
    "OptionalSpec": "`tf.experimental.Optional` values need no spec.",
    "TensorArraySpec": "A `tf.TensorArray` is not passed between functions: pass `array.stack()`.",
    "conv2d_backprop_filter_v2": "Take the gradient of `tf.nn.conv2d` with a tape.",
    "conv2d_backprop_input_v2": "Take the gradient of `tf.nn.conv2d` with a tape, or call "
    "`tf.nn.conv2d_transpose`.",
    "data.experimental.DatasetInitializer": "Use `tf.lookup.KeyValueTensorInitializer`.",
    "data.experimental.Reducer": "Use `Dataset.reduce`.",
    "data.experimental.distributed_save": _SERVICE,
    "data.experimental.get_model_proto": "Measure a pipeline by reading it.",
    "data.experimental.group_by_reducer": "Use `Dataset.group_by_window` and `Dataset.reduce`.",
    "data.experimental.index_table_from_dataset": "Use `tf.lookup.StaticVocabularyTable`.",
    "data.experimental.make_batched_features_dataset": _EXAMPLES,
    "data.experimental.pad_to_cardinality": "Use `Dataset.concatenate`.",
    "data.experimental.parse_example_dataset": _EXAMPLES,
    "data.experimental.service": _SERVICE,
    "data.experimental.table_from_dataset": "Use `tf.lookup.StaticHashTable`.",
    "distribute.Server": _CLUSTER,
    "distribute.StrategyExtended": "Its methods are those of the strategy.",
    "distribute.cluster_resolver": _CLUSTER,
    "distribute.coordinator": _WORKERS,
    "distribute.experimental.CollectiveHints": "Use `tf.distribute.experimental."
    "CommunicationOptions`.",
    "distribute.experimental.PreemptionCheckpointHandler": _PREEMPTED,
    "distribute.experimental.PreemptionWatcher": _PREEMPTED,
    "distribute.experimental.TerminationConfig": _PREEMPTED,
    "distribute.experimental.coordinator": _WORKERS,
    "distribute.experimental.partitioners": "Divide variables over devices with "
    "`tf.distribute.experimental.ShardedStrategy`.",
    "distribute.experimental.rpc": _CLUSTER,
    "distribute.experimental_set_strategy": "Write `with strategy.scope():`.",
    "dtypes.QUANTIZED_DTYPES": "`tf.quantization` computes with floats that are rounded.",
    "dtypes.experimental": _DTYPES,
    "experimental.BatchableExtensionType": _STRUCTURES,
    "experimental.ExtensionType": _STRUCTURES,
    "experimental.ExtensionTypeBatchEncoder": _STRUCTURES,
    "experimental.ExtensionTypeSpec": _STRUCTURES,
    "experimental.StructuredTensor": "Use a dict of `tf.RaggedTensor`s.",
    "experimental.async_clear_error": _LATE,
    "experimental.async_scope": _LATE,
    "experimental.dispatch_for_api": _DISPATCH,
    "experimental.dispatch_for_binary_elementwise_apis": _DISPATCH,
    "experimental.dispatch_for_binary_elementwise_assert_apis": _DISPATCH,
    "experimental.dispatch_for_unary_elementwise_apis": _DISPATCH,
    "experimental.dlpack": "Tensors have `__dlpack__`: `jax.dlpack.from_dlpack(tensor)`, and "
    "`tf.constant(array)` takes an array of any library.",
    "experimental.dtensor": "Divide variables over devices with `tf.distribute`.",
    "experimental.enable_strict_mode": "Nothing that is deprecated is left to be refused.",
    "experimental.extension_type": _STRUCTURES,
    "experimental.float4_e2m1fn": _DTYPES,
    "experimental.float8_e4m3b11fnuz": _DTYPES,
    "experimental.float8_e4m3fn": _DTYPES,
    "experimental.float8_e4m3fnuz": _DTYPES,
    "experimental.float8_e5m2": _DTYPES,
    "experimental.float8_e5m2fnuz": _DTYPES,
    "experimental.function_executor_type": "XLA runs every function.",
    "experimental.int2": _DTYPES,
    "experimental.int4": _DTYPES,
    "experimental.register_filesystem_plugin": "Local files are read; mount the other system.",
    "experimental.tensorrt": "XLA compiles for the device that is there.",
    "experimental.uint2": _DTYPES,
    "experimental.uint4": _DTYPES,
    "experimental.unregister_dispatch_for": _DISPATCH,
    "experimental.RowPartition": "A `tf.RaggedTensor` has `row_splits` and its other row queries.",
    "feature_column": "Use Keras' preprocessing layers, such as `CategoryEncoding`.",
    "graph_util": "There are no TensorFlow graphs: write a `tf.function`.",
    "io.decode_proto": "Parse messages with the protobuf library in `Dataset.map`.",
    "io.encode_proto": "Write messages with the protobuf library.",
    "lite": "Export the compiled function with `jax.export`.",
    "mlir": "`jax.jit(f).lower(...).as_text()` shows StableHLO.",
    "quantization.experimental": "`tf.quantization` has the operations to train with.",
    "quantization.quantized_concat": "Use `tf.concat`.",
    "ragged_fill_empty_rows": "Use `tf.sparse.fill_empty_rows`.",
    "ragged_fill_empty_rows_grad": "Use `tf.sparse.fill_empty_rows`.",
    "random_index_shuffle": "It is `tf.random.experimental.index_shuffle`.",
    "raw_ops": "Call the public function of this operation.",
    "saved_model": "Save the variables with `tf.train.Checkpoint`, or a Keras model with "
    "`model.save('model.keras')`.",
    "tpu": _TPU,
    "train.CheckpointView": "Use `tf.train.load_checkpoint` and `tf.train.list_variables`.",
    "train.ClusterDef": "Processes find each other by `TF_CONFIG`.",
    "train.ClusterSpec": "Processes find each other by `TF_CONFIG`.",
    "train.Coordinator": "Threads need no coordinator: use `concurrent.futures`.",
    "train.JobDef": "Processes find each other by `TF_CONFIG`.",
    "train.ServerDef": "Processes find each other by `TF_CONFIG`.",
    "train.TrackableView": "Use `tf.train.Checkpoint` and `tf.train.list_variables`.",
    "train.experimental": "`tf.train.Checkpoint` writes one file, atomically.",
    "types.experimental": "These are types for annotations; leave them out or write `Any`.",
    "xla.experimental": "Every `tf.function` is compiled by XLA.",
}
"""Name, or namespace, below `tf` -> what to use instead. The longest prefix counts."""
