// Who has the focus, and whether one can see it.
() => {
  const e = document.activeElement;
  const style = getComputedStyle(e);
  const ring = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
  return [e === document.body ? null : e.id || e.textContent.trim().slice(0, 20) || e.tagName, ring];
}
