// Progress, estimate, promise and learning curve.
import { number, percent } from "./base.js";

const $ = (id) => document.getElementById(id);
const NS = "http://www.w3.org/2000/svg";

function shape(tag, attrs, text) {
  const element = document.createElementNS(NS, tag);
  for (const [name, value] of Object.entries(attrs)) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

function showInterval(estimate) {
  const track = shape("line", { class: "track", x1: 3, x2: 197, y1: 8, y2: 8 });
  const place = (share) => 3 + 194 * share;
  const shapes = [track];
  if (estimate.accuracy !== null) {
    shapes.push(shape("line", { class: "band", x1: place(estimate.low), x2: place(estimate.high), y1: 8, y2: 8 }));
    shapes.push(shape("ellipse", { class: "point", cx: place(estimate.accuracy), cy: 8, rx: 4, ry: 5 }));
  }
  $("interval").replaceChildren(...shapes);
}

function showCurve(all) {
  const points = all.filter((p) => p.n_checks >= 3); // fewer say nothing
  const box = $("curve");
  const left = 36, right = 254, top = 8, bottom = 108;
  const most = Math.max(20, ...points.map((p) => p.n_answers));
  const x = (n) => left + (right - left) * n / most;
  const y = (share) => bottom - (bottom - top) * share;
  const shapes = [0, 0.5, 1].flatMap((share) => [
    shape("line", { class: "grid", x1: left, x2: right, y1: y(share), y2: y(share) }),
    shape("text", { x: left - 5, y: y(share) + 3, "text-anchor": "end" }, percent(share)),
  ]);
  shapes.push(shape("text", { x: left, y: bottom + 14 }, "0"));
  shapes.push(shape("text", { x: right, y: bottom + 14, "text-anchor": "end" }, `${number(most)} answers`));
  if (points.length) {
    const up = points.map((p) => `${x(p.n_answers)},${y(p.high)}`);
    const down = points.map((p) => `${x(p.n_answers)},${y(p.low)}`).reverse();
    shapes.push(shape("polygon", { class: "band", points: [...up, ...down].join(" ") }));
    shapes.push(shape("polyline", { class: "line", points: points.map((p) => `${x(p.n_answers)},${y(p.accuracy)}`).join(" ") }));
    if (points.some((p) => p.coverage)) {
      shapes.push(shape("polyline", { class: "cover", points: points.map((p) => `${x(p.n_answers)},${y(p.coverage)}`).join(" ") }));
    }
    $("curve-words").hidden = !points.some((p) => p.coverage);
    const last = points[points.length - 1];
    box.setAttribute("aria-label", `Estimated accuracy ${percent(last.accuracy)} after ${last.n_answers} answers, between ${percent(last.low)} and ${percent(last.high)}`);
  }
  box.replaceChildren(...shapes);
}

export function showState(state) {
  const done = state.answered + state.skipped + state.accepted;
  $("source").textContent = state.source.split(/[\\/]/).pop() || state.source;
  $("source").title = state.source;
  $("answered").textContent = number(state.answered);
  $("of").textContent = `of ${number(state.documents)}`;
  $("progress-bar").style.width = `${100 * done / state.documents}%`;
  const more = [];
  if (state.accepted) more.push(`${number(state.accepted)} guesses accepted`);
  if (state.disputed) more.push(`${number(state.disputed)} in dispute`);
  if (state.skipped) more.push(`${number(state.skipped)} skipped`);
  $("progress-words").textContent = more.join(", ");
  $("progress-words").hidden = !more.length;
  $("advice").textContent = state.advice;
  const estimate = state.estimate;
  $("accuracy").textContent = estimate.accuracy === null ? "–" : percent(estimate.accuracy);
  $("estimate-words").textContent = estimate.accuracy === null
    ? "Known after the first random checks."
    : `between ${percent(estimate.low)} and ${percent(estimate.high)}, from ${estimate.checks} random ${estimate.checks === 1 ? "check" : "checks"} the model has not learned from`
      + (estimate.waiting ? `; ${number(estimate.waiting)} more count once earlier ones are answered` : "");
  $("model-words").textContent = state.model + (state.fitting ? " A full fit is under way." : "");
  showInterval(estimate);
  const promise = state.promise;
  $("coverage").textContent = percent(promise.coverage);
  $("coverage-bar").style.width = `${100 * promise.coverage}%`;
  $("promise-words").textContent = promise.words;
  $("accept").hidden = !promise.acceptable;
  $("accept").textContent = `Accept ${number(promise.acceptable)} sure guesses`;
  $("audit").hidden = !promise.can_audit && !promise.auditing;
  $("audit").textContent = promise.auditing ? "Stop checking, learn on" : "Check now";
  $("audit").dataset.begin = promise.auditing ? "" : "yes";
  showCurve(state.curve);
}
