"use strict";
// Tells the style sheets that scripts run; without it the page stands as it was written.
document.documentElement.dataset.script = "on";
// What is folded would be missing on paper.
addEventListener("beforeprint", () => {
  for (const each of document.querySelectorAll("details:not([open])")) {
    each.open = true;
    each.dataset.printed = "";
  }
});
addEventListener("afterprint", () => {
  for (const each of document.querySelectorAll("details[data-printed]")) {
    each.open = false;
    delete each.dataset.printed;
  }
});
