"use strict";
// Shows one entry at a time: that of the node chosen in the drawing, or linked to.
(() => {
  function enhance(graph) {
    const entries = graph.querySelector(".entries");
    const nodes = [...graph.querySelectorAll(".drawing a")];

    function choose(id) {
      const entry = [...entries.children].find((each) => each.id === id);
      if (!entry) return false;
      for (const each of entries.children) each.toggleAttribute("data-chosen", each === entry);
      for (const node of nodes) {
        if (node.getAttribute("href") === `#${id}`) node.setAttribute("aria-current", "true");
        else node.removeAttribute("aria-current");
      }
      return true;
    }

    function step(event) {
      const by = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
      const next = by && nodes[nodes.indexOf(event.currentTarget) + by];
      if (!next) return;
      event.preventDefault();
      next.focus();
    }

    for (const node of nodes) {
      const id = node.getAttribute("href").slice(1);
      node.addEventListener("click", (event) => {
        // With the whole list open, the link leads into it.
        if (choose(id) && entries.classList.contains("one")) event.preventDefault();
      });
      node.addEventListener("focus", () => choose(id));
      node.addEventListener("keydown", step);
    }

    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "List all steps";
    button.setAttribute("aria-pressed", "false");
    button.addEventListener("click", () => {
      const all = !entries.classList.toggle("one");
      button.setAttribute("aria-pressed", String(all));
    });
    const controls = document.createElement("div");
    controls.className = "controls";
    controls.append(button);
    graph.prepend(controls);

    const follow = () => {
      const id = location.hash.slice(1);
      if (choose(id)) document.getElementById(id).scrollIntoView({ block: "nearest" });
    };
    entries.classList.add("one");
    entries.setAttribute("aria-live", "polite");
    choose(entries.firstElementChild.id);
    follow();
    addEventListener("hashchange", follow);
    // A link that is followed twice changes no hash.
    addEventListener("click", (event) => {
      const link = event.target.closest("a.place");
      if (link) choose(link.getAttribute("href").slice(1));
    });
  }

  for (const graph of document.querySelectorAll(".graph")) enhance(graph);
})();
