"""Recounting credits and day use from the rows that moved them, message by message (`paceline audit`)."""

from paceline.recount.compare import AccountRecount, Recount, recount
from paceline.recount.differences import Correction, Difference, Note, RowChange
from paceline.recount.repair import CannotRepair, repair

__all__ = [
    "AccountRecount",
    "CannotRepair",
    "Correction",
    "Difference",
    "Note",
    "Recount",
    "RowChange",
    "recount",
    "repair",
]
