"""When a campaign will have sent its last message, and which cap binds when. Pure: no table, no clock.

`forecast` simulates from event to event; `model` holds what goes in and what comes out.
"""

from paceline.forecast.model import (
    EFFICIENCY,
    STARTUP,
    STARTUP_BESIDE_OTHERS,
    AccountCaps,
    Forecast,
    Never,
    RouteCaps,
    Span,
    StreamForecast,
    StreamLeft,
)
from paceline.forecast.simulation import forecast

__all__ = [
    "EFFICIENCY",
    "STARTUP",
    "STARTUP_BESIDE_OTHERS",
    "AccountCaps",
    "Forecast",
    "Never",
    "RouteCaps",
    "Span",
    "StreamForecast",
    "StreamLeft",
    "forecast",
]
