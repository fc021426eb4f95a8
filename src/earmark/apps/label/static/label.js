// The labelling page: keyboard first. The document is never put in as HTML.
import * as api from "./api.js";
import { make, percent, scoreBars, showText, unitSpans } from "./base.js";
import * as browsing from "./browse.js";
import * as map from "./map.js";
import * as project from "./project.js";
import { showState } from "./side.js";

const $ = (id) => document.getElementById(id);
const LONG = 20000;
const MANY_LABELS = 9; // more than there are keys: a box to find them by typing
const FEW_RECENT = 5;
const TOO_SOON = 200; // ms after a new document: a click then was meant for the one before
const ALIVE = 10000; // ms: so often the page says that it is there
const WHY = {
  check: "random check", audit: "check of a guess", uncertain: "the model is unsure", typical: "stands for many",
  second: "asked of two people", random: "random", undone: "undone", chosen: "chosen by you", seen: "seen before",
};
let state = null;
let shown = null;
let chosen = new Set();
let recent = [];
let history = [];
let place = -1;
let busy = false;
let arrivedAt = 0;

function trouble(there, why = "No connection to earmark.") {
  $("notice").hidden = !there;
  $("notice").textContent = there ? `${why} Your answer is kept and sent again; nothing is lost.` : "";
  $("saved").textContent = there ? "waiting" : "";
}

function complain(error) {
  if (error instanceof api.Unknown) { askWho(true); return; }
  $("notice").hidden = false;
  $("notice").textContent = String(error.message || error);
}

function calm() { $("notice").hidden = true; }

// -- the document -----------------------------------------------------------------

function partElements(part) {
  const box = make("p", { className: "part", dir: "auto" });
  const spans = unitSpans(part.text, part.spans);
  const elements = part.name ? [make("h3", { textContent: part.name }), box] : [box];
  if (part.text.length <= LONG) {
    showText(box, part.text, spans);
    if (!part.text) box.textContent = "(empty)";
    return elements;
  }
  showText(box, part.text.slice(0, LONG), spans.filter((span) => span[1] <= LONG));
  const more = make("button", { className: "more", textContent: `Show all ${part.text.length.toLocaleString("en-US")} characters` });
  more.addEventListener("click", () => { showText(box, part.text, spans); more.remove(); });
  return [...elements, more];
}

function showDocument(data) {
  const isNew = !shown || !data || shown.document !== data.document;
  shown = data;
  if (isNew) arrivedAt = performance.now();
  chosen = new Set(data && data.given ? data.given : []);
  const paper = $("document");
  if (!data) {
    paper.replaceChildren(make("p", { className: "done", textContent: "Every document is answered. Export the labels or a model at the top right." }));
    $("document-name").textContent = "Done";
    $("why").hidden = $("given").hidden = $("dispute").hidden = true;
    showNotes(null);
    showGuess(null);
    showButtons();
    return;
  }
  paper.replaceChildren(...data.parts.flatMap(partElements));
  if (isNew) {
    paper.scrollTop = 0;
    const top = $("paper").getBoundingClientRect().top;
    if (top < 0) window.scrollBy(0, top); // on a phone the answers are below the text
  }
  $("document-name").textContent = data.id === null ? `Row ${data.row}` : data.id;
  $("why").hidden = false;
  $("why").textContent = (WHY[data.why] || data.why) + (data.unlike ? "; unlike anything so far" : "");
  if (data.twice && data.why !== "second") $("why").textContent += "; asked of two people";
  $("why").classList.toggle("warm", data.why === "check" || data.why === "audit" || data.twice);
  $("given").hidden = data.given === null && data.how === null;
  $("given").textContent = data.given === null ? "skipped" : `${data.how === "bulk" ? "accepted" : "answered"}: ${data.given.join(", ") || "no label"}`;
  $("dispute").hidden = !data.said;
  if (data.said) {
    $("dispute").textContent = `${Object.entries(data.said).map(([who, labels]) => `${who || "(no name)"}: ${labels.join(", ") || "no label"}`).join(" · ")}. Your answer settles it.`;
  }
  showNotes(data);
  showGuess(data);
  showButtons();
  mark(false);
}

function showNotes(data) {
  const notes = data ? data.notes : [];
  const mine = notes.find((note) => note.person === project.me());
  $("flag").setAttribute("aria-pressed", Boolean(mine && mine.flagged));
  $("flag").disabled = $("note-button").disabled = $("like").disabled = !data;
  $("note").value = mine ? mine.text : "";
  $("notes").hidden = !notes.length;
  $("notes").replaceChildren(...notes.map((note) => make("li", { dir: "auto", textContent: `${note.person || "you"}${note.flagged ? " ⚑" : ""}: ${note.text || "flagged"}` })));
}

function openNote(there) {
  $("note-box").hidden = !there;
  $("note-button").setAttribute("aria-expanded", there);
  if (there) $("note").focus();
}

const isFlagged = () => $("flag").getAttribute("aria-pressed") === "true";

async function saveNote(flagged) {
  const data = await api.post("note", { document: shown.document, text: $("note").value, flagged }, trouble);
  shown.notes = data.notes;
  showNotes(shown);
  $("saved").textContent = "note saved";
}

const keep = (flagged) => act(() => saveNote(flagged));

/** What was typed and not saved is saved before the document is left. */
async function keepTyped() {
  if (!shown) return;
  const mine = shown.notes.find((note) => note.person === project.me());
  if ($("note").value.trim() !== (mine ? mine.text : "")) await saveNote(isFlagged());
  openNote(false);
}

function showGuess(data) {
  const guess = data && data.guess;
  const line = $("guess");
  line.classList.toggle("hidden-guess", !guess);
  $("scores").replaceChildren();
  if (guess) {
    const words = guess.labels.join(", ") || "no label";
    line.replaceChildren(make("bdi", { textContent: words }), guess.confidence === null ? ", by the names of the labels alone; how sure is unknown" : `, ${percent(guess.confidence)} sure`);
    if (guess.confidence !== null) $("scores").append(scoreBars(guess.scores.slice(0, 4)));
  } else if (data && data.said) {
    line.textContent = "Hidden while two answers are compared.";
  } else if (data && data.hidden) {
    line.textContent = data.twice ? "Hidden: two people answer this one, each by themselves."
      : "Hidden: this is a random check, and the estimate should not be swayed by what the model says.";
  } else {
    line.textContent = data ? "No guess yet: label at least two different classes." : "";
  }
}

/** Labels that hold every piece that is typed: those with words that begin so first. */
function matches() {
  const all = state ? state.labels : [];
  const typed = $("find").value.toLowerCase().split(/\s+/).filter(Boolean);
  if (!typed.length) return all;
  const found = all.filter((label) => typed.every((piece) => label.name.toLowerCase().includes(piece)));
  const begins = (label) => typed.every((piece) => label.name.toLowerCase().split(/[^\p{L}\p{N}]+/u).some((word) => word.startsWith(piece)));
  return [...found.filter(begins), ...found.filter((label) => !begins(label))];
}

const likely = () => (shown && shown.guess ? shown.guess.scores.map(([name]) => name) : []);

/** Which key gives which label: those that people set; digits for the first others, or of many for the likely ones. */
function keysOfLabels() {
  const keys = new Map(state.labels.filter((label) => label.key).map((label) => [label.key, label.name]));
  const free = [..."123456789"].filter((digit) => !keys.has(digit));
  const without = state.labels.filter((label) => !label.key).map((label) => label.name);
  const first = state.labels.length > MANY_LABELS ? [...likely(), ...recent].filter((name) => without.includes(name)) : [];
  for (const name of new Set([...first, ...without])) if (free.length) keys.set(free.shift(), name);
  return keys;
}

/** A key by what is printed on it; by its place where the layout has no such character. */
function keyOf(event) {
  if (event.getModifierState("CapsLock") && event.key.length === 1) return event.key.toLowerCase();
  const place = /^(?:Digit|Numpad|Key)([0-9A-Z])$/.exec(event.code || "");
  const isForeign = event.key.length === 1 && event.key.charCodeAt(0) > 127;
  const isDigit = place && place[1] <= "9" && event.key.length === 1 && !event.shiftKey;
  return place && (isForeign || isDigit) ? place[1].toLowerCase() : event.key;
}

/** Likely and recent labels first, the rest by their groups or else the beginning of their names. */
function grouped(labels) {
  if ($("find").value.trim() || labels.length <= MANY_LABELS) return [["", labels]];
  const byName = new Map(labels.map((label) => [label.name, label]));
  const take = (names) => names.map((name) => byName.get(name)).filter((label) => label && byName.delete(label.name));
  const groups = [["Likely", take(likely())], ["Recent", take(recent)]];
  const rest = [...byName.values()];
  const prefix = (name) => (name.match(/^(.+?)\s*(?:[/:.>|]|::|__)\s*\S/u) || [])[1] || "";
  const sizes = new Map();
  for (const label of rest) sizes.set(prefix(label.name), (sizes.get(prefix(label.name)) || 0) + 1);
  const group = (label) => label.group || (sizes.get(prefix(label.name)) > 1 ? prefix(label.name) : "");
  const names = [...new Set(rest.map(group))].sort((a, b) => (a === "") - (b === "") || a.localeCompare(b));
  const others = groups.some(([, some]) => some.length) || names.length > 1 ? "Other labels" : "";
  for (const name of names) groups.push([name || others, rest.filter((label) => group(label) === name)]);
  return groups.filter(([, some]) => some.length);
}

function labelButton(label, key, guessed) {
  const words = make("span", { className: "name", dir: "auto" }, make("span", { textContent: label.name }));
  if (label.description && state.labels.length <= MANY_LABELS) words.append(make("span", { className: "small soft about", textContent: label.description }));
  const button = make("button", { disabled: !shown, className: guessed ? "guessed" : "", title: label.description || label.name },
    make("kbd", { textContent: key || "·", attrs: key ? {} : { "aria-hidden": "true" } }), words,
    make("span", { className: "count", textContent: label.count, attrs: { "aria-hidden": "true" } }));
  button.setAttribute("aria-label", `${label.name}${key ? `, key ${key}` : ""}, ${label.count} ${label.count === 1 ? "answer" : "answers"}`);
  button.setAttribute("aria-pressed", chosen.has(label.name));
  button.dataset.label = label.name;
  button.addEventListener("click", unlessTooSoon(() => pick(label.name)));
  return button;
}

function showButtons() {
  const guessed = shown && shown.guess ? shown.guess.labels : [];
  const labels = matches();
  $("find-box").hidden = !state || state.labels.length <= MANY_LABELS;
  $("no-match").hidden = !state || !state.labels.length || labels.length > 0;
  $("labels").classList.toggle("many", labels.length > MANY_LABELS);
  const keys = new Map(state ? [...keysOfLabels()].map(([key, name]) => [name, key]) : []);
  $("labels").replaceChildren(...grouped(labels).flatMap(([name, some]) => [
    ...(name ? [make("h3", { className: "group", textContent: name })] : []),
    ...some.map((label) => labelButton(label, keys.get(label.name), guessed.includes(label.name)))]));
  const first = $("labels").querySelector(".guessed");
  if (first && labels.length > MANY_LABELS) $("labels").scrollTop = 0;
  $("confirm").hidden = !(state && state.any_of);
  $("confirm").disabled = $("skip").disabled = !shown;
  $("back").disabled = place <= 0;
  $("forward").disabled = !shown;
}

/** The second click of a double click is not meant for the next document. */
function unlessTooSoon(work) {
  return (event) => { if (performance.now() - arrivedAt > TOO_SOON || !event || !event.detail) work(event); };
}

// -- acting ------------------------------------------------------------------------

async function act(work) {
  if (busy) return;
  busy = true;
  try {
    calm();
    await work();
  } catch (error) {
    complain(error);
  } finally {
    busy = false;
  }
}

function take(data) {
  if (data.state) showNewState(data.state);
  if (data.document !== undefined) arrive(data.document);
}

function arrive(data) {
  if (data && history[history.length - 1] !== data.document) history.push(data.document);
  place = history.length - 1;
  showDocument(data);
}

function showNewState(data) {
  const names = (some) => some.labels.map((label) => label.name).join("\n");
  const renamed = !state || names(data) !== names(state);
  state = data;
  showState(state);
  if (renamed) { browsing.showLabels(state.labels); map.showLabels(state.labels); }
  if (state.learning) follow();
}

function pick(name) {
  if (!shown) return;
  if (state.any_of) {
    if (!chosen.delete(name)) chosen.add(name);
    showButtons();
    return;
  }
  const button = [...$("labels").children].find((one) => one.dataset.label === name);
  if (button) button.classList.add("flash");
  give([name]);
}

function give(labels) {
  act(async () => {
    const past = place < history.length - 1;
    const revisit = past || shown.why === "chosen";
    const how = shown.said ? "settled" : revisit ? "browse" : "asked";
    if (labels) recent = [...new Set([...labels, ...recent])].slice(0, FEW_RECENT);
    await keepTyped();
    take(await api.answer(shown.document, labels, how, trouble));
    $("saved").textContent = labels === null ? "skipped" : "saved";
    if (how !== "asked") await step(1);
  });
}

function confirm() {
  if (!shown) return;
  if (state.any_of) give([...chosen]);
  else if (shown.guess) give(shown.guess.labels);
}

const undo = () => act(async () => {
  await keepTyped();
  const data = await api.post("undo", {}, trouble);
  $("saved").textContent = data.undone ? `undone: ${data.undone === 1 ? "1 answer" : `${data.undone} answers`}` : "nothing to undo";
  if (data.undone === 1) history = history.filter((one) => one !== data.document.document);
  take(data);
  await relist();
});

/** Show again what is looked at: answers have changed. */
async function relist() {
  if (!$("view-browse").hidden) await browsing.list(open, trouble);
  if (!$("view-map").hidden) await map.recolor();
}

async function step(by) {
  const next = place + by;
  if (next < 0) return;
  await keepTyped();
  if (next < history.length - 1) {
    const data = await api.post("document", { document: history[next] }, trouble);
    place = next;
    showDocument({ ...data.document, why: "seen" });
    return;
  }
  if (history[history.length - 1] === (shown && shown.document) && shown.why !== "chosen") return;
  take(await api.post("next", {}, trouble));
}

const move = (by) => act(() => step(by));

let following = false;
async function follow() {
  if (following) return;
  following = true;
  while (state.learning) {
    await new Promise((done) => { setTimeout(done, 250); });
    try {
      state = await api.get("state");
      showState(state);
    } catch { break; }
  }
  following = false;
  if (!$("view-map").hidden) map.recolor().catch(complain);
  if (shown && !shown.guess && !shown.hidden && state.version > 1) refreshGuess();
}

async function refreshGuess() {
  const { document } = (await api.post("document", { document: shown.document }, trouble));
  if (shown && document.document === shown.document && document.guess && !chosen.size) showDocument({ ...document, why: shown.why });
}

// -- views ---------------------------------------------------------------------------

const VIEWS = ["label", "browse", "map", "confusion", "project"];

const viewNow = () => VIEWS.find((name) => !$(`view-${name}`).hidden);

/** The address of what is shown: a view, or a document. Only a choice of the person is a step for the back button. */
function mark(isStep) {
  const view = viewNow();
  const hash = view === "label" ? (shown ? `#document/${shown.document}` : "#label") : `#${view}`;
  if (hash === location.hash) return;
  if (isStep) window.history.pushState(null, "", hash); else window.history.replaceState(null, "", hash);
}

/** Show what an address names, without a new step. */
async function followAddress() {
  const [view, number] = location.hash.slice(1).split("/");
  if (view === "document" && /^\d+$/.test(number || "")) {
    if (!shown || shown.document !== Number(number)) await openDocument(Number(number));
    show("label", false);
  } else show(VIEWS.includes(view) ? view : "label", false);
}

function show(view, isStep = true) {
  $("saved").textContent = "";
  for (const name of VIEWS) {
    $(`view-${name}`).hidden = name !== view;
    if (name === view) $(`tab-${name}`).setAttribute("aria-current", "page");
    else $(`tab-${name}`).removeAttribute("aria-current");
  }
  mark(isStep);
  if (view === "browse") browsing.list(open, trouble).catch(complain);
  if (view === "map") map.show().catch(complain);
  if (view === "project") project.load().catch(complain);
  if (view === "label" && shown) refreshLabels();
  if (view === "confusion") browsing.confusion((given, guess) => { browsing.choose(given, guess); show("browse"); }).catch(complain);
}

const refreshLabels = () => api.get("state").then((data) => { showNewState(data); showButtons(); }, () => {});

/** Say who one is: by name here, by token elsewhere. */
function askWho(byToken, isNeeded = false) {
  $("who-words").textContent = byToken ? "Give the token that you were invited with." : `Your name stands beside your answers.${isNeeded ? " Some documents are labelled by two people, so everyone needs a name." : ""}`;
  $("who-label").textContent = byToken ? "Token" : "Your name";
  $("who-name").type = byToken ? "password" : "text";
  $("who-name").value = byToken ? "" : api.person();
  $("who-form").onsubmit = () => {
    const value = $("who-name").value.trim();
    if (isNeeded && !value) { window.setTimeout(() => askWho(false, true)); return; }
    if (byToken) api.useToken(value);
    else api.be(value.slice(0, 60));
    history = [];
    $("document").focus(); // not the button: Enter agrees with a guess
    begin().catch(complain);
  };
  $("who").oncancel = (event) => { if (isNeeded) event.preventDefault(); };
  if (!$("who").open) $("who").showModal();
}

async function readGuidelines() {
  const data = await project.read();
  $("guide-text").textContent = data.guidelines || "There are none yet: write them under Project.";
  $("guide-labels").replaceChildren(...data.labels.filter((label) => label.description).flatMap((label) => [
    make("dt", { textContent: label.name }), make("dd", { textContent: label.description })]));
  $("guide").showModal();
}

const likeThis = () => { if (shown) { browsing.like(shown.document, $("document-name").textContent); show("browse"); } };

async function openDocument(document) {
  await keepTyped();
  showDocument((await api.post("document", { document }, trouble)).document);
}

const open = (document) => act(async () => {
  const data = await api.post("document", { document }, trouble);
  await keepTyped();
  for (const name of VIEWS) $(`view-${name}`).hidden = name !== "label";
  window.history.pushState(null, "", `#document/${document}`);
  showDocument(data.document);
  show("label", false);
  $("document").focus();
});

function addLabel(event) {
  event.preventDefault();
  act(async () => {
    const name = $("new-label").value;
    if (!name.trim()) return;
    showNewState((await api.post("label", { name }, trouble)).state);
    $("new-label").value = "";
    $("new-label").blur();
    showButtons();
  });
}

const acceptAll = () => act(async () => {
  const data = await api.accept(trouble);
  $("saved").textContent = `${data.accepted} guesses accepted; u undoes`;
  showNewState(data.state);
});

const audit = () => act(async () => take(await api.post("audit", { begin: $("audit").dataset.begin === "yes" }, trouble)));

const bulk = (body) => act(async () => {
  const data = await api.many(body, trouble);
  const rest = [[data.answered, "already answered"], [data.left_out, "reserved as random checks"]].filter(([n]) => n);
  $("saved").textContent = `${data.given} labelled${rest.map(([n, why]) => `; ${n} ${why}`).join("")}; u undoes`;
  showNewState(data.state);
  await relist();
});

const settle = (document, labels) => act(async () => {
  showNewState((await api.answer(document, labels, "settled", trouble)).state);
  $("saved").textContent = "settled; u undoes";
  await browsing.list(open, trouble);
});

/** Download by hand, so that a refusal is a sentence and not a broken file. */
function download(event) {
  event.preventDefault();
  const link = event.currentTarget;
  $("export").open = false;
  act(async () => {
    $("saved").textContent = "preparing the file";
    const reply = await api.file(link.href);
    if (!reply.ok) {
      $("saved").textContent = "";
      throw new Error((await reply.json()).detail);
    }
    const url = URL.createObjectURL(await reply.blob());
    make("a", { href: url, download: new URL(link.href).pathname.split("/").pop() }).click();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
    $("saved").textContent = "exported";
  });
}

function scroll(event) {
  const paper = $("document");
  const page = 0.9 * paper.clientHeight;
  const by = { ArrowDown: 48, ArrowUp: -48, PageDown: page, PageUp: -page, " ": event.shiftKey ? -page : page };
  if (event.key === "Home") paper.scrollTop = 0;
  else if (event.key === "End") paper.scrollTop = paper.scrollHeight;
  else if (event.key in by) paper.scrollTop += by[event.key];
  else return false;
  return true;
}

function onFind(event) {
  if (event.key === "Enter") {
    event.preventDefault();
    const [label] = matches();
    if (!label) return;
    $("find").value = "";
    if (!state.any_of) $("find").blur();
    showButtons();
    pick(label.name);
  } else if (event.key === "Escape") {
    $("find").value = "";
    showButtons();
  }
}

const KEYS = {
  u: undo,
  s: () => { if (shown) give(null); },
  n: () => $("new-label").focus(),
  m: () => { if (shown) openNote($("note-box").hidden); },
  x: () => { if (shown) keep(!isFlagged()); },
  l: likeThis,
  g: () => readGuidelines().catch(complain),
  f: () => { if (!$("find-box").hidden) $("find").focus(); },
  "/": () => { show("browse"); $("search").focus(); },
  "?": () => $("help").showModal(),
  ArrowLeft: () => move(-1),
  ArrowRight: () => move(1),
  Enter: confirm,
};

function onKey(event) {
  if (event.key === "Escape") {
    $("export").open = false;
    if (!document.querySelector("dialog[open]")) { document.activeElement.blur(); show("label"); }
    return;
  }
  const typing = event.target.closest("input, select, textarea, dialog");
  if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
  const labelling = !$("view-label").hidden;
  const onButton = event.target.closest("button, a, summary") && ["Enter", " "].includes(event.key);
  if (event.repeat && (onButton || event.key === "Enter")) { event.preventDefault(); return; }
  if (onButton) return;
  const key = keyOf(event);
  if (!labelling && !["/", "?", "u", "g"].includes(key)) return;
  if (labelling && scroll(event)) { event.preventDefault(); return; }
  if (event.repeat && !key.startsWith("Arrow")) { event.preventDefault(); return; } // a held key is one answer
  const label = labelling && state && keysOfLabels().get(key);
  if (label) {
    pick(label);
  } else if (KEYS[key]) {
    KEYS[key]();
  } else return;
  event.preventDefault();
}

/** Tell the server that this tab is there: what it shows stays its own. Brings what others did. */
async function sayAlive() {
  try {
    const data = await api.once("alive", {});
    if (!busy) showNewState(data.state);
  } catch { /* the next one, or the next answer, will tell */ }
}

async function begin() {
  await project.meet(api.person());
  if (project.needsName()) { askWho(false, true); return; }
  await api.sendPending(trouble);
  const address = location.hash;
  take(await api.post("next", {}, trouble));
  // Where nothing is left to ask, the address is as it was, but the view may not be.
  if (address) {
    window.history.replaceState(null, "", address);
    await followAddress();
  }
}

document.addEventListener("keydown", onKey);
window.addEventListener("pagehide", api.release);
window.addEventListener("popstate", () => followAddress().catch(complain));
setInterval(sayAlive, ALIVE);
$("find").addEventListener("input", showButtons);
$("find").addEventListener("keydown", onFind);
$("new-form").addEventListener("submit", addLabel);
$("confirm").addEventListener("click", unlessTooSoon(confirm));
$("undo").addEventListener("click", undo);
$("skip").addEventListener("click", unlessTooSoon(KEYS.s));
$("back").addEventListener("click", KEYS.ArrowLeft);
$("forward").addEventListener("click", KEYS.ArrowRight);
$("accept").addEventListener("click", acceptAll);
$("audit").addEventListener("click", audit);
$("like").addEventListener("click", likeThis);
$("flag").addEventListener("click", KEYS.x);
$("note-button").addEventListener("click", KEYS.m);
$("note-box").addEventListener("submit", (event) => { event.preventDefault(); keep(isFlagged()); openNote(false); });
$("me").addEventListener("click", () => askWho(project.byToken()));
$("guide-button").addEventListener("click", KEYS.g);
$("help-button").addEventListener("click", KEYS["?"]);
for (const name of VIEWS) $(`tab-${name}`).addEventListener("click", () => show(name));
for (const link of document.querySelectorAll("#export a")) link.addEventListener("click", download);
browsing.listen(open, trouble, { give: bulk, settle });
map.listen({ open, trouble, complain, give: bulk });
project.listen(trouble, { complain, changed: showNewState, disputes: () => { browsing.choose("", ""); $("show").value = "disputed"; show("browse"); } });
begin().catch(complain);
