// One event: how it was read, what is stored of it, what it moved, and what a redelivery would be.
import { h, fill, table, plural } from "./dom.js";
import { get, post } from "./api.js";

const marks = { done: "✓", none: "–", refused: "!", unknown: "?" };
const words = { done: "done", none: "nothing", refused: "refused", unknown: "not known" };

export function journey(main, about, query) {
  let ended = false;
  const message = h("textarea", { id: "message", rows: "7", spellcheck: "false", placeholder: '{"type": "…", …}' });
  const pk = h("input", { id: "pk", type: "text", autocomplete: "off", spellcheck: "false", value: query.get("pk") || "" });
  const sk = h("input", { id: "sk", type: "text", autocomplete: "off", spellcheck: "false", value: query.get("sk") || "" });
  const story = h("div", { id: "story", "aria-live": "polite" });
  const type = h("select", { id: "type" }, h("option", { value: "" }, "choose a type"), about.types.map((one) => h("option", { value: one.name }, one.name)));
  const fields = h("div", { class: "pair" });
  let inputs = [];
  const choose = () => {
    const chosen = about.types.find((one) => one.name === type.value);
    inputs = (chosen ? chosen.fields : []).map((name) => h("input", { id: "field-" + name, "data-field": name, type: "text", autocomplete: "off", spellcheck: "false" }));
    fill(fields, inputs.map((input) => h("div", { class: "field" }, h("label", { for: input.id }, input.dataset.field), input)));
  };
  type.addEventListener("change", choose);
  const submit = (event) => {
    event.preventDefault();
    const question = {};
    if (message.value.trim()) question.message = message.value;
    else if (type.value) {
      Object.assign(question, { type: type.value, fields: {} });
      for (const input of inputs) if (input.value) question.fields[input.dataset.field] = input.value;
    } else Object.assign(question, { pk: pk.value, sk: sk.value });
    follow(question);
  };
  fill(main,
    h("div", { class: "title" }, h("h1", {}, "Journey"), h("p", { class: "asof" }, "one event, from its message to its totals")),
    h("form", { class: "card ask ways", on: { submit } },
      h("div", { class: "way" },
        h("div", { class: "field" }, h("label", { for: "message" }, "A message"), message)),
      h("div", { class: "way" },
        h("div", { class: "field" }, h("label", { for: "type" }, "or its type, and the fields of its key"), type), fields,
        h("p", { class: "or" }, "or its key as it is stored"),
        h("div", { class: "pair" },
          h("div", { class: "field" }, h("label", { for: "pk" }, "Partition key"), pk),
          h("div", { class: "field" }, h("label", { for: "sk" }, "Sort key"), sk))),
      h("button", { type: "submit", class: "primary" }, "Follow it")),
    story);

  async function follow(question) {
    try {
      const found = await post("journey", question);
      if (ended) return;
      fill(story, h("ol", { class: "steps" }, found.steps.map(step)));
    } catch (err) {
      if (!ended) fill(story, h("p", { class: "problem" }, err.message));
    }
  }

  async function start() {
    if (query.get("delivery")) return follow({ delivery: Number(query.get("delivery")) });
    if (pk.value) return follow({ pk: pk.value, sk: sk.value });
    fill(story, h("p", { class: "empty" }, about.live
      ? "Paste a message, or choose one of the latest on the page Flow."
      : "Paste a message, or say which event by the fields of its key. A stack keeps no past: you will see the item, its totals, and what a redelivery would be."));
    if (!about.live) return;
    const data = await get("flow").catch(() => null);
    const latest = data ? data.recent.filter((one) => one.pk && !one.hidden).slice(0, 5) : [];
    if (ended || !latest.length || story.querySelector(".steps")) return;
    story.append(h("section", { class: "card", "aria-label": "Latest events" }, h("h2", {}, "Latest events"),
      h("ul", { class: "plain" }, latest.map((one) => h("li", {},
        h("a", { href: "#journey?" + new URLSearchParams({ pk: one.pk, sk: one.sk }) }, one.pk + " / " + one.sk), " " + one.type)))));
  }
  start();
  return () => { ended = true; };
}

function step(s) {
  return h("li", { class: "step " + s.state, "data-step": s.name },
    h("span", { class: "dot", "aria-hidden": "true" }, marks[s.state]),
    h("div", { class: "card" },
      h("div", { class: "cardhead" }, h("h2", {}, s.title, h("span", { class: "unseen" }, ": " + words[s.state])), s.cost ? h("p", { class: "cost" }, s.cost) : null),
      s.facts && s.facts.length ? h("dl", {}, s.facts.map((f) => h("div", { class: f.name ? "" : "alone" }, h("dt", {}, f.name || h("span", { class: "unseen" }, "note")), h("dd", {}, f.text)))) : null,
      s.table ? table(s.title + ", " + plural(s.table.rows.length, "row"), s.table.head, linked(s.table)) : null,
      s.code ? code(s) : null));
}

// linked makes the first cell of each row with a key a link to the journey of that item.
function linked(found) {
  if (!found.keys) return found.rows;
  return found.rows.map((row, i) => {
    const [pk, sk] = found.keys[i];
    return pk ? [h("a", { href: "#journey?" + new URLSearchParams({ pk, sk }) }, row[0]), ...row.slice(1)] : row;
  });
}

const codeNames = { delivery: "the body of the message", message: "the body of the message", event: "what the digest hashes", item: "the stored payload" };

function code(s) {
  return h("details", { open: s.name === "message" || s.name === "delivery" },
    h("summary", {}, codeNames[s.name] || "payload"),
    h("pre", { tabindex: "0", "aria-label": codeNames[s.name] || "payload" }, pretty(s.code)));
}

// pretty indents JSON without changing a digit: numbers stay text. What is not JSON stays as it is.
export function pretty(text) {
  try {
    JSON.parse(text);
  } catch {
    return text;
  }
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/gs) || [];
  const out = [];
  let depth = 0;
  const line = () => "\n" + "  ".repeat(Math.min(depth, 40));
  tokens.forEach((token, i) => {
    const before = tokens[i - 1];
    if (token === "}" || token === "]") {
      depth--;
      out.push(before === "{" || before === "[" ? token : line() + token);
      return;
    }
    if (before === "{" || before === "[" || before === ",") out.push(line());
    if (token === "{" || token === "[") depth++;
    out.push(token === ":" ? ": " : token);
  });
  return out.join("");
}
