"""Which parameters of the event algebra explain a detector that cannot be looked into."""

from tocsin.analysis.pairs.detectors import Command, Detector
from tocsin.analysis.pairs.probe import Finding, Probed, probe
from tocsin.analysis.pairs.profiles import probing_profiles
from tocsin.analysis.pairs.settings import Probe, Setting, distinguishing

__all__ = [
    "Command",
    "Detector",
    "Finding",
    "Probe",
    "Probed",
    "Setting",
    "distinguishing",
    "probe",
    "probing_profiles",
]
