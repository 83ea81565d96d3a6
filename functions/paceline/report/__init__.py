"""The outcome report: every lead in exactly one outcome, and sums that prove it. Pure: no AWS, no clock.

`build_report` counts, `render_page` shows, `outcome_rows` and `timeline_rows` list; `write_csv` makes bytes of rows.
"""

from paceline.report.build import build_report
from paceline.report.model import Credits, Report
from paceline.report.page import render_page
from paceline.report.tables import (
    DIFFERENCE_COLUMNS,
    OUTCOME_COLUMNS,
    TIMELINE_COLUMNS,
    difference_rows,
    outcome_rows,
    timeline_rows,
    write_csv,
)

__all__ = [
    "DIFFERENCE_COLUMNS",
    "OUTCOME_COLUMNS",
    "TIMELINE_COLUMNS",
    "Credits",
    "Report",
    "build_report",
    "difference_rows",
    "outcome_rows",
    "render_page",
    "timeline_rows",
    "write_csv",
]
