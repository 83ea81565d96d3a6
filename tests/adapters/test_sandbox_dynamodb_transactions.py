"""Transactions hold their items from prepare to commit; whatever meets one in that time learns of it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sandbox_dynamodb_builders import World, a_world, add_one, check, fixed, key, n, put, s

from sandbox.dynamodb import DynamoDBError, Latency

PREPARE, COMMIT = 0.010, 0.020  # seconds
CONFLICT = {"Code": "TransactionConflict", "Message": "Transaction is ongoing for the item"}
NONE = {"Code": "None"}


@pytest.fixture
def world() -> Iterator[World]:
    with a_world(Latency(prepare=fixed(PREPARE), commit=fixed(COMMIT))) as made:
        yield made


def test_of_two_transactions_that_overlap_the_second_is_cancelled_with_a_conflict(world: World) -> None:
    first = world.after(0.000, lambda: world.transact(add_one("account"), put("lease-1")))
    second = world.after(0.005, lambda: world.transact(add_one("account"), put("lease-2")))

    world.scheduler.run()

    assert first.wait() == {}
    with pytest.raises(DynamoDBError) as refused:
        second.wait()
    assert refused.value.code == "TransactionCanceledException"
    assert refused.value.details["CancellationReasons"] == [CONFLICT, NONE]
    assert refused.value.message == (
        "Transaction cancelled, please refer cancellation reasons for specific reasons [TransactionConflict, None]"
    )
    assert world.item("account") == {**key("account"), "used": n(1)}
    assert world.item("lease-2") is None


def test_a_condition_check_conflicts_as_a_write_does(world: World) -> None:
    world.after(0.000, lambda: world.transact(check("recipient", "attribute_not_exists(pk)")))
    second = world.after(0.005, lambda: world.transact(put("recipient")))

    world.scheduler.run()

    with pytest.raises(DynamoDBError) as refused:
        second.wait()
    assert refused.value.details["CancellationReasons"] == [CONFLICT]


def test_transactions_that_follow_each_other_both_succeed(world: World) -> None:
    first = world.after(0.0, lambda: world.transact(add_one("account")))
    second = world.after(COMMIT, lambda: world.transact(add_one("account")))

    world.scheduler.run()

    assert (first.wait(), second.wait()) == ({}, {})
    assert world.item("account") == {**key("account"), "used": n(2)}


def test_a_plain_write_that_meets_a_transaction_in_flight_is_refused(world: World) -> None:
    world.after(0.0, lambda: world.transact(add_one("account")))
    write = world.after(PREPARE + 0.005, lambda: world.call("PutItem", Item=key("account")))

    world.scheduler.run()

    with pytest.raises(DynamoDBError) as refused:
        write.wait()
    assert refused.value.code == "TransactionConflictException"
    assert world.item("account") == {**key("account"), "used": n(1)}


def test_plain_writes_never_conflict_with_each_other() -> None:
    with a_world(Latency(write=fixed(0.010))) as world:
        update = add_one("account")["Update"]
        writes = [world.after(0.001 * i, lambda: world.call("UpdateItem", **update)) for i in range(5)]

        world.scheduler.run()

        assert [write.wait() for write in writes] == [{}] * 5
        assert world.item("account") == {**key("account"), "used": n(5)}


def test_a_read_during_a_transaction_sees_the_item_as_it_was(world: World) -> None:
    world.call("PutItem", Item={**key("account"), "used": n(7)})
    world.after(0.0, lambda: world.transact(add_one("account")))
    during = world.after(PREPARE + COMMIT - 0.001, lambda: world.item("account"))
    afterwards = world.after(PREPARE + COMMIT + 0.001, lambda: world.item("account"))

    world.scheduler.run()

    assert during.wait() == {**key("account"), "used": n(7)}
    assert afterwards.wait() == {**key("account"), "used": n(8)}


def test_a_transactional_read_conflicts_with_a_transaction_in_flight(world: World) -> None:
    get = [{"Get": {"TableName": "paceline", "Key": key("account")}}]
    world.after(0.0, lambda: world.transact(add_one("account")))
    read = world.after(PREPARE + 0.001, lambda: world.dynamodb.call("TransactGetItems", {"TransactItems": get}))

    world.scheduler.run()

    with pytest.raises(DynamoDBError) as refused:
        read.wait()
    assert refused.value.details["CancellationReasons"] == [CONFLICT]


def test_each_position_has_its_own_reason(world: World) -> None:
    world.call("PutItem", Item={**key("day"), "used": n(2000)})
    world.after(0.000, lambda: world.transact(add_one("account")))
    failing = add_one("day", "used < :one")
    failing["Update"]["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
    second = world.after(0.005, lambda: world.transact(put("x"), failing, put("y"), add_one("account")))

    world.scheduler.run()

    with pytest.raises(DynamoDBError) as refused:
        second.wait()
    failed = {
        "Code": "ConditionalCheckFailed",
        "Message": "The conditional request failed",
        "Item": {**key("day"), "used": n(2000)},
    }
    assert refused.value.details["CancellationReasons"] == [NONE, failed, NONE, CONFLICT]
    assert (world.item("x"), world.item("y")) == (None, None)
    assert ["None", "ConditionalCheckFailed", "None", "TransactionConflict"] in [call.reasons for call in world.calls]


def test_a_cancelled_transaction_holds_nothing(world: World) -> None:
    world.after(0.000, lambda: world.transact(put("a"), add_one("b", "attribute_exists(pk)")))
    second = world.after(0.001, lambda: world.transact(put("a"), put("b")))

    world.scheduler.run()

    assert second.wait() == {}


def test_an_update_that_cannot_be_done_is_a_validation_error_at_its_position(world: World) -> None:
    update = {"TableName": "paceline", "Key": key("absent"), "UpdateExpression": "SET a = b"}

    refused = world.refusal(world.transact, put("x"), {"Update": update})

    reasons = refused.details["CancellationReasons"]
    assert [reason["Code"] for reason in reasons] == ["None", "ValidationError"]
    assert "attribute that does not exist" in reasons[1]["Message"]


def test_a_transaction_whose_caller_dies_after_the_prepare_still_commits(world: World) -> None:
    caller = world.after(0.0, lambda: world.transact(add_one("account")))
    world.after(PREPARE + 0.001, caller.kill)

    world.scheduler.run()

    assert world.item("account") == {**key("account"), "used": n(1)}
    assert world.transact(add_one("account")) == {}
    record = world.calls[0]
    assert (record.outcome, record.ended - record.started) == ("ok", 30_000)


def test_a_transaction_whose_caller_dies_before_the_prepare_does_nothing(world: World) -> None:
    caller = world.after(0.0, lambda: world.transact(add_one("account"), ClientRequestToken="claim-1"))
    world.after(PREPARE - 0.001, caller.kill)

    world.scheduler.run()

    assert world.item("account") is None
    assert world.calls[0].outcome == "GreenletExit"
    assert world.transact(add_one("account"), ClientRequestToken="claim-1") == {}


def test_a_token_seen_again_is_answered_and_done_once(world: World) -> None:
    world.transact(add_one("account"), ClientRequestToken="claim-1")

    again = world.transact(add_one("account"), ClientRequestToken="claim-1")

    assert again == {}
    assert world.item("account") == {**key("account"), "used": n(1)}


def test_a_token_with_other_parameters_is_a_mismatch(world: World) -> None:
    world.transact(add_one("account"), ClientRequestToken="claim-1")

    refused = world.refusal(world.transact, add_one("other"), ClientRequestToken="claim-1")

    assert refused.code == "IdempotentParameterMismatchException"


@pytest.mark.parametrize(("seconds", "used"), [(599, 1), (601, 2)], ids=["still known", "forgotten"])
def test_a_token_is_known_for_ten_minutes(world: World, seconds: float, used: int) -> None:
    world.transact(add_one("account"), ClientRequestToken="claim-1")
    world.after(seconds, lambda: world.transact(add_one("account"), ClientRequestToken="claim-1"))

    world.scheduler.run()

    assert world.item("account") == {**key("account"), "used": n(used)}


def test_a_token_whose_transaction_is_in_flight_is_told_so(world: World) -> None:
    world.after(0.000, lambda: world.transact(add_one("account"), ClientRequestToken="claim-1"))
    second = world.after(0.015, lambda: world.transact(add_one("account"), ClientRequestToken="claim-1"))

    world.scheduler.run()

    with pytest.raises(DynamoDBError, match="TransactionInProgressException"):
        second.wait()
    assert world.item("account") == {**key("account"), "used": n(1)}


def test_a_token_of_a_cancelled_transaction_may_be_used_again(world: World) -> None:
    world.refusal(world.transact, put("x", "attribute_exists(pk)"), ClientRequestToken="claim-1")

    assert world.transact(put("x"), ClientRequestToken="claim-1") == {}


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        ([put("x"), add_one("x")], "multiple operations on one item"),
        ([put(f"x{i}") for i in range(101)], "length less than or equal to 100"),
        ([], "greater than or equal to 1"),
        ([{**put("x"), **check("x", "attribute_exists(pk)")}], "only contain one of"),
        ([{"Put": {"Item": key("x")}}], "Requested resource not found"),
    ],
    ids=["one item twice", "101 actions", "no action", "two actions in one", "no table"],
)
def test_a_transaction_that_makes_no_sense_is_refused(world: World, actions: list[dict], message: str) -> None:
    assert message in world.refusal(world.transact, *actions).message


def test_a_batch_write_leaves_what_a_transaction_holds_unprocessed(world: World) -> None:
    requests = {"paceline": [{"PutRequest": {"Item": {**key(pk), "v": s("batch")}}} for pk in ("held", "free")]}
    world.after(0.0, lambda: world.transact(put("held")))
    batch = world.after(PREPARE + 0.001, lambda: world.dynamodb.call("BatchWriteItem", {"RequestItems": requests}))

    world.scheduler.run()

    assert batch.wait() == {"UnprocessedItems": {"paceline": requests["paceline"][:1]}}
    assert world.item("held") == key("held")
    assert world.item("free") == {**key("free"), "v": s("batch")}


def test_a_run_is_the_same_every_time() -> None:
    def timeline() -> list[tuple[int, int, str]]:
        with a_world(Latency(prepare=fixed(0.01), commit=fixed(0.02), write=fixed(0.004))) as world:
            for i in range(20):
                world.after(0.007 * i, lambda: world.transact(add_one("account")))
                world.after(0.011 * i, lambda: world.call("PutItem", Item=key("account")))
            world.scheduler.run()
            return [(call.started, call.ended, call.outcome) for call in world.calls]

    assert timeline() == timeline()
