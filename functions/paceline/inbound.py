"""What people mean by the words they write back: STOP, START and HELP in any form, and nothing that only looks so.

Source: 47 CFR 64.1200(a)(10): "stop", "quit", "end", "revoke", "opt out", "cancel" and "unsubscribe" end consent, and
so does any reasonable way of saying it; CTIA's Messaging Principles for START and HELP.
"""

from __future__ import annotations

import re
import unicodedata
from enum import StrEnum


class Word(StrEnum):
    """What an inbound message asks for."""

    STOP = "stop"
    START = "start"
    HELP = "help"


WORDS = {
    Word.STOP: frozenset({"STOP", "STOPALL", "UNSUBSCRIBE", "CANCEL", "END", "QUIT", "REVOKE", "OPTOUT"}),
    # Not YES: campaigns ask for a YES to something else.
    Word.START: frozenset({"START", "UNSTOP", "OPTIN", "SUBSCRIBE"}),
    Word.HELP: frozenset({"HELP", "INFO"}),
}
_ANY = frozenset().union(*WORDS.values())
_COURTESY = frozenset({"PLEASE", "PLS", "PLZ", "NOW", "THANKS", "THANK", "THX", "YOU"})
# "Stop texting me", "please unsubscribe me from this list": words that may stand around a clear one and change nothing.
# What is not here (not, don't, by, my appointment) leaves the message unread: nobody is opted out by "don't stop".
# fmt: off
_PLAIN_WORDS = _COURTESY | {
    "ME", "IT", "I", "THE", "THIS", "THESE", "ALL", "TO", "FROM", "WANT", "JUST", "AND", "OF", "YOUR", "LIST",
    "NUMBER", "SENDING", "TEXTING", "MESSAGING", "CONTACTING", "CALLING", "BOTHERING", "TEXT", "TEXTS", "TXT", "TXTS",
    "MESSAGE", "MESSAGES", "MSG", "MSGS", "SMS", "MARKETING", "HI", "HELLO", "OK", "OKAY",
}
# fmt: on
_CLEAR = frozenset({"STOP", "STOPALL", "UNSUBSCRIBE", "OPTOUT", "REMOVEME"})
_JOINED = (
    (" OPT OUT ", " OPTOUT "),
    (" OPT IN ", " OPTIN "),
    (" STOP ALL ", " STOPALL "),
    (" REMOVE ME ", " REMOVEME "),
    (" OPT ME OUT ", " OPTOUT "),
    (" TAKE ME OFF ", " REMOVEME "),
    (" NO MORE TEXTS ", " STOP "),
    (" NO MORE MESSAGES ", " STOP "),
    (" DO NOT TEXT ME ", " STOP "),
    (" DON T TEXT ME ", " STOP "),
    (" DONT TEXT ME ", " STOP "),
)
_LONGEST = 200  # characters; a longer message is a letter, for a person to read
_TOKENS = re.compile(r"[^\W_]+")
_DRAWN_OUT = re.compile(r"ST[O0]+P+")  # STOPPP, ST0P


def read_word(text: str) -> Word | None:
    """Return what a message asks for; None: nothing that a program may act on.

    Case, spaces, punctuation, accents, full width and other type faces do not count: "s.t.o.p", "ＳＴＯＰ!", "Opt-out".
    Beside another word STOP wins ("help stop"): who may have asked for an end gets no more texts. A line that is a STOP
    is one in a longer message too: phones add a signature.
    """
    if len(text) > _LONGEST:
        return None
    words = [_read(text), *map(_read, text.splitlines())]
    return Word.STOP if Word.STOP in words else words[0]


def _read(text: str) -> Word | None:
    tokens = _tokens(text)
    said, spelled = set(tokens), "".join(tokens)
    for word, forms in WORDS.items():
        if spelled in forms or (
            said & forms and said <= (_ANY | _COURTESY if word is Word.STOP else forms | _COURTESY)
        ):
            return word
    return Word.STOP if said & _CLEAR and said <= _CLEAR | _PLAIN_WORDS else None


def _tokens(text: str) -> list[str]:
    letters = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    words = ["STOP" if _DRAWN_OUT.fullmatch(word) else word for word in _TOKENS.findall(letters.upper())]
    joined = f" {' '.join(words)} "
    for apart, one in _JOINED:
        joined = joined.replace(apart, one)
    return joined.split()
