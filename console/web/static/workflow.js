// Draws the workflow of an execution once, and then only changes its numbers.
//
// Each machine (the campaign, what each batch does, what each message does) is laid out by itself, and stands as one
// box in the machine around it: dagre's own clusters cannot be the end of an arrow.
"use strict";

(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const NAME = { font: '600 13px system-ui, "Segoe UI", "DejaVu Sans", sans-serif', line: 16 };
  const SMALL = { font: '11px system-ui, "Segoe UI", "DejaVu Sans", sans-serif', line: 13 };
  const STATE = { height: 44, least: 124, left: 32, right: 12 };
  const MAP = { header: 30, progress: 28, pad: 14, least: 220 };
  const READABLE = { least: 0.8, most: 1.15 };

  // What tells kinds apart without colour: a sign of 14 by 14 and, in words, what it is.
  const SIGNS = {
    task: "M2 2h10v10H2zM5 5h4v4H5z",
    step: "M3 7h8M8 4l3 3-3 3",
    wait: "M7 1a6 6 0 1 0 .01 0M7 4v3l2 2",
    choice: "M7 1l6 6-6 6-6-6z",
    good: "M7 1a6 6 0 1 0 .01 0M4 7l2 2 4-4",
    bad: "M7 1a6 6 0 1 0 .01 0M5 5l4 4M9 5l-4 4",
    map: "M1 4h9v9H1zM4 4V1h9v9h-3",
  };

  const pen = document.createElement("canvas").getContext("2d");
  const widthOf = (text, style) => {
    pen.font = style.font;
    return Math.ceil(pen.measureText(text).width * 1.04);
  };

  const make = (name, attributes, ...inside) => {
    const element = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...inside);
    return element;
  };
  const text = (words, x, y, className, anchor = "start") =>
    make("text", { x, y, class: className, "text-anchor": anchor }, words);

  const wrapped = (label) => {
    const lines = [];
    for (const word of label.split(" ")) {
      const last = lines.length - 1;
      if (last >= 0 && (lines[last] + word).length < 22 && !lines[last].endsWith(",")) lines[last] += ` ${word}`;
      else lines.push(word);
    }
    return lines;
  };

  // -- layout: {width, height, states: [{node, x, y, width, height, inner}], lines, extras}, x and y from the corner ---

  const layOut = (graph, parent) => {
    const picture = new dagre.graphlib.Graph({ multigraph: true });
    picture.setGraph({ rankdir: "TB", nodesep: 20, ranksep: 26, edgesep: 12, marginx: 4, marginy: 4 });
    const nodes = graph.nodes.filter((node) => node.parent === parent);
    for (const node of nodes) picture.setNode(node.path, sized(graph, node));
    const extra = (id, target, size, kind) => {
      picture.setNode(id, { ...size, extra: kind });
      picture.setEdge(id, target, { kind: kind === "fails" ? "error" : "plain", lines: [], width: 0, height: 0 }, id);
    };
    for (const node of nodes) if (node.is_start) extra("start:", node.path, { width: 14, height: 14 }, "start");
    graph.edges.forEach((edge, number) => {
      if (!picture.hasNode(edge.target)) return;
      if (!edge.source) {
        extra("fails:", edge.target, { width: widthOf(edge.label, SMALL) + 34, height: 30, label: edge.label }, "fails");
      } else if (picture.hasNode(edge.source)) {
        const lines = edge.label ? wrapped(edge.label) : [];
        const width = Math.max(0, ...lines.map((line) => widthOf(line, SMALL) + 8));
        const label = { kind: edge.kind, lines, width, height: lines.length * SMALL.line, labelpos: "c" };
        picture.setEdge(edge.source, edge.target, label, String(number));
      }
    });
    dagre.layout(picture);
    return picture;
  };

  const sized = (graph, node) => {
    const isMap = graph.nodes.some((inner) => inner.parent === node.path);
    const name = widthOf(node.name, NAME);
    if (!isMap) {
      const words = Math.max(name, widthOf(node.says, SMALL) + 44) + STATE.left + STATE.right;
      return { node, width: Math.max(STATE.least, words), height: STATE.height };
    }
    const inner = layOut(graph, node.path);
    const { width, height } = inner.graph();
    const least = Math.max(MAP.least, name + widthOf(node.says, SMALL) + 62);
    const header = MAP.header + (node.mode === "Distributed" ? MAP.progress : 0);
    return { node, inner, header, width: Math.max(least, width + 2 * MAP.pad), height: height + header + MAP.pad };
  };

  // -- drawing ---------------------------------------------------------------------------------------------------------

  // Straight from point to point with round corners: the label stands at one of the points.
  const route = (points) => {
    let path = `M${points[0].x} ${points[0].y}`;
    for (let n = 1; n < points.length - 1; n += 1) {
      const before = towards(points[n], points[n - 1]);
      const after = towards(points[n], points[n + 1]);
      path += `L${before.x} ${before.y}Q${points[n].x} ${points[n].y} ${after.x} ${after.y}`;
    }
    const end = points[points.length - 1];
    return `${path}L${end.x} ${end.y}`;
  };
  const towards = (from, to) => {
    const far = Math.hypot(to.x - from.x, to.y - from.y) || 1;
    const part = Math.min(14, far / 2) / far;
    return { x: (from.x + (to.x - from.x) * part).toFixed(1), y: (from.y + (to.y - from.y) * part).toFixed(1) };
  };

  const drawMachine = (picture, drawing, isInner) => {
    const group = make("g", { class: isInner ? "wf-in-map" : "wf-machine" });
    const labels = [];
    for (const name of picture.edges()) {
      const { points, kind, lines, x, y, width, height } = picture.edge(name);
      const error = kind === "error" ? " error" : "";
      group.append(make("path", {
        d: route(points), class: `wf-edge${error}`, "marker-end": `url(#${drawing.id}-arrow${error.trim()})`,
      }));
      if (!lines.length) continue;
      const top = y - height / 2;
      labels.push(make("rect", { x: x - width / 2, y: top, width, height, class: "wf-label-ground" }));
      lines.forEach((line, n) => labels.push(text(line, x, top + 10 + n * SMALL.line, `wf-label${error}`, "middle")));
    }
    group.append(...labels);
    for (const path of picture.nodes()) group.append(drawNode(picture.node(path), drawing));
    return group;
  };

  const drawNode = (placed, drawing) => {
    const { x, y, width, height, extra } = placed;
    if (extra === "start") return make("circle", { cx: x, cy: y, r: 7, class: "wf-start" });
    const left = x - width / 2;
    const top = y - height / 2;
    if (extra === "fails") {
      return make("g", {},
        make("rect", { x: left, y: top, width, height, rx: 4, class: "wf-fails" }),
        text(placed.label, x, y + 4, "wf-fails-text", "middle"));
    }
    const { node, inner, header } = placed;
    const title = make("title", {}, node.comment || node.name);
    const box = make("rect", { x: left, y: top, width, height, rx: inner ? 10 : node.kind === "choice" ? 20 : 8, class: "wf-box" });
    const sign = make("path", { d: SIGNS[node.kind] || SIGNS.step, class: "wf-sign", transform: `translate(${left + 10} ${top + 10})` });
    const counted = make("g", {});
    const link = make("a", { href: `${drawing.href}?state=${encodeURIComponent(node.name)}`, class: `wf-state ${node.kind}`, "data-name": node.name },
      box, sign,
      text(node.name, left + STATE.left, top + 19, "wf-name"),
      text(node.says, left + STATE.left + (inner ? widthOf(node.name, NAME) + 10 : 0), top + (inner ? 19 : 35), "wf-says"),
      counted);
    drawing.states.set(node.path, { node, link, counted, left, top, width, height, isMap: Boolean(inner), running: 0, shown: "" });
    if (!inner) return make("g", {}, title, link);
    link.classList.add("wf-map");
    const within = drawMachine(inner, drawing, true);
    within.setAttribute("transform", `translate(${left + (width - inner.graph().width) / 2} ${top + header})`);
    return make("g", {}, make("g", {}, title, link), within);
  };

  const arrow = (id, className) =>
    make("marker", { id, viewBox: "0 0 8 8", refX: 7.5, refY: 4, markerWidth: 8, markerHeight: 8, orient: "auto" },
      make("path", { d: "M0 0L8 4L0 8z", class: `wf-arrow ${className}` }));

  // -- numbers ---------------------------------------------------------------------------------------------------------

  const number = (value) => value.toLocaleString("en");

  const words = ({ succeeded, failed, pending }) => {
    const said = [[succeeded, "done"], [failed, "failed"], [pending, "to come"]];
    return said.filter(([value]) => value).map(([value, word]) => `${number(value)} ${word}`).join(" · ");
  };

  const show = (state, count) => {
    const key = JSON.stringify(count);
    if (state.shown === key) return;
    state.shown = key;
    state.running = count.running;
    const { link, counted, isMap } = state;
    link.classList.toggle("is-running", count.running > 0);
    link.classList.toggle("is-failed", count.failed > 0);
    link.classList.toggle("is-done", count.succeeded > 0 && !count.running && !count.failed);
    counted.replaceChildren(...(count.running ? pill(state, `${number(count.running)} now`) : []), ...(isMap ? progress(state, count) : tallies(state, count)));
  };

  // What is there now stands on the upper edge, where the eye falls first.
  const pill = ({ left, top, width }, words) => {
    const wide = widthOf(words, NAME) + 14;
    const x = left + width - wide + 8;
    return [make("rect", { x, y: top - 14, width: wide, height: 20, rx: 10, class: "wf-pill" }),
      text(words, x + wide / 2, top + 0.5, "wf-pill-text", "middle")];
  };

  const tallies = ({ left, top, width }, count) => {
    const made = [];
    let x = left + width - 8;
    for (const [sign, name] of [["✗", "failed"], ["✓", "done"], ["↻", "retrying"]]) {
      const value = name === "done" ? count.succeeded : count[name];
      if (!value) continue;
      made.push(text(`${sign} ${number(value)}`, x, top + 35, `wf-${name}`, "end"));
      x -= widthOf(`${sign} ${number(value)}`, SMALL) + 10;
    }
    return made;
  };

  const progress = ({ left, top, width }, count) => {
    const made = [text(words(count), left + 12, top + 39, "wf-says")];
    if (!count.total) return made;
    const long = width - 24;
    const failed = (long * count.failed) / count.total;
    const done = (long * count.succeeded) / count.total;
    made.push(make("rect", { x: left + 12, y: top + 46, width: long, height: 5, rx: 2.5, class: "wf-rail" }));
    if (done) made.push(make("rect", { x: left + 12, y: top + 46, width: done, height: 5, rx: 2.5, class: "wf-filled" }));
    if (failed) made.push(make("rect", { x: left + 12 + done, y: top + 46, width: failed, height: 5, class: "wf-filled failed" }));
    return made;
  };

  // -- the figure ------------------------------------------------------------------------------------------------------

  const scale = (drawing) => {
    const { scroll, svg, width, height } = drawing;
    const room = scroll.clientWidth - 2;
    if (room <= 0) return;
    const resize = (by) => {
      svg.setAttribute("width", Math.floor(width * by));
      svg.setAttribute("height", Math.floor(height * by));
    };
    resize(Math.min(READABLE.most, Math.max(READABLE.least, room / width)));
    if (drawing.isWhole) resize(Math.min(1, room / width, scroll.clientHeight / height));
  };

  const goToNow = (drawing) => {
    const states = [...drawing.states.values()].filter(({ isMap }) => !isMap);
    const most = states.reduce((best, state) => (state.running > best.running ? state : best), { running: 0 });
    const last = (which) => states.map(({ link }) => link).filter((link) => link.matches(which)).pop();
    const found = most.link || last(".good.is-done, .bad.is-done") || last(".is-failed, .is-done");
    if (!found) return;
    const box = found.getBoundingClientRect();
    const view = drawing.scroll.getBoundingClientRect();
    const behavior = matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth";
    drawing.scroll.scrollBy({
      left: box.left + box.width / 2 - view.left - view.width / 2,
      top: box.top + box.height / 2 - view.top - view.height / 2,
      behavior: drawing.isShown ? behavior : "auto",
    });
  };

  const tools = (drawing) => {
    const bar = document.createElement("div");
    bar.className = "workflow-tools";
    const button = (words, press) => {
      const made = document.createElement("button");
      made.type = "button";
      made.className = "quiet";
      made.textContent = words;
      made.addEventListener("click", () => press(made));
      bar.append(made);
      return made;
    };
    button("Go to what runs now", () => goToNow(drawing));
    button("Whole picture", (made) => {
      drawing.isWhole = !drawing.isWhole;
      made.setAttribute("aria-pressed", drawing.isWhole);
      scale(drawing);
    }).setAttribute("aria-pressed", "false");
    const key = document.createElement("span");
    key.className = "workflow-key";
    key.textContent = "✓ done · ✗ failed · ↻ waits to be tried again · dashed red: after an error";
    bar.append(key);
    return bar;
  };

  const draw = (place) => {
    const graph = JSON.parse(place.querySelector("script").textContent);
    const drawing = { id: place.id, href: place.dataset.href || "", states: new Map(), isWhole: false, isShown: false };
    const picture = layOut(graph, "");
    drawing.width = Math.ceil(picture.graph().width) + 16;
    drawing.height = Math.ceil(picture.graph().height) + 24;
    const machine = drawMachine(picture, drawing, false);
    machine.setAttribute("transform", "translate(8 14)");
    drawing.svg = make("svg", { viewBox: `0 0 ${drawing.width} ${drawing.height}`, role: "group", "aria-label": "States of the workflow" },
      make("defs", {}, arrow(`${place.id}-arrow`, ""), arrow(`${place.id}-arrowerror`, "error")), machine);
    drawing.scroll = document.createElement("div");
    drawing.scroll.className = "workflow-scroll";
    drawing.scroll.tabIndex = 0;
    drawing.scroll.setAttribute("role", "region");
    drawing.scroll.setAttribute("aria-label", "The drawing, to be scrolled");
    drawing.scroll.append(drawing.svg);
    place.append(tools(drawing), drawing.scroll);
    new ResizeObserver(() => scale(drawing)).observe(drawing.scroll);
    return drawing;
  };

  const drawings = new WeakMap();

  const update = () => {
    const place = document.querySelector(".workflow-drawing");
    const counts = document.getElementById("workflow-counts");
    if (!place || !counts) return;
    if (!drawings.has(place)) drawings.set(place, draw(place));
    const drawing = drawings.get(place);
    const states = JSON.parse(counts.textContent).states;
    if (!states) return;
    for (const [path, state] of drawing.states) if (states[path]) show(state, states[path]);
    if (drawing.isShown) return;
    scale(drawing);
    goToNow(drawing);
    drawing.isShown = true;
  };

  document.addEventListener("paceline:updated", update);
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", update);
  else update();
})();
