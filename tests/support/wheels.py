"""Wheels of this package, and environments they are installed into, which nobody activates."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]


def pure_wheel(folder: Path) -> Path:
    """Build the wheel that works everywhere, from a copy of the package: a build leaves files behind."""
    copy = folder / "package"
    shutil.copytree(
        REPOSITORY / "src", copy / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info")
    )
    for name in ("pyproject.toml", "LICENSE", "README.md"):
        shutil.copy(REPOSITORY / name, copy)
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*build, "--wheel-dir", folder / "dist", copy], check=True, cwd=folder)
    (wheel,) = (folder / "dist").glob("*.whl")
    return wheel


def wheel_with_kernels(folder: Path) -> Path:
    """Build a wheel that holds the kernels which are compiled already, so that nothing has to be compiled for it."""
    place = REPOSITORY / "packaging" / "platform_wheel.py"
    spec = importlib.util.spec_from_file_location("platform_wheel", place)
    assert spec is not None
    assert spec.loader is not None
    builder = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(builder)
    compiled = sorted((REPOSITORY / "src").rglob("*.nbc"))
    made: Path = builder.with_code(pure_wheel(folder), compiled)
    return made


def environment(wheel: Path, folder: Path) -> Path:
    """Install a wheel into a new environment that has all other packages of this one, and return its Python."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    python = folder / "bin" / "python"
    own = Path(sysconfig.get_paths(vars={"base": str(folder), "platbase": str(folder)})["purelib"])
    # Lines of a .pth file come after the environment's own packages; .pth files there, as of editable packages, do not count.
    (own / "others.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*pip, "--disable-pip-version-check", wheel], check=True)
    return python


def run_in(python: Path, arguments: list[str], folder: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """Run an environment's Python by its path, from a folder, without anything of this environment around it."""
    kept = {name: os.environ[name] for name in ("HOME", "JAVA_HOME", "LANG", "TMPDIR") if name in os.environ}
    command = [str(python), *arguments]
    return subprocess.run(
        command, cwd=folder, env=kept | {"PATH": os.defpath} | env, capture_output=True, text=True
    )
