"""What `paceline check` looks at, each in a module of its own; nothing here runs a state or calls AWS."""

from __future__ import annotations

from dataclasses import dataclass

# A message of a schema's quotes the value, which may be a whole event.
LONGEST = 200


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong: in which file, where in it, and what."""

    file: str
    place: str
    text: str

    def __str__(self) -> str:
        text = self.text if len(self.text) <= LONGEST else f"{self.text[:LONGEST]}…"
        return f"{self.file}: {self.place}: {text}" if self.place else f"{self.file}: {text}"
