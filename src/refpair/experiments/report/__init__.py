"""A report: what the results of a study say, in tables and figures."""

from refpair.experiments.report.active import simulate_section
from refpair.experiments.report.comparison import compare_section
from refpair.experiments.report.pages import write_report
from refpair.experiments.report.sections import (
    About,
    Section,
    SectionFigure,
    describe_missing,
    describe_runs,
)
from refpair.experiments.report.studies import code_length_section, relevant_set_section

__all__ = [
    "About",
    "Section",
    "SectionFigure",
    "code_length_section",
    "compare_section",
    "describe_missing",
    "describe_runs",
    "relevant_set_section",
    "simulate_section",
    "write_report",
]
