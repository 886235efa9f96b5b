"""The documentation site, built as `python3 dev.py docs` builds it: it is whole, and loads nothing from elsewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import tocsin

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
# What a browser fetches by itself when it shows a page. A link that a reader may click on is not among it.
FETCHED = {
    "audio": ("src",),
    "embed": ("src",),
    "iframe": ("src",),
    "img": ("src", "srcset"),
    "link": ("href",),
    "object": ("data",),
    "script": ("src",),
    "source": ("src", "srcset"),
    "video": ("src", "poster"),
}
# A <link> of these kinds names another page; it is not fetched.
NAMES_A_PAGE = {"author", "canonical", "genindex", "index", "next", "prev", "search", "alternate"}


class Page(HTMLParser):
    """What a page fetches, what it links to, and the anchors it has."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)
        self.fetched += of_styles(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if given.get(name)}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag == "link" and set(given.get("rel", "").split()) <= NAMES_A_PAGE:
            return
        self.fetched += [given[name] for name in FETCHED.get(tag, ()) if name in given]


def of_styles(text: str) -> list[str]:
    """What a style sheet, or the styles in a page, fetch."""
    found = re.findall(r"@import\s+['\"]([^'\"]+)|url\(\s*['\"]?([^'\")]+)", text)
    return [one or other for one, other in found]


def is_elsewhere(address: str) -> bool:
    return not address.startswith("data:") and bool(urlsplit(address).scheme or urlsplit(address).netloc)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built with the command of dev.py; a broken link between pages fails it."""
    from importlib.util import module_from_spec, spec_from_file_location

    spec = spec_from_file_location("dev", ROOT / "dev.py")
    assert spec is not None
    assert spec.loader is not None
    dev = module_from_spec(spec)
    sys.modules["dev"] = dev  # its dataclass looks itself up there
    spec.loader.exec_module(dev)
    folder = tmp_path_factory.mktemp("site")
    places = {"build/site": str(folder / "html"), "build/doctrees": str(folder / "doctrees")}
    program, *words = (places.get(word, word) for word in dev.DOCS.command)
    assert program == "sphinx-build"
    done = subprocess.run(
        [sys.executable, "-m", "sphinx.cmd.build", *words], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "html"


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    found = {path: Page(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}
    assert len(found) > 50
    return found


def test_nothing_is_loaded_from_elsewhere(site: Path, pages: dict[Path, Page]) -> None:
    fetched = {(path, address) for path, page in pages.items() for address in page.fetched}
    fetched |= {(path, one) for path in site.rglob("*.css") for one in of_styles(path.read_text("utf-8"))}
    assert len(fetched) > 500
    assert {address for _, address in fetched if is_elsewhere(address)} == set()
    missing = set()
    for path, address in fetched:
        name = unquote(urlsplit(address).path)
        if not address.startswith("data:") and name and not (path.parent / name).exists():
            missing.add((str(path.relative_to(site)), address))
    assert missing == set()


def test_no_script_of_the_site_asks_the_network(site: Path) -> None:
    # The theme is ours to check: its scripts may name other places in comments, but fetch nothing from them.
    calls = re.compile(
        r"(?:fetch|importScripts|open)\(\s*[\"'`]https?://|\.src\s*=\s*[\"'`]https?://|import\([\"'`]https?://"
    )
    asking = {path.name for path in site.rglob("*.js") if calls.search(path.read_text(encoding="utf-8"))}
    assert asking == set()


def test_every_link_in_the_site_leads_to_a_page_and_a_place_in_it(
    site: Path, pages: dict[Path, Page]
) -> None:
    broken = set()
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            known = pages.get(target)
            anchor = unquote(parts.fragment)
            if not target.exists() or (anchor and known is not None and anchor not in known.anchors):
                broken.add((str(path.relative_to(site)), link))
    assert broken == set()


def test_every_public_name_has_its_entry(site: Path, pages: dict[Path, Page]) -> None:
    anchors = pages[site / "docs" / "reference" / "api.html"].anchors
    wanted = {f"tocsin.{name}" for name in tocsin.__all__ if not name.startswith("__")}
    assert wanted - anchors == set()


def test_every_page_of_the_repository_is_in_the_site_and_in_its_sidebar(
    site: Path, pages: dict[Path, Page]
) -> None:
    sources = [*(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").glob("*/README.md")]
    wanted = {site / source.relative_to(ROOT).with_suffix(".html") for source in sources}
    assert {str(page) for page in wanted if page not in pages} == set()
    first = {(site / link.partition("#")[0]).resolve() for link in pages[site / "index.html"].links}
    assert {str(page) for page in wanted if page.resolve() not in first} == set()


def test_a_pattern_that_is_linked_has_a_page_with_its_picture(site: Path) -> None:
    page = (site / "files" / "examples" / "building" / "patterns" / "left_open.tocsin.html").read_text(
        "utf-8"
    )
    assert 'src="data:image/svg+xml;base64,' in page
    assert '<span class="nc">close</span>' in page


def test_the_search_knows_the_words_of_the_pages(site: Path) -> None:
    index = (site / "searchindex.js").read_text(encoding="utf-8")
    assert all(word in index for word in ("watermark", "constitu", "docs/reference/core-language"))


def test_a_page_is_searched_for_what_it_fetches() -> None:
    page = Page(
        '<link rel="stylesheet" href="https://a/x.css"><a href="https://b">b</a><style>@import "https://c";</style>'
    )
    assert page.fetched == ["https://a/x.css", "https://c"]
    assert page.links == ["https://b"]
    assert [is_elsewhere(one) for one in ("//cdn/x.js", "../x.js", "data:image/png;base64,")] == [
        True,
        False,
        False,
    ]
