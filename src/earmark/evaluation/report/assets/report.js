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
  const data = store ? JSON.parse(store.textContent) : {};
  const share = (part, whole) => (whole ? (100 * part / whole).toFixed(1) : "0.0") + " %";
  const slider = document.getElementById("slider");
  if (slider && data.curve) {
    const curve = data.curve;
    const input = document.getElementById("threshold");
    const show = () => {
      const at = curve.threshold.length - 1 - Number(input.value);
      const answered = curve.answered[at];
      const wrong = answered - curve.right[at];
      document.getElementById("threshold-value").textContent = curve.threshold[at].toFixed(3);
      document.getElementById("threshold-words").textContent = share(answered, curve.documents) + " answered, "
        + share(curve.right[at], answered) + " of them right: " + wrong.toLocaleString("en-US") + " wrong answers, "
        + (curve.documents - answered).toLocaleString("en-US") + " documents left to a person.";
    };
    input.max = String(curve.threshold.length - 1);
    input.value = "0";
    input.addEventListener("input", show);
    slider.hidden = false;
    show();
  }
  const download = document.getElementById("download");
  if (download && data.predictions) {
    const quoted = (text) => "\"" + text.replaceAll("\"", "\"\"") + "\"";
    download.hidden = false;
    download.addEventListener("click", () => {
      const [truth, said, sure] = data.predictions;
      const name = (at) => (at < 0 ? "" : quoted(data.classes[at]));
      const lines = truth.map((at, n) => [data.rows ? data.rows[n] : n + 1, name(at), name(said[n]), sure ? sure[n] : ""].join(","));
      const blob = new Blob(["row,label,predicted,confidence\n" + lines.join("\n") + "\n"], { type: "text/csv" });
      const link = document.createElement("a");
      link.href = URL.createObjectURL(blob);
      link.download = "predictions.csv";
      link.click();
    });
  }
  if (panel && data.cells) {
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
          const text = element("p", item.text);
          text.tabIndex = 0; // long ones scroll
          block.append(element("small", "row " + item.number + sure), text);
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
      head.tabIndex = 0;
      head.addEventListener("keydown", (event) => { if (event.key === "Enter") head.click(); });
      head.addEventListener("click", () => {
        const up = head.getAttribute("aria-sort") !== "ascending";
        const value = (row) => row.cells[column].dataset.value || row.cells[column].textContent;
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
