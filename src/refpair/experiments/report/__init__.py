"""A report: what the results of a study say, in words, tables and figures."""

from refpair.experiments.report.about import About, describe_missing
from refpair.experiments.report.comparison_report import compare_section
from refpair.experiments.report.sections import Section, SectionFigure
from refpair.experiments.report.simulation_report import simulate_section
from refpair.experiments.report.study_reports import code_length_section, relevant_set_section
from refpair.experiments.report.writing import write_report

__all__ = [
    "About",
    "Section",
    "SectionFigure",
    "code_length_section",
    "compare_section",
    "describe_missing",
    "relevant_set_section",
    "simulate_section",
    "write_report",
]
