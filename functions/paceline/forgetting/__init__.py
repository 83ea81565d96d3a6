"""Forgetting one person everywhere: found, judged, noted without the number, erased, and looked for again."""

from paceline.forgetting.erasing import Forgotten, StillThere, forget
from paceline.forgetting.judging import Busy, busy
from paceline.forgetting.search import CampaignTraces, Traces, search
from paceline.forgetting.spellings import Person, person_of

__all__ = [
    "Busy",
    "CampaignTraces",
    "Forgotten",
    "Person",
    "StillThere",
    "Traces",
    "busy",
    "forget",
    "person_of",
    "search",
]
