"""The console as an ASGI application: pages, their live news, what their forms do, signing in."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlencode

import click
from anyio import to_thread
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from console.web.guard import Guarded, is_from_here, is_own_form
from console.web.hub import Hub
from console.web.moments import zone_named
from console.web.page import Act, Onward, Page, Shown, Visit
from console.web.pages import ACTS, ONWARDS, PAGES
from console.web.rendering import Content, content_of, frame, rendered
from console.web.sessions import COOKIE, Session, Sessions
from console.web.signing_in import SignIn
from console.web.site import Site

log = logging.getLogger("paceline.console")

STATIC = Path(__file__).parent / "static"
_MOST_FORM_BYTES = 64 * 1024
# Who waits longer than this for a page sees that it loads; what it says comes as its first news.
LOADING_AFTER_SECONDS = 0.6


def console_app(
    site: Site,
    hosts: frozenset[str],
    *,
    is_secure: bool = False,
    pages: Sequence[Page] = PAGES,
    acts: Sequence[Act] = ACTS,
    patience: float = LOADING_AFTER_SECONDS,
) -> ASGIApp:
    """Return the console. hosts: by which names it is called. is_secure: by https, so its cookie goes by that alone.

    patience: seconds that the answer with a live page may take; then it only says that it loads.
    """
    console = _Console(site, is_secure, patience)
    routes: list[Any] = [Mount("/static", _Static(directory=STATIC), name="static")]
    routes += [
        Route("/sign-in", console.sign_in_page, methods=["GET"]),
        Route("/sign-in", console.sign_in, methods=["POST"]),
        Route("/sign-out", console.sign_out, methods=["POST"]),
    ]
    routes += [Route(act.path, partial(console.do, act), methods=["POST"]) for act in acts]
    routes += [Route(one.path, partial(console.lead_on, one), methods=["GET"]) for one in ONWARDS]
    for page in pages:
        routes.append(Route(f"/live{page.path}", partial(console.live, page), methods=["GET"]))
        routes.append(Route(page.path, partial(console.show, page), methods=["GET"]))
    return Guarded(Starlette(routes=routes, exception_handlers={404: console.nothing_here}), hosts)


class _Static(StaticFiles):
    """Files of the console's own; a browser asks each time whether it still has the right one."""

    def file_response(self, *args: Any, **kwargs: Any) -> Response:
        response = super().file_response(*args, **kwargs)
        response.headers["cache-control"] = "no-cache"
        return response


class _Console:
    def __init__(self, site: Site, is_secure: bool, patience: float) -> None:
        self._site = site
        self._patience = patience
        self._is_secure = is_secure
        self._sessions = Sessions(site.key)
        self._hub = Hub(site.every)
        self._sign_in = SignIn(site)

    # -- pages ------------------------------------------------------------------------------------------------------

    async def show(self, page: Page, request: Request) -> Response:
        """Answer with a page, whole."""
        session = self._session(request)
        if not session.key:
            return self._to_sign_in(request)
        live = f"/live{request.url.path}" + (f"?{request.url.query}" if request.url.query else "")
        looking = asyncio.ensure_future(to_thread.run_sync(self._look, page, request, session))
        if page.is_live and not (await asyncio.wait({looking}, timeout=self._patience))[0]:
            looking.add_done_callback(_forget)
            return self._frame(request, session, "Loading", live=live, is_loading=True)
        try:
            made = await looking
        except click.ClickException as error:  # it stays live: the page comes by itself once it can be shown
            status = getattr(error, "status", None) or 502
            return self._frame(request, session, "Not shown", trouble=error.message, status=status, live=live)
        return self._frame(request, session, made.title, content=made.html, live=live if made.is_live else "")

    async def live(self, page: Page, request: Request) -> Response:
        """Answer with a page's news, as long as somebody listens."""
        session = self._session(request)
        if not session.key:
            return Response(status_code=401)
        look = partial(self._look_anew, page, request, session)
        name = (page.path, request.url.path, request.url.query, request.cookies.get("zone", ""), session.id)
        return EventSourceResponse(self._news(name, look), ping=15)

    async def _news(self, name: Any, look: Callable[[], Content]) -> AsyncIterator[ServerSentEvent]:
        async for news in self._hub.follow(name, look):
            yield ServerSentEvent(event=news.kind, data=news.text)

    def _look(self, page: Page, request: Request, session: Session) -> Content:
        return content_of(page, self._visit(request, session), session.token)

    def _look_anew(self, page: Page, request: Request, session: Session) -> Content:
        try:
            return self._look(page, request, session)
        except click.ClickException:
            raise
        except Exception:
            log.exception("a page could not be made anew", extra={"page": page.path})
            raise

    async def lead_on(self, onward: Onward, request: Request) -> Response:
        """Lead to an address that is asked for now."""
        session = self._session(request)
        if not session.key:
            return self._to_sign_in(request)
        try:
            to = await to_thread.run_sync(onward.to, self._visit(request, session))
        except click.ClickException as error:
            status = getattr(error, "status", None) or 502
            return self._frame(request, session, "Not shown", trouble=error.message, status=status)
        return RedirectResponse(to, 303)

    # -- what forms do ----------------------------------------------------------------------------------------------

    async def do(self, act: Act, request: Request) -> Response:
        """Do what a form asks for, and lead to the page that shows it."""
        session = self._session(request)
        if not session.key:
            return self._to_sign_in(request)
        form = await _form(request)
        back = act.back.format_map({name: quote(value, safe=":") for name, value in request.path_params.items()})
        if not is_own_form(request, session.token, form.pop("token", "")):
            session.told.append(("bad", "Nothing was done: the page was too old. Try again from here."))
            answer = RedirectResponse(back, 303)
            # Only who is here: a page elsewhere that posts (without the cookie) must not put its own in its place.
            return self._with_cookie(answer, session) if is_from_here(request) else answer
        try:
            visit = self._visit(request, session)
            done = await to_thread.run_sync(act.do, visit, form)
        except click.ClickException as error:
            session.told.append(("bad", error.message))
            return RedirectResponse(back, 303)
        if isinstance(done, Shown):
            title, content = rendered(done.template, done.values, visit, session.token)
            return self._frame(request, session, title, content=content, status=done.status)
        if done.told:
            session.told.append(("good", done.told))
        return RedirectResponse(done.to or back, 303)

    # -- signing in -------------------------------------------------------------------------------------------------

    async def sign_in_page(self, request: Request) -> Response:
        """Answer with the form for an operator's key."""
        session = self._session(request)
        return self._frame(
            request, session, "Sign in", template="sign_in.html", to=_own(request.query_params.get("to"))
        )

    async def sign_in(self, request: Request) -> Response:
        """Take an operator's key that the API takes."""
        session = self._session(request)
        form = await _form(request)
        to = _own(form.get("to"))
        if not is_own_form(request, session.token, form.get("token", "")):
            why = "The page was too old. Try again."
        else:
            key = form.get("key", "").strip()
            address = request.client.host if request.client else ""
            why = await to_thread.run_sync(self._sign_in.why_not, key, address)
        if why:
            session.told.append(("bad", why))
            answer = RedirectResponse(f"/sign-in?{urlencode({'to': to})}", 303)
            return self._with_cookie(answer, session) if is_from_here(request) else answer
        return self._with_cookie(RedirectResponse(to, 303), self._sessions.sign_in(session, key))

    async def sign_out(self, request: Request) -> Response:
        """Forget who it was."""
        session = self._session(request)
        if is_own_form(request, session.token, (await _form(request)).get("token", "")):
            self._sessions.sign_out(session)
        return RedirectResponse("/sign-in", 303)

    async def nothing_here(self, request: Request, error: Exception) -> Response:
        """Answer for an address that has no page."""
        session = self._session(request)
        told = "There is no such page. The campaigns, routes and accounts are above."
        return self._frame(request, session, "Not found", trouble=told, status=404)

    # ---------------------------------------------------------------------------------------------------------------

    def _visit(self, request: Request, session: Session) -> Visit:
        zone = zone_named(unquote(request.cookies.get("zone", "")))
        query = dict(request.query_params)
        return Visit(self._site, self._site.api(session.key), dict(request.path_params), query, zone)

    def _session(self, request: Request) -> Session:
        return self._sessions.of(request.cookies.get(COOKIE, ""))

    def _to_sign_in(self, request: Request) -> Response:
        to = request.url.path if request.method == "GET" else "/"
        return RedirectResponse(f"/sign-in?{urlencode({'to': to})}", 303)

    def _frame(self, request: Request, session: Session, title: str, *, status: int = 200, **values: Any) -> Response:
        told, session.told = session.told, []
        made = frame(
            **values,
            title=title,
            path=request.url.path,
            site=self._site,
            session=session,
            is_shared=not self._site.key,
            theme=request.cookies.get("theme", ""),
            told=told,
        )
        return self._with_cookie(HTMLResponse(made, status), session)

    def _with_cookie(self, response: Response, session: Session) -> Response:
        # Lax, so that a link in a chat opens the page for who is signed in; forms carry a token and name their origin.
        response.set_cookie(COOKIE, session.id, httponly=True, samesite="lax", secure=self._is_secure)
        return response


def _forget(looking: asyncio.Future[Content]) -> None:
    """Take what a look came to that nobody waits for any more: the page's news begin with a look of their own."""
    if not looking.cancelled():
        looking.exception()


async def _form(request: Request) -> dict[str, str]:
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > _MOST_FORM_BYTES:
            return {}
    return dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True))


def _own(to: str | None) -> str:
    """Return an address of the console's own: a link cannot lead from signing in to elsewhere."""
    if not to or not to.startswith("/") or to.startswith(("//", "/\\")):
        return "/"
    return to if to.isprintable() else "/"  # browsers leave out a tab: what stands behind it may be a host
