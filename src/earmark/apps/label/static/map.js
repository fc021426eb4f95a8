// The map: all documents as points; click to read, draw around points to label them.
import * as api from "./api.js";
import { make, number, percent, showText, unitSpans } from "./base.js";

const $ = (id) => document.getElementById(id);
const SIDE = 65535; // places are whole numbers up to this one
const N_COLORS = 10; // labels with a color of their own, the most frequent
const N_SHADES = 5;
const DEEPEST = 60; // times the whole map
const NEAR = 12; // px from a point that still mean it
const CLOSER = [1.7, 4]; // magnification from which on more islands have names
const FILLED = 0.92; // the share of the picture that the whole map takes
const STEP = 60; // px that an arrow key moves the map
const POLL = 700; // ms between questions whether the map is ready

let places = null; // { x, y }: from 0 to 1
let spans = [1, 1]; // how much of that the points take, across and down
let levels = [];
let colors = null;
let chosen = new Uint8Array(0);
let groups = []; // [color, documents]: what is drawn together
let view = { x: 0.5, y: 0.5, scale: 1 }; // what is in the middle, and how large
let drawing = null; // the line around points, while it is drawn
let moving = new Map(); // pointers that are down: where they were last
let travelled = 0;
let marked = null; // the document that is read
let planned = 0;
let acts = {};

const canvas = () => $("map");
const size = () => ({ w: canvas().clientWidth, h: canvas().clientHeight });
const unit = () => Math.min(size().w / spans[0], size().h / spans[1]) * FILLED * view.scale;
const across = (document) => (places.x[document] - view.x) * unit() + size().w / 2;
const down = (document) => (places.y[document] - view.y) * unit() + size().h / 2;
const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const level = () => levels[CLOSER.filter((least) => view.scale >= least).length];

// -- drawing ------------------------------------------------------------------------

function draw() {
  planned = 0;
  const began = performance.now();
  const { w, h } = size();
  const ratio = window.devicePixelRatio || 1;
  const box = canvas();
  if (box.width !== Math.round(w * ratio) || box.height !== Math.round(h * ratio)) {
    box.width = Math.round(w * ratio);
    box.height = Math.round(h * ratio);
  }
  const pen = box.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, w, h);
  if (!places) return;
  const dense = Math.sqrt(1500 / Math.max(places.x.length, 300));
  const width = Math.max(2, Math.min(9, 4 * dense * Math.sqrt(view.scale) + 1));
  const zoom = unit();
  const left = w / 2 - view.x * zoom - width / 2;
  const top = h / 2 - view.y * zoom - width / 2;
  for (const [color, documents] of groups) {
    pen.fillStyle = color;
    for (const one of documents) {
      const x = places.x[one] * zoom + left;
      const y = places.y[one] * zoom + top;
      if (x > -width && y > -width && x < w && y < h) pen.fillRect(x, y, width, width);
    }
  }
  drawChosen(pen, width);
  drawNames(pen, w, h);
  if (document.activeElement === box) cross(pen, w / 2, h / 2);
  box.dataset.ms = (performance.now() - began).toFixed(1);
}

function plan() {
  if (!planned) planned = requestAnimationFrame(draw);
}

function drawChosen(pen, width) {
  pen.strokeStyle = style("--ink");
  pen.lineWidth = 1.2;
  for (let one = 0; one < chosen.length; one += 1) {
    if (chosen[one]) pen.strokeRect(across(one) - width / 2 - 0.6, down(one) - width / 2 - 0.6, width + 1.2, width + 1.2);
  }
  if (marked !== null) {
    pen.lineWidth = 2;
    pen.beginPath();
    pen.arc(across(marked), down(marked), width + 4, 0, 2 * Math.PI);
    pen.stroke();
  }
  if (drawing && drawing.length > 1) {
    pen.strokeStyle = style("--accent");
    pen.lineWidth = 2;
    pen.beginPath();
    drawing.forEach(([x, y], i) => (i ? pen.lineTo(x, y) : pen.moveTo(x, y)));
    pen.stroke();
  }
}

function drawNames(pen, w, h) {
  pen.font = "600 13px system-ui, sans-serif";
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  pen.lineJoin = "round";
  pen.lineWidth = 4;
  pen.strokeStyle = style("--sheet");
  pen.fillStyle = style("--ink");
  const used = [];
  for (const island of level().islands) { // the largest first
    const middle = (island.x - view.x) * unit() + w / 2;
    const y = (island.y - view.y) * unit() + h / 2;
    if (middle < 0 || y < 0 || middle > w || y > h) continue;
    const half = pen.measureText(island.name).width / 2 + 4;
    const x = Math.max(half, Math.min(w - half, middle)); // none is cut off
    if (used.some((other) => Math.abs(other.x - x) < other.half + half && Math.abs(other.y - y) < 18)) continue;
    used.push({ x, y, half });
    pen.strokeText(island.name, x, y);
    pen.fillText(island.name, x, y);
  }
}

function cross(pen, x, y) {
  pen.strokeStyle = style("--strong");
  pen.lineWidth = 1;
  pen.beginPath();
  pen.moveTo(x - 8, y);
  pen.lineTo(x + 8, y);
  pen.moveTo(x, y - 8);
  pen.lineTo(x, y + 8);
  pen.stroke();
}

/** Points by color, and what the colors mean. */
function paint() {
  const { by, labels, values } = colors;
  const byLabel = by === "guess" || by === "answer";
  const counts = new Map();
  const kind = (value) => (byLabel || value < 0 ? value : Math.min(N_SHADES - 1, Math.floor(value * N_SHADES / 100)));
  values.forEach((value) => counts.set(kind(value), (counts.get(kind(value)) || 0) + 1));
  const known = [...counts.keys()].filter((value) => value >= 0);
  known.sort((a, b) => (byLabel ? counts.get(b) - counts.get(a) || a - b : a - b));
  const own = byLabel ? known.slice(0, N_COLORS) : known;
  if (byLabel) own.sort((a, b) => a - b);
  const name = new Map(own.map((value, i) => [value, byLabel ? `--label-${i}` : `--shade-${value}`]));
  const sorted = new Map([["--unknown", []], ["--other", []], ...[...name.values()].map((one) => [one, []])]);
  values.forEach((value, document) => {
    const one = kind(value);
    sorted.get(name.get(one) || (one < 0 ? "--unknown" : "--other")).push(document);
  });
  groups = [...sorted].map(([color, documents]) => [style(color), documents]);
  const words = (value) => (byLabel ? labels[value] : `${percent(value / N_SHADES)} to ${percent((value + 1) / N_SHADES)}`);
  const unknown = { guess: "no guess, or hidden", answer: "no answer", doubt: "not known, or answered", novelty: "not known" }[by];
  const lines = own.map((value) => [name.get(value), words(value), counts.get(value)]);
  for (const [color, what] of [["--other", "other labels"], ["--unknown", unknown]]) if (sorted.get(color).length) lines.push([color, what, sorted.get(color).length]);
  $("legend").replaceChildren(...lines.map(([color, what, count]) => {
    const dot = make("i", { attrs: { "aria-hidden": "true" } });
    dot.style.background = `var(${color})`;
    return make("li", {}, dot, make("bdi", { textContent: what }), make("span", { className: "soft", textContent: number(count) }));
  }));
  plan();
}

// -- what is chosen -----------------------------------------------------------------

const chosenDocuments = () => Array.from(chosen.keys()).filter((one) => chosen[one]);

function showChosen() {
  const all = chosenDocuments();
  const answered = all.filter((one) => colors.answered.has(one)).length;
  const hidden = all.filter((one) => colors.hidden.has(one)).length;
  const open = all.length - answered - hidden;
  const over = $("map-over").checked;
  const parts = [[open, "new"], [answered, "answered"], [hidden, "reserved as random checks"]].filter(([n]) => n);
  $("map-chosen").textContent = all.length ? `${number(all.length)} selected: ${parts.map(([n, what]) => `${number(n)} ${what}`).join(", ")}` : "Nothing selected";
  $("map-apply").disabled = !$("map-label").value || open + (over ? answered : 0) === 0;
  $("map-clear").disabled = !all.length;
  plan();
}

function choose(documents) {
  chosen.fill(0);
  for (const one of documents) chosen[one] = 1;
  showChosen();
}

/** Documents inside a line around them. */
function inside(line) {
  const found = [];
  for (let one = 0; one < places.x.length; one += 1) {
    const x = across(one);
    const y = down(one);
    let odd = false;
    for (let i = 0, j = line.length - 1; i < line.length; j = i, i += 1) {
      const [ax, ay] = line[i];
      const [bx, by] = line[j];
      if ((ay > y) !== (by > y) && x < (bx - ax) * (y - ay) / (by - ay) + ax) odd = !odd;
    }
    if (odd) found.push(one);
  }
  return found;
}

function inView() {
  const { w, h } = size();
  return Array.from(places.x.keys()).filter((one) => across(one) >= 0 && across(one) <= w && down(one) >= 0 && down(one) <= h);
}

function nearest(x, y, most) {
  let best = null;
  let least = most ** 2;
  for (let one = 0; one < places.x.length; one += 1) {
    const square = (across(one) - x) ** 2 + (down(one) - y) ** 2;
    if (square < least) { least = square; best = one; }
  }
  return best;
}

async function read(document) {
  if (document === null) return;
  marked = document;
  plan();
  const data = (await api.post("document", { document }, acts.trouble)).document;
  const text = make("div", { className: "map-text", tabIndex: 0, attrs: { role: "region", "aria-label": `Text of row ${data.row}` } },
    ...data.parts.flatMap((part) => {
      const box = make("p", { dir: "auto" });
      const cut = part.text.slice(0, 3000);
      showText(box, cut || "(empty)", unitSpans(part.text, part.spans).filter((span) => span[1] <= cut.length));
      return part.name ? [make("h4", { textContent: part.name }), box] : [box];
    }));
  const said = data.given ? `answered: ${data.given.join(", ") || "no label"}`
    : data.hidden ? "reserved as a random check"
      : data.guess ? `guess: ${data.guess.labels.join(", ") || "no label"}${data.guess.confidence === null ? "" : `, ${percent(data.guess.confidence)}`}` : "no guess yet";
  const open = make("button", { textContent: "Open" });
  open.addEventListener("click", () => acts.open(document));
  $("map-document").replaceChildren(make("p", { className: "row" }, make("b", { textContent: data.id === null ? `Row ${data.row}` : data.id }),
    make("span", { className: "small soft", dir: "auto", textContent: said }), make("span", { className: "grow" }), open), text);
}

// -- moving --------------------------------------------------------------------------

function stay() {
  view.scale = Math.min(DEEPEST, Math.max(0.8, view.scale));
  view.x = Math.min(1, Math.max(0, view.x));
  view.y = Math.min(1, Math.max(0, view.y));
  listIslands();
  plan();
}

function zoom(by, x = size().w / 2, y = size().h / 2) {
  const before = unit();
  const held = [view.x + (x - size().w / 2) / before, view.y + (y - size().h / 2) / before];
  view.scale = Math.min(DEEPEST, Math.max(0.8, view.scale * by));
  view.x = held[0] - (x - size().w / 2) / unit();
  view.y = held[1] - (y - size().h / 2) / unit();
  stay();
}

function pan(dx, dy) {
  view.x -= dx / unit();
  view.y -= dy / unit();
  stay();
}

function whole() {
  view = { x: 0.5, y: 0.5, scale: 1 };
  stay();
}

const lassoing = () => $("map-lasso").getAttribute("aria-pressed") === "true";

function setLasso(on) {
  $("map-lasso").setAttribute("aria-pressed", on);
  canvas().classList.toggle("lassoing", on);
}

function at(event) {
  const box = canvas().getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
}

function onDown(event) {
  if (!places) return;
  canvas().setPointerCapture(event.pointerId);
  moving.set(event.pointerId, at(event));
  travelled = 0;
  drawing = moving.size === 1 && (lassoing() || event.shiftKey) ? [at(event)] : null;
}

function onMove(event) {
  const last = moving.get(event.pointerId);
  if (!last) return;
  const now = at(event);
  travelled += Math.hypot(now[0] - last[0], now[1] - last[1]);
  if (moving.size === 2) { // two fingers
    const [other] = [...moving].filter(([id]) => id !== event.pointerId).map(([, place]) => place);
    const gap = (place) => Math.hypot(place[0] - other[0], place[1] - other[1]);
    zoom(gap(now) / Math.max(gap(last), 1), (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
    pan((now[0] - last[0]) / 2, (now[1] - last[1]) / 2);
  } else if (drawing) {
    drawing.push(now);
    plan();
  } else pan(now[0] - last[0], now[1] - last[1]);
  moving.set(event.pointerId, now);
}

function onUp(event) {
  if (!moving.delete(event.pointerId) || !places) return;
  if (travelled < 4 && event.type === "pointerup") read(nearest(...at(event), NEAR)).catch(acts.complain);
  else if (drawing) choose(inside(drawing));
  drawing = null;
  plan();
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || !places) return;
  const act = {
    ArrowLeft: () => pan(STEP, 0), ArrowRight: () => pan(-STEP, 0), ArrowUp: () => pan(0, STEP), ArrowDown: () => pan(0, -STEP),
    "+": () => zoom(1.4), "=": () => zoom(1.4), "-": () => zoom(1 / 1.4), 0: whole,
    Enter: () => read(nearest(size().w / 2, size().h / 2, Infinity)).catch(acts.complain),
  }[event.key];
  if (!act) return;
  act();
  event.preventDefault();
  event.stopPropagation();
}

// -- islands -------------------------------------------------------------------------

function settle(data) {
  places = { x: Float64Array.from(data.x, (one) => one / SIDE), y: Float64Array.from(data.y, (one) => one / SIDE) };
  const span = (values) => Math.max(0.2, values.reduce((a, b) => Math.max(a, b), 0) - values.reduce((a, b) => Math.min(a, b), 1));
  spans = [span(places.x), span(places.y)];
  chosen = new Uint8Array(data.x.length);
  levels = data.levels.map(({ of, names }) => {
    const islands = names.map((name, i) => ({ name: name || `Island ${i + 1}`, documents: [] }));
    of.forEach((island, document) => { if (island >= 0) islands[island].documents.push(document); });
    for (const island of islands) {
      const middle = (values) => {
        const sorted = island.documents.map((one) => values[one]).sort((a, b) => a - b);
        return sorted[sorted.length >> 1];
      };
      island.x = middle(places.x);
      island.y = middle(places.y);
    }
    return { islands };
  });
}

function goTo(island) {
  const reach = Math.max(...island.documents.map((one) => Math.max(Math.abs(places.x[one] - island.x), Math.abs(places.y[one] - island.y))), 0.01);
  view = { x: island.x, y: island.y, scale: Math.max(1, Math.min(0.4 / reach, DEEPEST)) };
  plan();
  choose(island.documents);
}

let listed = "";
function listIslands() {
  const { w, h } = size();
  const shown = level().islands.filter(({ x, y }) => Math.abs(x - view.x) * unit() < w / 2 && Math.abs(y - view.y) * unit() < h / 2);
  const key = `${levels.indexOf(level())} ${shown.map((island) => island.name).join("|")}`;
  if (key === listed || $("islands").contains(document.activeElement)) return; // the focus stays
  listed = key;
  $("islands").replaceChildren(...shown.map((island) => {
    const button = make("button", { className: "quiet", dir: "auto", title: "Select this island" }, island.name, make("span", { className: "soft", textContent: ` ${number(island.documents.length)}` }));
    button.addEventListener("click", () => goTo(island));
    return make("li", {}, button);
  }));
}

// -- for the page --------------------------------------------------------------------

/** Fetch the colors, and first the map: that may take a while. */
export async function show() {
  while (!places) {
    const data = await api.get("map");
    if (data.ready) settle(data);
    else {
      $("map-words").textContent = `Laying out the documents: ${Math.round(data.seconds)} s so far. You can label on meanwhile.`;
      await new Promise((done) => { setTimeout(done, POLL); });
      if ($("view-map").hidden) return;
    }
  }
  $("map-words").textContent = `${number(places.x.length)} documents. Like ones lie together.`;
  await recolor();
  listed = "";
  listIslands();
}

export async function recolor() {
  if (!places) return;
  const data = await api.post("colors", { by: $("map-by").value }, acts.trouble);
  colors = { ...data, answered: new Set(data.answered), hidden: new Set(data.hidden) };
  paint();
  showChosen();
}

export function showLabels(labels) {
  const before = $("map-label").value;
  $("map-label").replaceChildren(make("option", { value: "", textContent: "choose one" }),
    ...labels.map((label) => make("option", { value: label.name, textContent: label.name })));
  $("map-label").value = before;
}

export function listen(given) {
  acts = given;
  const box = canvas();
  box.addEventListener("pointerdown", onDown);
  box.addEventListener("pointermove", onMove);
  box.addEventListener("pointerup", onUp);
  box.addEventListener("pointercancel", onUp);
  box.addEventListener("wheel", (event) => { event.preventDefault(); if (places) zoom(Math.exp(-event.deltaY / 400), ...at(event)); }, { passive: false });
  box.addEventListener("keydown", onKey);
  box.addEventListener("focus", plan);
  box.addEventListener("blur", plan);
  $("map-in").addEventListener("click", () => zoom(1.4));
  $("map-out").addEventListener("click", () => zoom(1 / 1.4));
  $("map-whole").addEventListener("click", whole);
  $("map-lasso").addEventListener("click", () => setLasso(!lassoing()));
  $("map-all").addEventListener("click", () => choose(inView()));
  $("map-clear").addEventListener("click", () => choose([]));
  $("map-by").addEventListener("change", () => recolor().catch(acts.complain));
  $("map-label").addEventListener("change", showChosen);
  $("map-over").addEventListener("change", showChosen);
  $("map-form").addEventListener("submit", (event) => {
    event.preventDefault();
    acts.give({ documents: chosenDocuments(), labels: [$("map-label").value], over: $("map-over").checked });
  });
  new ResizeObserver(plan).observe(box);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { if (colors) paint(); });
}
