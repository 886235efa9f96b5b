"""One node of Kafka for tests, and the jars that Spark needs to talk to it; both from Maven.

They are kept in the folder TOCSIN_CACHE, or ~/.cache/tocsin, and fetched once.
"""

from __future__ import annotations

import base64
import functools
import shutil
import subprocess
import time
import uuid
from contextlib import suppress
from pathlib import Path

from support.brokers import Broker, Certificates, cache_folder, cannot_have, fetching_alone, free_port

_PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1"
_VERSION = "4.1.0"
# The newest of each that Maven has; each alone, because the connector's parent names another repository.
_CONNECTOR = (
    "org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0",
    "org.apache.spark:spark-token-provider-kafka-0-10_2.13:4.0.0",
    "org.apache.kafka:kafka-clients:3.9.0",
    "org.apache.commons:commons-pool2:2.12.0",
)
_FETCH_SECONDS = 300
_POM = """\
<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>tocsin</groupId>
  <artifactId>kafka-for-tests</artifactId>
  <version>1</version>
  <dependencies>
    <dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>{0}</version></dependency>
    <dependency><groupId>org.apache.kafka</groupId><artifactId>kafka-tools</artifactId><version>{0}</version></dependency>
  </dependencies>
</project>
"""


class UnavailableError(RuntimeError):
    """What Maven should have brought cannot be had."""


def _maven(folder: Path, *words: str) -> None:
    """Run Maven, again after a pause if the network fails it; raises `UnavailableError` with what it said last."""
    maven = shutil.which("mvn")
    if maven is None:
        raise UnavailableError("there is no Maven")
    said = ""
    for pause in (0, 5, 30):
        time.sleep(pause)
        try:
            # -U: a file that could not be had a moment ago is asked for again.
            subprocess.run(
                [maven, "-q", "-B", "-U", *words],
                cwd=folder,
                capture_output=True,
                check=True,
                timeout=_FETCH_SECONDS,
                text=True,
            )
            return
        except subprocess.TimeoutExpired:
            said = f"it took more than {_FETCH_SECONDS} s"
        except subprocess.CalledProcessError as failed:
            said = next((line for line in failed.stdout.splitlines() if "ERROR" in line), failed.stderr)
    raise UnavailableError(said)


@functools.cache
def connector_jars(fetch: bool) -> list[str]:
    """Spark's Kafka connector, if it is there or can be fetched."""
    folder = cache_folder() / "kafka-connector"
    names = [f"{artifact.split(':')[1]}-{artifact.split(':')[2]}.jar" for artifact in _CONNECTOR]
    jars = [folder / name for name in names]
    if fetch and not all(jar.exists() for jar in jars):
        folder.mkdir(parents=True, exist_ok=True)
        with fetching_alone(), suppress(UnavailableError):
            for artifact, jar in zip(_CONNECTOR, jars, strict=True):
                if not jar.exists():
                    _maven(folder, f"{_PLUGIN}:copy", f"-Dartifact={artifact}", f"-DoutputDirectory={folder}")
    return [str(jar) for jar in jars] if all(jar.exists() for jar in jars) else []


@functools.cache
def _classes() -> str:
    """The class path of the broker."""
    folder = cache_folder() / f"kafka-{_VERSION}"
    folder.mkdir(parents=True, exist_ok=True)
    with fetching_alone():
        if not (folder / "complete").exists():
            (folder / "pom.xml").write_text(_POM.format(_VERSION))
            _maven(folder, f"{_PLUGIN}:copy-dependencies", f"-DoutputDirectory={folder / 'jars'}")
            (folder / "complete").touch()
    return f"{folder / 'jars'}/*"


def kafka_node(folder: Path, password: str, tls: Certificates) -> tuple[Broker, int, int]:
    """A broker that is its own controller, and two ports beside its plain one.

    One is for the user `tocsin` with the password, the other for TLS. A topic is made when it is first written to.
    """
    from tocsin.spark.session.java import find_java

    try:
        classes = _classes()
    except UnavailableError as failed:
        cannot_have(f"Kafka could not be fetched with Maven: {failed}")
    folder.mkdir(parents=True, exist_ok=True)
    plain, secret, encrypted, controller = (free_port() for _ in range(4))
    (folder / "both.pem").write_text(tls.key.read_text() + tls.certificate.read_text())
    listeners = (
        f"PLAINTEXT://127.0.0.1:{plain},SASL_PLAINTEXT://127.0.0.1:{secret},SSL://127.0.0.1:{encrypted}"
    )
    login = f'org.apache.kafka.common.security.plain.PlainLoginModule required user_tocsin="{password}";'
    settings = {
        "process.roles": "broker,controller",
        "node.id": "1",
        "controller.quorum.voters": f"1@127.0.0.1:{controller}",
        "listeners": f"{listeners},CONTROLLER://127.0.0.1:{controller}",
        "advertised.listeners": listeners,
        "controller.listener.names": "CONTROLLER",
        "inter.broker.listener.name": "PLAINTEXT",
        "listener.security.protocol.map": (
            "PLAINTEXT:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT,SSL:SSL,CONTROLLER:PLAINTEXT"
        ),
        "sasl.enabled.mechanisms": "PLAIN",
        "listener.name.sasl_plaintext.plain.sasl.jaas.config": login,
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(folder / "both.pem"),
        "log.dirs": str(folder / "data"),
        "num.partitions": "2",
        "offsets.topic.replication.factor": "1",
        "offsets.topic.num.partitions": "1",
        "transaction.state.log.replication.factor": "1",
        "transaction.state.log.min.isr": "1",
        "group.initial.rebalance.delay.ms": "0",
        # A node that starts again waits until its controller, itself, has noticed that it was gone.
        "broker.session.timeout.ms": "1000",
        "broker.heartbeat.interval.ms": "300",
    }
    configuration = folder / "server.properties"
    configuration.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
    java = [str(find_java().home / "bin" / "java"), "-Xmx384m", "-XX:+UseSerialGC", "-cp", classes]
    cluster = base64.urlsafe_b64encode(b"\x10" + uuid.uuid4().bytes[1:]).decode().rstrip("=")
    subprocess.run(
        [*java, "kafka.tools.StorageTool", "format", "-t", cluster, "-c", str(configuration)],
        check=True,
        capture_output=True,
    )
    return Broker([*java, "kafka.Kafka", str(configuration)], plain, folder), secret, encrypted


def kafka_tool(name: str, *words: str) -> list[str]:
    """The command for one of the tools that come with Kafka, as `TopicCommand`."""
    from tocsin.spark.session.java import find_java

    java = str(find_java().home / "bin" / "java")
    return [java, "-Xmx256m", "-XX:+UseSerialGC", "-cp", _classes(), f"org.apache.kafka.tools.{name}", *words]
