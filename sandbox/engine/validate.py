from typing import Any
def validate(definition: Any) -> list[str]:
    return []
