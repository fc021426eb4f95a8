// What accessibility checkers look for, in short.
() => {
  const problems = [];
  const visible = (e) => e.checkVisibility({ visibilityProperty: true, opacityProperty: true })
    && e.getClientRects().length > 0 && getComputedStyle(e).clipPath === "none";
  const parse = (c) => {
    const m = c.match(/[\d.]+%?/g).map((v) => v.endsWith("%") ? parseFloat(v) / 100 : parseFloat(v));
    const unit = c.startsWith("color(") ? 255 : 1;
    return [m[0] * unit, m[1] * unit, m[2] * unit, m.length > 3 ? m[3] : 1];
  };
  const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3])).concat(1);
  const background = (e) => {
    const layers = [];
    for (let at = e; at; at = at.parentElement) layers.push(parse(getComputedStyle(at).backgroundColor));
    return layers.reverse().reduce((below, top) => over(top, below), [255, 255, 255, 1]);
  };
  const light = (c) => {
    const [r, g, b] = c.slice(0, 3).map((v) => v / 255).map((v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ratio = (a, b) => {
    const [x, y] = [light(a), light(b)].sort((p, q) => q - p);
    return (x + 0.05) / (y + 0.05);
  };
  for (const e of document.querySelectorAll("body *")) {
    const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
    if (!own || !visible(e) || e.closest(":disabled") || e.closest("svg") || ["SCRIPT", "STYLE", "OPTION"].includes(e.tagName)) continue;
    if (e.closest("[aria-hidden=true]")) continue;
    const style = getComputedStyle(e);
    const back = background(e);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    const found = ratio(over(parse(style.color), back), back);
    if (found < (large ? 3 : 4.5)) problems.push(`contrast ${found.toFixed(2)}: ${e.tagName} ${e.className} "${e.textContent.slice(0, 30)}"`);
  }
  const name = (e) => (e.getAttribute("aria-label") || (e.labels && [...e.labels].map((l) => l.textContent).join(" ")) || e.textContent || "").trim();
  for (const e of document.querySelectorAll("input, select, textarea")) if (visible(e) && !name(e)) problems.push(`no label: ${e.outerHTML.slice(0, 80)}`);
  for (const e of document.querySelectorAll("button, a[href], summary")) if (visible(e) && !name(e)) problems.push(`no name: ${e.outerHTML.slice(0, 80)}`);
  for (const e of document.querySelectorAll("svg, img")) if (visible(e) && !e.getAttribute("aria-hidden") && !e.getAttribute("aria-label") && !e.alt) problems.push(`no text: ${e.outerHTML.slice(0, 60)}`);
  for (const e of document.querySelectorAll("[aria-labelledby]")) for (const id of e.getAttribute("aria-labelledby").split(" ")) if (!document.getElementById(id)) problems.push(`dangling ${id}`);
  const ids = [...document.querySelectorAll("[id]")].map((e) => e.id);
  for (const id of new Set(ids)) if (ids.filter((one) => one === id).length > 1) problems.push(`twice: ${id}`);
  if (!document.documentElement.lang) problems.push("no language");
  if (!document.title) problems.push("no title");
  if ([...document.querySelectorAll("main")].filter(visible).length !== 1) problems.push("not one main");
  if (document.querySelectorAll("h1").length !== 1) problems.push("not one h1");
  if (document.documentElement.scrollWidth > innerWidth) problems.push(`wider than the window: ${document.documentElement.scrollWidth}`);
  if ([...document.querySelectorAll("[onclick], script:not([src])")].length) problems.push("inline script");
  return problems;
}
