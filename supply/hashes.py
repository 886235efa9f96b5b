"""Write hashes.txt: the files of every version in constraints.txt that pip may install, each by its SHA-256.

    python3 dev.py hashes

`dev.py` installs nothing whose hash is not in this list. The index that pip is configured for is asked by pip's own code, so no
address is written down here or there. Wheels for Linux and macOS on the Pythons below are listed, and the source of
packages that have no wheel for all of them.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

# What pip does when it looks for a package. It promises nothing to others; constraints.txt has the version that this is for.
from pip._internal.commands import create_command
from pip._internal.index.collector import parse_links
from pip._internal.models.link import Link
from pip._vendor.packaging.tags import Tag
from pip._vendor.packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    canonicalize_name,
    parse_sdist_filename,
    parse_wheel_filename,
)
from pip._vendor.packaging.version import Version

ROOT = Path(__file__).resolve().parent.parent
PYTHONS = (11, 12, 13, 14)  # after 3.
_PLATFORM = re.compile(r"any|(manylinux|musllinux|linux).*_(x86_64|aarch64)|macosx_.*")
_HEAD = """\
# The files of the versions in constraints.txt that may be installed, by SHA-256. Written by `python3 dev.py hashes`;
# dev.py installs nothing else.
"""


def main() -> int:
    """Write the list; the result is the exit code."""
    wanted = pinned((ROOT / "constraints.txt").read_text(encoding="utf-8"))
    command = create_command("download")
    options, _ = command.parse_args([])
    with command.main_context():
        session = command.get_default_session(options)  # type: ignore[attr-defined]
        collector = command._build_package_finder(options, session)._link_collector  # type: ignore[attr-defined]
        lines = []
        for name, version in wanted:
            links = [
                link
                for place in collector.search_scope.get_index_urls_locations(name)
                if (page := collector.fetch_response(Link(place), package_name=name)) is not None
                for link in parse_links(page)
            ]
            hashes = sorted(chosen(links, name, Version(version)))
            if not hashes:
                print(f"hashes: the index has no file of {name}=={version} with a hash", file=sys.stderr)
                return 1
            lines.append(
                " \\\n    ".join((f"{name}=={version}", *(f"--hash=sha256:{one}" for one in hashes)))
            )
    (ROOT / "hashes.txt").write_text(_HEAD + "\n".join(lines) + "\n", encoding="utf-8")
    print(f"hashes.txt: {len(lines)} packages")
    return 0


def pinned(constraints: str) -> list[tuple[str, str]]:
    """Return the name and version of each line."""
    lines = (line.partition("#")[0].strip() for line in constraints.splitlines())
    return [(name, version) for name, _, version in (line.partition("==") for line in lines if line)]


def chosen(links: Iterable[Link], name: str, version: Version) -> Iterator[str]:
    """Yield the hashes of the wheels that may be installed, and of the source if some Python would need it."""
    sources, served = [], set()
    for link in links:
        own = link.hash if link.hash_name == "sha256" else None
        if own is None:
            continue
        try:
            if link.filename.endswith(".whl"):
                called, number, _, tags = parse_wheel_filename(link.filename)
                fitting = {python for tag in tags for python in serves(tag)}
                if (called, number) == (canonicalize_name(name), version) and fitting:
                    served |= fitting
                    yield own
            else:
                called, number = parse_sdist_filename(link.filename)
                if (called, number) == (canonicalize_name(name), version):
                    sources.append(own)
        except (InvalidWheelFilename, InvalidSdistFilename):
            continue
    if not served.issuperset(PYTHONS):
        yield from sources


def serves(tag: Tag) -> list[int]:
    """Return the Pythons that a wheel with this tag can be installed for, on the systems that matter."""
    if _PLATFORM.fullmatch(tag.platform) is None:
        return []
    if tag.interpreter in ("py3", "py2.py3") and tag.abi == "none":
        return list(PYTHONS)
    found = re.fullmatch(r"(?:cp|py)3(\d+)", tag.interpreter)
    if found is None:
        return []
    own = int(found[1])
    if tag.abi == "abi3" or tag.interpreter.startswith("py"):
        return [python for python in PYTHONS if python >= own]
    return [own] if own in PYTHONS and tag.abi in ("none", f"cp3{own}") else []


if __name__ == "__main__":
    sys.exit(main())
