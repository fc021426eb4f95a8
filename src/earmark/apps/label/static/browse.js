// Looking around: search, filters, suspected errors, confusion.
import { get, post } from "./api.js";
import { make, number, percent } from "./base.js";

const $ = (id) => document.getElementById(id);
let page = 0;
let latest = 0;

function choices(select, labels, all) {
  const chosen = select.value;
  select.replaceChildren(make("option", { value: "", textContent: all }),
    ...labels.map((label) => make("option", { value: label.name, textContent: label.name })));
  select.value = chosen;
}

export function showLabels(labels) {
  choices($("by-guess"), labels, "any");
  choices($("by-given"), labels, "any");
}

function chip(words, kind) {
  return make("span", { className: `chip ${kind}`, textContent: words });
}

function hit(line, open) {
  const chips = [];
  if (line.given) chips.push(chip(line.given.join(", ") || "no label", line.how === "bulk" ? "plain" : "good"));
  if (line.guess && line.guess.length) chips.push(chip(`guess: ${line.guess.join(", ")}, ${percent(line.confidence)}`, "plain"));
  if (line.hidden) chips.push(chip("kept for a random check", "plain"));
  if (line.note) chips.push(chip(line.note, "warm"));
  const button = make("button", { className: "hit" },
    make("p", { className: "snippet", textContent: line.text || "(empty)" }),
    make("p", { className: "row" }, make("span", { className: "small soft", textContent: `row ${line.row}` }), ...chips));
  button.addEventListener("click", () => open(line.document));
  if (!line.note) return make("li", {}, button);
  const keep = make("button", { className: "keep", textContent: "It is right: keep it" });
  const item = make("li", {}, button, keep);
  keep.addEventListener("click", async () => {
    await post("keep", { document: line.document }, () => {});
    item.remove();
  });
  return item;
}

export async function list(open, trouble) {
  latest += 1;
  const mine = latest;
  const body = { search: $("search").value, show: $("show").value, page };
  if ($("by-guess").value) body.guess = $("by-guess").value;
  if ($("by-given").value) body.given = $("by-given").value;
  const found = await post("browse", body, trouble);
  if (mine !== latest) return;
  $("found").textContent = `${number(found.total)} ${found.total === 1 ? "document" : "documents"}${found.pages > 1 ? `, page ${found.page + 1} of ${found.pages}` : ""}`;
  $("hits").replaceChildren(...found.documents.map((line) => hit(line, open)));
  $("page-back").hidden = $("page-forward").hidden = found.pages < 2;
  $("page-back").disabled = page === 0;
  $("page-forward").disabled = page + 1 >= found.pages;
}

export function listen(open, trouble) {
  const again = () => list(open, trouble);
  const afresh = () => { page = 0; again(); };
  $("filters").addEventListener("submit", (event) => { event.preventDefault(); afresh(); });
  for (const id of ["show", "by-guess", "by-given"]) $(id).addEventListener("change", afresh);
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
  $("search").value = "";
  $("show").value = "answered";
  $("by-given").value = given;
  $("by-guess").value = guess;
}
