"""Settings of the documentation site: `python3 dev.py docs` builds it with Sphinx from the Markdown of this repository.

The source folder is the repository itself, so links between pages are the same in both. `repository.py` adds pages for the
other files that are linked: a pipeline file, a folder of patterns. The site loads nothing from elsewhere: the theme brings its
scripts and styles, uses the fonts of the reader's machine, and the search index is a file of the site.

Sphinx, because MkDocs has had no release since 2024 and the support of its Material theme ended in November 2026.
"""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT / "src")]

import tocsin  # noqa: E402  (found by the line above)

project = "Tocsin"
copyright = "the authors of Tocsin; Apache 2.0"
release = version = tocsin.__version__

root_doc = "README"
include_patterns = [
    "*.md",
    "benchmarks/README.md",
    "docs/**.md",
    "editors/**.md",
    "examples/*/README.md",
    "src/**/README.md",
]
exclude_patterns = [".*", "build", "**/node_modules", "**/data", "**/out", "src/tocsin/cli/starter"]

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode", "repository"]
myst_heading_anchors = 6
myst_url_schemes = ["http", "https", "mailto", "repository"]
suppress_warnings = ["myst.header"]  # a page may begin with a heading of any level

# Docstrings are written in the manner of Markdown: one backtick on each side is code.
default_role = "code"
autodoc_default_options = {"members": True, "undoc-members": True, "member-order": "bysource"}
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
autodoc_class_signature = "mixed"
python_maximum_signature_line_length = 90
python_use_unqualified_type_names = True

html_theme = "furo"
html_title = f"Tocsin {release}"
html_static_path = ["static"]
html_css_files = ["tocsin.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {"top_of_page_buttons": [], "navigation_with_keys": True}
pygments_style = "friendly"
pygments_dark_style = "github-dark"

# The pages of the sidebar, in the order a new reader needs them. New pages of a folder join by themselves.
sidebar = {
    "Begin": ["docs/tutorial/*"],
    "Cookbook": [
        "docs/cookbook/README",
        "docs/cookbook/n-in-a-row",
        "docs/cookbook/compare-with-the-previous",
        "docs/cookbook/funnel",
        "docs/cookbook/brute-force",
        "docs/cookbook/absence",
        "docs/cookbook/heartbeat",
        "docs/cookbook/one-alert-an-hour",
        "docs/cookbook/many-rules",
        "docs/cookbook/*",
    ],
    "Examples": [
        "examples/shop/README",
        "examples/logins/README",
        "examples/building/README",
        "examples/*/README",
    ],
    "How to": ["docs/how-to/*"],
    "Reference": ["docs/reference/*", "docs/glossary"],
    "Explanation": ["docs/explanation/*", "docs/explanation/figures/*", "docs/decisions/*"],
    "The papers": ["docs/conformance/*"],
    "Working on Tocsin": [
        "ARCHITECTURE",
        "CONTRIBUTING",
        "CHANGELOG",
        "*",
        "benchmarks/README",
        "editors/**",
        "src/**/README",
    ],
}
