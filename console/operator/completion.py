"""`paceline completion`: the script with which a shell completes commands and options."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the completion script for SHELL.

    bash: put `eval "$(paceline completion bash)"` into ~/.bashrc; zsh: the same, with zsh, into ~/.zshrc; fish:
    `paceline completion fish > ~/.config/fish/completions/paceline.fish`.
    """
    made = get_completion_class(shell)
    if made is None:
        raise click.UsageError(f"There is no completion for {shell}.")
    click.echo(made(ctx.find_root().command, {}, "paceline", "_PACELINE_COMPLETE").source())
