"""The pages, and what their forms do."""

from __future__ import annotations

from console.web.page import Act, Onward, Page
from console.web.pages import (
    account_credits,
    account_keys,
    accounts,
    campaign,
    campaigns,
    executions,
    leads,
    reveal,
    routes,
)

_MODULES = (campaigns, campaign, executions, routes, account_credits, account_keys, accounts, leads, reveal)

PAGES: list[Page] = [page for module in _MODULES for page in module.PAGES]
ACTS: list[Act] = [act for module in _MODULES for act in module.ACTS]
ONWARDS: list[Onward] = [*campaign.ONWARDS]
