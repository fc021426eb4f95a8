"""The report of an evaluation, for people and for machines."""

from typing import TYPE_CHECKING

from earmark._optional import names_at_first_use

if TYPE_CHECKING:
    from earmark.evaluation.report.report import Report, SideBySide

__all__ = ["Report", "SideBySide"]

__getattr__ = names_at_first_use(__name__, {"report": "Report SideBySide"})
