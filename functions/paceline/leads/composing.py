"""A row's text as it will be sent, measured, or the reason why the row gets none."""

from __future__ import annotations

from collections.abc import Mapping

from paceline.leads.names import trimmed
from paceline.leads.phone import Refusal
from paceline.leads.punctuation import Measured, measured
from paceline.leads.template import BlankField, Template, compile_template
from paceline.models import Campaign

# Twilio refuses a longer body (its error 21617): better known before the start than 25,000 times after it.
LONGEST_TEXT = 1600


class Composer:
    """Composes the texts of one campaign. Raises, when it is made: RequestInvalid, for a message with stray braces."""

    def __init__(self, campaign: Campaign) -> None:
        self.template: Template = compile_template(campaign.message)
        self._to_gsm7 = campaign.smart_punctuation == "to_gsm7"

    def compose(self, values: Mapping[str, str]) -> Measured | Refusal:
        """Return a row's text with its parts. values: normalised column → value."""
        text = self.template.render(values)
        if isinstance(text, BlankField):
            return Refusal("blank_field", f"The row has no {text.name}, and the message has no default for it.")
        if not trimmed(text):
            return Refusal("blank_text", "The text for this row is empty.")
        message = measured(text, to_gsm7=self._to_gsm7)
        if len(message.text) > LONGEST_TEXT:
            return Refusal("text_too_long", f"The text for this row has more than {LONGEST_TEXT:,} characters.")
        return message
