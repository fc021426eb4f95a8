"""The report of an evaluation, for people and for machines."""

from earmark.evaluation.report.report import Report
from earmark.evaluation.report.side_by_side import SideBySide

__all__ = ["Report", "SideBySide"]
