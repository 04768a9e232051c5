"""Cases of the public functions that are not ops: Python functions that call several ops."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from parity import image_composites, nn_composites, random_composites


@dataclass(frozen=True)
class Composite:
    """A public function and its cases; `fields` are those of `@op` (`tol`, `differs`, ...)."""

    paths: tuple[str, ...]
    cases: tuple[str, ...]
    fields: Mapping[str, Any] = field(default_factory=dict)


_ENTRIES: tuple[Composite, ...] = (
    Composite(
        ("math.confusion_matrix",),
        (
            "i32[5] in (0, 4), i32[5] in (0, 4)",
            "i64[5] in (0, 3), i64[5] in (0, 3), 4, f32[5], tf.float32",
            "i32[4,1] in (0, 3), i32[4] in (0, 3), weights=i32[4], dtype=tf.int64",
            "[1, 0, 2], [0, 0, 2], num_classes=3, dtype=tf.bool",
        ),
    ),
    Composite(
        ("math.polyval",),
        (
            "[f32[], f32[], f32[]], f32[3]",
            "[f64[2,1], f64[3]], f64[]",
            "[c64[], c64[]], c64[2]",
            "[], f32[2]",
            "[1, 2, 3], i32[4]",
            "[f32[]], f32[2]",
        ),
    ),
    Composite(
        ("math.sobol_sample",),
        ("3, 5", "2, 4, 7, tf.float64", "dim=40, num_results=3, skip=100", "1, 1"),
        {"gradient": "none"},
    ),
    Composite(("meshgrid",), ("f32[2], f32[3]", "i32[2], i32[3], i32[1], indexing='ij'")),
    Composite(
        ("cast", "dtypes.cast"),
        (
            "f32[2,3], tf.float64",
            "f64[3], tf.float32",
            "f32[3], tf.float32",
            "f32[3], tf.bfloat16",
            "f32[3] in (-9, 9), tf.int32",
            "f32[3], tf.bool",
            "f32[3] in (0, 9), tf.uint8",
            "i32[3], tf.float32",
            "bool[3], tf.float32",
            "f32[3], tf.complex64",
            "c64[3], tf.float32",
            "c64[3], tf.complex128",
            "f32[0,3], dtype=tf.int64",
        ),
    ),
    Composite(
        ("clip_by_global_norm",),
        (
            "[f32[2,3], f32[2]], 1.0",
            "[f64[3], f64[]], f64[] in (0.5, 1)",
            "[f32[3]], 50.0",
            "(f32[3], f32[1]), 1.0, use_norm=f32[] in (2, 3)",
        ),
    ),
    Composite(
        ("clip_by_norm",),
        (
            "f32[2,3], 1.0",
            "f64[2,3], f64[] in (0.5, 1)",
            "f32[2,3], 0.5, axes=[1]",
            "f64[2,3], 0.5, axes=-1",
            "f32[2], 9.0",
        ),
    ),
    Composite(
        ("clip_by_value",),
        (
            "f32[2,3], -1.0, 1.0",
            "f64[2,3], f64[3] in (-2, 0), f64[] in (0, 2)",
            "f16[6], -1, 1",
            "i32[6], -2, 3",
            "f32[0,3], 0.0, 1.0",
        ),
    ),
    Composite(
        ("linalg.eigh_tridiagonal",),
        ("f32[4], f32[3]", "f64[3], f64[2]", "f64[1], f64[0]"),
        {"differs": "TensorFlow's gradient is that of its bisection"},
    ),
    Composite(
        ("linalg.tridiagonal_matmul",),
        (
            "f32[3,4], f32[4,2]",
            "f64[2,3,3], f64[2,3,1]",
            "[f64[3], f64[3], f64[3]], f64[3,2], 'sequence'",
            "c128[3,3], c128[3,1], diagonals_format='matrix'",
            "f64[3,1], f64[1,2]",
        ),
    ),
    Composite(
        ("linalg.tridiagonal_solve",),
        (
            "f32[3,4] in (1, 2), f32[4,2]",
            "f64[2,3,3] in (1, 2), f64[2,3]",
            "(f64[2], f64[3] in (3, 4), f64[3]), f64[3,1], 'sequence'",
            "c128[3,3] psd, c128[2,3], 'matrix', True, True",
            "f64[3,3] in (1, 2), f64[3], partial_pivoting=False",
            "f64[3,1] in (1, 2), f64[1,2]",
        ),
        {
            "tol": {"f32": 1e-4},
            "differs": {
                "c128[3,3] psd, c128[2,3], 'matrix', True, True": (
                    "TensorFlow's gradient leaves out the conjugates"
                )
            },
        },
    ),
    Composite(("linalg.global_norm",), ("[f32[2,3], f32[2]]", "(f64[3], f64[])", "[f16[4]]")),
    Composite(
        ("math.accumulate_n",),
        ("[f32[2,3], f32[2,3]]", "[i32[4]], shape=[4]", "[f64[], f64[]], tensor_dtype=tf.float64"),
    ),
    Composite(
        ("math.pow", "pow"),
        (
            "f32[2,3], 2",
            "f64[3], -1.0",
            "f32[3], 0",
            "f16[3], 3",
            "c64[3], 2",
            "i32[4], 3",
            "f64[3] in (0, 3), 1.5",
            "f32[2,3] in (0, 3), f32[3]",
            "f64[3] in (0, 3), f64[]",
            "2.0, f32[3]",
            "c64[3], c64[3]",
            "i32[4], i32[4] in (0, 4)",
        ),
    ),
    Composite(
        ("math.scalar_mul", "scalar_mul"),
        ("f32[], f32[2,3]", "2.0, f64[3]", "3, i32[4]", "c64[], c64[3]", "-2, f32[0,3]"),
    ),
    Composite(("concat",), ("[f32[2,3], f32[1,3]], 0", "[i32[2,1], i32[2,3]], axis=-1")),
    Composite(
        ("pad",),
        (
            "f32[2,3], [[1, 0], [0, 2]]",
            "f32[2], [[1, 2]], constant_values=7.0",
            "f64[2,3], [[1, 2], [0, 3]], mode='SYMMETRIC'",
            "f32[3], [[2, 1]], 'REFLECT'",
            "c64[2], [[1, 1]]",
            "bool[2], [[1, 1]]",
            "f32[0,2], [[1, 1], [0, 0]]",
        ),
    ),
    Composite(
        ("where",),
        (
            "bool[2,3], f32[2,3], f32[2,3]",
            "bool[2,1], i32[3], i32[]",
            "bool[2], c64[2], c64[2]",
            "bool[0,3], f64[3], f64[]",
            "bool[3,2]",
        ),
    ),
    Composite(
        ("gather_nd",),
        (
            "f32[3,4], i32[2,2] in (0, 3)",
            "f64[3,4], i32[2,1] in (0, 3)",
            "f64[2,3,2], i64[2,2,1] in (0, 3), batch_dims=1",
            "i32[3], i32[2,0]",
        ),
    ),
    Composite(
        ("nn.embedding_lookup",),
        ("f32[4,2], i32[3] in (0, 4)", "f64[4,2], i64[2,2] in (0, 4), f64[] in (0.1, 0.5)"),
    ),
    Composite(("boolean_mask",), ("f32[4,3], bool[4]", "f64[2,3,2], bool[3], axis=1")),
    Composite(("dynamic_partition",), ("f32[4,2], i32[4] in (0, 3), 3",)),
    Composite(
        ("dynamic_stitch",),
        ("[i32[3] in (0, 3) distinct, i32[1] in (3, 4)], [f32[3,2], f32[1,2]]",),
    ),
    Composite(("slice",), ("f32[3,4], [1, 0], [2, -1]", "f64[3,4], i32[2] in (0, 2), [1, 3]")),
    Composite(
        ("strided_slice",),
        ("f32[3,4], [0, 3], [3, 0], [2, -1]", "f64[4,3], [1], [2], begin_mask=1"),
    ),
    Composite(("range",), ("0, 7, 2", "0.0, 1.0, 0.25", "5, dtype=tf.float64")),
    Composite(("ensure_shape",), ("f32[2,3], (None, 3)",)),
    Composite(("sequence_mask",), ("i32[3] in (0, 4), 5", "i64[2,2] in (1, 4), dtype=tf.float32")),
    Composite(("unique",), ("i32[6]", "f32[4], tf.int64"), {"gradient": "lookup"}),
    Composite(("unique_with_counts",), ("i32[6]",), {"gradient": "lookup"}),
    Composite(
        ("math.bincount",),
        (
            "i32[6] in (0, 4)",
            "i32[5] in (0, 4), f32[5]",
            "i64[2,4] in (0, 3), minlength=5, axis=-1",
        ),
        {"gradient": "lookup"},
    ),
    Composite(("shape",), ("f32[2,3]", "i32[], tf.int64")),
    Composite(("shape_n",), ("[f32[2,3], f32[4]]",)),
    Composite(("size",), ("f32[2,3]", "i32[], tf.int64")),
    Composite(("rank",), ("f32[2,3]",)),
    Composite(("broadcast_dynamic_shape",), ("i32[2] in (3, 4), i32[1] in (3, 4)",)),
    Composite(("required_space_to_batch_paddings",), ("[5, 4], [2, 3]",)),
    Composite(
        ("constant",),
        (
            "f32[2,3]",
            "[1, 2]",
            "[[1.5], [2.0]]",
            "3, tf.float64",
            "[1, 2, 3, 4], shape=(2, 2)",
            "0.5, tf.float16, (2, 1)",
            "True",
        ),
    ),
    Composite(
        ("convert_to_tensor",),
        (
            "f32[2,3]",
            "c64[2]",
            "[1, 2], dtype=tf.float64",
            "[[1.5], [2.0]], dtype_hint=tf.float16",
            "[f64[], 2.0]",
        ),
    ),
    Composite(("identity_n",), ("[f32[2], i32[3], f64[]]",)),
    Composite(("stop_gradient",), ("f32[2,3]", "i32[2]", "c64[2]"), {"gradient": "none"}),
    Composite(
        ("einsum", "linalg.einsum"),
        (
            "'ij,jk->ik', f32[2,3], f32[3,2]",
            "'bij,bjk', f64[2,2,3], f64[2,3,2]",
            "'...ij,...jk->...ik', f32[2,1,2,3], f32[2,3,1]",
            "'ii->i', f64[3,3]",
            "'ij->', f32[2,3]",
            "'i,j->ij', c64[2], c64[3]",
            "'i,i,i->', f64[3], f64[3], f64[3]",
            "'ij,j->i', i32[2,3], i32[3]",
            "'ij,jk->ik', f32[2,0], f32[0,3]",
        ),
    ),
    Composite(
        ("math.l2_normalize", "linalg.l2_normalize", "nn.l2_normalize"),
        (
            "f32[2,3], axis=1",
            "f64[2,3]",
            "f64[2,3,2], axis=[0, -1]",
            "f32[2,3], 1, f32[] in (0.01, 0.1)",
            "f64[4] in (-0.1, 0.1), epsilon=9.0",
            "c64[2,3], 0",
        ),
    ),
    Composite(
        ("math.segment_max",),
        (
            "f32[5,2], i32[5] in (0, 4) sorted",
            "f64[4], i64[4] in (0, 3) sorted",
            "i32[5], i32[5] in (0, 3) sorted",
        ),
    ),
    Composite(
        ("math.segment_mean",),
        ("f32[5,2], i32[5] in (0, 4) sorted", "f64[4], i64[4] in (0, 3) sorted"),
    ),
    Composite(
        ("math.segment_min",),
        (
            "f32[5,2], i32[5] in (0, 4) sorted",
            "f64[4], i64[4] in (0, 3) sorted",
            "i32[5], i32[5] in (0, 3) sorted",
        ),
    ),
    Composite(
        ("math.segment_prod",),
        (
            "f32[5,2], i32[5] in (0, 4) sorted",
            "f64[4], i64[4] in (0, 3) sorted",
            "i32[5], i32[5] in (0, 3) sorted",
        ),
    ),
    Composite(
        ("math.segment_sum",),
        (
            "f32[5,2], i32[5] in (0, 4) sorted",
            "f64[4], i64[4] in (0, 3) sorted",
            "c64[4], i32[4] in (0, 3) sorted",
            "i32[5], i32[5] in (0, 3) sorted",
        ),
    ),
    Composite(
        ("signal.fft",), ("c64[4]", "c128[2,3]", "c64[1]", "c64[3,0]", "[1.0, 2.0]", "[1, 2, 3]")
    ),
    Composite(("signal.ifft",), ("c64[4]", "c128[2,3]", "c64[1]", "c64[3,0]", "[1.0, 2.0]")),
    Composite(("signal.fft2d",), ("c64[2,3]", "c128[2,3,2]")),
    Composite(("signal.ifft2d",), ("c64[2,3]", "c128[2,3,2]")),
    Composite(("signal.fft3d",), ("c64[2,3,2]", "c128[2,2,1,3]")),
    Composite(("signal.ifft3d",), ("c64[2,3,2]", "c128[2,2,1,3]")),
    Composite(
        ("signal.rfft",),
        (
            "f32[6]",
            "f64[2,5]",
            "f32[3], [8]",
            "f64[2,3], fft_length=[5]",
            "f32[1]",
            "[1, 2, 3]",
            "f32[0,4]",
        ),
        {"single_unless_tensor": True},
    ),
    Composite(
        ("signal.irfft",),
        ("c64[4]", "c128[2,3], [5]", "c64[3], [8]", "c128[2], fft_length=[2]", "c64[0,3]"),
        {"single_unless_tensor": True},
    ),
    Composite(
        ("signal.rfft2d",),
        ("f32[2,4]", "f64[2,3,5]", "f32[2,3], [4, 5]"),
        {"single_unless_tensor": True},
    ),
    Composite(
        ("signal.irfft2d",),
        ("c64[2,3]", "c128[2,3,2], [3, 3]", "c64[2,3], [3, 7]"),
        {"single_unless_tensor": True},
    ),
    Composite(
        ("signal.rfft3d",),
        ("f32[2,2,4]", "f64[2,2,3,5]", "f32[2,1,3], [2, 4, 5]"),
        {"differs": "TensorFlow has no gradient", "single_unless_tensor": True},
    ),
    Composite(
        ("signal.irfft3d",),
        ("c64[2,2,3]", "c128[1,2,3], [2, 3, 5]"),
        {"differs": "TensorFlow has no gradient", "single_unless_tensor": True},
    ),
    Composite(
        ("signal.kaiser_window",),
        (
            "6",
            "5, 4.0",
            "1",
            "8, dtype=tf.float64",
            "6, f64[] in (2, 14), tf.float64",
            "5, 3, tf.float16",
        ),
    ),
    Composite(
        ("signal.kaiser_bessel_derived_window",),
        ("6", "5, 4.0", "1", "0", "8, dtype=tf.float64", "6, f64[] in (2, 14), tf.float64"),
    ),
    Composite(
        ("signal.stft",),
        (
            "f32[12], 4, 2",
            "f64[2,9], 5, 3",
            "f64[9], 4, 2, 8, None, True",
            "f32[10], frame_length=6, frame_step=5, fft_length=7",
        ),
    ),
    Composite(
        ("signal.inverse_stft",),
        ("c64[3,3], 4, 2", "c128[2,2,5], 5, 3", "c128[3,5], 6, 2, 8, None", "c64[2,3], 6, 6, 4"),
    ),
    Composite(
        ("signal.mdct",),
        ("f32[16], 8", "f64[2,9], 4, None, True", "f64[12], 4, norm='ortho'"),
    ),
    Composite(
        ("signal.inverse_mdct",), ("f32[3,4]", "f64[2,2,4], None, 'ortho'", "f64[2,2], None")
    ),
    Composite(
        ("signal.linear_to_mel_weight_matrix",),
        (
            "",
            "3, 5",
            "num_mel_bins=4, num_spectrogram_bins=33, sample_rate=16000, dtype=tf.float64",
            "2, 1",
            "3, 0",
        ),
        {"gradient": "none", "tol": {"f32": 2e-4}},
    ),
    *[
        Composite(*entry)
        for part in (image_composites, nn_composites, random_composites)
        for entry in part.ENTRIES
    ],
)
COMPOSITES: Mapping[str, Composite] = {entry.paths[0]: entry for entry in _ENTRIES}

_RAGGED = """
boolean_mask constant cross cross_hashed map_flat_values range row_splits_to_segment_ids
segment_ids_to_row_splits stack stack_dynamic_partitions
"""
_SPARSE = """
add bincount concat cross cross_hashed expand_dims eye fill_empty_rows from_dense map_values mask
maximum minimum reduce_max reduce_sum reorder reset_shape reshape retain sampled_addmm segment_mean
segment_sqrt_n segment_sum slice softmax sparse_dense_matmul split to_dense to_indicator transpose
"""

# public functions whose arguments the grammar of cases cannot express, and who tests them
TESTED_ELSEWHERE: Mapping[str, str] = {
    **image_composites.TESTED_ELSEWHERE,
    **random_composites.TESTED_ELSEWHERE,
    **nn_composites.TESTED_ELSEWHERE,
    "Assert": "raises or gives nothing: ops/test_assertions.py",
    "autograph.experimental.do_not_convert": "a decorator: autograph/test_builtins.py",
    "autograph.experimental.set_loop_options": "for loops: autograph/test_builtins.py",
    "autograph.set_verbosity": "gives nothing: autograph/test_builtins.py",
    "autograph.to_code": "takes a function: autograph/test_builtins.py",
    "autograph.to_graph": "takes a function: autograph/test_builtins.py",
    "autograph.trace": "writes text: autograph/test_builtins.py",
    "broadcast_static_shape": "takes and gives a TensorShape: ops/test_array_functions.py",
    "case": "takes functions: function/test_control_flow.py",
    "cond": "takes functions: function/test_control_flow.py",
    "config.experimental.enable_op_determinism": "a setting: ops/test_devices.py",
    "config.experimental.enable_tensor_float_32_execution": "a setting: ops/test_devices.py",
    "config.experimental.get_memory_growth": "a setting: ops/test_devices.py",
    "config.experimental.get_visible_devices": "gives devices: ops/test_devices.py",
    "config.experimental.list_logical_devices": "gives devices: ops/test_devices.py",
    "config.experimental.list_physical_devices": "gives devices: ops/test_devices.py",
    "config.experimental.set_memory_growth": "a setting: ops/test_devices.py",
    "config.experimental.set_visible_devices": "a setting: ops/test_devices.py",
    "config.experimental.tensor_float_32_execution_enabled": "a setting: ops/test_devices.py",
    "config.functions_run_eagerly": "a setting: function/test_function.py",
    "config.get_soft_device_placement": "a setting: ops/test_devices.py",
    "config.get_visible_devices": "gives devices: ops/test_devices.py",
    "config.list_logical_devices": "gives devices: ops/test_devices.py",
    "config.list_physical_devices": "gives devices: ops/test_devices.py",
    "config.optimizer.get_jit": "a setting: ops/test_devices.py",
    "config.optimizer.set_jit": "a setting: ops/test_devices.py",
    "config.run_functions_eagerly": "a setting: function/test_function.py",
    "config.set_soft_device_placement": "a setting: ops/test_devices.py",
    "config.set_visible_devices": "a setting: ops/test_devices.py",
    "config.threading.get_inter_op_parallelism_threads": "a setting: ops/test_devices.py",
    "config.threading.get_intra_op_parallelism_threads": "a setting: ops/test_devices.py",
    "config.threading.set_inter_op_parallelism_threads": "a setting: ops/test_devices.py",
    "config.threading.set_intra_op_parallelism_threads": "a setting: ops/test_devices.py",
    "control_dependencies": "a scope: function/test_execution.py",
    "custom_gradient": "takes a function: tape/test_custom_gradient.py",
    "debugging.Assert": "raises or gives nothing: ops/test_assertions.py",
    "debugging.assert_all_finite": "raises or gives nothing: ops/test_assertions.py",
    "debugging.assert_equal": "raises or gives nothing: ops/test_assertions.py",
    "debugging.assert_greater": "raises or gives nothing: ops/test_assertions.py",
    "debugging.assert_greater_equal": "raises or gives nothing: ops/test_assertions.py",
    "debugging.assert_integer": "raises or gives nothing: ops/test_assertions.py",
    "debugging.assert_less": "raises or gives nothing: ops/test_assertions.py",
    "debugging.assert_less_equal": "raises or gives nothing: ops/test_assertions.py",
    "debugging.assert_near": "raises or gives nothing: ops/test_assertions.py",
    "debugging.assert_negative": "raises or gives nothing: ops/test_assertions.py",
    "debugging.assert_non_negative": "raises or gives nothing: ops/test_assertions.py",
    "debugging.assert_non_positive": "raises or gives nothing: ops/test_assertions.py",
    "debugging.assert_none_equal": "raises or gives nothing: ops/test_assertions.py",
    "debugging.assert_positive": "raises or gives nothing: ops/test_assertions.py",
    "debugging.assert_proper_iterable": "raises or gives nothing: ops/test_assertions.py",
    "debugging.assert_rank": "raises or gives nothing: ops/test_assertions.py",
    "debugging.assert_rank_at_least": "raises or gives nothing: ops/test_assertions.py",
    "debugging.assert_rank_in": "raises or gives nothing: ops/test_assertions.py",
    "debugging.assert_same_float_dtype": "raises or gives nothing: ops/test_assertions.py",
    "debugging.assert_scalar": "raises or gives nothing: ops/test_assertions.py",
    "debugging.assert_shapes": "raises or gives nothing: ops/test_assertions.py",
    "debugging.assert_type": "raises or gives nothing: ops/test_assertions.py",
    "debugging.check_numerics": "raises or passes its input on: ops/test_assertions.py",
    "debugging.is_numeric_tensor": "gives a bool: ops/test_assertions.py",
    "device": "a scope: ops/test_devices.py",
    "executing_eagerly": "gives a bool: function/test_execution.py",
    "fftnd": "TensorFlow has no kernel on CPU: ops/test_signal.py",
    "foldl": "takes a function: function/test_mapping.py",
    "foldr": "takes a function: function/test_mapping.py",
    "function": "takes a function: function/test_function.py",
    "get_logger": "gives a logger: function/test_execution.py",
    "get_static_value": "gives an ndarray: ops/test_constants.py",
    "grad_pass_through": "takes a function: tape/test_custom_gradient.py",
    "gradients": "for traced functions only: function/test_graph_gradients.py",
    "group": "gives nothing in eager programs: function/test_execution.py",
    "hessians": "for traced functions only: function/test_graph_gradients.py",
    "init_scope": "a scope: function/test_execution.py",
    "ifftnd": "TensorFlow has no kernel on CPU: ops/test_signal.py",
    "inside_function": "gives a bool: function/test_symbolic_tensors.py",
    "irfftnd": "TensorFlow has no kernel on CPU: ops/test_signal.py",
    "is_tensor": "gives a bool: ops/test_constants.py",
    "keras.optimizers.schedules.deserialize": "gives a schedule: keras/test_schedules.py",
    "keras.optimizers.schedules.serialize": "takes a schedule: keras/test_schedules.py",
    "linalg.experimental.conjugate_gradient": "takes operators: function/test_linear_operators.py",
    "map_fn": "takes a function: function/test_mapping.py",
    "math.approx_min_k": "TensorFlow has no kernel on CPU: ops/test_approx_top_k.py",
    "no_op": "gives nothing in eager programs: function/test_execution.py",
    "numpy_function": "takes a function: function/test_effects.py",
    "print": "writes text: ops/test_host_print.py",
    "py_function": "takes a function: function/test_effects.py",
    **dict.fromkeys(
        [f"ragged.{name}" for name in _RAGGED.split()],
        "gives a ragged tensor: ops/test_ragged_ops.py and test_ragged_construction.py",
    ),
    **dict.fromkeys(
        [f"sparse.{name}" for name in _SPARSE.split()],
        "takes or gives a sparse tensor: ops/test_sparse.py",
    ),
    **dict.fromkeys(
        [f"sets.{name}" for name in ("difference", "intersection", "size", "union")],
        "gives a sparse tensor: ops/test_sparse.py",
    ),
    "recompute_grad": "takes a function: tape/test_custom_gradient.py",
    "rfftnd": "TensorFlow has no kernel on CPU: ops/test_signal.py",
    "scan": "takes a function: function/test_mapping.py",
    "signal.fftnd": "TensorFlow has no kernel on CPU: ops/test_signal.py",
    "signal.ifftnd": "TensorFlow has no kernel on CPU: ops/test_signal.py",
    "signal.inverse_stft_window_fn": "gives a function: ops/test_signal.py",
    "signal.irfftnd": "TensorFlow has no kernel on CPU: ops/test_signal.py",
    "signal.rfftnd": "TensorFlow has no kernel on CPU: ops/test_signal.py",
    "switch_case": "takes functions: function/test_control_flow.py",
    "vectorized_map": "takes a function: function/test_mapping.py",
    "while_loop": "takes functions: function/test_control_flow.py",
}

# our own additions, which have no counterpart to be compared with
NOT_TENSORFLOW = ("experimental.functional_call", "jax_call")
