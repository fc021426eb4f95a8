// The page to try a served model on.
import { make, percent, scoreBars, showText } from "./base.js";

const $ = (id) => document.getElementById(id);
let model = null;

function headers() {
  const token = $("token").value;
  return { "Content-Type": "application/json", ...(token ? { Authorization: `Bearer ${token}` } : {}) };
}

async function ask(path, body) {
  const options = body ? { method: "POST", body: JSON.stringify(body) } : {};
  const reply = await fetch(path, { ...options, headers: headers() });
  const data = await reply.json();
  if (reply.status === 401) $("token-option").hidden = false;
  if (!reply.ok) throw new Error(data.detail);
  return data;
}

function complain(error) {
  $("notice").textContent = error ? String(error.message || error) : "";
  $("notice").hidden = !error;
}

async function meet() {
  model = await ask("/model");
  $("model").textContent = `${model.model} · ${model.labels.length} labels`;
  $("error-option").hidden = !model.can_abstain;
  $("about").textContent = model.summary;
  const fields = model.regions.map((name, at) => make("div", { className: "field" },
    make("label", { textContent: model.takes_texts ? "A text to classify" : name, htmlFor: `text-${at}` }),
    make("textarea", { id: `text-${at}`, rows: at === model.regions.length - 1 ? 6 : 2, required: at === 0 && model.takes_texts, maxLength: model.limits.text_characters })));
  $("fields").replaceChildren(...fields);
  $("text-0").focus();
}

function wordSpans(text, terms) {
  const weight = new Map(terms.map((term) => [term.term, term.contribution]));
  const largest = Math.max(...terms.map((term) => Math.abs(term.contribution)), 1e-12);
  const spans = [];
  for (const word of text.matchAll(/[\p{L}\p{N}_]+/gu)) {
    const value = weight.get(word[0].toLowerCase());
    if (value && Math.abs(value) > 0.08 * largest) spans.push([word.index, word.index + word[0].length, value / largest]);
  }
  return spans;
}

function termTable(explanation) {
  const rows = explanation.terms.slice(0, 10).map((t) => [t.region ? `${t.region}: ${t.term}` : t.term, t.contribution]);
  const hidden = explanation.terms.slice(10).reduce((sum, t) => sum + t.contribution, explanation.rest);
  if (explanation.terms.length > 10) rows.push(["all other words", hidden]);
  for (const [name, value] of Object.entries(explanation.constants)) rows.push([`(${name})`, value]);
  const largest = Math.max(...rows.map((row) => Math.abs(row[1])), 1e-12);
  const against = explanation.runner_up === null ? "" : ` over ${explanation.runner_up}`;
  const table = make("table", { className: "terms" },
    make("caption", { className: "visually-hidden", textContent: `What speaks for ${explanation.label}${against}` }));
  for (const [name, value] of rows) {
    const bar = make("span", { className: `pull ${value < 0 ? "against-bar" : "for"}` });
    bar.style.width = `${Math.max(1, 100 * Math.abs(value) / largest)}%`;
    table.append(make("tr", {}, make("th", { scope: "row", textContent: name }), make("td", {}, bar),
      make("td", { textContent: (value < 0 ? "−" : "+") + Math.abs(value).toFixed(2) })));
  }
  return table;
}

function show(result, texts) {
  const label = Array.isArray(result.label) ? result.label.join(", ") || "no label" : result.label;
  $("label").textContent = result.abstained ? "I don't know" : String(label);
  const foreign = "novelty" in result && result.novelty <= (model.max_novelty || 0.05);
  $("sure").textContent = `${percent(result.confidence, 1)} sure${foreign ? "; unlike the training documents" : ""}`;
  $("scores").replaceChildren(scoreBars(Object.entries(result.scores)));
  $("why").hidden = !result.explanation;
  if (result.explanation) {
    const text = texts.join("\n\n");
    showText($("text"), text, wordSpans(text, result.explanation.terms));
    $("terms").replaceChildren(termTable(result.explanation));
    $("note").textContent = result.explanation.note || "";
  }
  $("answer").hidden = false;
}

async function classify() {
  if (!model) await meet();
  const texts = model.regions.map((_, at) => $(`text-${at}`).value);
  const asked = model.takes_texts ? { texts } : { documents: [Object.fromEntries(model.regions.map((name, at) => [name, texts[at]]))] };
  const wanted = $("max-error").value;
  const body = { ...asked, top_k: 6, explain: model.can_explain, ...(wanted ? { max_error: Number(wanted) } : {}) };
  const data = await ask("/classify", body);
  show(data.results[0], texts);
}

$("form").addEventListener("submit", (event) => {
  event.preventDefault();
  complain(null);
  classify().catch(complain);
});
$("form").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) $("form").requestSubmit();
});
$("token").addEventListener("change", () => meet().then(() => complain(null), complain));
meet().catch(complain);
