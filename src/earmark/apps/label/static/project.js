// The project: guidelines, labels and what became of them, people and agreement.
import { get, person, post } from "./api.js";
import { make, number, percent } from "./base.js";

const $ = (id) => document.getElementById(id);
let data = null;
let owner = null; // whose token it is, where tokens are asked for
let hooks = null;
let onTrouble = () => {};
const HINTS = {
  rename: ["to", "Answers follow the new name."],
  merge: ["into", "Its answers become answers of the other label."],
  split: ["into (a, b, …)", "Documents with this answer are asked about again."],
  delete: ["", "Documents with this answer are asked about again."],
};

export const me = () => (owner === null ? person() : owner);
/** Where two people label the same documents, nobody is nameless. */
export const needsName = () => Boolean(data && data.overlap) && !me();
export const byToken = () => owner !== null;

export async function read() {
  data = await get("project");
  return data;
}

/** Who is here; asks the server, which knows tokens. */
export async function meet() {
  owner = (await read()).me;
  $("me").textContent = me() || "Your name";
  $("me").title = me() ? "You; click to change" : "Give your name, when several people label";
}

const day = (seconds) => (seconds ? new Date(1000 * seconds).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" }) : "never");
const head = (...names) => make("thead", {}, make("tr", {}, ...names.map((name) => make("th", { scope: "col", textContent: name }))));
const row = (...cells) => make("tr", {}, ...cells.map((cell) => make("td", {}, cell)));

function labelRow(label) {
  const field = (name, value, more = {}) => make("input", { type: "text", value, dir: "auto", attrs: { "aria-label": `${name} of ${label.name}` }, ...more });
  const description = field("Description", label.description);
  const group = field("Group", label.group, { className: "group-name" });
  const key = field("Key", label.key, { className: "one-key", maxLength: 1 });
  const save = () => act("describe", { name: label.name, description: description.value, shortcut: key.value.toLowerCase(), group: group.value });
  for (const input of [description, group, key]) input.addEventListener("change", save);
  return row(make("span", { textContent: label.name }), description, group, key);
}

function showChange() {
  const [words, hint] = HINTS[$("change-action").value];
  $("change-into").hidden = !words;
  $("change-words").textContent = words;
  $("change-hint").textContent = hint;
}

function changeLine(change) {
  const words = `${change.action} ${change.old.join(", ")}${change.new.length ? ` → ${change.new.join(", ")}` : ""}`;
  const line = make("li", {}, make("span", { textContent: words }), make("span", { className: "small soft", textContent: ` ${change.person || ""} ${day(change.at)} ${change.undone ? "(taken back)" : ""}` }));
  if (!change.undone) {
    const undo = make("button", { textContent: "Take back", attrs: { "aria-label": `Take back: ${words}` } });
    undo.addEventListener("click", () => act("unchange", { number: change.number }));
    line.append(" ", undo);
  }
  return line;
}

function show() {
  if (document.activeElement !== $("guidelines")) $("guidelines").value = data.guidelines;
  const names = data.labels.map((label) => label.name);
  $("label-table").replaceChildren(head("Label", "Description", "Group", "Key"), make("tbody", {}, ...data.labels.map(labelRow)));
  const old = $("change-old").value;
  $("change-old").replaceChildren(...names.map((name) => make("option", { value: name, textContent: name })));
  if (names.includes(old)) $("change-old").value = old;
  $("label-names").replaceChildren(...names.map((name) => make("option", { value: name })));
  $("people").replaceChildren(head("Name", "Answers", "Last"), make("tbody", {}, ...data.people.map((one) => row(one.name || "(no name)", number(one.answers), day(one.last)))));
  $("agreement-words").textContent = data.twice
    ? `${number(data.twice)} ${data.twice === 1 ? "document was" : "documents were"} answered by two people or more. 1 is perfect agreement, 0 is what chance gives.`
    : data.overlap ? `${number(data.overlap)} documents are asked of two people; none has two answers yet.`
      : "Every document is asked of one person; start with --overlap 0.1 to have a tenth of them labelled twice.";
  const figure = (a) => (a.value === null ? "undefined" : `${a.value.toFixed(2)} (${a.low.toFixed(2)} to ${a.high.toFixed(2)})`);
  $("agreement").replaceChildren(...(data.agreement.length ? [head("Measure", "People", "Value (95 % interval)", "Equal answers", "Documents"),
    make("tbody", {}, ...data.agreement.map((a) => row(a.name, a.people, figure(a), percent(a.observed), number(a.n_documents))))] : []));
  $("to-disputed").hidden = !data.disputed;
  $("to-disputed").textContent = `Settle ${number(data.disputed)} ${data.disputed === 1 ? "disagreement" : "disagreements"}`;
  $("changes").replaceChildren(...(data.changes.length ? data.changes.map(changeLine) : [make("li", { className: "soft", textContent: "No label was renamed, merged, split or deleted." })]));
  showChange();
}

async function act(path, body) {
  try {
    const reply = await post(path, body, onTrouble);
    data = { ...data, ...reply.project };
    show();
    if (reply.state) hooks.changed(reply.state);
    $("saved").textContent = "saved";
  } catch (error) { hooks.complain(error); }
}

export async function load() {
  await read();
  show();
}

export function listen(trouble, given) {
  onTrouble = trouble;
  hooks = given;
  $("guidelines-form").addEventListener("submit", (event) => { event.preventDefault(); act("guidelines", { text: $("guidelines").value }); });
  $("change-action").addEventListener("change", showChange);
  $("to-disputed").addEventListener("click", hooks.disputes);
  $("change-form").addEventListener("submit", (event) => {
    event.preventDefault();
    const action = $("change-action").value;
    const typed = $("change-new").value;
    const into = action === "delete" ? [] : action === "split" ? typed.split(",").map((name) => name.trim()).filter(Boolean) : [typed];
    act("change", { action, old: [$("change-old").value], new: into });
    $("change-new").value = "";
  });
}
