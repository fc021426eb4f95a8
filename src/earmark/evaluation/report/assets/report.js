"use strict";
(function () {
  const store = document.getElementById("examples");
  const panel = document.getElementById("documents");
  const element = (name, text, kind) => {
    const made = document.createElement(name);
    made.textContent = text; // never innerHTML: documents are text
    if (kind) made.className = kind;
    return made;
  };
  if (store && panel) {
    const data = JSON.parse(store.textContent);
    const heading = panel.querySelector("h3");
    const list = panel.querySelector(".list");
    const buttons = document.querySelectorAll("button[data-cell]");
    for (const button of buttons) {
      button.addEventListener("click", () => {
        for (const other of buttons) other.removeAttribute("aria-pressed");
        button.setAttribute("aria-pressed", "true");
        const found = (data.cells[button.dataset.cell] || []).map((n) => data.documents[n]);
        heading.textContent = button.title;
        list.replaceChildren();
        for (const item of found) {
          const block = element("div", "", "document");
          const sure = "confidence" in item ? ", confidence " + item.confidence.toFixed(3) : "";
          block.append(element("small", "document " + item.number + sure), element("p", item.text));
          list.append(block);
        }
        const total = Number(button.textContent);
        if (found.length < total) {
          const rest = found.length ? "The first " + found.length + " of " + total + " documents."
            : "Documents of this cell were left out to keep the file small.";
          list.append(element("p", rest, "note"));
        }
        panel.hidden = false;
        panel.scrollIntoView({ block: "nearest", behavior: "smooth" });
      });
    }
  }
  for (const table of document.querySelectorAll("table.sortable")) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      head.addEventListener("click", () => {
        const up = head.getAttribute("aria-sort") !== "ascending";
        const value = (row) => row.cells[column].textContent;
        const rows = [...table.tBodies[0].rows];
        rows.sort((a, b) => head.dataset.sort === "number"
          ? Number(value(a)) - Number(value(b)) : value(a).localeCompare(value(b)));
        if (!up) rows.reverse();
        for (const other of heads) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", up ? "ascending" : "descending");
        table.tBodies[0].append(...rows);
      });
    });
  }
})();
