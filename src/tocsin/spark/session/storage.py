"""Small files and folders wherever Spark can write: on this machine, or in a store with a scheme, such as s3://…"""

from __future__ import annotations

import os
import re
from typing import Any

from pyspark.sql import SparkSession

from tocsin.errors import InputError
from tocsin.spark.session.session import is_remote

_FILE = re.compile(r"^file:(?://[^/]*)?(?=/)")
_CHECKSUM = re.compile(r"\..*\.crc")  # what Hadoop writes beside a file and does not list


class Storage:
    """Files by absolute path, through the file systems that Spark itself uses."""

    def __init__(self, session: SparkSession) -> None:
        if is_remote(session):
            raise InputError(
                "spark-connect",
                "a pipeline of streams cannot run through Spark Connect",
                hint="run it where Spark runs, as with spark-submit; tocsin.detect on a streaming DataFrame works",
            )
        jvm: Any = session.sparkContext._jvm
        self._jvm = jvm
        # Looked up once: Java is asked for each part of such a name.
        self._new_path = jvm.org.apache.hadoop.fs.Path
        self._text_of = jvm.org.apache.commons.io.IOUtils.toString
        self._configuration = session.sparkContext._jsc.hadoopConfiguration()
        self._systems: dict[str, Any] = {}

    def exists(self, path: str) -> bool:
        return bool(self._system(path).exists(self._path(path)))

    def names(self, folder: str) -> list[str]:
        """Return the names of a folder's entries, sorted; none if there is no such folder."""
        if (here := self._local(folder)) is not None:
            # Java is asked three times for each name, which takes seconds for ten thousand files.
            try:
                return sorted(name for name in os.listdir(here) if not _CHECKSUM.fullmatch(name))
            except FileNotFoundError:
                return []
        if not self.exists(folder):
            return []
        found = self._system(folder).listStatus(self._path(folder))
        return sorted(str(status.getPath().getName()) for status in found)

    def is_folder(self, path: str) -> bool:
        return self.exists(path) and bool(self._system(path).getFileStatus(self._path(path)).isDirectory())

    def entries(self, folder: str) -> list[tuple[str, bool]]:
        """Return the names in a folder, and whether each is a folder itself."""
        found = self._system(folder).listStatus(self._path(folder))
        return [(str(status.getPath().getName()), bool(status.isDirectory())) for status in found]

    def read(self, path: str) -> str:
        """Return the text of a file."""
        stream = self._system(path).open(self._path(path))
        try:
            return str(self._text_of(stream, "UTF-8"))
        finally:
            stream.close()

    def write(self, path: str, text: str) -> None:
        """Write a file so that it exists with all its text, or not at all."""
        staged = f"{path}.new"
        stream = self._system(path).create(self._path(staged), True)
        try:
            stream.write(bytearray(text, "utf-8"))
        finally:
            stream.close()
        self.move(staged, path)

    def move(self, source: str, target: str) -> None:
        """Rename a file or folder, replacing what had that name."""
        self.delete(target)
        self.rename(source, target)

    def rename(self, source: str, target: str) -> None:
        """Rename a file or folder to a name that nothing has."""
        if self.exists(target) or not self._system(source).rename(self._path(source), self._path(target)):
            raise OSError(f"{source} cannot become {target}")

    def delete(self, path: str) -> None:
        """Delete a file, or a folder with its contents, if it exists."""
        self._system(path).delete(self._path(path), True)

    def _local(self, path: str) -> str | None:
        """Return the path as this machine has it; None for other stores."""
        if str(self._system(path).getUri().getScheme()) != "file":
            return None
        return _FILE.sub("", path)

    def _path(self, path: str) -> Any:
        return self._new_path(path)

    def _system(self, path: str) -> Any:
        scheme, _, rest = path.partition("://")
        root = f"{scheme}://{rest.partition('/')[0]}/" if rest else ""
        if root not in self._systems:
            systems = self._jvm.org.apache.hadoop.fs.FileSystem
            # What has no scheme is where Spark itself looks for it.
            uri = self._jvm.java.net.URI.create(root) if root else systems.getDefaultUri(self._configuration)
            # Not Spark's shared instance, because this one must not write checksum files.
            system = systems.newInstance(uri, self._configuration)
            system.setWriteChecksum(False)
            self._systems[root] = system
        return self._systems[root]
