// Read a model that `earmark export` wrote, and answer: JavaScript, nothing else.
// In a page: new Model(await (await fetch("model.json")).json()).predict("a text")

// What Python takes as letters and digits, and as spaces.
const WORD = /[\p{L}\p{N}_]+/gu;
const SPACE = "\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
const WORD_OR_MARK = new RegExp(`[\\p{L}\\p{N}_]+|[^\\p{L}\\p{N}_${SPACE}]`, "gu");
const SPACES = new RegExp(`[${SPACE}]+`, "u");
const RUNS = new RegExp(`[${SPACE}]{2,}`, "gu");

const TF = {
  raw: (n) => n,
  binary: () => 1,
  sublinear: (n) => 1 + Math.log(n),
  logarithm: (n) => 1 + Math.log10(n),
};

// Every stretch of low to high items.
function stretches(items, low, high, glue) {
  const all = [];
  for (let n = low; n <= Math.min(high, items.length); n++)
    for (let k = 0; k + n <= items.length; k++) all.push(items.slice(k, k + n).join(glue));
  return all;
}

function termsOf(text, block) {
  const [low, high] = block.ngram_range;
  if (block.lowercase) text = text.toLowerCase();
  if (block.analyzer === "char") return stretches([...text.replace(RUNS, " ")], low, high, "");
  if (block.analyzer === "char_wb") {
    const terms = [];
    for (const word of text.split(SPACES)) {
      if (word === "") continue;
      const padded = [" ", ...word, " "];
      for (let n = low; n <= high; n++) {
        const last = Math.max(padded.length - n, 0);
        for (let k = 0; k <= last; k++) terms.push(padded.slice(k, k + n).join(""));
        if (last === 0) break;
      }
    }
    return terms;
  }
  const words = (text.match(block.analyzer === "word" ? WORD : WORD_OR_MARK) ?? []).filter(
    (word) => [...word].length >= block.min_length && !block.stop.has(word),
  );
  return stretches(words, low, high, " ");
}

function termScores(text, block, scores) {
  const counts = new Map();
  let unknown = 0;
  let known = 0;
  for (const term of termsOf(text, block)) {
    const column = block.columns.get(term);
    if (column === undefined) unknown++;
    else {
      known++;
      counts.set(column, (counts.get(column) ?? 0) + 1);
    }
  }
  const row = [...counts].map(([c, n]) => [c, TF[block.tf](n) * (block.idf ? block.idf[c] : 1)]);
  let length = 1;
  if (block.norm === "l1") length = row.reduce((sum, [, x]) => sum + x, 0);
  if (block.norm === "l2")
    length = Math.sqrt(row.reduce((sum, [, x]) => sum + x * x, block.unknown * unknown));
  for (const [c, x] of row)
    block.weights[c].forEach((weight, k) => (scores[k] += (x / length) * weight));
  return known;
}

function linesOf(text, block) {
  const places = [];
  for (const token of text.toLowerCase().match(WORD_OR_MARK) ?? []) {
    if (block.words.has(token)) {
      places.push(block.words.get(token));
      continue;
    }
    const letters = [...token];
    let at = 0;
    while (at < letters.length) {
      let end = letters.length;
      let line;
      for (; end > at; end--) {
        line = block.pieces.get((at ? "##" : "") + letters.slice(at, end).join(""));
        if (line !== undefined) break;
      }
      if (line !== undefined) places.push(line);
      at = line === undefined ? at + 1 : end;
    }
  }
  return places;
}

function vectorScores(text, block, scores) {
  const width = block.mean.length;
  const total = new Float64Array(width);
  for (const line of linesOf(text, block))
    for (let d = 0; d < width; d++) total[d] += block.scale[line] * block.table[line * width + d];
  const length = Math.sqrt(total.reduce((sum, x) => sum + x * x, 0));
  if (length === 0) return;
  block.weights.forEach((weights, d) =>
    weights.forEach((weight, k) => (scores[k] += (total[d] / length - block.mean[d]) * weight)),
  );
}

export class Model {
  constructor(model) {
    if (model.format !== "earmark-json" || model.version !== 1) throw new Error("another format");
    this.model = model;
    for (const block of model.blocks) {
      if (block.kind === "terms") {
        block.stop = new Set(block.stop_words);
        block.columns = new Map(block.terms.map((term, column) => [term, column]));
      } else {
        const lines = block.lines.map((line, k) => [line, k]);
        block.words = new Map(lines.slice(0, block.n_words));
        block.pieces = new Map(lines.slice(block.n_words));
        block.table = Int8Array.from(atob(block.vectors), (byte) => byte.charCodeAt(0));
      }
    }
  }

  // A score for each class; a document is a text, or an object of its regions.
  scores(document) {
    const { regions, offset, empty, blocks } = this.model;
    const texts = typeof document === "string" ? { [regions[0]]: document } : document;
    const joined = regions.map((name) => texts[name] ?? "").join("\n");
    const total = [...offset];
    let known = 0;
    for (const block of blocks) {
      const text = block.region === null ? joined : (texts[block.region] ?? "");
      if (block.kind === "vectors") vectorScores(text, block, total);
      else known += termScores(text, block, total);
    }
    return empty !== null && known === 0 ? empty : total;
  }

  // The probability of each class, in the order of `model.classes`.
  probabilities(document) {
    const scores = this.scores(document).map((score) => score / this.model.temperature);
    const best = Math.max(...scores);
    const powers = scores.map((score) => Math.exp(score - best));
    const sum = powers.reduce((a, b) => a + b, 0);
    return powers.map((power) => power / sum);
  }

  predict(document) {
    const scores = this.scores(document);
    return this.model.classes[scores.indexOf(Math.max(...scores))];
  }
}

// node earmark_model.mjs model.json < documents.jsonl: a document on each line, as JSON.
if (typeof process !== "undefined" && process.argv?.[1]?.endsWith("earmark_model.mjs")) {
  const { readFileSync } = await import("node:fs");
  const model = new Model(JSON.parse(readFileSync(process.argv[2], "utf8")));
  for (const line of readFileSync(0, "utf8").split("\n").filter(Boolean)) {
    const document = JSON.parse(line);
    const answer = { label: model.predict(document), scores: model.scores(document) };
    console.log(JSON.stringify(answer));
  }
}
