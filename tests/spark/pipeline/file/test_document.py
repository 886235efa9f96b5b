"""A file that TOML's reader would not come to an end with is refused, with the place that is too much."""

from __future__ import annotations

from pathlib import Path

import pytest

from tocsin.cli import main
from tocsin.errors import PipelineError, PipelineErrors
from tocsin.languages.attached import MAX_BYTES
from tocsin.spark.pipeline import read_pipeline
from tocsin.spark.pipeline.file.document import read_document

SOURCE = '[[source]]\nname = "s"\nformat = "jsonl"\npath = "s.jsonl"\n'


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("# deep\nx = " + "[" * 3000 + "]" * 3000, "too-deep", 2),
        ("x = " + "{ a = " * 3000 + "1" + " }" * 3000, "too-deep", 1),
        ("[pipeline]\n" + "a." * 100_000 + "a = 1", "too-long", 2),
        ("[" + "'a'." * 100_000 + "a]", "too-long", 1),
        ("x = " + "9" * 5000, "bad-number", 1),
        ("x = 0x" + "f" * 5000 + "0", "bad-number", 1),
    ],
)
def test_what_is_too_much_is_refused_with_its_place(tmp_path: Path, text: str, code: str, line: int) -> None:
    file = tmp_path / "pipeline.toml"
    file.write_text(text)
    with pytest.raises(PipelineError) as wrong:
        read_document(file)
    assert wrong.value.code == code
    assert wrong.value.span is not None
    assert wrong.value.span.line_column[0] == line
    assert main(["run", "--check", str(file)]) in (1, 2)


def test_brackets_and_dots_in_texts_and_comments_do_not_count(tmp_path: Path) -> None:
    file = tmp_path / "pipeline.toml"
    line, lines = "[." * 1000, "[.\n" * 1000
    file.write_text(f'x = "{line}" # {line}\ny = """\n{lines}"""\nz = 1.5\n')
    assert read_document(file)[1]["z"] == 1.5


def test_a_file_that_is_too_long_or_no_text_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "pipeline.toml"
    file.write_bytes(b"#" * (MAX_BYTES + 1))
    with pytest.raises(PipelineError, match="too-long"):
        read_document(file)
    file.write_bytes(b"x = 1\n# caf\xe9\n")
    with pytest.raises(PipelineError, match="byte 11"):
        read_document(file)
    with pytest.raises(PipelineError, match="cannot be read"):
        read_document(tmp_path / ("x" * 300))


def test_numbers_have_a_largest_value(tmp_path: Path) -> None:
    file = tmp_path / "pipeline.toml"
    (tmp_path / "s.jsonl").touch()
    large = "max_partial_matches = 0xffffffffffffffff"
    file.write_text(f"[pipeline]\n{large}\n{SOURCE}[[subscription]]\nname = 'S'\npattern = '[A]'\n")
    with pytest.raises(PipelineErrors) as wrong:
        read_pipeline(file)
    assert [error.code for error in wrong.value.errors] == ["bad-value"]


def test_a_duration_of_very_many_digits_is_none(tmp_path: Path) -> None:
    file = tmp_path / "pipeline.toml"
    (tmp_path / "s.jsonl").touch()
    limit = f"limit = [{{ type = 'A', by = ['x'], every = '{'9' * 5000}s' }}]\n"
    file.write_text(f"{SOURCE}{limit}[[subscription]]\nname = 'S'\npattern = '[A]'\n")
    with pytest.raises(PipelineErrors) as wrong:
        read_pipeline(file)
    assert [error.code for error in wrong.value.errors] == ["bad-duration"]
