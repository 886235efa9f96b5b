#!/usr/bin/env python3
"""Set Tocsin up in this folder and run it, with nothing but Python 3.11 or later and pip.

    python3 dev.py demo         set up, then find the composite events in a day at an office
    python3 dev.py test         set up, then run everything CI runs (more arguments go to pytest)
    python3 dev.py test --long  set up, then run what does not fit into CI: the tests marked long, and 100,000
                                random cases of every family, reference against kernel
    python3 dev.py docs         set up, then build the documentation site into build/site; a broken link fails
    python3 dev.py wheel        set up, then build wheels in dist: one for everywhere, and one for this platform, which brings
                                compiled kernels along
    python3 dev.py setup        set up only
    python3 dev.py licences     set up, then list the licence of every package, and check them
    python3 dev.py hashes       write hashes.txt anew, after a change of constraints.txt

The set-up makes the folder .venv beside this file and installs the exact versions of constraints.txt into it, each file
only if its hash is in hashes.txt. It needs the network the first time, and not again until pyproject.toml or these
two change. To start over, delete .venv.
"""

import sys

# Before the imports and annotations that an older Python does not understand.
if sys.version_info < (3, 11):
    sys.exit(f"dev.py: Tocsin needs Python 3.11 or later; this is Python {sys.version.split()[0]}")

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import time
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
PROGRAMS = VENV / ("Scripts" if os.name == "nt" else "bin")
PYTHON = PROGRAMS / ("python.exe" if os.name == "nt" else "python")
STAMP = VENV / "tocsin-stamp"
WARM = "src/tocsin/cli/warm.py"  # compiles the kernels


@dataclass(frozen=True)
class Step:
    """A command of the environment in .venv, run in this folder; skipped if what it `makes` exists."""

    name: str
    command: tuple[str, ...]
    makes: str | None = None


# The main job, what CI runs, and what CI has no time for. To change any of it, edit these lists.
DEMO = (
    Step(
        "make a day of events",
        ("python", "examples/active_office/simulate.py", "--out", "examples/active_office/data"),
        makes="examples/active_office/data",
    ),
    Step("find the composite events", ("tocsin", "run", "examples/active_office/pipeline.toml")),
)
# A file of tests stays in one process: they share streams, brokers and Spark's session. tests/conftest.py has the order.
PYTEST = Step("pytest", ("pytest", "-n", "2", "--dist", "loadfile", "--no-loadscope-reorder"))
LICENCES = Step("licences", ("python", "supply/licences.py"))
CHECKS = (
    Step("ruff check", ("ruff", "check", ".")),
    Step("ruff format", ("ruff", "format", "--check", ".")),
    Step("mypy", ("mypy",)),
    Step("lint-imports", ("lint-imports",)),
    LICENCES,
    PYTEST,
    # A fixed seed, which fails the same way everywhere; and a new one each time, which it prints.
    Step("fuzz", ("python", "tests/fuzz.py", "--seconds", "120", "--seed", "1")),
    Step("fuzz with a new seed", ("python", "tests/fuzz.py", "--seconds", "60")),
)
DOCS = Step(
    "build the site",
    (
        "sphinx-build",
        "-q",
        "-W",
        "--keep-going",
        "-c",
        "docs/site",
        "-d",
        "build/doctrees",
        ".",
        "build/site",
    ),
)
LONG = (
    PYTEST,
    Step("many cases", ("python", "tests/many_cases.py", "--family", "all", "--cases", "100000")),
)


class Problem(Exception):  # noqa: N818  (it is the text shown to the user, after "dev.py: ")
    """An error that the user can fix; one line."""


def main(arguments: Sequence[str]) -> int:
    """Run one command; the result is the exit code."""
    command, rest = (arguments[0], arguments[1:]) if arguments else ("help", [])
    if command in ("help", "--help", "-h"):
        print(__doc__.strip() if __doc__ else "")
        return 0
    if command not in ("demo", "test", "docs", "wheel", "setup", "licences", "hashes"):
        print(f"dev.py: there is no command {command!r}; see: python3 dev.py --help", file=sys.stderr)
        return 2
    if rest and command != "test":
        print(f"dev.py: {command} takes no arguments, but got: {' '.join(rest)}", file=sys.stderr)
        return 2
    try:
        if command == "hashes":
            return write_hashes()
        set_up()
        if command == "licences":
            return run(LICENCES)
        if command == "demo":
            demo()
        if command == "docs":
            return docs()
        if command == "wheel":
            return wheel()
        if command == "test":
            return check(rest)
    except Problem as problem:
        print(f"dev.py: {problem}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("dev.py: interrupted; run it again to go on", file=sys.stderr)
        return 130
    return 0


# Set-up


def set_up() -> None:
    """Bring .venv in line with pyproject.toml and constraints.txt; do nothing if it already is."""
    wanted = stamp()
    have = STAMP.read_text() if STAMP.is_file() else ""
    if have == wanted and PYTHON.exists():
        say("set-up is up to date")
        return
    started = time.monotonic()
    # Removed first and written last, so that an interrupted run leaves none.
    STAMP.unlink(missing_ok=True)
    if not (have and have.splitlines()[0] == wanted.splitlines()[0] and PYTHON.exists()):
        make_venv()
    packages = hashed()
    say("install the build tools")
    install([packages[name] for name in ("pip", *build_requirements()) if name in packages])
    say("install Tocsin and what it needs (the first time, a minute or more: Spark alone is some 450 MB)")
    install(packages.values())
    # Without isolation, because pip would fetch the packages of an isolated build without looking at their hashes.
    pip("install", "--no-deps", "--no-build-isolation", "--editable", ".[dev]")
    pip("check")  # constraints.txt must name everything that pyproject.toml asks for
    if (ROOT / WARM).exists():
        run(
            Step(
                "compile the kernels, once",
                ("tocsin", "warm"),
            )
        )
    STAMP.write_text(wanted)
    say(f"set-up done in {time.monotonic() - started:.0f} s")


def stamp() -> str:
    """A fingerprint of what .venv depends on: its path and Python, then the versions to install."""
    files = [ROOT / "pyproject.toml", ROOT / "constraints.txt", ROOT / "hashes.txt"]
    try:
        content = b"\0".join(file.read_bytes() for file in files)
    except OSError as problem:
        raise Problem(f"{problem.filename} cannot be read: {problem.strerror}") from None
    # The programs in .venv know their own path, so a moved folder needs a new one.
    place = f"{sys.implementation.cache_tag} {ROOT}"
    return "\n".join(hashlib.sha256(part).hexdigest() for part in (place.encode(), content)) + "\n"


def make_venv() -> None:
    """Make a new .venv, replacing whatever is there."""
    say("rebuild .venv" if VENV.exists() else "make .venv")
    try:
        if VENV.is_symlink() or VENV.is_file():
            VENV.unlink()
        elif VENV.exists():
            shutil.rmtree(VENV)
    except OSError as problem:
        raise Problem(f"{VENV} cannot be removed ({problem}); delete it and try again") from None
    # If this script runs in some other venv, or in ours, build on the base Python of that venv.
    base = getattr(sys, "_base_executable", None) or sys.executable
    pip_comes_along = subprocess.run([base, "-c", "import ensurepip"], capture_output=True).returncode == 0
    made = subprocess.run(
        [base, "-m", "venv", *([] if pip_comes_along else ["--without-pip"]), str(VENV)],
        capture_output=True,
        text=True,
    )
    if made.returncode != 0:
        raise Problem(f"cannot make {VENV}: {last_line(made.stderr + made.stdout)}")
    if not pip_comes_along:
        # Debian keeps ensurepip in a package of its own, python3-venv. But any pip can serve another Python.
        if subprocess.run([sys.executable, "-m", "pip", "--version"], capture_output=True).returncode != 0:
            raise Problem("pip is missing; install it, for example: apt install python3-venv python3-pip")
        say("borrow pip from outside (this Python has no ensurepip)")
        borrowed = [sys.executable, "-m", "pip", "--python", str(PYTHON)]
        install([entry for name, entry in hashed().items() if name == "pip"] or ["pip"], borrowed)


def build_requirements() -> list[str]:
    """The names of the build requirements of the package, from pyproject.toml."""
    with open(ROOT / "pyproject.toml", "rb") as file:
        wanted = tomllib.load(file)["build-system"]["requires"]
    return [re.split(r"[\s<>=!~;\[]", one)[0].lower() for one in wanted]


def hashed() -> dict[str, str]:
    """The entries of hashes.txt by name; they must be of the versions in constraints.txt."""
    text = (ROOT / "hashes.txt").read_text().replace("\\\n", " ")
    entries = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    found = {entry.partition("==")[0]: entry for entry in entries}
    pinned = (ROOT / "constraints.txt").read_text().splitlines()
    wanted = {line.strip() for line in pinned if line.strip() and not line.startswith("#")}
    if wanted != {entry.split()[0] for entry in entries}:
        raise Problem("hashes.txt is not of the versions in constraints.txt; run: python3 dev.py hashes")
    return found


def install(entries: Iterable[str], program: Sequence[str] = ()) -> None:
    """Install packages, each file only if its hash is among those of its entry, and nothing else."""
    listed = list(entries)
    if not listed:
        return
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write("\n".join(listed) + "\n")
        file.flush()
        hashes = ["--require-hashes"] if all("--hash" in entry for entry in listed) else []
        chosen = [*hashes, "--no-deps", "--no-build-isolation", "--requirement", file.name]
        run_pip(list(program) or [str(PYTHON), "-m", "pip"], "install", *chosen)


def write_hashes() -> int:
    """Ask the package index for the hashes of all pinned versions, with the pip of .venv; the result is the exit code."""
    if not PYTHON.exists():
        make_venv()
    return run(Step("hashes", ("python", "supply/hashes.py")))


def pip(*arguments: str) -> None:
    """Run the pip of .venv."""
    run_pip([str(PYTHON), "-m", "pip"], *arguments)


def run_pip(program: list[str], action: str, *arguments: str) -> None:
    """Run a pip quietly in this folder; if it fails, say why in one line."""
    options = ["--quiet", "--no-input", "--disable-pip-version-check", "--retries=2"]
    # PIP_USER would send packages out of .venv, PYTHONPATH would hide what is missing in it.
    env = {k: v for k, v in os.environ.items() if k not in ("PIP_USER", "PYTHONPATH", "PYTHONHOME")}
    done = subprocess.run(
        [*program, action, *options, *arguments], cwd=ROOT, env=env, capture_output=True, text=True
    )
    if done.returncode == 0:
        return
    said = done.stderr + done.stdout
    print(said.strip(), file=sys.stderr)
    signs = ("NewConnectionError", "ConnectTimeout", "ProxyError", "name resolution")
    if any(sign in said for sign in signs):
        raise Problem("the packages cannot be downloaded: no network, or no way through the proxy")
    raise Problem(f"pip failed: {last_line(said)}")


# Running


def demo() -> None:
    """Run the main job."""
    for step in DEMO:
        if step.makes and (ROOT / step.makes).exists():
            continue
        code = run(step)
        if code != 0:
            raise Problem(f"failed: {step.name} (exit code {code})")


def docs() -> int:
    """Build the documentation site anew, and say where it is; the result is the exit code."""
    shutil.rmtree(ROOT / "build" / "site", ignore_errors=True)
    code = run(DOCS)
    say("FAILED: the site" if code else f"the site is in {ROOT / 'build' / 'site' / 'index.html'}")
    return code


def wheel() -> int:
    """Build the wheels; the result is the exit code."""
    for folder in (ROOT / "build" / "lib", ROOT / "dist"):
        shutil.rmtree(folder, ignore_errors=True)  # a file that no longer exists would stay in the wheel
    say("build the wheel for everywhere")
    pip("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", "dist", ".")
    pure = next((ROOT / "dist").glob("*.whl"))
    return run(
        Step("build the wheel with compiled kernels", ("python", "packaging/platform_wheel.py", str(pure)))
    )


def check(pytest_arguments: Sequence[str]) -> int:
    """Run every check, even after one has failed, and name those that failed; --long runs a different list."""
    checks = LONG if "--long" in pytest_arguments else CHECKS
    failed = [step.name for step in checks if run(step, pytest_arguments if step is PYTEST else ()) != 0]
    say(f"FAILED: {', '.join(failed)}" if failed else f"all {len(checks)} checks passed")
    return 1 if failed else 0


def run(step: Step, more: Sequence[str] = ()) -> int:
    """Run one step with the programs of .venv; the result is its exit code."""
    say(f"{step.name}: {' '.join([*step.command, *more])}")
    program = shutil.which(step.command[0], path=str(PROGRAMS))
    if program is None:
        print(f"dev.py: {VENV.name} has no program {step.command[0]}", file=sys.stderr)
        return 127
    env = {k: v for k, v in os.environ.items() if k != "PYTHONHOME"}
    env["VIRTUAL_ENV"] = str(VENV)
    env["PATH"] = f"{PROGRAMS}{os.pathsep}{os.environ.get('PATH', '')}"
    code = -1
    try:
        code = subprocess.run([program, *step.command[1:], *more], cwd=ROOT, env=env).returncode
    finally:
        if code != 0 and step.makes:
            # A partial result would count as complete the next time.
            shutil.rmtree(ROOT / step.makes, ignore_errors=True)
    return code


def say(line: str) -> None:
    """Print a progress line."""
    print(f"==> {line}", flush=True)


def last_line(text: str) -> str:
    """The last non-empty line; pip puts the reason there."""
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "no reason given")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
