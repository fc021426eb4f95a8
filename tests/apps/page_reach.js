// What a person can operate now; each gets a number, to see whether Tab comes by.
() => {
  const root = document.querySelector("dialog[open]") || document;
  const named = "a[href], button, input, select, textarea, summary";
  const shown = (e) => e.checkVisibility({ visibilityProperty: true }) && e.getClientRects().length > 0;
  const all = [...root.querySelectorAll("*")].filter((e) => (e.matches(named) || e.actsOnClick) && shown(e) && !e.disabled);
  all.forEach((e, at) => { e.reach = at; });
  return all.map((e) => `${e.tagName.toLowerCase()} ${e.id || e.textContent.trim().slice(0, 30) || e.getAttribute("aria-label")}`);
}
