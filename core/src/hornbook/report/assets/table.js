"use strict";
// Sorting and filtering of what is there already: rows are moved and hidden, never made.
(() => {
  const order = new Intl.Collator("en", { numeric: true });
  const cellOf = (body, column) => body.rows[0].cells[column];
  const textOf = (body, column) => cellOf(body, column).textContent;

  function compare(column, sign) {
    return (one, other) => {
      const [left, right] = [one, other].map((body) => cellOf(body, column).dataset.key);
      if (left !== undefined && right !== undefined) return sign * (left - right);
      // A cell without a number stands last, whichever way the others are sorted.
      if (left !== undefined || right !== undefined) return left === undefined ? 1 : -1;
      return sign * order.compare(textOf(one, column), textOf(other, column));
    };
  }

  function sortBy(table, heading) {
    const sign = heading.getAttribute("aria-sort") === "ascending" ? -1 : 1;
    for (const each of table.tHead.rows[0].cells) each.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", sign === 1 ? "ascending" : "descending");
    table.append(...[...table.tBodies].sort(compare(heading.cellIndex, sign)));
  }

  function makeSortable(table) {
    for (const heading of table.tHead.rows[0].cells) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = heading.textContent;
      button.addEventListener("click", () => sortBy(table, heading));
      heading.replaceChildren(button);
    }
  }

  function labelled(text, control) {
    const label = document.createElement("label");
    label.append(text, control);
    return label;
  }

  function option(text, value) {
    const made = document.createElement("option");
    made.textContent = text;
    made.value = value;
    return made;
  }

  function chooser(table, heading) {
    const column = heading.cellIndex;
    const select = document.createElement("select");
    const words = new Set([...table.tBodies].map((body) => textOf(body, column)));
    select.append(option("all", ""), ...[...words].sort(order.compare).map((word) => option(word, word)));
    return { control: select, keeps: (body) => !select.value || textOf(body, column) === select.value };
  }

  function finder() {
    const input = document.createElement("input");
    input.type = "search";
    const keeps = (body) => body.textContent.toLowerCase().includes(input.value.toLowerCase());
    return { control: input, keeps };
  }

  function makeFilter(region, table) {
    const choices = [...table.tHead.rows[0].cells].filter((each) => each.classList.contains("choice"));
    const parts = [["Find", finder()], ...choices.map((each) => [each.textContent, chooser(table, each)])];
    const told = document.createElement("span");
    told.setAttribute("role", "status");
    const apply = () => {
      const bodies = [...table.tBodies];
      for (const body of bodies) body.hidden = !parts.every(([, part]) => part.keeps(body));
      const shown = bodies.filter((body) => !body.hidden).length;
      told.textContent = shown === bodies.length ? `${shown} rows` : `${shown} of ${bodies.length} rows`;
    };
    const controls = document.createElement("div");
    controls.className = "controls";
    controls.addEventListener("input", apply);
    controls.append(...parts.map(([name, part]) => labelled(name, part.control)), told);
    region.before(controls);
    apply();
  }

  for (const region of document.querySelectorAll("div.table")) {
    const table = region.querySelector("table");
    if (table.tBodies.length < 2) continue;
    makeFilter(region, table);
    makeSortable(table);
  }
})();
