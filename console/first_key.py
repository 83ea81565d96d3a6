"""`paceline first-key`: the operator's key that no other key can make, after a stack's first deployment."""

from __future__ import annotations

import secrets

import click

from console.reach import System, Where, explained, reach, reaches_a_system
from paceline.api_keys import OPERATORS, keys_of, store_key

DEFAULT_SECRET = "paceline/api-keys/pepper"  # noqa: S105 (its name: the template's KeySecretName)
# What the authorizer asks of the secret: fewer characters could be tried out.
LEAST_CHARACTERS = 32


@click.command("first-key")
@click.option(
    "--secret", default=DEFAULT_SECRET, show_default=True, metavar="NAME", help="The template's KeySecretName."
)
@click.option("--lost", is_flag=True, help="Make another although there is one: every operator's key is lost.")
@reaches_a_system
def first_key(where: Where, secret: str, lost: bool) -> None:
    """Make the first operator's key and print it, once; all others are made by the API, with this one.

    It writes the key's hash into the table itself, so it needs AWS credentials with secretsmanager:GetSecretValue and
    dynamodb:GetItem, BatchGetItem, Query and PutItem. Exit status: 0 made, 1 there is one, 2 it cannot be told.
    """
    system = reach(where)
    with explained(where):
        standing = [key["key_id"] for key in keys_of(system.table, OPERATORS) if not key.get("revoked_at")]
        if standing and not lost:
            click.echo(
                f"There is an operator's key already ({', '.join(map(str, standing))}): make others by POST "
                "/v1/admin/keys with it. If nobody has one any more: paceline first-key --lost.",
                err=True,
            )
            raise click.exceptions.Exit(1)
        key = _made(system, secret)
    click.echo("Keep it in your password store: it is not shown again.", err=True)
    click.echo(key)


def _made(system: System, secret: str) -> str:
    pepper = str(system.client("secretsmanager").get_secret_value(SecretId=secret)["SecretString"]).encode()
    if len(pepper) < LEAST_CHARACTERS:
        click.echo(f"The secret {secret} has {len(pepper)} characters; it must have {LEAST_CHARACTERS}.", err=True)
        raise click.exceptions.Exit(2)
    key = f"pk_{secrets.token_hex(6)}_{secrets.token_urlsafe(32)}"
    store_key(system.table, pepper, key, OPERATORS, "operator", name="first key")
    return key
