// Elements are made here and nowhere else. Text always becomes a text node, so data is never markup.

export function h(tag, props, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "on") {
      for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
    } else if (name === "value") {
      element.value = value;
    } else {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  add(element, children);
  return element;
}

// plain shows characters that nobody could see, or that change the direction of writing, as escapes.
export function plain(text) {
  return text.replace(/(?![\n\t])[\p{Cc}\p{Cf}\u2028\u2029]/gu, (c) => "\\u" + c.codePointAt(0).toString(16).padStart(4, "0"));
}

function add(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === undefined || child === null || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(plain(String(child))));
  }
}

export function fill(element, ...children) {
  element.replaceChildren();
  add(element, children);
  return element;
}

// keep updates the text of an element only if it changed, so that a screen reader and the layout
// have nothing to do otherwise.
export function keep(element, text) {
  text = plain(text);
  if (element.textContent !== text) element.textContent = text;
}

// wrapping says how a cell of a table breaks: a short one not at all, and one with a long word anywhere.
export function wrapping(text) {
  if (text.length <= 24) return "short";
  return /\S{25}/.test(text) ? "long" : "";
}

export function table(caption, head, rows, options = {}) {
  const numeric = options.numeric || [];
  const cell = (i, value) => {
    if (numeric.includes(i)) return { class: "number" };
    const text = value instanceof Node ? value.textContent : String(value ?? "");
    return { class: wrapping(text) || null };
  };
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption + ", table" },
    h("table", { class: options.class },
      h("caption", { class: options.caption ? "" : "unseen" }, caption),
      h("thead", {}, h("tr", {}, head.map((name, i) => h("th", { scope: "col", ...cell(i, name) }, name)))),
      h("tbody", {}, rows.map((row) => h("tr", {}, row.map((value, i) => h("td", cell(i, value), value)))))));
}

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const fine = new Intl.NumberFormat("en", { maximumFractionDigits: 1, minimumFractionDigits: 1 });

// count shows a number of things: whole if it is large or has no fraction.
export function count(n) {
  return n >= 100 || Number.isInteger(n) ? whole.format(n) : fine.format(n);
}

// exact groups the digits of a decimal that is kept as text, and loses none of them.
export function exact(text) {
  const m = /^(-?)(\d+)(\.\d+)?$/.exec(text || "");
  return m ? m[1] + m[2].replace(/\B(?=(\d{3})+$)/g, ",") + (m[3] || "") : text || "";
}

export function time(text) {
  const at = new Date(text);
  return Number.isNaN(at.getTime()) ? "" : at.toISOString().slice(11, 19);
}

export function moment(text) {
  const at = new Date(text);
  return Number.isNaN(at.getTime()) ? "" : at.toISOString().slice(0, 19).replace("T", " ");
}

export function plural(n, one, many) {
  return count(n) + " " + (n === 1 ? one : many || one + "s");
}

export function verdict(name) {
  return h("span", { class: "verdict " + name.toLowerCase().replace(/[^a-z]/g, "") }, name);
}

export function say(text) {
  const place = document.getElementById("said");
  place.textContent = text;
  clearTimeout(say.timer);
  if (text) say.timer = setTimeout(() => { place.textContent = ""; }, 8000);
}
