// Looking around: search, filters, suspected errors, confusion.
import { get, post } from "./api.js";
import { make, number, percent, showText, unitSpans } from "./base.js";

const $ = (id) => document.getElementById(id);
let page = 0;
let latest = 0;
let likeDocument = null;
let asked = {};
let settle = null;
const chosen = new Set();
let answered = new Set(); // of the listed page
let counts = { total: 0, answered: 0 };

function choices(select, labels, all) {
  const chosen = select.value;
  select.replaceChildren(make("option", { value: "", textContent: all }),
    ...labels.map((label) => make("option", { value: label.name, textContent: label.name })));
  select.value = chosen;
}

export function showLabels(labels) {
  choices($("by-guess"), labels, "any");
  choices($("by-given"), labels, "any");
  choices($("bulk-label"), labels, "choose one");
}

const newAndChanged = (n, changed) => ($("over").checked
  ? `${number(n - changed)} new, ${number(changed)} would change` : `${number(n - changed)} new`);

function showChosen() {
  const label = $("bulk-label").value;
  const changed = [...chosen].filter((one) => answered.has(one)).length;
  const over = $("over").checked;
  $("n-chosen").textContent = `${number(chosen.size)} selected${changed ? `, ${number(changed)} of them answered` : ""}`;
  $("to-chosen").disabled = !label || chosen.size - (over ? 0 : changed) <= 0;
  $("to-chosen").textContent = chosen.size ? `Apply to selection (${newAndChanged(chosen.size, changed)})` : "Apply to selection";
  $("to-all").disabled = !label || counts.total - (over ? 0 : counts.answered) <= 0;
  $("to-all").textContent = `Apply to all (${newAndChanged(counts.total, counts.answered)})`;
  const boxes = [...document.querySelectorAll("#hits input[type=checkbox]")];
  $("all").checked = boxes.length > 0 && boxes.every((box) => box.checked);
}

/** List documents like one. */
export function like(document, name) {
  likeDocument = document;
  page = 0;
  $("search").value = "";
  $("show").value = "open";
  $("by-guess").value = $("by-given").value = "";
  $("like-words").textContent = `most like ${name} first`;
}

function chip(words, kind) {
  return make("span", { className: `chip ${kind}`, dir: "auto", textContent: words });
}

function hit(line, open) {
  const chips = [];
  if (line.given) chips.push(chip(line.given.join(", ") || "no label", line.how === "bulk" ? "plain" : "good"));
  if (line.given && line.person) chips.push(chip(line.person, "plain"));
  if (line.guess && line.guess.length) {
    const sure = line.confidence === null ? "" : `, ${percent(line.confidence)}`;
    chips.push(chip(`${line.left_out ? "guess without this answer" : "guess"}: ${line.guess.join(", ")}${sure}`, "plain"));
  }
  if (line.hidden) chips.push(chip("reserved as a random check", "plain"));
  if (line.flag) chips.push(chip(`${line.flag.flagged ? "⚑ " : ""}${line.flag.person} ${line.flag.text}`.trim(), "warm"));
  if (line.note) chips.push(chip(line.note, "warm"));
  const snippet = make("p", { className: "snippet", dir: "auto" });
  showText(snippet, line.text || "(empty)", unitSpans(line.text, line.spans));
  const button = make("button", { className: "hit" }, snippet,
    make("p", { className: "row" }, make("span", { className: "small soft", textContent: `row ${line.row}` }), ...chips));
  button.addEventListener("click", () => open(line.document));
  const box = make("input", { type: "checkbox", checked: chosen.has(line.document), attrs: { "aria-label": `Choose row ${line.row}` } });
  box.dataset.document = line.document;
  box.addEventListener("change", () => {
    if (box.checked) chosen.add(line.document); else chosen.delete(line.document);
    showChosen();
  });
  const item = make("li", { className: "line" }, box, button);
  const more = make("div", { className: "row more-line" });
  if (line.said) {
    for (const [who, labels] of Object.entries(line.said)) {
      const one = make("button", { textContent: `${who || "(no name)"} is right: ${labels.join(", ") || "no label"}` });
      one.addEventListener("click", () => settle(line.document, labels));
      more.append(one);
    }
  }
  if (line.note) {
    const keep = make("button", { className: "keep", textContent: "It is right: keep it" });
    keep.addEventListener("click", async () => {
      await post("keep", { document: line.document }, () => {});
      item.remove();
    });
    more.append(keep);
  }
  if (more.children.length) item.append(more);
  return item;
}

export async function list(open, trouble) {
  latest += 1;
  const mine = latest;
  const body = { search: $("search").value, show: $("show").value, sort: $("sort").value, meaning: $("by-what").value === "meaning", page };
  if (likeDocument !== null) body.like = likeDocument;
  if ($("by-guess").value) body.guess = $("by-guess").value;
  if ($("by-given").value) body.given = $("by-given").value;
  const found = await post("browse", body, trouble);
  if (mine !== latest) return;
  asked = body;
  chosen.clear();
  $("like-line").hidden = likeDocument === null;
  $("found").textContent = !found.total ? "No document matches." : `${number(found.total)} ${found.total === 1 ? "document" : "documents"}${found.pages > 1 ? `, page ${found.page + 1} of ${found.pages}` : ""}`;
  $("hits").replaceChildren(...found.documents.map((line) => hit(line, open)));
  answered = new Set(found.documents.filter((line) => line.given && line.how !== "bulk").map((line) => line.document));
  counts = { total: found.total - found.hidden, answered: found.answered };
  showChosen();
  $("page-back").hidden = $("page-forward").hidden = found.pages < 2;
  $("page-back").disabled = page === 0;
  $("page-forward").disabled = page + 1 >= found.pages;
}

export function listen(open, trouble, acts) {
  settle = acts.settle;
  const labels = () => [$("bulk-label").value];
  $("bulk-label").addEventListener("change", () => showChosen());
  $("over").addEventListener("change", () => showChosen());
  $("all").addEventListener("change", () => {
    for (const box of document.querySelectorAll("#hits input[type=checkbox]")) {
      box.checked = $("all").checked;
      if (box.checked) chosen.add(Number(box.dataset.document)); else chosen.delete(Number(box.dataset.document));
    }
    showChosen();
  });
  $("bulk").addEventListener("submit", (event) => { event.preventDefault(); acts.give({ documents: [...chosen], labels: labels(), over: $("over").checked }); });
  $("to-all").addEventListener("click", () => acts.give({ ...asked, page: 0, labels: labels(), over: $("over").checked }));
  const again = () => list(open, trouble);
  const afresh = () => { page = 0; again(); };
  $("like-off").addEventListener("click", () => { likeDocument = null; afresh(); });
  $("filters").addEventListener("submit", (event) => { event.preventDefault(); afresh(); });
  for (const id of ["show", "by-guess", "by-given", "sort", "by-what"]) $(id).addEventListener("change", afresh);
  let timer = 0;
  $("search").addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(afresh, 200); });
  $("page-back").addEventListener("click", () => { page -= 1; again(); });
  $("page-forward").addEventListener("click", () => { page += 1; again(); });
}

/** The pairs that are confused most, before a table that may be large. */
function showWorst(data, choose) {
  const pairs = data.table.flatMap((cells, i) => cells.map((count, j) => ({ count, i, j })))
    .filter((cell) => cell.count && cell.i !== cell.j).sort((a, b) => b.count - a.count).slice(0, 10);
  $("worst").replaceChildren(...(pairs.length ? [make("h3", { textContent: "Most often confused" }),
    make("ul", { className: "worst" }, ...pairs.map(({ count, i, j }) => {
      const button = make("button", { textContent: `${data.labels[i]}, predicted ${data.labels[j]}: ${number(count)}` });
      button.addEventListener("click", () => choose(data.labels[i], data.labels[j]));
      return make("li", {}, button);
    }))] : []));
}

export async function confusion(choose) {
  const data = await get("confusion");
  if (data.any_of) {
    $("confusion").replaceChildren(make("p", { className: "soft", textContent: "With any number of labels per document there is no such table; use Browse." }));
    return;
  }
  $("confusion-words").textContent = data.picked
    ? `${number(data.picked)} of these ${number(data.total)} documents were picked because they are hard: the share of agreement here is below the accuracy. For that, see the estimate from random checks.` : "";
  showWorst(data, choose);
  const head = make("tr", {}, make("td"), ...data.labels.map((name) => make("th", { scope: "col", textContent: name, title: name })));
  const rows = data.table.map((cells, i) => make("tr", {}, make("th", { scope: "row", textContent: data.labels[i], title: data.labels[i] }),
    ...cells.map((count, j) => {
      if (!count) return make("td", {}, make("span", { className: "none", textContent: "·" }));
      const button = make("button", { className: i === j ? "right" : "wrong", textContent: number(count),
        attrs: { "aria-label": `${count} answered ${data.labels[i]}, guessed ${data.labels[j]}` } });
      button.addEventListener("click", () => choose(data.labels[i], data.labels[j]));
      return make("td", {}, button);
    })));
  $("confusion").replaceChildren(make("table", { className: "matrix" }, make("thead", {}, head), make("tbody", {}, ...rows)));
}

export function choose(given, guess) {
  page = 0;
  likeDocument = null;
  $("search").value = "";
  $("show").value = "answered";
  $("by-given").value = given;
  $("by-guess").value = guess;
}
