"""The pages, and what their forms do."""

from __future__ import annotations

from console.web.page import Act, Onward, Page
from console.web.pages import account_credits, account_keys, accounts, campaign, campaigns, executions, routes

_MODULES = (campaigns, campaign, routes, account_credits, account_keys, accounts, executions)

PAGES: list[Page] = [page for module in _MODULES for page in module.PAGES]
ACTS: list[Act] = [act for module in _MODULES for act in module.ACTS]
ONWARDS: list[Onward] = [*campaign.ONWARDS]
