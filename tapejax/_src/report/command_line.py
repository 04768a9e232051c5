"""The command `tapejax`, also `python -m tapejax`."""

from __future__ import annotations

import argparse
import functools
import sys
from collections.abc import Sequence

from tapejax._src.distribute.launcher import launch
from tapejax._src.report.coverage import coverage, coverage_json, describe_coverage
from tapejax._src.report.environment import describe, environment, to_json, version_of
from tapejax._src.report.run_script import (
    CommandError,
    find_module,
    find_script,
    prepare_process,
    run_program,
)
from tapejax._src.report.script_check import check, check_json, describe_check

RUN_USAGE = """usage: tapejax run SCRIPT [ARGS ...]
       tapejax run -m MODULE [ARGS ...]

Run an unmodified TensorFlow 2 program on tapejax. In that process `import tensorflow` and
everything below it gives tapejax. ARGS, the exit code and the traceback are the program's own.
"""
WRONG_COMMAND = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        arguments: What follows the command's name; `sys.argv[1:]` if None.

    Returns:
        The exit code: 0, or 2 for a wrong command line. A program under `run` that ends otherwise
        ends the process with its own code.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given[:1] == ["run"]:
        # Not by argparse, which would take options meant for the script.
        return _run(given[1:])
    options = _parser().parse_args(given)
    if options.command == "check":
        return _check(options)
    if options.command == "coverage":
        return _coverage(options)
    if options.command == "launch":
        if not options.script or options.workers < 1:
            print("tapejax launch: -n takes a number of workers, then a script", file=sys.stderr)
            return WRONG_COMMAND
        return launch(options.workers, options.script, options.max_restarts)
    found = environment()
    print(to_json(found) if options.json else describe(found))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="tapejax",
        description="TensorFlow 2's tape API on JAX.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"tapejax {version_of('tapejax')}")
    commands = parser.add_subparsers(
        title="commands", metavar="COMMAND", dest="command", required=True
    )
    commands.add_parser("run", help="run a TensorFlow program on tapejax: SCRIPT or -m MODULE")
    env = commands.add_parser("env", help="print versions, devices and settings")
    env.add_argument("--json", action="store_true", help="print them as one JSON object")
    names = commands.add_parser("coverage", help="print which of TensorFlow's names there are")
    names.add_argument("namespaces", nargs="*", metavar="NAMESPACE", help="such as math or tf.nn")
    names.add_argument("--missing", action="store_true", help="print the absent names, and why")
    names.add_argument("--json", action="store_true", help="print it as one JSON object")
    programs = commands.add_parser("check", help="read programs: which of their names there are")
    programs.add_argument("paths", nargs="+", metavar="PATH", help="a script, notebook or folder")
    programs.add_argument("--json", action="store_true", help="print it as one JSON object")
    many = commands.add_parser(
        "launch", help="run a script as several workers of this machine: -n 4 SCRIPT [ARGS ...]"
    )
    many.add_argument("-n", dest="workers", type=int, required=True, help="how many workers")
    many.add_argument(
        "--max-restarts",
        type=int,
        default=3,
        help="how many times all start again after one was killed (default: 3)",
    )
    many.add_argument("script", nargs=argparse.REMAINDER, help="the script and its arguments")
    return parser


def _check(options: argparse.Namespace) -> int:
    try:
        reports = check(options.paths)
    except FileNotFoundError as error:
        print(f"tapejax check: {error}", file=sys.stderr)
        return WRONG_COMMAND
    print(check_json(reports) if options.json else describe_check(reports))
    return int(any(report.missing or report.problem for report in reports))


def _coverage(options: argparse.Namespace) -> int:
    try:
        rows = coverage(options.namespaces)
    except ValueError as error:
        print(f"tapejax coverage: {error}", file=sys.stderr)
        return WRONG_COMMAND
    print(coverage_json(rows) if options.json else describe_coverage(rows, options.missing))
    return 0


def _run(arguments: list[str]) -> int:
    if arguments[:1] in (["-h"], ["--help"]):
        print(RUN_USAGE, end="")
        return 0
    by_name = arguments[:1] == ["-m"]
    rest = arguments[1:] if by_name else arguments
    if not rest or (not by_name and rest[0].startswith("-")):
        problem = f"unknown option {rest[0]!r}" if rest else "nothing to run was named"
        return _refuse(f"{problem}\n\n{RUN_USAGE.rstrip()}")
    find = functools.partial(find_module if by_name else find_script, rest[0])
    prepare_process()
    try:
        run_program(find, rest[1:])
    except CommandError as error:
        return _refuse(str(error))
    return 0


def _refuse(problem: str) -> int:
    print(f"tapejax run: {problem}", file=sys.stderr)
    return WRONG_COMMAND
