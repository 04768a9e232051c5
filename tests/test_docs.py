"""Everything that the documents and docstrings show is run or looked up."""

from __future__ import annotations

import ast
import doctest
import importlib
import importlib.util
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = ["CONTRIBUTING.md", "README.md"]
DOCUMENTED = ast.AsyncFunctionDef | ast.ClassDef | ast.FunctionDef | ast.Module


def docstrings_with_examples(path: Path) -> Iterator[tuple[str, int, str]]:
    """Name, line and text of each docstring of a file that has a `>>>` example."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, DOCUMENTED):
            continue
        text = ast.get_docstring(node, clean=False)
        if text is not None and ">>>" in text:
            yield getattr(node, "name", path.stem), node.body[0].lineno - 1, text


SOURCES = [
    path
    for path in sorted((ROOT / "tapejax").rglob("*.py"))
    if ">>>" in path.read_text(encoding="utf-8")
]


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts).removesuffix(".__init__")


@pytest.mark.parametrize("path", SOURCES, ids=module_of)
def test_docstring_examples_give_what_they_show(path: Path) -> None:
    # Functions defined in an example are the user's, which a tf.function converts.
    names = {**vars(importlib.import_module(module_of(path))), "__name__": "__main__"}
    parser = doctest.DocTestParser()
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS)
    report: list[str] = []
    for name, line, text in docstrings_with_examples(path):
        example = parser.get_doctest(text, dict(names), name, str(path), line)
        runner.run(example, out=report.append)
    assert not report, "".join(report)


def blocks(document: str, *languages: str) -> list[str]:
    """The fenced blocks of a document in one of the languages."""
    text = (ROOT / document).read_text(encoding="utf-8")
    return [
        body
        for language, body in re.findall(r"^```(\w+)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
        if language in languages
    ]


def test_the_documents_name_no_language_that_is_not_checked() -> None:
    checked = {"python", "sh", "text"}
    for document in DOCUMENTS:
        text = (ROOT / document).read_text(encoding="utf-8")
        assert {*re.findall(r"^```(\w+)$", text, re.MULTILINE)} <= checked
        assert text.count("\n```") == 2 * len(blocks(document, *checked))


@pytest.mark.parametrize("document", DOCUMENTS)
def test_python_blocks_run(document: str, tmp_path: Path) -> None:
    # In a process of its own: a block may register an op or change a setting.
    script = tmp_path / "blocks.py"
    script.write_text("\n".join(blocks(document, "python")), encoding="utf-8")
    finished = subprocess.run(
        [sys.executable, "-W", "error", str(script)],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr


def commands(document: str) -> Iterator[list[str]]:
    """Each command of the shell blocks, split into words."""
    for block in blocks(document, "sh"):
        for line in block.replace("\\\n", " ").splitlines():
            for command in re.split(r"&&|\|\||;|\|", line):
                words = shlex.split(command, comments=True)
                if words:
                    yield words


@pytest.mark.parametrize("document", DOCUMENTS)
def test_shell_blocks_name_programs_files_and_extras_that_exist(document: str) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for words in commands(document):
        program = words[2] if words[:2] == ["python", "-m"] else words[0]
        known = {"bash", "lint-imports", "pip", "pyright", "python", "ruff", *project["scripts"]}
        assert program in known or importlib.util.find_spec(program), words
        for word in words[1:]:
            extras = re.fullmatch(r"\.\[([\w,]+)\]", word)
            if extras:
                assert {*extras[1].split(",")} <= {*project["optional-dependencies"]}, words
            elif "/" in word or word.endswith(".py"):
                assert (ROOT / word.partition("::")[0]).exists(), words


def test_readme_sets_up_by_two_commands_and_ci_runs_the_same_tests() -> None:
    first, second = blocks("README.md", "sh")[:2]
    assert len(first.splitlines()) == len(second.splitlines()) == 1
    assert "tapejax run examples/digits.py" in first
    tests = second.rpartition("&&")[2].strip()
    assert tests in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


@pytest.mark.parametrize("document", [*DOCUMENTS, "CHANGELOG.md"])
def test_links_into_the_repository_lead_somewhere(document: str) -> None:
    text = (ROOT / document).read_text(encoding="utf-8")
    targets = re.findall(r"\]\(([^)#\s]+)[^)]*\)", text)
    missing = [target for target in targets if "://" not in target and not (ROOT / target).exists()]
    assert not missing
