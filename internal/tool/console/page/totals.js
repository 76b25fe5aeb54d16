// Totals: the largest groups, and one group by window.
import { h, fill, table, exact, plural } from "./dom.js";
import { post } from "./api.js";
import { chart } from "./chart.js";

// A value has a text for people, and a number for bars and charts if there is one.
const textOf = (value) => (value ? value.text : "–");
const numberOf = (value) => (value && Number(value.number)) || 0;

const spans = { "1mo": "month", "1y": "year" };

// kinds says what the text of some kinds of values means.
const kinds = {
  histogram: "quantiles, each at most 2.5 % off. Half of all numbers are at most p50. The chart shows p50.",
  distinct: "an estimate of how many different values there are, with its standard error.",
  newest: "what the latest event says.",
  oldest: "what the earliest event says.",
};

// isNumber says whether a column of values is aligned as numbers are.
const isNumber = (a, name) => !["newest", "oldest"].includes(a.values.find((v) => v.name === name).op);

function legend(a) {
  const used = Object.keys(kinds).filter((op) => a.values.some((v) => v.op === op));
  return used.map((op) => h("p", { class: "hint" }, a.values.filter((v) => v.op === op).map((v) => v.name).join(", ") + ": " + kinds[op]));
}

export function totals(main, about) {
  let ended = false;
  let drawing = null;
  let asked = 0; // an answer to an earlier question is dropped
  const drop = () => { if (drawing) drawing.end(); drawing = null; };
  if (!about.aggregates.length) {
    fill(main, h("h1", {}, "Totals"), h("p", { class: "empty" }, "pipeline.yaml declares no aggregates, so there are no totals."));
    return null;
  }
  const pick = h("select", { id: "aggregate" }, about.aggregates.map((a) => h("option", { value: a.name }, a.name)));
  const number = h("select", { id: "number" });
  const fields = h("div", { class: "pair" });
  const note = h("p", { class: "hint" });
  const moved = h("div", { id: "moved" });
  const asof = h("p", { class: "asof" });
  const out = h("div", { id: "found", "aria-live": "polite" });
  let inputs = [];
  const current = () => about.aggregates.find((a) => a.name === pick.value);

  function reset() {
    const a = current();
    rules(a);
    fill(number, a.values.map((v) => h("option", { value: v.name }, v.name + " (" + v.op + ")")));
    inputs = a.by.map((name) => h("input", { id: "by-" + name, type: "text", autocomplete: "off", spellcheck: "false" }));
    fill(fields, a.by.map((name, i) => h("div", { class: "field" }, h("label", { for: "by-" + name }, name), inputs[i])));
    fill(note, a.by.length ? "Leave all fields empty for the largest groups. Values are as they are stored: after functions such as lower or hmac." : "This aggregate has one group.");
  }

  // rules says what moves the totals, and how far an event may bring them.
  function rules(a) {
    fill(asof, a.byPut ? "exact, and right at the moment an event is stored" : "exact, and behind the events by seconds");
    const all = a.byPut ? ["These totals move with the put: the transaction that stores an event moves them too."] : [];
    for (const v of a.values) for (const b of v.bounds || []) all.push(`No event can bring ${v.name} ${b}: an event that would is Rejected.`);
    fill(moved, all.map((text) => h("p", { class: "hint" }, text)));
  }

  async function ask(scan) {
    const turn = ++asked;
    const a = current();
    const by = {};
    a.by.forEach((name, i) => { if (inputs[i].value) by[name] = inputs[i].value; });
    const given = Object.keys(by).length;
    if (given && given < a.by.length) {
      drop();
      fill(out, h("p", { class: "problem" }, "Fill in all fields for one group, or none for the largest groups."));
      return;
    }
    try {
      const found = await post("totals", { aggregate: a.name, by, value: number.value, scan });
      if (ended || turn !== asked) return;
      drop();
      if (found.price) fill(out, price(found.price));
      else if (found.groups) groups(a, found);
      else windows(a, by, found);
    } catch (err) {
      if (ended || turn !== asked) return;
      drop();
      fill(out, h("p", { class: "problem" }, err.message));
    }
  }

  function price(text) {
    return h("section", { class: "card", "aria-label": "Price" }, h("h2", {}, "The largest groups"), h("p", {}, text),
      h("button", { type: "button", class: "primary", on: { click: () => ask(true) } }, "Read them"));
  }

  function groups(a, found) {
    if (!found.groups.length) {
      fill(out, notes(found), h("p", { class: "empty" }, "Nothing is counted in " + a.name + " yet."));
      return;
    }
    const shown = number.value;
    const open = (g) => {
      inputs.forEach((input, i) => { input.value = g.by[i]; });
      ask(false);
    };
    const numbers = found.groups.map((g) => numberOf(g.values[shown]));
    const most = Math.max(...numbers.map(Math.abs), 1e-300);
    // The bars begin at 0, which is at the left, at the right if all numbers are negative, or else in the middle.
    const ends = (numbers.some((n) => n < 0) ? 1 : 0) + (numbers.some((n) => n > 0) ? 1 : 0);
    const bar = (g) => {
      const n = numberOf(g.values[shown]);
      const fillbar = h("span", { class: n < 0 ? "fill below" : "fill" });
      const width = Math.max(0.5, 100 * Math.abs(n) / most) / Math.max(1, ends);
      const zero = ends === 2 ? 50 : n < 0 ? 100 : 0;
      fillbar.style.width = width + "%";
      fillbar.style.marginLeft = (n < 0 ? zero - width : zero) + "%";
      return h("span", { class: "bar", "aria-hidden": "true" }, fillbar);
    };
    const name = (g) => g.by.map((v) => v || "(empty)").join(", ");
    const columns = a.values.flatMap((v) => (v.name === shown ? [v.name, null] : [v.name])); // null is the bar
    fill(out, notes(found), h("section", { class: "card", "aria-label": "Largest groups" },
      h("h2", {}, found.groups.some((g) => numberOf(g.values[shown])) ? "Largest by " + shown : "Groups"),
      table("Groups of " + a.name, [a.by.join(", "), ...columns.map((one) => one ?? h("span", { class: "unseen" }, "share")), "windows"],
        found.groups.map((g) => [
          g.hidden ? name(g) : h("button", { type: "button", class: "link", on: { click: () => open(g) } }, name(g)),
          ...columns.map((one) => (one ? textOf(g.values[one]) : bar(g))), g.windows]),
        { numeric: [...columns.flatMap((one, i) => (one && isNumber(a, one) ? [i + 1] : [])), columns.length + 1], class: "groups" }),
      legend(a),
      found.more ? h("p", { class: "hint" }, plural(found.more, "smaller group") + " are not shown.") : null));
  }

  function windows(a, by, found) {
    const list = found.windows || [];
    if (!list.length) {
      fill(out, notes(found), h("p", { class: "empty" }, "Nothing is counted for this group."));
      return;
    }
    const title = a.name + (a.by.length ? ": " + a.by.map((name) => by[name]).join(", ") : "");
    const shown = number.value;
    const parts = [notes(found)];
    if (a.window && list.length > 1 && list.some((w) => w.values[shown]?.number)) {
      drawing = chart({ label: shown + " of " + title + " by window", series: [{ label: shown, color: "blue" }], bars: true,
        format: spans[a.window] || (/[dw]$/.test(a.window) ? "day" : "minute") });
      parts.push(h("section", { class: "card", "aria-label": "Chart" }, h("h2", {}, shown + " by window"), drawing.element));
    }
    const flagged = list.some((w) => w.flags && w.flags.length);
    parts.push(h("section", { class: "card", "aria-label": "Windows" }, h("h2", {}, title),
      table(title, ["window", ...a.values.map((v) => v.name), "events", ...(flagged ? ["flags"] : [])],
        list.map((w) => [w.name,
          ...a.values.map((v) => textOf(w.values[v.name])), exact(String(w.n)), ...(flagged ? [(w.flags || []).join("; ")] : [])]),
        { numeric: [...a.values.flatMap((v, i) => (isNumber(a, v.name) ? [i + 1] : [])), a.values.length + 1] }), legend(a)));
    fill(out, parts);
    if (drawing) drawing.set([list.map((w) => Date.parse(w.start) / 1000), list.map((w) => numberOf(w.values[shown]))]);
  }

  function notes(found) {
    const all = [];
    if (found.building) all.push("This aggregate is building: older events may not be counted yet.");
    for (const flag of found.flags || []) all.push("Not proven: " + flag);
    return all.map((text) => h("p", { class: "problem" }, text));
  }

  pick.addEventListener("change", () => { reset(); drop(); fill(out); ask(false); });
  number.addEventListener("change", () => { if (out.childNodes.length) ask(false); });
  fill(main,
    h("div", { class: "title" }, h("h1", {}, "Totals"), asof),
    h("form", { class: "card ask", on: { submit: (event) => { event.preventDefault(); ask(false); } } },
      h("div", { class: "pair" },
        h("div", { class: "field" }, h("label", { for: "aggregate" }, "Aggregate"), pick),
        h("div", { class: "field" }, h("label", { for: "number" }, "Value"), number)),
      fields, note, moved, h("button", { type: "submit", class: "primary" }, "Show")),
    out);
  reset();
  ask(false);
  return () => { ended = true; drop(); };
}
