"""A message's fields: filled, defaulted, refused; never sent half filled."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.errors import LeadFileInvalid, RequestInvalid
from paceline.leads.names import SPREADSHEET_ERRORS, trimmed
from paceline.leads.template import BlankField, compile_template


@pytest.mark.parametrize(
    ("message", "values", "text"),
    [
        pytest.param("Hi {{first_name}}!", {"firstname": "Ana"}, "Hi Ana!", id="a field"),
        pytest.param("Hi {{ First-Name }}!", {"firstname": "Ana"}, "Hi Ana!", id="fields match as headings do"),
        pytest.param("Hi {{first_name|there}}!", {"firstname": ""}, "Hi there!", id="a default for a blank value"),
        pytest.param("Hi {{ first_name | my friend }}!", {}, "Hi my friend!", id="a default for a missing column"),
        pytest.param("Hi{{ title | }}!", {}, "Hi!", id="an empty default"),
        pytest.param("Hi {{a|b|c}}", {}, "Hi b|c", id="the default begins after the first bar"),
        pytest.param("Hi {{name}}", {"name": "Null"}, "Hi Null", id="Null is a surname"),
        pytest.param("{{n}} left", {"n": "0"}, "0 left", id="zero is a value"),
        pytest.param("{{a}}{{a}}", {"a": "x"}, "xx", id="twice"),
        pytest.param("No fields", {}, "No fields", id="none"),
    ],
)
def test_a_message_is_filled(message: str, values: dict[str, str], text: str) -> None:
    assert compile_template(message).render(values) == text


@pytest.mark.parametrize(
    "message", ["Hi {{name|}}, it is due.", "Hi {{ name | }} !", "{{name|\u200b}}, it is due.", "Yes:\n{{name|}}."]
)
def test_an_empty_default_that_would_leave_a_gap_is_none(message: str) -> None:
    assert compile_template(message).render({"name": ""}) == BlankField("name")
    assert (
        compile_template(message).render({"name": "Ana"})
        == message.partition("{{")[0] + "Ana" + message.partition("}}")[2]
    )


@pytest.mark.parametrize("value", ["", "   ", "\u00a0"])
def test_a_blank_value_without_default_refuses_the_lead(value: str) -> None:
    assert compile_template("Hi {{first_name}},").render({"firstname": value}) == BlankField("first_name")


def test_a_missing_column_without_default_refuses_the_file_and_names_the_field() -> None:
    template = compile_template("Hi {{first_name}}, {{title|you}}")

    with pytest.raises(LeadFileInvalid, match=r"'first_name'.*headings are: 'Phone', 'Code'"):
        template.check_columns({"phone": "Phone", "code": "Code"})
    template.check_columns({"firstname": "First Name"})


@pytest.mark.parametrize(
    ("message", "position"),
    [
        ("Hi {{first_name", 4),
        ("Hi first_name}}!", 14),
        ("Hi {first_name}", 4),  # sent as it stands, it would read "Hi {first_name}" 25,000 times
        ("Hi {{{name}}}", 4),
        ("Hi {{a{{b}}}}", 4),
        ("{{a}} and {{ }}", 11),
        ("{{|there}}", 1),
    ],
)
def test_braces_that_are_no_field_are_an_error_with_their_position(message: str, position: int) -> None:
    with pytest.raises(RequestInvalid) as caught:
        compile_template(message)

    assert caught.value.evidence == {"position": position}


@given(st.text())
def test_a_value_is_never_read_as_a_template(value: str) -> None:
    text = compile_template("<{{a}}|{{b|none}}>").render({"a": "{{b}}", "b": value})

    assert text == f"<{{{{b}}}}|{'none' if trimmed(value) in {'', *SPREADSHEET_ERRORS} else trimmed(value)}>"
