"""The languages that come with Tocsin. Everything is named as text, so that a parser is loaded on first use."""

from __future__ import annotations

from types import MappingProxyType

from tocsin.languages import profiles
from tocsin.languages.language import Language

CORE = Language(
    name="core",
    title="the core language",
    family="tokens",
    parse="tocsin.languages.core:read",
    show="tocsin.languages.core:show_subscription",
    endings=(".tocsin",),
    aliases=("cambridge-core",),
    parts=MappingProxyType(
        {
            "detection": "tocsin.languages.core.policy:read_detection",
            "filter": "tocsin.languages.core.condition:event_condition",
            "show-event": "tocsin.languages.core.printer:show_spec",
            "show-filter": "tocsin.languages.core.printer:show_filter",
            "show-pattern": "tocsin.languages.core:show",
            "single event": "tocsin.languages.core.single:single_event",
            "symbols": "tocsin.languages.core.words:symbols",
        }
    ),
)
PRETTY = Language(
    name="pretty",
    title="the pretty language",
    family="tokens",
    parse="tocsin.languages.pretty:read",
    show="tocsin.languages.pretty:show_subscription",
    aliases=("cambridge-pretty",),
    options="tocsin.languages.name_table:NamesAndReading",
)
BINDING = Language(
    name="binding",
    title="the binding",
    family="tokens",
    parse="tocsin.languages.binding:read",
    show="tocsin.languages.binding:show_subscription",
    aliases=("cambridge-binding",),
    options="tocsin.languages.name_table:NamesAndReading",
)
ECL = Language(
    name="ecl",
    title="ECL",
    family="completion",
    parse="tocsin.languages.ecl:read",
    show="tocsin.languages.ecl:write",
    endings=(".ecl",),
    called="an ECL program",
    sends=True,
    selects=False,
    parts=MappingProxyType(
        {
            "machine": "tocsin.languages.ecl:parse_machine",
            "show-filter": "tocsin.languages.ecl:show_filter",
            "show-machine": "tocsin.languages.ecl:show_machine",
            "show-output": "tocsin.languages.ecl:show_output",
        }
    ),
)
KSU = Language(
    name="ksu",
    title="KSU",
    family="correlation",
    parse="tocsin.languages.ksu:read",
    show="tocsin.languages.ksu:show",
    endings=(".cor",),
    options="tocsin.languages.ksu.options:CorrelationOptions",
    called="a KSU library",
    sends=True,
    selects=False,
    parts=MappingProxyType(
        {
            "assembly": "tocsin.languages.ksu:parse_assembly",
            "filter": "tocsin.languages.ksu:parse_filter",
            "idl": "tocsin.languages.ksu:parse_idl",
            "is-system": "tocsin.languages.ksu.system:is_system",
            "labelexpr": "tocsin.languages.ksu:parse_guard",
            "show-branch": "tocsin.languages.ksu.printer:show_expression",
            "show-case": "tocsin.languages.ksu.printer:show_case_body",
            "show-filter": "tocsin.languages.ksu:show_filter",
            "show-statement": "tocsin.languages.ksu.printer:show_statement",
            "system": "tocsin.languages.ksu.system:read_system",
        }
    ),
)
META_ENS = Language(
    name="meta-ens",
    title="the notation of the Meta-ENS",
    family="pairs",
    parse="tocsin.languages.meta_ens:read",
    show="tocsin.languages.meta_ens:show",
    options="tocsin.languages.meta_ens.units:Units",
    called="a profile",
    selects=False,
    parts=MappingProxyType(
        {
            "filter": "tocsin.languages.meta_ens:parse_filter",
            "show-expression": "tocsin.languages.meta_ens.printer:show_expression",
        }
    ),
)
EXML_QL = Language(
    name="exml-ql",
    title="EXML-QL",
    family="blocks",
    parse="tocsin.languages.exml_ql:read",
    show="tocsin.languages.exml_ql:show",
    called="an EXML-QL query",
    sends=True,
    selects=False,
    parts=MappingProxyType(
        {
            "block-pattern": "tocsin.languages.exml_ql:parse_pattern",
            "show-block-pattern": "tocsin.languages.exml_ql:show_pattern",
            "xml-ql": "tocsin.languages.exml_ql:xml_ql",
            "xpath": "tocsin.languages.exml_ql:parse_xpath",
        }
    ),
)
LANGUAGES = (CORE, PRETTY, BINDING, ECL, KSU, EXML_QL, META_ENS, *profiles.languages())
