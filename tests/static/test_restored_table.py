"""Everything that uses the table uses the restored one, where a restore gave the stack another."""

from __future__ import annotations

import re

from sandbox.deployment import ROOT

TEMPLATE = (ROOT / "template.yaml").read_text()
OWN = re.compile(r"!Ref Table\b|!GetAtt Table\.\w+|\$\{Table[}.]")
CHOSEN = re.compile(
    r"!If \[IsRestored, (?:!Ref RestoredTable, !Ref Table"
    r'|!Sub "arn:[^"]+:table/\$\{RestoredTable\}", !GetAtt Table\.Arn)\]'
)


def test_nothing_uses_the_stacks_own_table_where_there_is_a_restored_one() -> None:
    assert len(CHOSEN.findall(TEMPLATE)) > 15
    assert OWN.findall(CHOSEN.sub("", TEMPLATE)) == []


def test_what_is_kept_stays_when_it_is_no_longer_used() -> None:
    table = TEMPLATE.partition("\n  Table:\n")[2].partition("\n\n")[0]

    assert "DeletionPolicy: Retain" in table
    assert "UpdateReplacePolicy: Retain" in table
    assert "PointInTimeRecoveryEnabled: true" in table
