"""A group of commands that imports a command when it is run: a list of them, or one's own start, pays for no other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import click
from click.shell_completion import CompletionItem


@dataclass(frozen=True, slots=True)
class Place:
    """Where a command is, and what the list says of it in a line."""

    module: str
    name: str
    what: str

    def load(self) -> click.Command:
        """Import the command."""
        command: click.Command = getattr(import_module(self.module), self.name)
        return command


class LazyGroup(click.Group):
    """A click group of places."""

    def __init__(self, *arguments: Any, places: Mapping[str, Place], **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.places = places

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands, in the order of the places."""
        return list(self.places)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, or None."""
        return self.places[cmd_name].load() if cmd_name in self.places else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list without a look at the commands."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, place.what) for name, place in self.places.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return what may stand here, from the places: a key that is pressed imports no command."""
        named = [CompletionItem(name, help=place.what) for name, place in self.places.items()]
        return [one for one in named if one.value.startswith(incomplete)] + click.Command.shell_complete(
            self, ctx, incomplete
        )
