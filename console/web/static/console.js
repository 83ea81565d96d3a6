// The console in a browser: takes each page's news and morphs it into what is seen, keeping what the person is at.
"use strict";

(() => {
  const main = document.getElementById("main");
  const live = document.getElementById("live");
  const trouble = document.getElementById("trouble");

  const remember = (name, value) => {
    document.cookie = `${name}=${encodeURIComponent(value)}; path=/; max-age=31536000; samesite=strict`;
  };

  // What a person is at stays: a dialog that is open, a form that is being filled in, what drew itself.
  const isKept = (node) =>
    node instanceof Element &&
    (node.hasAttribute("data-keep") || node.matches("dialog[open], form:focus-within"));

  const morph = (html) => {
    Idiomorph.morph(main, html, {
      morphStyle: "innerHTML",
      ignoreActiveValue: true,
      callbacks: {
        beforeNodeMorphed: (old) => !isKept(old),
        beforeNodeRemoved: (old) => !(old instanceof Element && old.matches("dialog[open]")),
        beforeAttributeUpdated: (name, node) => !(name === "open" && node.matches("details, dialog")),
      },
    });
    document.dispatchEvent(new CustomEvent("paceline:updated"));
  };

  const say = (state, text) => {
    if (live.dataset.state === state && state !== "on") return;
    live.dataset.state = state;
    live.textContent = text;
  };

  let source = null;
  let isLoading = main.querySelector("[data-loading]") !== null;

  const listen = () => {
    source = new EventSource(main.dataset.live);
    source.addEventListener("page", (event) => {
      morph(event.data);
      if (isLoading) document.title = `${main.querySelector("h1").textContent.trim()} · Paceline`;
      isLoading = false;
      trouble.hidden = true;
      if (live.dataset.state !== "on") say("on", "live");
    });
    source.addEventListener("trouble", (event) => {
      trouble.textContent = isLoading ? event.data : `Not up to date: ${event.data}`;
      if (isLoading) main.querySelector("[data-loading]").textContent = "It cannot be shown now; it is tried again.";
      trouble.hidden = false;
      say("off", "not live");
    });
    source.addEventListener("over", () => {
      leave();
      say("over", "it has ended");
    });
    source.addEventListener("error", () => {
      say("off", "not live");
      trouble.textContent = "The console itself does not answer; what you see is how it was. It is tried again.";
      trouble.hidden = false;
      // A browser gives up where it got an answer that is no stream: the session may be over.
      if (source.readyState === EventSource.CLOSED) setTimeout(listen, 3000);
    });
  };

  const leave = () => {
    if (source) source.close();
    source = null;
  };

  // The first page of all was made before the console knew the zone; a live one is made anew by itself.
  const isFirst = !document.cookie.split("; ").some((one) => one.startsWith("zone="));
  remember("zone", Intl.DateTimeFormat().resolvedOptions().timeZone);
  if (isFirst && !main.dataset.live && main.querySelector("time")) location.reload();
  if (main.dataset.live) {
    listen();
    // A page that nobody sees asks for nothing.
    document.addEventListener("visibilitychange", () => {
      if (document.hidden) leave();
      else if (!source) listen();
    });
    addEventListener("pagehide", leave);
    addEventListener("pageshow", () => { if (!source && !document.hidden) listen(); });
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-opens], [data-closes]");
    if (!button) return;
    if (button.dataset.opens) document.getElementById(button.dataset.opens).showModal();
    else button.closest("dialog").close();
  });

  const themes = ["", "light", "dark"];
  document.getElementById("theme").addEventListener("click", () => {
    const root = document.documentElement;
    const next = themes[(themes.indexOf(root.dataset.theme || "") + 1) % themes.length];
    if (next) root.dataset.theme = next;
    else delete root.dataset.theme;
    remember("theme", next);
  });
})();
