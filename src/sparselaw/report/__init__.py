"""The report: finished items in, one self-contained HTML page out."""

from sparselaw.report.page import ReportClaim, ReportItem, ReportRow, write_report
from sparselaw.report.results import ResultPage, Section, write_result

__all__ = ["ReportClaim", "ReportItem", "ReportRow", "ResultPage", "Section", "write_report", "write_result"]
