"""The report: finished items in, one self-contained HTML page out."""

from sparselaw.report.page import ReportItem, ReportRow, write_report

__all__ = ["ReportItem", "ReportRow", "write_report"]
