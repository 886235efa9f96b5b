"""Real brokers for tests, on loopback, with free ports and folders of their own.

Each can be stopped and started again with the data it had. Where one cannot be had the test is skipped, with the
reason; with TOCSIN_REQUIRE_BROKERS=1 in the environment that is a failure instead.
"""

from __future__ import annotations

import fcntl
import functools
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

import pytest

_START_SECONDS = 60.0
_POLL_SECONDS = 0.02


def cannot_have(reason: str) -> NoReturn:
    """Skip the test, or fail it where brokers are required."""
    if os.environ.get("TOCSIN_REQUIRE_BROKERS") == "1":
        pytest.fail(f"TOCSIN_REQUIRE_BROKERS is set, but {reason}")
    pytest.skip(reason)


def cache_folder() -> Path:
    """Where what tests fetch is kept: the folder TOCSIN_CACHE, or ~/.cache/tocsin."""
    return Path(os.environ.get("TOCSIN_CACHE") or Path.home() / ".cache" / "tocsin")


@contextmanager
def fetching_alone() -> Iterator[None]:
    """One process at a time: two that install packages at once, or fetch into one repository, get in each other's way."""
    cache_folder().mkdir(parents=True, exist_ok=True)
    with (cache_folder() / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@functools.cache
def debian_program(name: str) -> str | None:
    """The path of a program, from the Debian package of that name if it is missing and we may install it."""
    places = os.environ.get("PATH", "") + os.pathsep + "/usr/sbin"
    if found := shutil.which(name, path=places):
        return found
    if os.geteuid() == 0 and shutil.which("apt-get"):
        with fetching_alone():
            _install(name, places)
    return shutil.which(name, path=places)


def _install(name: str, places: str) -> None:
    """Install a Debian package, unless another process has done so by now; a network that fails is tried again."""
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    # Somebody else may be installing something: wait for that, too.
    apt = ["apt-get", "-o", "DPkg::Lock::Timeout=300"]
    for pause in (0, 5, 30):
        time.sleep(pause)
        # A machine that has never installed anything has no lists yet, which only the update brings.
        for command in ([*apt, "install", "-y", "--no-install-recommends", name], [*apt, "update"]):
            if shutil.which(name, path=places):
                return
            subprocess.run(command, check=False, env=environment, **quiet)  # type: ignore[call-overload]


def program(name: str) -> str:
    """As `debian_program`, but the test is skipped if there is none."""
    found = debian_program(name)
    return found or cannot_have(f"there is no {name}, and the Debian package {name} could not be installed")


def free_port() -> int:
    """A port nobody listens on."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


def wait_until(condition: Callable[[], bool], what: str, seconds: float = _START_SECONDS) -> None:
    """Wait for a condition; an error that says what did not happen if it takes too long."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"{what}: not within {seconds:g} s")
        time.sleep(_POLL_SECONDS)


@dataclass
class Broker:
    """A server process that can be stopped and started again."""

    command: Sequence[str]
    port: int
    folder: Path
    environment: dict[str, str] = field(default_factory=dict)
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, and wait until it takes connections."""
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                self.command, stdout=log, stderr=log, env=os.environ | self.environment, cwd=self.folder
            )
        wait_until(self._up, f"{self.command[0]} takes connections")

    def _up(self) -> bool:
        assert self.process is not None
        if self.process.poll() is not None:
            text = (self.folder / "log").read_text(errors="replace")
            raise AssertionError(f"{self.command[0]} ended with {self.process.returncode}: {text[-2000:]}")
        with socket.socket() as trying:
            trying.settimeout(1)
            return trying.connect_ex(("127.0.0.1", self.port)) == 0

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        """Stop it; what it has stored stays."""
        if self.process is not None:
            self.process.send_signal(how)
            self.process.wait(timeout=30)
            self.process = None

    def __enter__(self) -> Broker:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop(signal.SIGKILL)


@dataclass(frozen=True)
class Certificates:
    """PEM files: an authority, a key and certificate for 127.0.0.1, and an authority that has signed nothing."""

    ca: Path
    certificate: Path
    key: Path
    other_ca: Path


def make_certificates(folder: Path) -> Certificates:
    """Certificates for one test run."""
    if shutil.which("openssl") is None:
        cannot_have("there is no openssl to make certificates with")
    folder.mkdir(parents=True, exist_ok=True)

    def openssl(*words: str) -> None:
        subprocess.run(["openssl", *words], check=True, capture_output=True, cwd=folder)

    for name in ("ca", "other"):
        openssl(
            *("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN=tocsin {name}"),
            *("-addext", "basicConstraints=critical,CA:TRUE", "-addext", "keyUsage=keyCertSign,cRLSign"),
            *("-keyout", f"{name}.key", "-out", f"{name}.pem"),
        )
    (folder / "names").write_text("subjectAltName=IP:127.0.0.1,DNS:localhost\n")
    openssl(
        *("req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost"),
        *("-keyout", "server.key", "-out", "server.csr"),
    )
    openssl(
        *("x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-days", "2"),
        *("-CAcreateserial", "-extfile", "names", "-out", "server.pem"),
    )
    return Certificates(folder / "ca.pem", folder / "server.pem", folder / "server.key", folder / "other.pem")


def nats_server(folder: Path, *, password: str = "", tls: Certificates | None = None) -> Broker:
    """NATS with JetStream; with a password, for the user `tocsin`."""
    folder.mkdir(parents=True, exist_ok=True)
    port = free_port()
    lines = [
        f'listen: "127.0.0.1:{port}"',
        f'jetstream {{ store_dir: "{folder}/store" }}',
    ]
    if password:
        lines.append(f'authorization {{ user: tocsin, password: "{password}" }}')
    if tls:
        lines.append(f'tls {{ cert_file: "{tls.certificate}", key_file: "{tls.key}" }}')
    (folder / "nats.conf").write_text("\n".join(lines))
    return Broker([program("nats-server"), "-c", str(folder / "nats.conf")], port, folder)


def mosquitto(folder: Path, *, password: str = "", tls: Certificates | None = None) -> Broker:
    """MQTT with persistence; with a password, for the user `tocsin`."""
    folder.mkdir(parents=True, exist_ok=True)
    command, port = program("mosquitto"), free_port()
    lines = [
        f"listener {port} 127.0.0.1",
        "persistence true",
        f"persistence_location {folder}/",
        # The default keeps the last thousand messages for a client that is away, and drops the others.
        "max_queued_messages 0",
        "log_type error",
        # As root it would become another user, who may not write into the folder.
        "user root",
    ]
    if password:
        users = folder / "users"
        tool = shutil.which("mosquitto_passwd") or cannot_have("there is no mosquitto_passwd")
        subprocess.run([tool, "-b", "-c", str(users), "tocsin", password], check=True, capture_output=True)
        lines += ["allow_anonymous false", f"password_file {users}"]
    else:
        lines.append("allow_anonymous true")
    if tls:
        lines += [f"certfile {tls.certificate}", f"keyfile {tls.key}"]
    (folder / "mosquitto.conf").write_text("\n".join(lines) + "\n")
    return Broker([command, "-c", str(folder / "mosquitto.conf")], port, folder)
