"""Turn the pure wheel of Tocsin into one for this platform, which brings compiled kernels along.

    python packaging/platform_wheel.py dist/tocsin-0.1.0-py3-none-any.whl

A pure wheel works everywhere, but its first queries wait for the compiler. This one holds machine code for the Python and
the numba that run this script, and for a processor that nearly every machine has the features of. Where one of them
differs, kernels are compiled as with the pure wheel. `tocsin.runtime.compiling` finds the code.
"""

from __future__ import annotations

import base64
import hashlib
import os
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

from tocsin.runtime.compiling import MACHINE_CODE, portable_processor

FOLDER = "tocsin/runtime/" + MACHINE_CODE.name


def main(pure: Path) -> int:
    """Write the wheel for this platform beside the pure one, and print its path."""
    processor = portable_processor()
    if processor is None:
        print(f"no wheel with compiled kernels: unknown processor {os.uname().machine}", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory(prefix="tocsin-wheel-") as name:
        code = compiled(pure, Path(name), processor.name)
        print(with_code(pure, code))
    return 0


def compiled(pure: Path, work: Path, processor: str) -> list[Path]:
    """Compile the usual kernels of a wheel for a processor and return their files."""
    package, cache = work / "package", work / "cache"
    with ZipFile(pure) as wheel:
        wheel.extractall(package)
    # Features must be set, too: numba would take those of this machine.
    env = os.environ | {
        "PYTHONPATH": str(package),
        "NUMBA_CACHE_DIR": str(cache),
        "NUMBA_CPU_NAME": processor,
        "NUMBA_CPU_FEATURES": "",
    }
    command = [sys.executable, "-c", "from tocsin.cli import main; raise SystemExit(main(['warm']))"]
    subprocess.run(command, cwd=work, env=env, check=True, stdout=subprocess.DEVNULL)
    return sorted(cache.rglob("*.nbc"))


def with_code(pure: Path, code: list[Path]) -> Path:
    """Write a copy of a wheel that holds files of machine code, with the tag of this platform."""
    name, version, *_ = pure.name.split("-")
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    tag = f"{python}-{python}-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"
    made = pure.with_name(f"{name}-{version}-{tag}.whl")
    information = f"{name}-{version}.dist-info"
    records = []
    with ZipFile(pure) as old, ZipFile(made, "w", ZIP_DEFLATED) as new:
        contents = {one: old.read(one) for one in old.namelist() if one != f"{information}/RECORD"}
        about = contents[f"{information}/WHEEL"].decode().replace("py3-none-any", tag)
        contents[f"{information}/WHEEL"] = about.replace("Purelib: true", "Purelib: false").encode()
        contents |= {f"{FOLDER}/{file.name}": file.read_bytes() for file in code}
        for path, content in contents.items():
            new.writestr(path, content)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            records.append(f"{path},sha256={digest},{len(content)}")
        records.append(f"{information}/RECORD,,")
        new.writestr(f"{information}/RECORD", "\n".join(records) + "\n")
    return made


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
