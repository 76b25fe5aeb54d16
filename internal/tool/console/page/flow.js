// What goes through the pipeline: in dev each second, on a stack each minute.
import { h, fill, keep, table, wrapping, count, time, moment, verdict, say, plural } from "./dom.js";
import { get, post } from "./api.js";
import { chart, key } from "./chart.js";

// drawn adds up the messages of one line of the chart.
function drawn(verdicts, data, line) {
  const names = verdicts.filter((one) => one.line === line).map((one) => one.name);
  return data.at.map((_, i) => names.reduce((all, name) => all + value(data.series[name], i), 0));
}

const lines = [
  { label: "messages", color: "blue", fill: true },
  { label: "stored", color: "green" },
  { label: "duplicates", color: "gold" },
  { label: "quarantined", color: "red" },
];

export function flow(main, about) {
  let ended = false;
  let timer = 0;
  const live = about.live;
  const asOf = h("p", { class: "asof" });
  const stations = station(about.verdicts);
  const problem = h("p", { class: "problem", hidden: true });
  const drawing = chart({ label: "Messages over time", series: lines, format: live ? "second" : "minute" });
  const sums = verdictTable(about.verdicts);
  const costs = stepTable(live);
  const hot = hottest();
  const recent = live ? recentTable() : null;
  const first = live ? firstEvent(about) : null;
  fill(main,
    h("div", { class: "title" }, h("h1", {}, "Flow"), asOf),
    problem, first, stations.element,
    h("section", { class: "card", "aria-label": "Messages over time" },
      h("div", { class: "cardhead" }, h("h2", {}, live ? "Messages a second" : "Messages a minute"), key(lines)), drawing.element),
    h("div", { class: "two" },
      h("section", { class: "card", "aria-label": "Verdicts" }, h("h2", {}, "Verdicts"), sums.element),
      h("section", { class: "card", "aria-label": "Requests and units" }, h("h2", {}, "Requests and units"), costs.element,
        h("p", { class: "hint" }, live ? "Counted by the services' own rules. Here they cost nothing. The queue counts what receives and deletes ten messages at once." : "As the functions counted them."))),
    hot.element,
    live ? laboratory(about) : h("p", { class: "hint" }, "To compare every total with the events, run ingot verify. Its price depends on the size of the tables."),
    recent ? h("section", { class: "card", "aria-label": "Latest messages" }, h("h2", {}, "Latest messages"), recent.element) : null);

  async function poll() {
    clearTimeout(timer);
    if (ended || document.hidden) return;
    let next = 5;
    try {
      const data = await get("flow");
      if (ended) return;
      next = data.poll;
      problem.hidden = !data.missing;
      keep(problem, data.missing || "");
      keep(asOf, live ? "the last two minutes" : "as of " + moment(data.asOf) + " UTC · the last hour, one point a minute");
      stations.set(data, live);
      const s = data.series;
      const [stored, again, held] = ["stored", "duplicates", "quarantined"].map((line) => drawn(about.verdicts, data, line));
      drawing.set([data.at, data.at.map((_, i) => value(s.received, i)), stored, again, held],
        `Messages over time: ${count(sum(s.received))} messages, ${count(sum(stored))} stored, ${count(sum(again))} duplicates, ${count(sum(held))} quarantined.`);
      sums.set(s);
      costs.set(s);
      hot.set(data.hot || []);
      if (recent) recent.set(data.recent);
      if (first) first.hidden = data.recent.length > 0;
    } catch (err) {
      if (ended) return;
      problem.hidden = false;
      keep(problem, err.message);
    }
    if (!ended) timer = setTimeout(poll, next * 1000);
  }
  const shown = () => { if (!document.hidden) poll(); };
  document.addEventListener("visibilitychange", shown);
  poll();
  return () => {
    ended = true;
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", shown);
    drawing.end();
  };
}

// hottest lists the partitions to which writes were refused, if there are any.
function hottest() {
  const list = h("ul", {});
  const element = h("section", { class: "card", "aria-label": "Hot partitions", hidden: true }, h("h2", {}, "Hot partitions of the last hour"), list);
  return {
    element,
    set(lines) {
      element.hidden = lines.length === 0;
      fill(list, ...lines.map((line) => h("li", {}, line)));
    },
  };
}

// firstEvent says how to send one, as long as nothing has arrived.
function firstEvent(about) {
  const type = about.types.find((one) => !one.part);
  return h("section", { class: "card", "aria-label": "The first event", hidden: true },
    h("h2", {}, "Nothing has arrived yet"),
    h("p", { class: "hint" }, "Send an event from another terminal, in the folder of pipeline.yaml:"),
    h("pre", { tabindex: "0", "aria-label": "Command" }, "ingot send --local " + (type ? "--sample " + type.name : "FILE")));
}

const value = (list, i) => (list && list[i]) || 0;
const sum = (list) => (list || []).reduce((a, b) => a + b, 0);

// rate is the average of the last points.
function rate(list, points) {
  const last = (list || []).slice(-points);
  return last.length ? sum(last) / last.length : 0;
}

// station shows the five places that an event passes.
function station(verdicts) {
  const places = [["Queue", "waiting"], ["Messages", "judged"], ["Items", "stored"], ["Changes", "delivered"], ["Totals", "updated"]];
  const cells = places.map(([name]) => ({ name, big: h("span", { class: "big" }, "–"), small: h("span", { class: "small" }, "\u00a0") }));
  const side = h("p", { class: "side" });
  const element = h("section", { "aria-label": "Stations" },
    h("ol", { class: "stations" }, cells.map((c, i) => h("li", {}, h("span", { class: "name" }, c.name), c.big, h("span", { class: "unit" }, places[i][1]), c.small))),
    side);
  return {
    element,
    set(data, live) {
      const s = data.series;
      const per = live ? "a second" : "a minute";
      const points = live ? 5 : 1;
      const stored = drawn(verdicts, data, "stored");
      const queue = data.queues.find((q) => q.name === "queue");
      const put = (i, big, small) => { keep(cells[i].big, big); keep(cells[i].small, small); };
      put(0, queue ? count(queue.ready) : "–", queue ? plural(queue.hidden, "message") + " in work" : "not known");
      const series = [s.received, stored, s.changes, s.updates];
      series.forEach((list, i) => put(i + 1, count(sum(list)), count(rate(list, points)) + " " + per));
      const parts = data.queues.filter((q) => q.name !== "queue").map((q) => (q.name === "quarantine" ? "quarantine " : "dead letters ") + count(q.ready + q.hidden));
      if (data.lag !== null) parts.push("totals are " + count(data.lag) + " s behind");
      keep(side, parts.join(" · "));
    },
  };
}

function verdictTable(verdicts) {
  const cells = new Map(verdicts.map(({ name }) => [name, h("span", {}, "0")]));
  const element = table("Verdicts", ["verdict", "messages", "what it means"],
    verdicts.map(({ name, means }) => [verdict(name), cells.get(name), means]), { numeric: [1] });
  return {
    element,
    set: (series) => cells.forEach((cell, name) => {
      const n = sum(series[name]);
      keep(cell, count(n));
      cell.closest("tr").classList.toggle("zero", n === 0);
    }),
  };
}

function stepTable(live) {
  const steps = [["store", "ingestRequests", "ingestWrites", "ingestReads", "received"], ["count", "streamsRequests", "streamsWrites", "streamsReads", "changes"]];
  if (live) steps.unshift(["queue", "queueRequests", null, null, "received"]);
  const cells = steps.map(() => [0, 1, 2, 3].map(() => h("span", {}, "0")));
  const element = table("Requests and units of each step", ["step", "requests", "write units", "read units", "write units each"],
    steps.map(([name], i) => [name, ...cells[i]]), { numeric: [1, 2, 3, 4] });
  return {
    element,
    set(series) {
      steps.forEach(([, requests, writes, reads, each], i) => {
        const n = sum(series[each]);
        const shown = [requests, writes, reads].map((name) => (name ? count(sum(series[name])) : "–"));
        shown.push(n && writes ? (sum(series[writes]) / n).toFixed(2) : "–");
        shown.forEach((text, j) => keep(cells[i][j], text));
      });
    },
  };
}

// lead makes an element a link to a place, or no link.
function lead(link, to) {
  if (to) link.setAttribute("href", to);
  else link.removeAttribute("href");
}

// recentTable reuses its rows: at thousands of events a second it must not make elements.
function recentTable() {
  const most = 20;
  const rows = Array.from({ length: most }, () => {
    const row = { at: h("td", {}), verdict: h("a", {}), type: h("td", {}), link: h("a", {}), reason: h("td", {}) };
    row.element = h("tr", { hidden: true }, row.at, h("td", {}, row.verdict), row.type, h("td", {}, row.link), row.reason);
    return row;
  });
  const none = h("p", { class: "empty" }, "None yet.");
  const body = h("div", { class: "scroll recent", tabindex: "0", role: "region", "aria-label": "Latest messages, table", hidden: true },
    h("table", {}, h("caption", { class: "unseen" }, "Latest messages"),
      h("thead", {}, h("tr", {}, ["time", "verdict", "type", "key", "reason"].map((name) => h("th", { scope: "col" }, name)))),
      h("tbody", {}, rows.map((row) => row.element))));
  return {
    element: h("div", {}, none, body),
    set(list) {
      none.hidden = list.length > 0;
      body.hidden = list.length === 0;
      rows.forEach((row, i) => {
        const one = list[i];
        row.element.hidden = !one;
        if (!one) return;
        keep(row.at, time(one.at));
        keep(row.verdict, one.verdict);
        row.verdict.className = "verdict " + one.verdict.toLowerCase();
        const delivery = one.delivery && "#journey?" + new URLSearchParams({ delivery: one.delivery });
        lead(row.verdict, delivery);
        keep(row.type, one.type || "–");
        keep(row.link, one.pk ? one.pk + " / " + one.sk : "");
        lead(row.link, one.pk && (delivery || (!one.hidden && "#journey?" + new URLSearchParams({ pk: one.pk, sk: one.sk }))));
        keep(row.reason, one.reason || "");
        for (const cell of row.element.children) cell.className = wrapping(cell.textContent);
      });
    },
  };
}

// laboratory makes trouble, and proves that nothing is wrong afterwards.
function laboratory(about) {
  const out = h("div", { class: "outcome", "aria-live": "polite" });
  async function check(event) {
    const button = event.currentTarget;
    button.disabled = true;
    fill(out, h("p", {}, "Comparing every total with the events …"));
    try {
      const result = await post("verify");
      fill(out, h("p", { class: result.same ? "good" : "bad" }, result.said),
        result.findings.length ? h("ul", {}, result.findings.map((one) => h("li", {}, one))) : null);
    } catch (err) {
      fill(out, h("p", { class: "bad" }, err.message));
    }
    button.disabled = false;
    button.focus();
  }
  async function trouble(kind) {
    try {
      const result = await post("trouble", { id: kind.name });
      fill(out, h("p", {}, result.said));
    } catch (err) {
      fill(out, h("p", { class: "bad" }, err.message));
      say(err.message);
    }
  }
  return h("section", { class: "card", "aria-label": "Trouble and proof" },
    h("h2", {}, about.trouble ? "Trouble, and proof" : "Proof"),
    h("div", { class: "troubles" },
      (about.trouble || []).map((kind) => h("div", { class: "trouble" },
        h("button", { type: "button", "data-trouble": kind.name, "aria-describedby": "about-" + kind.name, on: { click: () => trouble(kind) } }, kind.label),
        h("p", { id: "about-" + kind.name }, kind.about))),
      h("div", { class: "trouble" },
        h("button", { type: "button", class: "primary", id: "verify", "aria-describedby": "about-verify", on: { click: check } }, "Verify"),
        h("p", { id: "about-verify" }, "Adds up all stored events again, and compares every total."))),
    out);
}
