"""The pages, and what their forms do."""

from __future__ import annotations

from console.web.page import Act, Page
from console.web.pages import campaigns, routes

_MODULES = (campaigns, routes)

PAGES: list[Page] = [page for module in _MODULES for page in module.PAGES]
ACTS: list[Act] = [act for module in _MODULES for act in module.ACTS]
