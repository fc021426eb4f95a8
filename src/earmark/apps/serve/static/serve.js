// The page to try a served model on.
import { make, percent, scoreBars, showText } from "./base.js";
import { listenForFiles } from "./files.js";

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

const which = () => ($("which").value ? `?model=${encodeURIComponent($("which").value)}` : "");

async function meet() {
  model = await ask(`/model${which()}`);
  $("model").textContent = `${model.name} · ${model.model} · ${model.labels.length} labels`;
  $("model-option").hidden = model.names.length < 2;
  if (!$("which").options.length && model.names.length > 1) $("which").replaceChildren(...model.names.map((name) => make("option", { value: name, textContent: name })));
  $("error-option").hidden = !model.can_abstain;
  $("about").textContent = model.summary;
  $("labels").textContent = `Labels: ${model.labels.slice(0, 60).join(", ")}${model.labels.length > 60 ? ", …" : ""}`;
  $("wrong").hidden = !model.feedback || model.several_labels;
  $("right-label").replaceChildren(...model.labels.map((label, at) => make("option", { value: at, textContent: label })));
  $("samples").hidden = !model.samples.length;
  $("samples").replaceChildren($("samples").firstElementChild, ...model.samples.map((text) => {
    const button = make("button", { type: "button", className: "sample", textContent: text });
    button.addEventListener("click", () => { $("text-0").value = text; $("form").requestSubmit(); });
    return button;
  }));
  const fields = model.regions.map((name, at) => make("div", { className: "field" },
    make("label", { textContent: model.takes_texts ? "A text to classify" : name, htmlFor: `text-${at}` }),
    make("textarea", { id: `text-${at}`, rows: at === model.regions.length - 1 ? 6 : 2, required: at === 0 && model.takes_texts, maxLength: model.limits.text_characters })));
  if ($("fields").children.length !== fields.length) $("fields").replaceChildren(...fields);
  showSnippets();
  $("text-0").focus();
}

const texts = () => model.regions.map((_, at) => $(`text-${at}`).value);
const asked = (values) => (model.takes_texts ? { texts: values } : { documents: [Object.fromEntries(model.regions.map((name, at) => [name, values[at]]))] });

/** How a program asks the same. */
function showSnippets() {
  const body = asked(texts().map((text) => text || "a text"));
  const json = JSON.stringify(body);
  const url = `${location.origin}/classify${which()}`;
  const token = $("token").value ? " \\\n  -H 'Authorization: Bearer TOKEN'" : "";
  $("curl").textContent = `curl -s ${url} \\\n  -H 'Content-Type: application/json'${token} \\\n  -d '${json.replaceAll("'", "'\\''")}'`;
  const python = json.replace(/\btrue\b/g, "True");
  $("python").textContent = `import json, urllib.request\n\nbody = json.dumps(${python}).encode()\nrequest = urllib.request.Request("${url}", body, {"Content-Type": "application/json"${token ? ', "Authorization": "Bearer TOKEN"' : ""}})\nprint(json.load(urllib.request.urlopen(request))["results"])`;
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
  const rival = explanation.runner_up === null ? "" : ` rather than ${explanation.runner_up}`;
  $("why-head").textContent = `The words for ${explanation.label}${rival}`;
  const table = make("table", { className: "terms" },
    make("caption", { className: "visually-hidden", textContent: `What speaks for ${explanation.label}${rival}` }));
  for (const [name, value] of rows) {
    const bar = make("span", { className: `pull ${value < 0 ? "against-bar" : "for"}` });
    const share = Math.max(1, 50 * Math.abs(value) / largest);
    bar.style.width = `${share}%`;
    bar.style.marginLeft = `${value < 0 ? 50 - share : 50}%`;
    table.append(make("tr", {}, make("th", { scope: "row", textContent: name }), make("td", {}, bar),
      make("td", { textContent: (value < 0 ? "−" : "+") + Math.abs(value).toFixed(2) })));
  }
  return table;
}

function show(result, values) {
  const label = Array.isArray(result.label) ? result.label.join(", ") || "no label" : result.label;
  const [best] = Object.keys(result.scores);
  $("label").textContent = result.abstained ? "I don't know" : String(label);
  const foreign = "novelty" in result && result.novelty <= (model.max_novelty || 0.05);
  const sure = percent(result.confidence, 1);
  $("sure").textContent = `${result.abstained ? `at best ${best}, ${sure}: not sure enough` : `${sure} sure`}${foreign ? "; unlike the training documents" : ""}`;
  $("scores").replaceChildren(scoreBars(Object.entries(result.scores)));
  $("thanks").textContent = "";
  $("why").hidden = !result.explanation;
  if (result.explanation) {
    const text = values.join("\n\n");
    showText($("text"), text, wordSpans(text, result.explanation.terms));
    $("terms").replaceChildren(termTable(result.explanation));
    $("note").textContent = result.explanation.note || "";
  }
  $("answer").hidden = false;
}

/** What the other models say, beside the one that was asked. */
async function showOthers(values) {
  const others = model.names.filter((name) => name !== model.name);
  const lines = await Promise.all(others.map(async (name) => {
    const data = await ask(`/classify?model=${encodeURIComponent(name)}`, asked(values));
    const [result] = data.results;
    return make("p", {}, make("strong", { textContent: `${name}: ` }), `${result.abstained ? "I don't know" : result.label}, ${percent(result.confidence, 1)}`);
  }));
  $("others").replaceChildren(...lines);
}

async function classify() {
  if (!model) await meet();
  const values = texts();
  if (!values.some((text) => text.trim())) { $("answer").hidden = true; return; }
  const wanted = $("max-error").value;
  const body = { ...asked(values), top_k: 6, explain: model.can_explain, ...(wanted ? { max_error: Number(wanted) } : {}) };
  const data = await ask(`/classify${which()}`, body);
  show(data.results[0], values);
  showSnippets();
  if (model.names.length > 1) await showOthers(values);
}

$("wrong").addEventListener("submit", (event) => {
  event.preventDefault();
  const body = { ...asked(texts()), labels: [model.labels[Number($("right-label").value)]] };
  ask(`/feedback${which()}`, body).then(() => { $("thanks").textContent = "noted, thank you"; }, complain);
});
$("which").addEventListener("change", () => meet().then(() => complain(null), complain));
$("fields").addEventListener("input", showSnippets);
listenForFiles({ model: () => model, ask: (body) => ask(`/classify${which()}`, body), complain });
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
