// A CSV file that is dropped on the page comes back labelled; it is read here.
import { make, number } from "./base.js";

const $ = (id) => document.getElementById(id);

/** Rows of a CSV text: quotes, doubled quotes, line ends inside quotes. */
export function parseCsv(text) {
  const separator = [",", ";", "\t"].map((one) => [text.split("\n", 1)[0].split(one).length, one]).sort((a, b) => b[0] - a[0])[0][1];
  const rows = [];
  let row = [];
  let cell = "";
  let quoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const one = text[at];
    if (quoted) {
      if (one === '"' && text[at + 1] === '"') { cell += one; at += 1; }
      else if (one === '"') quoted = false;
      else cell += one;
    } else if (one === '"' && !cell) quoted = true;
    else if (one === separator) { row.push(cell); cell = ""; }
    else if (one === "\n") { row.push(cell.replace(/\r$/, "")); rows.push(row); row = []; cell = ""; }
    else cell += one;
  }
  if (quoted) throw new Error(`A quote that is opened in row ${rows.length + 1} is never closed.`);
  if (cell || row.length) { row.push(cell.replace(/\r$/, "")); rows.push(row); }
  const filled = rows.filter((cells) => cells.length > 1 || cells[0]);
  if (!filled.length) throw new Error("The file has no rows.");
  const odd = filled.findIndex((cells) => cells.length !== filled[0].length);
  if (odd > 0) throw new Error(`Row ${odd + 1} has ${filled[odd].length} fields, the first row has ${filled[0].length}.`);
  return filled;
}

/** The text of a file in UTF-8; nothing in it is replaced. */
async function textOf(file) {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
  } catch {
    throw new Error(`${file.name} is not text in UTF-8. Save it as UTF-8, or use earmark predict.`);
  }
}

const quoted = (value) => (/[",\n\r]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);
export const writeCsv = (rows) => `${rows.map((row) => row.map((value) => quoted(String(value))).join(",")).join("\n")}\n`;

/** A name for a new column that no column of the file has. */
export function free(name, head) {
  for (let n = 1; ; n += 1) {
    const one = n === 1 ? name : `${name}_${n}`;
    if (!head.includes(one)) return one;
  }
}

export function listenForFiles({ model, ask, complain }) {
  let table = null;
  let name = "";

  async function take(file) {
    table = null;
    $("label-file").hidden = true;
    $("file-words").textContent = "";
    complain(null);
    table = parseCsv(await textOf(file));
    name = file.name;
    const [head] = table;
    const longest = head.map((_, at) => Math.max(...table.slice(1, 50).map((row) => (row[at] || "").length), 0));
    $("column").replaceChildren(...head.map((title, at) => make("option", { value: at, textContent: title || `column ${at + 1}` })));
    $("column").value = longest.indexOf(Math.max(...longest));
    const byRegion = !model().takes_texts;
    $("column").hidden = $("column-label").hidden = byRegion;
    $("label-file").hidden = table.length < 2;
    $("file-words").textContent = `${number(Math.max(table.length - 1, 0))} rows`;
  }

  function body(rows, head) {
    if (model().takes_texts) return { texts: rows.map((row) => row[Number($("column").value)] || "") };
    const places = model().regions.map((region) => [region, head.indexOf(region)]);
    const missing = places.filter(([, at]) => at < 0).map(([region]) => region);
    if (missing.length) throw new Error(`The file has no column ${missing.join(", ")}.`);
    return { documents: rows.map((row) => Object.fromEntries(places.map(([region, at]) => [region, row[at] || ""]))) };
  }

  async function work() {
    const [head, ...rows] = table;
    const done = [[...head, free("label", head), free("confidence", head)]];
    const step = Math.min(model().limits.documents, 500);
    for (let start = 0; start < rows.length; start += step) {
      const part = rows.slice(start, start + step);
      const { results } = await ask(body(part, head));
      part.forEach((row, at) => {
        const { label, confidence } = results[at];
        const filled = head.map((_, column) => row[column] || "");
        done.push([...filled, label === null ? "" : Array.isArray(label) ? label.join("; ") : label, confidence === null ? "" : confidence.toFixed(4)]);
      });
      $("file-words").textContent = `${number(Math.min(start + step, rows.length))} of ${number(rows.length)} rows`;
    }
    const url = URL.createObjectURL(new Blob([writeCsv(done)], { type: "text/csv" }));
    make("a", { href: url, download: name.replace(/(\.csv)?$/i, ".labelled.csv") }).click();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
  }

  const failed = (error) => complain(error);
  // The same file again, after it was mended, is a change too.
  $("file").addEventListener("click", () => { $("file").value = ""; });
  $("file").addEventListener("change", () => { if ($("file").files.length) take($("file").files[0]).catch(failed); });
  $("label-file").addEventListener("click", () => { complain(null); work().catch(failed); });
  $("drop").addEventListener("dragover", (event) => { event.preventDefault(); $("drop").classList.add("over"); });
  $("drop").addEventListener("dragleave", () => $("drop").classList.remove("over"));
  $("drop").addEventListener("drop", (event) => {
    event.preventDefault();
    $("drop").classList.remove("over");
    if (event.dataTransfer.files.length) take(event.dataTransfer.files[0]).catch(failed);
  });
}
