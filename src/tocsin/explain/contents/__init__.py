"""The typed parts of an explanation. Every family fills them, so that a reader can draw each family alike."""

from tocsin.explain.contents.costs import (
    Detector,
    Detectors,
    Kernel,
    Kernels,
    Matches,
    Needs,
    Predicate,
    Predicates,
    Size,
    Sizes,
    Wait,
    Waits,
)
from tocsin.explain.contents.diagnosis import Finding, Findings, Trace
from tocsin.explain.contents.filter_parts import Branch, Branches, LocalDecision, Placement, Transformer
from tocsin.explain.contents.job_parts import Job, Route, Sharing
from tocsin.explain.contents.structure import Diagram, Edge, Node, Text, Tree

Part = (
    Text
    | Tree
    | Diagram
    | Matches
    | Detectors
    | Kernels
    | Predicates
    | Needs
    | Waits
    | Sizes
    | Branches
    | Transformer
    | Placement
    | Job
    | Sharing
    | Route
    | Findings
)

__all__ = [
    "Branch",
    "Branches",
    "Detector",
    "Detectors",
    "Diagram",
    "Edge",
    "Finding",
    "Findings",
    "Job",
    "Kernel",
    "Kernels",
    "LocalDecision",
    "Matches",
    "Needs",
    "Node",
    "Part",
    "Placement",
    "Predicate",
    "Predicates",
    "Route",
    "Sharing",
    "Size",
    "Sizes",
    "Text",
    "Trace",
    "Transformer",
    "Tree",
    "Wait",
    "Waits",
]
