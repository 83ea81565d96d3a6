"""Warnings before the start: what goes by a slow route, what a cap will hold, what costs extra parts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from paceline.leads.vetting import Candidate
from paceline.leads.zones import ALL_US_ZONES
from paceline.models import Campaign, Route, Stream
from paceline.routing import Because, RouteChoice
from paceline.segments import Encoding, characters_outside_gsm
from paceline.windows import next_open

_NAMES_SHOWN = 5
_NAME_CHARACTERS = 30
_NAMES_KEPT = 1000  # a column of a million different values must not fill the memory


@dataclass(slots=True)
class _Tally:
    """The leads that go by one route for one reason."""

    route: Route
    because: Because
    leads: int = 0
    parts: int = 0

    @property
    def time(self) -> str:
        pace = self.route.parts_per_minute
        return f"on {self.route.name!r}, at its {pace:,} parts a minute, that takes {_duration(-(-self.parts // pace))}"


class Advice:
    """Notes, lead by lead, what a warning may be about."""

    def __init__(self, campaign: Campaign) -> None:
        self._campaign = campaign
        self._tallies: dict[tuple[str, str], _Tally] = {}
        self._unknown_carriers: Counter[str] = Counter()
        self._ucs2_messages = 0
        self._ucs2_characters: Counter[str] = Counter()
        self.punctuation_messages = self.punctuation_parts = 0

    def note(self, choice: RouteChoice, lead: Candidate) -> None:
        """Note one accepted lead."""
        (route, because), (text, segments, punctuation_parts) = choice, lead.message
        tally = self._tallies.get((route.name, because))
        if tally is None:
            tally = self._tallies[route.name, because] = _Tally(route, because)
        tally.leads += 1
        tally.parts += segments.parts
        if because is Because.UNKNOWN_CARRIER and len(self._unknown_carriers) < _NAMES_KEPT:
            self._unknown_carriers[lead.carrier] += 1
        if segments.encoding is Encoding.UCS_2:
            self._ucs2_messages += 1
            self._ucs2_characters.update(characters_outside_gsm(text))
        if punctuation_parts:
            self.punctuation_messages += 1
            self.punctuation_parts += punctuation_parts

    def warnings(self, streams: Sequence[Stream], *, has_carriers: bool) -> tuple[str, ...]:
        """Return the warnings, plain sentences, the dearest first."""
        if not streams:
            return ("No lead is left to send to: every row was excluded.",)
        return (
            *self._of_carriers(has_carriers),
            *self._of_routes(),
            *self._of_windows(streams),
            *self._of_zones(streams),
            *self._of_encoding(),
            *self._of_punctuation(),
        )

    def _of_carriers(self, has_carriers: bool) -> Iterator[str]:
        total = self._leads
        for tally in self._because(Because.NO_CARRIER):
            if not has_carriers and tally.leads == total:
                yield f"The file has no carrier column, so all {total:,} leads go by one route: {tally.time}."
            else:
                yield f"No carrier is given for {tally.leads:,} of {total:,} leads: {tally.time}."
        for tally in self._because(Because.UNKNOWN_CARRIER):
            names = ", ".join(
                repr(name[:_NAME_CHARACTERS]) for name, _ in self._unknown_carriers.most_common(_NAMES_SHOWN)
            )
            yield f"No route is for the carrier of {tally.leads:,} of {total:,} leads ({names}): {tally.time}."

    def _because(self, because: Because) -> Iterator[_Tally]:
        return (tally for tally in self._tallies.values() if tally.because is because)

    @property
    def _leads(self) -> int:
        return sum(tally.leads for tally in self._tallies.values())

    @property
    def _parts(self) -> int:
        return sum(tally.parts for tally in self._tallies.values())

    def _of_routes(self) -> Iterator[str]:
        for name in sorted({name for name, _ in self._tallies}):
            tallies = [tally for (of, _), tally in self._tallies.items() if of == name]
            route, leads, parts = tallies[0].route, sum(t.leads for t in tallies), sum(t.parts for t in tallies)
            cap = route.parts_per_day
            if cap is not None and parts > cap:
                yield (
                    f"The route {name!r} may send {cap:,} parts a day, and {parts:,} parts are planned on it:"
                    f" it needs {-(-parts // cap):,} days. Raise its cap or choose another route."
                )
            if not route.is_enabled:
                yield f"The route {name!r} is disabled: its leads ({leads:,}) wait until it is enabled."

    def _of_windows(self, streams: Sequence[Stream]) -> Iterator[str]:
        start = self._campaign.start_at or self._campaign.created_at
        for stream in streams:
            if next_open(self._campaign.sending_window, stream.zones, start) is None:
                yield (
                    f"The sending window is never open in all of {', '.join(stream.zones)} at once:"
                    f" nothing can be sent to {stream.leads:,} of {self._leads:,} leads. Widen the window."
                )

    def _of_zones(self, streams: Sequence[Stream]) -> Iterator[str]:
        if unknown := sum(stream.leads for stream in streams if stream.zones == ALL_US_ZONES):
            yield (
                f"The time zone of {unknown:,} of {self._leads:,} leads is not known: they are sent to only"
                " while the sending window is open in every zone of the United States. Give `timezone`, `zip` or"
                " `state`."
            )

    def _of_encoding(self) -> Iterator[str]:
        if self._ucs2_messages:
            # Ties by code point: a set's order differs between runs, and a plan must not.
            shown = sorted(self._ucs2_characters.items(), key=lambda item: (-item[1], item[0]))[:_NAMES_SHOWN]
            names = ", ".join(f"{character!r} (U+{ord(character):04X})" for character, _ in shown)
            yield (
                f"{self._ucs2_messages:,} of {self._leads:,} messages must be sent as UCS-2, with 70"
                f" characters to a part instead of 160, because of {names}."
            )

    def _of_punctuation(self) -> Iterator[str]:
        if not self.punctuation_parts:
            return
        parts = f"{self.punctuation_parts:,} of {self._parts + self.punctuation_parts:,} parts"
        if self._campaign.smart_punctuation == "to_gsm7":
            yield f"Typographic quotes, dashes and the like are sent as plain ones, as you asked: that saves {parts}."
        else:
            parts = f"{self.punctuation_parts:,} of {self._parts:,} parts"
            yield (
                f"Typographic quotes, dashes and the like cost {parts}, in {self.punctuation_messages:,} messages:"
                ' `"smart_punctuation": "to_gsm7"` would send plain ones and save them.'
            )


def _duration(minutes: int) -> str:
    hours, rest = divmod(minutes, 60)
    return f"{hours:,} h {rest} min" if hours else f"{rest} min"
