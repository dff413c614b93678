"""The report: results in, one self-contained HTML page out."""

from sparselaw.report.results import ResultPage, Section, write_html, write_result

__all__ = ["ResultPage", "Section", "write_html", "write_result"]
