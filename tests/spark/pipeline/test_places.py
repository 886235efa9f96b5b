"""Two spellings of one place are known as one: schemes, symbolic links, wildcards and `..`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tocsin.errors import PipelineErrors
from tocsin.spark.pipeline import read_pipeline
from tocsin.spark.pipeline.places import MAX_SPELLINGS, linked, overlap, places, problem_of, whole

PIPELINE = """\
[[source]]
name = "doors"
format = "jsonl"
path = "{source}"
type = "type"
time = "time"

[[subscription]]
name = "Opened"
pattern = "[Open];[Close]"

[[sink]]
format = "jsonl"
path = "{sink}"
mode = "overwrite"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Events in `data/in/Opened`, a link to that, and a file beside."""
    inside = tmp_path / "data" / "in" / "Opened"
    inside.mkdir(parents=True)
    (inside / "part-0.json").write_text('{"type": "Open", "time": "2024-01-01"}\n')
    (inside / "_tocsin.json").touch()
    (tmp_path / "link").symlink_to(tmp_path / "data" / "in")
    (tmp_path / "doors.jsonl").touch()
    return tmp_path


@pytest.mark.parametrize(
    ("source", "sink"),
    [
        ("data/in/Opened", "file://{root}/data/in"),
        ("file://{root}/data/in/Opened", "data/in"),
        ("file:{root}/data/in/Opened", "data/in"),
        ("FILE://localhost{root}/data/in/Opened", "data/in"),
        ("data/in/Opened", "link"),
        ("link/Opened/part-0.json", "data/in"),
        ("data/*/Opened", "data/in"),
        ("data/{{in,out}}/Opened/*", "data/in"),
        ("data/{{x/y,in/Opened}}", "data/in"),
        ("data/i[a-z]/Opened", "data/in"),
        ("da?a/in/Opened", "file:{root}/x/../link"),
        ("data/out/../in/Opened", "data/in"),
        ("data/in/Opened", "data/in/Opened/../../in"),
        ("data", "data/in"),
        ("s3://bucket/a/../in/Opened", "s3a://bucket//in"),
        ("S3://bucket/in/*", "s3://bucket/in"),
        ("hdfs://node:9000/in/Op*", "hdfs://NODE:9000/in"),
    ],
)
def test_a_source_in_a_sink_is_refused_however_it_is_spelled(folder: Path, source: str, sink: str) -> None:
    text = PIPELINE.format(source=source.format(root=folder), sink=sink.format(root=folder))
    (folder / "pipeline.toml").write_text(text)
    with pytest.raises(PipelineErrors) as wrong:
        read_pipeline(folder / "pipeline.toml")
    assert [error.code for error in wrong.value.errors] == ["overwrites-source"]
    assert (folder / "data" / "in" / "Opened" / "part-0.json").exists()


def test_a_link_out_of_a_source_protects_what_it_leads_to(folder: Path) -> None:
    (folder / "source").mkdir()
    (folder / "source" / "one.jsonl").symlink_to(folder / "data" / "in" / "Opened" / "part-0.json")
    (folder / "pipeline.toml").write_text(PIPELINE.format(source="source", sink="data/in"))
    with pytest.raises(PipelineErrors) as wrong:
        read_pipeline(folder / "pipeline.toml")
    assert [error.code for error in wrong.value.errors] == ["overwrites-source"]
    assert linked("s3://bucket/x") == frozenset()


def test_places_apart_are_allowed(folder: Path) -> None:
    for source, sink in (("data/*.jsonl", "data/out"), ("doors.jsonl", "data/in"), ("data/*/x", "data/in")):
        assert not overlap(whole(source, folder), whole(f"{sink}/Opened", folder))
    assert not overlap("s3://one/in", "s3://two/in")
    assert not overlap("s3://one/in", "/one/in")


def test_very_many_choices_stand_for_all_that_is_below(folder: Path) -> None:
    source = "/data/" + "{a,b}" * (MAX_SPELLINGS.bit_length() + 1)
    assert len(places(source)) <= 2
    assert overlap(source, "/data/x")


@pytest.mark.parametrize(
    ("key", "path"),
    [
        ("source", "a\\u0000b"),
        ("source", "x" * 300),
        ("source", "x/" * 3000),
        ("sink", "a\\u0000b"),
        ("source", "]" * 5000),
        ("sink", "y" * 300),
        ("sink", "[" * 300),
        ("sink", "file://elsewhere/x"),
        ("sink", "y/" * 2100),
    ],
)
def test_a_path_that_no_file_can_have_is_a_mistake_with_its_line(folder: Path, key: str, path: str) -> None:
    said = {"source": "doors.jsonl", "sink": "out"} | {key: path}
    (folder / "pipeline.toml").write_text(PIPELINE.format(**said))
    with pytest.raises(PipelineErrors) as wrong:
        read_pipeline(folder / "pipeline.toml")
    (error,) = wrong.value.errors
    assert error.code == "bad-path"
    assert error.span is not None
    assert error.span.line_column[0] == (4 if key == "source" else 14)


@pytest.mark.parametrize(
    "more", ['[stream]\ncheckpoint = "{}"\n', '[stream]\ncheckpoint = "c"\nrules = "{}"\n']
)
def test_so_are_those_of_a_stream(folder: Path, more: str) -> None:
    (folder / "in").mkdir()
    text = PIPELINE.format(source='in"\nstream = true #"', sink="out") + more.format("[" * 300)
    (folder / "pipeline.toml").write_text(text)
    with pytest.raises(PipelineErrors) as wrong:
        read_pipeline(folder / "pipeline.toml")
    assert [error.code for error in wrong.value.errors] == ["bad-path"]


@pytest.mark.parametrize("key", ["password_file", "ca"])
@pytest.mark.parametrize("path", ["[" * 300, "a\\u0000b"])
def test_so_are_those_of_a_broker(folder: Path, key: str, path: str) -> None:
    source = f'format = "nats"\nservers = "nats://h:1"\ntopics = "t"\njetstream = "J"\nusername = "u"\n{key} = "{path}"\n'
    text = PIPELINE.format(source="x", sink="out").replace('format = "jsonl"\npath = "x"\n', source)
    assert key in text
    (folder / "pipeline.toml").write_text(text + '[stream]\ncheckpoint = "c"\n')
    with pytest.raises(PipelineErrors) as wrong:
        read_pipeline(folder / "pipeline.toml")
    assert "bad-path" in [error.code for error in wrong.value.errors]


def test_the_name_of_a_subscription_is_the_name_of_a_folder(folder: Path) -> None:
    text = PIPELINE.format(source="doors.jsonl", sink="out").replace("Opened", "O" * 300)
    (folder / "pipeline.toml").write_text(text)
    with pytest.raises(PipelineErrors) as wrong:
        read_pipeline(folder / "pipeline.toml")
    assert [error.code for error in wrong.value.errors] == ["bad-name"]
    assert problem_of("ä" * 128) == "a name in it has 256 bytes; the limit is 255"
