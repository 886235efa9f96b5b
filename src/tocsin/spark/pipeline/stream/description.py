"""The description stored in a checkpoint: the pipeline that made it, and the schemas inferred from its first files.

Kept in the checkpoint folder, as the fields of `Description` (see `checkpoint_files`). A pipeline that goes on from a
checkpoint sees its sources as it saw them first, and reports what has changed in its file since.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

from tocsin.errors import InputError, counted
from tocsin.spark.pipeline.file.model import Pipeline
from tocsin.spark.pipeline.file.read_outputs import DESCRIPTION
from tocsin.spark.pipeline.sources.streams import Known
from tocsin.spark.pipeline.stream.checkpoint_files import check_logs, read_json, write_json
from tocsin.spark.session.storage import Storage
from tocsin.spark.stream.damage import reading

_FORMAT = 4
# Keys of a subscription and of a source whose value makes no difference to the matches, or that a stream never has.
_ASIDE = {
    *("name", "place", "file", "rule", "metadata", "quiet", "deliver"),
    *("max_files", "stream", "limits", "feed", "multiline"),
}
_WORDS = {"text": "pattern", "location": "path", "origin": "source"}


@dataclass(frozen=True, slots=True)
class Description:
    """A pipeline as described in its checkpoint."""

    subscriptions: Mapping[str, Mapping[str, Any]]
    sources: Mapping[str, Mapping[str, Any]]
    types: Mapping[str, Any]
    jobs: Sequence[Any]  # key, and whether events are sent: what is detected together, in this order
    shards: int
    known: Mapping[str, Known]


def describe(pipeline: Pipeline, shards: int, known: Mapping[str, Known]) -> Description:
    """Describe a pipeline that starts from scratch."""
    declared = pipeline.declarations
    types = {one.name: {"extends": one.parent, **one.attributes} for one in declared.types}
    return Description(
        {entry.name: _plain(entry) for entry in pipeline.subscriptions},
        {source.name: _plain(source) for source in pipeline.sources},
        {"types": types, "sets": {name: list(members) for name, members in declared.sets.items()}},
        [
            [list(key), sends]
            for key, sends in dict.fromkeys((e.key, e.sends) for e in pipeline.subscriptions)
        ],
        shards,
        known,
    )


def _plain(one: Any) -> dict[str, Any]:
    values = {name: value for name, value in asdict(one).items() if name not in _ASIDE}
    plain: dict[str, Any] = json.loads(json.dumps(values, default=str))
    return plain


def changes(before: Description, now: Description) -> Iterator[str]:
    """Return the changes that make the saved state meaningless, as text."""
    yield from _changed("source", before.sources, now.sources)
    if before.types != now.types:
        yield "the event types changed"
    if before.jobs != now.jobs:
        yield "subscriptions have other keys than before, or keys in another order"
    if before.shards != now.shards:
        had = counted(before.shards, "shard", "shards")
        yield f"there {'was' if before.shards == 1 else 'were'} {had}, and are to be {now.shards}"


def changed_subscriptions(before: Description, now: Description) -> list[str]:
    """Return the changes of subscriptions as text. Unchanged ones continue; the state of the others is dropped."""
    return list(_changed("subscription", before.subscriptions, now.subscriptions))


def _changed(
    what: str, old: Mapping[str, Mapping[str, Any]], new: Mapping[str, Mapping[str, Any]]
) -> Iterator[str]:
    yield from (f"the {what} {name} is new" for name in new if name not in old)
    yield from (f"the {what} {name} is gone" for name in old if name not in new)
    for name in (name for name in new if name in old):
        keys = [key for key in new[name] if new[name][key] != old[name].get(key)]
        if keys:
            changed = " and ".join(_WORDS.get(key, key) for key in keys)
            yield f"{changed} of the {what} {name} changed"


@contextmanager
def of_pipeline(pipeline: Pipeline) -> Iterator[None]:
    """Report errors raised while a checkpoint is read as errors of the pipeline file that names it."""
    try:
        yield
    except InputError as problem:
        place = ("stream", "checkpoint")
        raise pipeline.error(problem.code, problem.message, place, problem.hint) from None


def read_description(storage: Storage, checkpoint: str, pipeline: Pipeline) -> Description | None:
    """Read the description in a checkpoint; None for a new one."""
    path = f"{checkpoint}/{DESCRIPTION}"
    if not storage.exists(path):
        if storage.exists(f"{checkpoint}/offsets"):
            raise _refused(pipeline, "other-checkpoint", f"{checkpoint} is the checkpoint of something else")
        return None
    with of_pipeline(pipeline), reading(path):
        check_logs(storage, checkpoint)
        values = read_json(storage, path, _FORMAT)
        values["known"] = {name: Known(**one) for name, one in values["known"].items()}
        return Description(**values)


def write_description(storage: Storage, checkpoint: str, description: Description) -> None:
    """Write the description of a checkpoint."""
    write_json(storage, f"{checkpoint}/{DESCRIPTION}", asdict(description), _FORMAT)


def check_unchanged(pipeline: Pipeline, before: Description, now: Description) -> None:
    """Refuse to continue a checkpoint with a pipeline other than the one that made it."""
    found = list(changes(before, now))
    if found:
        message = f"the checkpoint is of another pipeline: {'; '.join(found)}"
        raise _refused(pipeline, "changed-pipeline", message)


def _refused(pipeline: Pipeline, code: str, message: str) -> Exception:
    hint = "go back to what it was made with, or start from a fresh checkpoint"
    return pipeline.error(code, message, ("stream", "checkpoint"), hint)
