// The frame: the token, the four views and the way between them.
import { h, fill } from "./dom.js";
import { get, post } from "./api.js";
import { flow } from "./flow.js";
import { journey } from "./journey.js";
import { totals } from "./totals.js";
import { quarantine } from "./quarantine.js";

const views = [
  { name: "flow", label: "Flow", show: flow },
  { name: "journey", label: "Journey", show: journey },
  { name: "totals", label: "Totals", show: totals },
  { name: "quarantine", label: "Quarantine", show: quarantine },
];

const main = document.getElementById("main");
let leave = null; // ends the view that is shown

async function start() {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (token) {
    history.replaceState(null, "", location.pathname + "#flow"); // the token is in no history
    await post("session", { token });
  }
  const about = await get("about");
  document.title = about.name + " · Ingot console";
  fill(document.getElementById("where"), h("strong", {}, about.name), about.live ? h("span", { class: "live" }, "live") : null);
  fill(document.getElementById("footer"), about.place, about.write ? "" : " · read only");
  fill(document.getElementById("views"), views.map((view) => h("li", {}, h("a", { href: "#" + view.name, id: "to-" + view.name }, view.label))));
  document.getElementById("skip").addEventListener("click", (event) => {
    event.preventDefault();
    main.focus();
  });
  addEventListener("hashchange", () => show(about, true));
  show(about, false);
}

function show(about, moved) {
  const [name, query] = location.hash.slice(1).split("?");
  const view = views.find((one) => one.name === name) || views[0];
  for (const one of views) {
    const link = document.getElementById("to-" + one.name);
    if (one === view) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  if (leave) leave();
  fill(main);
  main.dataset.view = view.name;
  leave = view.show(main, about, new URLSearchParams(query || "")) || null;
  if (moved) main.focus({ preventScroll: true });
  scrollTo(0, 0);
}

start().catch((err) => {
  fill(main, h("div", { class: "empty" },
    h("h1", {}, err.status === 401 ? "This page needs its token" : "The console cannot be shown"),
    h("p", {}, err.status === 401 ? "Open the address that the command printed when it started. It has the token after the #." : err.message)));
});
