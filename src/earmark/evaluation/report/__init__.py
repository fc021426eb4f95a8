"""The evaluation report: words for the terminal, JSON, and one HTML file."""

from earmark.evaluation.report.report import Report

__all__ = ["Report"]
