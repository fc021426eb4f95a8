// Runs before a page's own scripts: remembers which elements act on a click.
(() => {
  const add = EventTarget.prototype.addEventListener;
  EventTarget.prototype.addEventListener = function listen(kind, ...rest) {
    if (kind === "click" && this instanceof Element) this.actsOnClick = true;
    return add.call(this, kind, ...rest);
  };
})();
