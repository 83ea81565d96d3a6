"""What the routes answer, for the OpenAPI document. A test holds real answers to it; no answer is changed by it."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Answer(BaseModel):
    """More fields may come; those that are named here stay."""

    model_config = ConfigDict(extra="allow")
