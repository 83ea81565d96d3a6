"""Everything that uses the table uses the restored one, where a restore gave the stack another."""

from __future__ import annotations

import json
import re
from pathlib import Path

from moto.iam.models import iam_backends

from sandbox.deployment import ACCOUNT, ROOT, deployed

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


def test_a_stack_that_is_given_a_restored_table_uses_and_may_use_that_one_only(tmp_path: Path) -> None:
    given = TEMPLATE.replace(
        '  RestoredTable:\n    Type: String\n    Default: ""',
        "  RestoredTable:\n    Type: String\n    Default: restored",
    )
    assert given != TEMPLATE
    for name in ("functions", "statemachines"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "template.yaml").write_text(given)

    with deployed(tmp_path / "template.yaml", seed=1) as stack:
        roles = [role for role in iam_backends[ACCOUNT]["aws"].roles.values()]
        policies = " ".join(json.dumps(role.policies) for role in roles)

        assert stack.outputs["TableName"] == "restored"
        assert {function.environment["TABLE_NAME"] for function in stack.functions} == {"restored"}
        assert set(re.findall(r":table/([\w.-]+)", policies)) == {"restored"}
        assert stack.names["Table"] != "restored"
