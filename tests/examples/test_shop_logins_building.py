"""The shop, the logins and the building find in a plain Spark session what pandas finds, and their READMEs are true."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import pytest

from docs.pages import blocks, fits
from support.wheels import environment, run_in, wheel_with_kernels

pytestmark = [pytest.mark.spark, pytest.mark.slow]

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
NAMES = ("shop", "logins", "building")
MINUTE = pd.Timedelta("1min")
# One process for all three, because Spark takes seconds to start. The first of them makes the session.
RUN = """
import contextlib, pathlib, runpy, sys
for name in sys.argv[1:]:
    folder = pathlib.Path("examples", name)
    with open(folder / "printed", "w") as file, contextlib.redirect_stdout(file):
        for script, words in (("simulate.py", ["--out", f"{folder}/data"]), ("detect.py", ["--out", f"{folder}/out"])):
            sys.argv = [script, *words]
            runpy.run_path(str(folder / script), run_name="__main__")
"""

UNWANTED = shutil.ignore_patterns("data", "out", "__pycache__")

Ids = tuple[str, ...]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the examples, after each of them has run in a session that Tocsin did not make."""
    root = tmp_path_factory.mktemp("root")
    for name in NAMES:
        shutil.copytree(EXAMPLES / name, root / "examples" / name, ignore=UNWANTED)
    done = subprocess.run([sys.executable, "-c", RUN, *NAMES], cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return root


def found(root: Path, folder: str, pattern: str) -> set[Ids]:
    """The matches of a pattern as the ids of their events; a timer by its name."""
    rows = pq.read_table(root / "examples" / folder).to_pylist()
    matches = [
        tuple(c["id"] or c["role"] for c in row["constituents"]) for row in rows if row["pattern"] == pattern
    ]
    assert len(matches) == len(set(matches))
    return set(matches)


def read(root: Path, file: str) -> pd.DataFrame:
    """The events of an example, as pandas reads them, in the order of time."""
    path = root / "examples" / file
    if path.suffix == ".parquet":
        table = pd.read_parquet(path)
    elif path.suffix == ".csv":
        table = pd.read_csv(path)
    else:
        table = pd.DataFrame([json.loads(line) for line in path.read_text().splitlines()])
    table["time"] = pd.to_datetime(table.time, format="ISO8601")
    assert table.id.is_monotonic_increasing
    return table


def ids(table: pd.DataFrame, *columns: str) -> set[Ids]:
    """The rows of a table of ids as they are in matches; a column that is not there is a timer."""
    timers = [name for name in columns if name not in table]
    whole = table.assign(**{name: name for name in timers})[list(columns)]
    return {
        tuple(one if isinstance(one, str) else str(int(one)) for one in row)
        for row in whole.itertuples(index=False)
    }


def next_of(table: pd.DataFrame, type: str, by: str) -> pd.DataFrame:
    """For each row the id and time of the next event of a type with the same key; the row's own if it is one."""
    own = table[["id", "time"]].where(table.type == type)
    return own.groupby(table[by]).bfill()


@pytest.mark.parametrize("name", NAMES)
def test_the_readme_is_true(root: Path, name: str) -> None:
    page = (EXAMPLES / name / "README.md").read_text(encoding="utf-8")
    (shown,) = [block.text for block in blocks(page) if block.language == "console"]
    lines = shown.splitlines(keepends=True)
    assert [line for line in lines if line.startswith("$")] == [
        f"$ python3 examples/{name}/simulate.py --out examples/{name}/data\n",
        f"$ python3 examples/{name}/detect.py\n",
    ]
    printed = (root / "examples" / name / "printed").read_text()
    expected = "".join(line for line in lines if not line.startswith("$"))
    assert fits(expected, printed), printed


def test_one_runs_from_a_wheel_in_an_environment_that_nobody_activates(root: Path, tmp_path: Path) -> None:
    shutil.copytree(EXAMPLES / "building", tmp_path / "examples" / "building", ignore=UNWANTED)
    (tmp_path / "wheel").mkdir()
    python = environment(wheel_with_kernels(tmp_path / "wheel"), tmp_path / "env")
    done = run_in(python, ["-c", RUN, "building"], tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    printed = (tmp_path / "examples" / "building" / "printed").read_text()
    assert printed == (root / "examples" / "building" / "printed").read_text()


# --- the shop -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def shop(root: Path) -> pd.DataFrame:
    return read(root, "shop/data/events.parquet")


def test_abandoned_carts(root: Path, shop: pd.DataFrame) -> None:
    table = shop[shop.type.isin(["add to cart", "pay-ok"])]
    following = table.groupby("customer").time.shift(-1)
    expected = ids(
        table[(table.type == "add to cart") & ~(following <= table.time + 30 * MINUTE)], "id", "T1"
    )
    assert len(expected) > 50
    assert found(root, "shop/out/customers", "abandoned") == expected


def test_payments_that_failed_and_then_succeeded(root: Path, shop: pd.DataFrame) -> None:
    table = shop[shop.type.isin(["pay-failed", "pay-ok"])].copy()
    paid = next_of(table, "pay-ok", "customer")
    table["paid"] = paid.id
    for n in (1, 2):
        table[f"type{n}"] = table.groupby("customer").type.shift(-n)
        table[f"id{n}"] = table.groupby("customer").id.shift(-n)
    row = (table[["type", "type1", "type2"]] == "pay-failed").all(axis=1) & (
        paid.time <= table.time + 15 * MINUTE
    )
    expected = ids(table[row], "id", "id1", "id2", "paid")
    assert len(expected) > 20
    assert found(root, "shop/out/customers", "failed_then_paid") == expected


def test_falling_prices(root: Path, shop: pd.DataFrame) -> None:
    table = shop[shop.type == "price"].copy()
    falls = pd.Series(True, table.index)
    for n in (1, 2, 3):
        table[f"id{n}"] = table.groupby("product").id.shift(-n)
        falls &= table.groupby("product").price.shift(-n) < table.groupby("product").price.shift(1 - n)
    expected = ids(table[falls], "id", "id1", "id2", "id3")
    assert len(expected) > 20
    assert found(root, "shop/out/products", "falling") == expected


def test_the_steps_of_the_funnel(root: Path, shop: pd.DataFrame) -> None:
    reached = shop[shop.type == "view"].rename(columns={"id": "view"})[["customer", "time", "view"]]
    reached["began"] = reached.time
    steps = ["view"]
    assert found(root, "shop/out/funnel", "1_view") == ids(reached, "view")
    types = {"cart": "add to cart", "checkout": "checkout", "paid": "pay-ok"}
    for n, (step, type) in enumerate(types.items(), 2):
        later = shop[shop.type == type][["customer", "time", "id"]].rename(columns={"id": step})
        later["then"] = later.time
        reached = pd.merge_asof(
            reached.sort_values("time"),
            later,
            on="time",
            by="customer",
            direction="forward",
            allow_exact_matches=False,
        )
        reached = reached[reached.then <= reached.began + 60 * MINUTE]
        reached = reached.assign(time=reached.then).drop(columns="then")
        steps.append(step)
        assert len(reached) > 20
        assert found(root, "shop/out/funnel", f"{n}_{step}") == ids(reached, *steps)


# --- logins and processes -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def logins(root: Path) -> pd.DataFrame:
    return read(root, "logins/data/events.jsonl")


def test_brute_force(root: Path, logins: pd.DataFrame) -> None:
    table = logins[logins.type.isin(["failed", "login"])].copy()
    login = next_of(table, "login", "user")
    table["login"] = login.id
    row = (table.type == "failed") & (login.time <= table.time + 2 * MINUTE)
    for n in (1, 2, 3, 4):
        table[f"id{n}"] = table.groupby("user").id.shift(-n)
        row &= table.groupby("user").type.shift(-n) == "failed"
    expected = ids(table[row], "id", "id1", "id2", "id3", "id4", "login")
    assert len(expected) > 20
    assert found(root, "logins/out/users", "brute_force") == expected


def test_travel_between_countries(root: Path, logins: pd.DataFrame) -> None:
    table = logins[logins.type == "login"].copy()
    following = table.groupby("user")[["id", "time", "country"]].shift(-1)
    table["next"] = following.id
    row = (following.country != table.country) & (following.time <= table.time + 60 * MINUTE)
    expected = ids(table[row], "id", "next")
    assert len(expected) > 5
    assert found(root, "logins/out/users", "travel") == expected


def test_a_document_that_starts_a_shell(root: Path, logins: pd.DataFrame) -> None:
    table = logins[logins.type == "process"][["id", "time", "host", "pid", "parent", "image"]]
    documents = table[table.image.isin(["winword.exe", "excel.exe", "outlook.exe"])]
    shells = table[table.image.isin(["cmd.exe", "powershell.exe"])]
    pairs = documents.merge(
        shells, left_on=["host", "pid"], right_on=["host", "parent"], suffixes=("", "_shell")
    )
    pairs = pairs[(pairs.time_shell > pairs.time) & (pairs.time_shell <= pairs.time + 5 * MINUTE)]
    first = pairs.sort_values("time_shell").drop_duplicates("id")
    expected = ids(first, "id", "id_shell")
    assert len(expected) > 20
    assert found(root, "logins/out/hosts", "document_starts_shell") == expected


# --- the building ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def building(root: Path) -> pd.DataFrame:
    return read(root, "building/data/events.csv")


def test_doors_left_open(root: Path, building: pd.DataFrame) -> None:
    deadline = building.time + 10 * MINUTE
    closed = next_of(building, "close", "room").time
    row = (building.type == "open") & ~(closed <= deadline) & (deadline <= building.time.max())
    expected = ids(building[row], "id", "T1")
    assert len(expected) > 10
    assert found(root, "building/out/rooms", "left_open") == expected


def test_silent_sensors(root: Path, building: pd.DataFrame) -> None:
    table = building[building.type == "temp"]
    deadline = table.time + 15 * MINUTE
    following = table.groupby("room").time.shift(-1)
    expected = ids(table[~(following <= deadline) & (deadline <= building.time.max())], "id", "T1")
    assert len(expected) > 10
    assert found(root, "building/out/rooms", "silent") == expected


def test_rising_temperatures(root: Path, building: pd.DataFrame) -> None:
    table = building[building.type == "temp"].copy()
    of_room: Any = table.groupby("room")
    row = (of_room.celsius.shift(-4) >= 24) & (of_room.time.shift(-4) <= table.time + 30 * MINUTE)
    for n in (1, 2, 3, 4):
        table[f"id{n}"] = of_room.id.shift(-n)
        row &= of_room.celsius.shift(-n) > of_room.celsius.shift(1 - n)
    expected = ids(table[row], "id", "id1", "id2", "id3", "id4")
    assert len(expected) > 10
    assert found(root, "building/out/rooms", "rising") == expected
