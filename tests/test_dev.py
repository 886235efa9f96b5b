"""dev.py, run for real on a tiny project that needs no download."""

from __future__ import annotations

import ensurepip
import hashlib
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent

PYPROJECT = """
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]

[project]
name = "tocsin"
version = "0.1.0"
optional-dependencies = { dev = [] }
"""

# Installs a stand-in for each program that dev.py calls: it prints how it was called; FAIL lists who fails.
BACKEND = '''
import zipfile

PROGRAMS = ["tocsin", "ruff", "mypy", "lint-imports", "pytest", "sphinx-build"]
FILES = {
    "stand_in.py": """
import os, pathlib, sys

def main():
    name = pathlib.Path(sys.argv[0]).name
    print("CALLED", name, *sys.argv[1:], flush=True)
    sys.exit(3 if name in os.environ.get("FAIL", "").split() else 0)
""",
    "tocsin-0.1.0.dist-info/METADATA": "\\n".join(
        ["Metadata-Version: 2.1", "Name: tocsin", "Version: 0.1.0", "Provides-Extra: dev"]
    ),
    "tocsin-0.1.0.dist-info/WHEEL": "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
    "tocsin-0.1.0.dist-info/entry_points.txt": "\\n".join(
        ["[console_scripts]", *(f"{program} = stand_in:main" for program in PROGRAMS)]
    ),
    "tocsin-0.1.0.dist-info/RECORD": "",
}

def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    name = "tocsin-0.1.0-py3-none-any.whl"
    with zipfile.ZipFile(f"{wheel_directory}/{name}", "w") as wheel:
        for path, text in FILES.items():
            wheel.writestr(path, text)
    return name
'''

SIMULATE = """
import os, pathlib, sys

assert sys.argv[1] == "--out"
data = pathlib.Path(sys.argv[2])
data.mkdir()
(data / "events.csv").touch()
print("CALLED simulate", *sys.argv[1:], flush=True)
sys.exit(3 if "simulate" in os.environ.get("FAIL", "") else 0)
"""

# Stands in for a script of the repository.
SCRIPT = """
import os, pathlib, sys

name = pathlib.Path(sys.argv[0]).stem
print("CALLED", name, *sys.argv[1:], flush=True)
sys.exit(3 if name in os.environ.get("FAIL", "").split() else 0)
"""
SCRIPTS = ("tests/many_cases.py", "tests/fuzz.py", "supply/licences.py", "supply/hashes.py")

UP_TO_DATE = "==> set-up is up to date\n"


def project(folder: Path) -> Path:
    folder.mkdir(parents=True)
    shutil.copy(REPOSITORY / "dev.py", folder)
    (folder / ".ci").mkdir()
    shutil.copy(REPOSITORY / ".ci" / "run", folder / ".ci")
    (folder / "pyproject.toml").write_text(PYPROJECT)
    (folder / "constraints.txt").touch()
    (folder / "hashes.txt").touch()
    (folder / "backend.py").write_text(BACKEND)
    example = folder / "examples" / "active_office"
    example.mkdir(parents=True)
    (example / "simulate.py").write_text(SIMULATE)
    for script in SCRIPTS:
        (folder / script).parent.mkdir(exist_ok=True)
        (folder / script).write_text(SCRIPT)
    return folder


def run(command: list[str | Path], **env: str) -> subprocess.CompletedProcess[str]:
    """Run from the root directory, without a package index, whatever the user's settings for pip are."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("PIP_") and k != "PYTHONPATH"}
    kept |= {"PIP_CONFIG_FILE": os.devnull, "PIP_NO_INDEX": "1"}
    return subprocess.run(command, cwd="/", env=kept | env, capture_output=True, text=True)


def dev(folder: Path, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    return run([sys.executable, folder / "dev.py", *arguments], **env)


def called(ran: subprocess.CompletedProcess[str]) -> list[str]:
    return [line.removeprefix("CALLED ") for line in ran.stdout.splitlines() if line.startswith("CALLED ")]


@pytest.fixture(scope="module")
def ready(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project that is set up, in a folder with a space in its name."""
    folder = project(tmp_path_factory.mktemp("dev") / "my project")
    made = dev(folder, "setup")
    assert (made.returncode, made.stderr) == (0, "")
    assert made.stdout.startswith("==> make .venv\n==> install the build tools\n==> install Tocsin")
    return folder


@pytest.mark.parametrize("arguments", [[], ["--help"], ["help"]])
def test_help_names_the_commands(arguments: list[str]) -> None:
    ran = dev(REPOSITORY, *arguments)
    assert ran.returncode == 0
    for command in ("demo", "test", "test --long", "docs", "wheel", "setup", "licences", "hashes"):
        assert f"python3 dev.py {command}" in ran.stdout


@pytest.mark.parametrize("arguments", [["tset"], ["setup", "twice"]])
def test_a_wrong_command_is_refused_before_anything_happens(tmp_path: Path, arguments: list[str]) -> None:
    folder = project(tmp_path / "project")
    ran = dev(folder, *arguments)
    assert ran.returncode == 2
    assert ran.stderr.startswith("dev.py: ")
    assert ran.stderr.count("\n") == 1
    assert not (folder / ".venv").exists()


@pytest.mark.slow
def test_the_second_set_up_does_nothing(ready: Path) -> None:
    assert dev(ready, "setup").stdout == UP_TO_DATE


@pytest.mark.slow
def test_the_checks_all_run_and_pytest_gets_the_arguments(ready: Path) -> None:
    ran = dev(ready, "test", "-k", "a or b", "--help")
    assert ran.returncode == 0
    assert called(ran) == [
        "ruff check .",
        "ruff format --check .",
        "mypy",
        "lint-imports",
        "licences",
        "pytest -n 2 --dist loadfile --no-loadscope-reorder -k a or b --help",
        "fuzz --seconds 120 --seed 1",
        "fuzz --seconds 60",
    ]
    assert ran.stdout.endswith("==> all 8 checks passed\n")


@pytest.mark.slow
def test_what_does_not_fit_into_ci_runs_instead_of_the_checks(ready: Path) -> None:
    ran = dev(ready, "test", "--long", "-k", "chaos")
    assert ran.returncode == 0
    assert called(ran) == [
        "pytest -n 2 --dist loadfile --no-loadscope-reorder --long -k chaos",
        "many_cases --family all --cases 100000",
    ]
    assert ran.stdout.endswith("==> all 2 checks passed\n")
    failed = dev(ready, "test", "--long", FAIL="many_cases")
    assert (failed.returncode, len(called(failed))) == (1, 2)
    assert failed.stdout.endswith("==> FAILED: many cases\n")


@pytest.mark.slow
def test_failed_checks_are_named_and_the_others_still_run(ready: Path) -> None:
    ran = dev(ready, "test", FAIL="mypy pytest")
    assert ran.returncode == 1
    assert len(called(ran)) == 8
    assert ran.stdout.endswith("==> FAILED: mypy, pytest\n")


@pytest.mark.slow
def test_ci_runs_the_checks_from_anywhere(ready: Path) -> None:
    ran = run(
        [ready / ".ci" / "run"], PATH=f"{Path(sys.executable).parent}:/usr/bin:/bin", FAIL="lint-imports"
    )
    assert ran.returncode == 1
    assert ran.stdout.startswith(UP_TO_DATE)
    assert ran.stdout.endswith("==> FAILED: lint-imports\n")


@pytest.mark.slow
def test_docs_builds_the_site_anew(ready: Path) -> None:
    old = ready / "build" / "site" / "gone.html"
    old.parent.mkdir(parents=True)
    old.touch()
    ran = dev(ready, "docs")
    (command,) = called(ran)
    assert command.startswith("sphinx-build ")
    assert "-W" in command.split()  # a broken link is a warning of Sphinx
    assert (ran.returncode, old.exists()) == (0, False)
    assert "build/site/index.html" in ran.stdout
    assert dev(ready, "docs", FAIL="sphinx-build").returncode == 3


def test_the_demo_makes_its_events_once(ready: Path) -> None:
    data = ready / "examples" / "active_office" / "data"
    failed = dev(ready, "demo", FAIL="simulate")
    assert (failed.returncode, failed.stderr) == (1, "dev.py: failed: make a day of events (exit code 3)\n")
    assert not data.exists(), "a partial set of events would count as complete the next time"
    simulate = "simulate --out examples/active_office/data"
    detect = "tocsin run examples/active_office/pipeline.toml"
    assert called(dev(ready, "demo")) == [simulate, detect]
    assert called(dev(ready, "demo")) == [detect]
    assert dev(ready, "demo", FAIL="tocsin").returncode == 1
    assert data.exists()


@pytest.mark.slow
def test_changed_versions_are_installed_into_the_same_environment(ready: Path) -> None:
    mine = ready / ".venv" / "mine"
    mine.touch()
    (ready / "constraints.txt").write_text("# changed\n")
    ran = dev(ready, "setup")
    assert "make .venv" not in ran.stdout
    assert "==> set-up done" in ran.stdout
    assert mine.exists()
    assert dev(ready, "setup").stdout == UP_TO_DATE


@pytest.mark.slow
def test_a_half_made_environment_is_rebuilt(ready: Path) -> None:
    # What a set-up leaves that was stopped while it installed: no stamp, and packages with holes.
    (ready / ".venv" / "tocsin-stamp").unlink()
    next(ready.glob(".venv/lib/*/site-packages/pip/__init__.py")).unlink()
    ran = dev(ready, "test")
    assert ran.stdout.startswith("==> rebuild .venv\n")
    assert (ran.returncode, len(called(ran))) == (0, 8)


@pytest.mark.slow
def test_a_moved_folder_gets_a_new_environment(ready: Path, tmp_path: Path) -> None:
    moved = tmp_path / "moved"
    shutil.copytree(ready, moved, symlinks=True)
    ran = dev(moved, "test")
    assert ran.stdout.startswith("==> rebuild .venv\n")
    assert str(ready) not in (moved / ".venv" / "bin" / "ruff").read_text()
    assert (ran.returncode, len(called(ran))) == (0, 8)


@pytest.mark.slow
def test_a_python_without_ensurepip_borrows_pip(tmp_path: Path) -> None:
    bundled = Path(ensurepip.__file__).parent / "_bundled"
    if not list(bundled.glob("pip-*.whl")):
        pytest.skip("this Python has no pip to lend without a network")
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / "ensurepip.py").write_text("raise ImportError")
    folder = project(tmp_path / "project")
    ran = dev(folder, "test", PYTHONPATH=str(hidden), PIP_FIND_LINKS=str(bundled))
    assert "==> borrow pip from outside" in ran.stdout
    assert (ran.returncode, len(called(ran))) == (0, 8)


@pytest.mark.slow
def test_without_a_network_one_line_says_so(tmp_path: Path) -> None:
    folder = project(tmp_path / "project")
    (folder / "pyproject.toml").write_text(
        PYPROJECT.replace("requires = []", 'requires = ["no-such-package"]')
    )
    (folder / "constraints.txt").write_text("no-such-package==1\n")
    (folder / "hashes.txt").write_text(f"no-such-package==1 --hash=sha256:{'0' * 64}\n")
    # Port 9 of this machine: nobody answers there.
    ran = dev(folder, "setup", PIP_NO_INDEX="0", PIP_INDEX_URL="http://127.0.0.1:9/")
    assert ran.returncode == 1
    assert ran.stderr.splitlines()[-1].startswith("dev.py: the packages cannot be downloaded: no network")
    assert not (folder / ".venv" / "tocsin-stamp").exists()


@pytest.mark.slow
def test_licences_and_hashes_have_commands(ready: Path) -> None:
    assert called(dev(ready, "licences")) == ["licences"]
    assert dev(ready, "licences", FAIL="licences").returncode == 3
    assert called(dev(ready, "hashes")) == ["hashes"]


WHEEL_NAME = "tiny-1.0-py3-none-any.whl"


def tiny_wheel(folder: Path) -> str:
    """Make a package to install; returns its SHA-256."""
    files = {
        "tiny.py": "",
        "tiny-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n",
        "tiny-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "tiny-1.0.dist-info/RECORD": "",
    }
    folder.mkdir()
    with zipfile.ZipFile(folder / WHEEL_NAME, "w") as wheel:
        for path, text in files.items():
            wheel.writestr(path, text)
    return hashlib.sha256((folder / WHEEL_NAME).read_bytes()).hexdigest()


@pytest.mark.slow
def test_a_package_with_another_hash_is_not_installed(tmp_path: Path) -> None:
    folder = project(tmp_path / "project")
    right = tiny_wheel(tmp_path / "wheels")
    (folder / "constraints.txt").write_text("tiny==1.0\n")
    ran = dev(folder, "setup")
    assert ran.returncode == 1
    assert ran.stderr.endswith(
        "hashes.txt is not of the versions in constraints.txt; run: python3 dev.py hashes\n"
    )
    (folder / "hashes.txt").write_text(f"tiny==1.0 \\\n    --hash=sha256:{'0' * 64}\n")
    ran = dev(folder, "setup", PIP_FIND_LINKS=str(tmp_path / "wheels"))
    assert ran.returncode == 1
    assert "DO NOT MATCH THE HASHES" in ran.stderr
    assert not list(folder.glob(".venv/lib/*/site-packages/tiny.py"))
    (folder / "hashes.txt").write_text(f"tiny==1.0 \\\n    --hash=sha256:{right}\n")
    ran = dev(folder, "setup", PIP_FIND_LINKS=str(tmp_path / "wheels"))
    assert ran.returncode == 0, ran.stderr
    assert list(folder.glob(".venv/lib/*/site-packages/tiny.py"))


def test_every_pinned_version_has_hashes() -> None:
    pinned = [line for line in (REPOSITORY / "constraints.txt").read_text().splitlines() if "==" in line]
    listed = (REPOSITORY / "hashes.txt").read_text()
    assert [line.split()[0] for line in listed.splitlines() if "==" in line] == pinned
    assert "://" not in listed
    entries = listed.replace("\\\n", " ").splitlines()
    assert all("--hash=sha256:" in entry for entry in entries if not entry.startswith("#"))
