"""Cases of `tf.random` and of what draws in `tf.nn`, and who tests what they cannot express."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

ENTRIES: tuple[Any, ...] = (
    (
        ("random.stateless_uniform",),
        (
            "[2, 3], i32[2]",
            "(4,), i64[2], -0.5, 2.5, tf.float64",
            "[5], [1, 2], dtype=tf.float16",
            "[5], i32[2], 3, 99, tf.int32",
            "[5], i32[2], None, None, tf.uint64",
            "[], i32[2], alg='philox'",
            "[0, 3], i32[2]",
        ),
    ),
    (
        ("random.stateless_normal",),
        (
            "[2, 3], i32[2]",
            "[4], i64[2], dtype=tf.float64",
            "[5], i32[2], f64[], f64[5], tf.float64",
            "[5], [1, 2], dtype=tf.bfloat16",
            "[0], i32[2]",
        ),
    ),
    (
        ("random.stateless_truncated_normal",),
        (
            "[2, 3], i32[2]",
            "[4], i64[2], dtype=tf.float64",
            "[5], i32[2], f64[], f64[5], tf.float64",
            "[5], [1, 2], dtype=tf.float16",
        ),
    ),
    (
        ("random.stateless_categorical",),
        ("f32[2,3], 4, i32[2]", "f64[1,3], 5, i64[2], tf.int32", "f16[2,3], 0, i32[2]"),
    ),
    (
        ("random.stateless_poisson",),
        (
            "[4], i32[2], 3.5",
            "[2, 3], i32[2], f32[3] in (0, 30), tf.float64",
            "[0], [1, 2], i32[] in (1, 30), tf.int64",
        ),
    ),
    (
        ("random.stateless_binomial",),
        ("[4], i32[2], 40.0, 0.3", "[2, 3], i64[2], f64[2,1] in (0, 9), f64[3] in (0, 1)"),
    ),
    (
        ("random.experimental.stateless_shuffle",),
        ("f32[5,2], i32[2]", "i32[7], [1, 2], alg='philox'", "f32[], i32[2]", "f32[0,2], i32[2]"),
        {"gradient": "lookup"},
    ),
    (
        ("random.experimental.index_shuffle",),
        ("i32[4] in (0, 9), i32[2], 30", "3, i64[2], i32[2] in (9, 70000)"),
    ),
    (
        ("random.split", "random.experimental.stateless_split"),
        ("i32[2]", "i64[2], 3", "[1, 2], num=4, alg='philox'"),
    ),
    (
        ("random.fold_in", "random.experimental.stateless_fold_in"),
        ("i32[2], i32[]", "i64[2], 3", "[1, 2], i64[]"),
    ),
)

TESTED_ELSEWHERE: Mapping[str, str] = {
    "nn.all_candidate_sampler": "draws anew at each call: ops/test_candidate_sampling.py",
    "nn.compute_accidental_hits": "its shape depends on values: ops/test_candidate_sampling.py",
    "nn.dropout": "draws anew at each call: ops/test_dropout.py",
    "nn.experimental.general_dropout": "takes a function: ops/test_dropout.py",
    "nn.experimental.stateless_dropout": "has a mask in its gradient: ops/test_dropout.py",
    "nn.fixed_unigram_candidate_sampler": "draws anew: ops/test_candidate_sampling.py",
    "nn.learned_unigram_candidate_sampler": "draws anew: ops/test_candidate_sampling.py",
    "nn.nce_loss": "draws anew at each call: ops/test_candidate_sampling.py",
    "nn.sampled_softmax_loss": "draws anew at each call: ops/test_candidate_sampling.py",
    "random.all_candidate_sampler": "draws anew: ops/test_candidate_sampling.py",
    "random.categorical": "draws anew at each call: ops/test_random_stateful.py",
    "random.create_rng_state": "takes an algorithm's name: ops/test_random_generator.py",
    "random.experimental.create_rng_state": "the same function as tf.random's",
    "random.experimental.get_global_generator": "the same function as tf.random's",
    "random.experimental.set_global_generator": "the same function as tf.random's",
    "random.fixed_unigram_candidate_sampler": "draws anew: ops/test_candidate_sampling.py",
    "random.gamma": "draws anew at each call: ops/test_random_distributions.py",
    "random.get_global_generator": "gives a generator: ops/test_random_generator.py",
    "random.learned_unigram_candidate_sampler": "draws anew: ops/test_candidate_sampling.py",
    "random.log_uniform_candidate_sampler": "draws anew: ops/test_candidate_sampling.py",
    "random.normal": "draws anew at each call: ops/test_random_stateful.py",
    "random.poisson": "draws anew at each call: ops/test_random_distributions.py",
    "random.set_global_generator": "takes a generator: ops/test_random_generator.py",
    "random.set_seed": "gives nothing: ops/test_random_stateful.py",
    "random.shuffle": "draws anew at each call: ops/test_random_stateful.py",
    "random.stateless_gamma": "its gradient is implicit: ops/test_random_distributions.py",
    "random.stateless_parameterized_truncated_normal": (
        "its gradients are implicit: ops/test_random_distributions.py"
    ),
    "random.truncated_normal": "draws anew at each call: ops/test_random_stateful.py",
    "random.uniform": "draws anew at each call: ops/test_random_stateful.py",
    "random.uniform_candidate_sampler": "draws anew: ops/test_candidate_sampling.py",
}
