"""What `import tapejax` may do to the process: nothing that anyone else could notice."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
MODULES = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    for path in (ROOT / "tapejax").rglob("*.py")
    if path.name != "__main__.py"
)

PROBE = """
import json, sys, threading
from pathlib import Path

import jax, numpy, optax

def state():
    tasks = Path("/proc/self/task")
    return {
        "flags": {name: repr(value) for name, value in jax.config.values.items()},
        "threads": threading.active_count(),
        "os_threads": len(list(tasks.iterdir())) if tasks.exists() else None,
        "path": sys.path, "meta_path": [repr(finder) for finder in sys.meta_path],
        "hooks": [repr(sys.excepthook), repr(sys.displayhook)],
        "recursion_limit": sys.getrecursionlimit(),
    }

before = json.loads(json.dumps(state()))
import tapejax
after = json.loads(json.dumps(state()))
guests = ["grain", "keras", "orbax", "sklearn", "tensorflow", "torch"]
loaded = [name for name in guests if name in sys.modules]
print(json.dumps({"before": before, "after": after, "loaded": loaded}))
"""


def run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run code in a fresh interpreter in which every warning is an error."""
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=ROOT,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )


@pytest.fixture(scope="module")
def probe() -> dict[str, dict[str, object]]:
    finished = run(PROBE)
    assert finished.returncode == 0, finished.stderr
    return json.loads(finished.stdout)


@pytest.mark.parametrize(
    "what",
    ["flags", "threads", "os_threads", "path", "meta_path", "hooks", "recursion_limit"],
)
def test_importing_leaves_the_process_as_it_was(
    probe: dict[str, dict[str, object]], what: str
) -> None:
    assert probe["after"][what] == probe["before"][what]


def test_importing_loads_no_guest_library(probe: dict[str, list[str]]) -> None:
    assert probe["loaded"] == []


def test_importing_touches_no_device() -> None:
    # JAX would refuse this platform as soon as anything asked for a device.
    code = "import tapejax, jax\ntry: jax.devices()\nexcept RuntimeError: print('no device yet')"
    finished = run(code, JAX_PLATFORMS="a_platform_that_does_not_exist")
    assert finished.stdout == "no device yet\n", finished.stderr


@pytest.mark.timeout(600)  # a process for each of some 450 modules
def test_each_module_can_be_imported_alone() -> None:
    # A child for each module, in which the package's own __init__, which imports them all, is not
    # run: what a module needs it must import itself, and no cycle may depend on who came first.
    code = f"""
import os, sys, types, warnings
import jax, numpy, optax
# Python warns of forking beside NumPy's worker threads, which no child here uses.
warnings.simplefilter("ignore", DeprecationWarning)
package = types.ModuleType("tapejax")
package.__path__ = [{str(ROOT / "tapejax")!r}]
sys.modules["tapejax"] = package
failed = 0
for name in {MODULES!r}:
    child = os.fork()
    if child == 0:
        try:
            __import__(name)
        except BaseException as error:
            print(f"{{name}}: {{type(error).__name__}}: {{error}}", flush=True)
            os._exit(1)
        os._exit(0)
    failed += os.waitpid(child, 0)[1] != 0
sys.exit(failed > 0)
"""
    finished = run(code, OPENBLAS_NUM_THREADS="1")
    assert finished.returncode == 0, finished.stdout + finished.stderr
