"""What the world outside was told by us, and when: by it, and by the carrier's book, the product is judged."""

from __future__ import annotations

from dataclasses import dataclass, field

# A cap that was asked for binds from its answer on (a lower one), or may be used from the question on (a higher one).
Since = int


@dataclass
class CapHistory:
    """The values that a cap had. Moments in microseconds since 1970; a value of None is no cap."""

    values: list[int | None]
    asked: list[Since] = field(default_factory=lambda: [0])
    answered: list[Since | None] = field(default_factory=lambda: [0])

    def change(self, value: int | None, asked: Since) -> int:
        """Note a change that is asked for; return its number, for `answer`."""
        self.values.append(value)
        self.asked.append(asked)
        self.answered.append(None)
        return len(self.values) - 1

    def answer(self, number: int, answered: Since) -> None:
        """Note that a change was answered: from now on it holds."""
        self.answered[number] = answered

    def most(self, since: Since, until: Since) -> int | None:
        """Return the highest value that may have been in force between two moments; None: none was.

        A value was in force from its question until the answer to a later change. Two that overlap may both hold.
        """
        most = 0
        for number, (value, asked) in enumerate(zip(self.values, self.asked, strict=True)):
            later = [at for at in self.answered[number + 1 :] if at is not None]
            if asked <= until and min(later, default=until) >= since:
                if value is None:
                    return None
                most = max(most, value)
        return most


@dataclass(frozen=True)
class Paused:
    """A pause that was answered. paused_at: as the answer says; resumed_at: when somebody asked for the end of it."""

    campaign: str
    paused_at: int
    resumed_at: int | None = None


@dataclass
class Told:
    """stops: (account, number) → when our side had taken the STOP. bought: credits by account. campaigns: tag → id.

    started, cancelled: tag → when the answer came.
    """

    stops: dict[tuple[str, str], int] = field(default_factory=dict)
    paces: dict[str, CapHistory] = field(default_factory=dict)
    route_days: dict[str, CapHistory] = field(default_factory=dict)
    account_days: dict[str, CapHistory] = field(default_factory=dict)
    bought: dict[str, int] = field(default_factory=dict)
    campaigns: dict[str, str] = field(default_factory=dict)
    started: dict[str, int] = field(default_factory=dict)
    cancelled: dict[str, int] = field(default_factory=dict)
    pauses: list[Paused] = field(default_factory=list)
    met: list[str] = field(default_factory=list)  # each fault, as it was met: for the story
