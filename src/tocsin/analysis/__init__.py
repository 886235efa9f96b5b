"""Analyses of expressions and machines, one per file; a result comes with a trace that shows it."""

from tocsin.analysis.answer import Answer, WitnessedError, show_briefly, show_event, show_trace
from tocsin.analysis.budget import Budget
from tocsin.analysis.contained import contained
from tocsin.analysis.endless import endless, refuse_endless
from tocsin.analysis.equal import equal
from tocsin.analysis.examine import Compared, Examined, Relation, compare, examine
from tocsin.analysis.findings import findings, worth_a_warning
from tocsin.analysis.guards import overlapping_guards
from tocsin.analysis.influence import Influence, influence
from tocsin.analysis.live import live
from tocsin.analysis.need import Need, need
from tocsin.analysis.subject import Subject, subject_of, subjects
from tocsin.analysis.trivial import trivial
from tocsin.analysis.vacuous import vacuous

__all__ = [
    "Answer",
    "Budget",
    "Compared",
    "Examined",
    "Influence",
    "Need",
    "Relation",
    "Subject",
    "WitnessedError",
    "compare",
    "contained",
    "endless",
    "equal",
    "examine",
    "findings",
    "influence",
    "live",
    "need",
    "overlapping_guards",
    "refuse_endless",
    "show_briefly",
    "show_event",
    "show_trace",
    "subject_of",
    "subjects",
    "trivial",
    "vacuous",
    "worth_a_warning",
]
