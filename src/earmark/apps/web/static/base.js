// Small helpers that the pages of earmark share.

/** An element with properties, attributes (by `attrs`) and children. */
export function make(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  const { attrs = {}, ...rest } = props;
  Object.assign(element, rest);
  for (const [name, value] of Object.entries(attrs)) element.setAttribute(name, value);
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

export const percent = (share, digits = 0) => `${(100 * share).toFixed(digits)} %`;
export const number = (value) => value.toLocaleString("en-US");

/** Text into `target`, with marks on spans [start, end, weight -1..1]; never as HTML. */
export function showText(target, text, spans) {
  const pieces = [];
  let place = 0;
  for (const [start, end, weight] of spans) {
    if (start < place || end > text.length) continue;
    pieces.push(text.slice(place, start));
    const level = Math.min(4, Math.max(1, Math.ceil(4 * Math.abs(weight))));
    pieces.push(make("mark", { className: weight < 0 ? "against" : `m${level}`, textContent: text.slice(start, end) }));
    place = end;
  }
  pieces.push(text.slice(place));
  target.replaceChildren(...pieces);
}

/** Python counts code points, JavaScript 16-bit units: spans in the latter. */
export function unitSpans(text, spans) {
  if (!/[\ud800-\udbff]/.test(text)) return spans;
  const found = [];
  let points = 0;
  let units = 0;
  let at = 0;
  const seek = (wanted) => {
    while (points < wanted && units < text.length) {
      units += text.codePointAt(units) > 0xffff ? 2 : 1;
      points += 1;
    }
    return units;
  };
  for (; at < spans.length; at += 1) {
    const [start, end, weight] = spans[at];
    found.push([seek(start), seek(end), weight]);
  }
  return found;
}

/** Bars of [name, share] pairs. */
export function scoreBars(scores) {
  const box = make("div", { className: "scores" });
  for (const [name, share] of scores) {
    const bar = make("i");
    bar.style.width = percent(share, 1).replace(" ", "");
    box.append(
      make("span", { className: "name", textContent: name, title: name }),
      make("span", { className: "meter", attrs: { "aria-hidden": "true" } }, bar),
      make("span", { className: "value", textContent: percent(share, share > 0.995 || share < 0.005 ? 1 : 0) }),
    );
  }
  return box;
}
