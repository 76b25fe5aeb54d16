// Quarantine: why messages are there, one of them beside what is stored, and the way back.
import { h, fill, table, moment, verdict, plural } from "./dom.js";
import { get, post } from "./api.js";
import { pretty } from "./journey.js";

export function quarantine(main, about) {
  let ended = false;
  let opened = null; // the button of the message that is shown
  const asOf = h("p", { class: "asof" });
  const out = h("div", {});
  const one = h("div", { id: "letter", "aria-live": "polite", tabindex: "-1" });
  const look = h("button", { type: "button", id: "look", on: { click: () => list() } }, "Look");
  fill(main, h("div", { class: "title" }, h("h1", {}, "Quarantine"), asOf, look), out, one);

  async function list() {
    look.disabled = true;
    close();
    try {
      const found = await get("quarantine");
      if (ended) return;
      asOf.textContent = "as of " + moment(found.asOf) + " UTC";
      look.textContent = "Look again";
      fill(out, found.letters.length ? both(found) : h("p", { class: "empty" }, "Quarantine is empty. Every message so far could be stored."));
    } catch (err) {
      if (!ended) fill(out, h("p", { class: "problem" }, err.message));
    }
    look.disabled = false;
  }

  // both are the groups, and the messages of all groups or of the one that is opened.
  function both(found) {
    const messages = h("section", { class: "card", "aria-label": "Messages", tabindex: "-1" });
    const buttons = found.groups.map((g) => h("button", { type: "button", class: "link", "data-group": "", "aria-pressed": "false",
      on: { click: (event) => open(event.currentTarget.getAttribute("aria-pressed") === "false" ? g : null) } }, g.reason));
    function open(group) {
      close();
      found.groups.forEach((g, i) => buttons[i].setAttribute("aria-pressed", String(g === group)));
      const same = (l) => !group || (l.verdict === group.verdict && l.reason === group.reason && l.type === group.type);
      fill(messages, h("div", { class: "cardhead" }, h("h2", {}, group ? "Messages: " + group.verdict + ", " + group.reason + (group.type ? ", " + group.type : "") : "Messages"),
        group ? h("button", { type: "button", on: { click: () => { open(null); messages.focus(); } } }, "Show all messages") : null), letters(found.letters.filter(same)));
      if (group) messages.focus();
    }
    open(null);
    return [h("section", { class: "card", "aria-label": "Groups" }, h("h2", {}, plural(found.letters.length, "message") + (found.more ? ", and more" : "")),
      table("Groups of messages", ["verdict", "reason", "type", "messages"],
        found.groups.map((g, i) => [verdict(g.verdict), buttons[i], g.type || "–", g.count]), { numeric: [3] })), messages];
  }

  function letters(list) {
    return table("Messages in quarantine", ["sent", "verdict", "reason", "type", "key"],
      list.map((l) => [
        h("button", { type: "button", class: "link", "data-letter": l.id, "aria-expanded": "false", on: { click: (event) => show(event.currentTarget, l.id) } },
          moment(l.sent), h("span", { class: "unseen" }, ", show message " + l.id)),
        verdict(l.verdict), l.reason, l.type || "–", l.pk ? l.pk + " / " + l.sk : "–"]));
  }

  // close takes the message that is shown out of the list, to the end of the page.
  function close() {
    fill(one);
    if (opened) {
      opened.setAttribute("aria-expanded", "false");
      one.closest("tr")?.remove();
    }
    opened = null;
    main.append(one);
  }

  // show opens a message below its row, or closes it.
  async function show(button, id) {
    const again = button === opened;
    close();
    if (again) return;
    opened = button;
    button.setAttribute("aria-expanded", "true");
    button.closest("tr").after(h("tr", { class: "opened" }, h("td", { colspan: "5" }, one)));
    fill(one, h("p", {}, "Looking for the message …"));
    try {
      const l = await post("letter", { id });
      if (ended || opened !== button) return;
      fill(one, letter(l));
      one.focus();
    } catch (err) {
      if (!ended && opened === button) fill(one, h("p", { class: "problem" }, err.message));
    }
  }

  function letter(l) {
    const facts = [["verdict", l.verdict + " (" + l.reason + ")"], ["because", l.report.detail], ["sent again, it would be", l.today], ["key", l.pk ? l.pk + " / " + l.sk : ""], ["message id", l.id]];
    return h("section", { "aria-label": "Message" },
      h("div", { class: "cardhead" }, h("h2", {}, "Message"),
        about.write ? h("button", { type: "button", id: "resend", on: { click: () => resend(l.id) } }, "Send it again") : null),
      h("dl", {}, facts.filter(([, text]) => text).map(([name, text]) => h("div", {}, h("dt", {}, name), h("dd", {}, text)))),
      l.report.events ? [h("h3", {}, "The events of the message"),
        table("Events of the message", ["event", "sent again, it would be", "key"], l.report.events.map((e) => [e.place, e.verdict + (e.reason ? " (" + e.reason + ")" : ""), e.pk ? e.pk + " / " + e.sk : ""]))] : null,
      l.report.differences ? [h("h3", {}, "What differs"),
        table("Members that differ", ["member", "stored", "in quarantine"], l.report.differences.map((d) => [d.path, d.stored || "(missing)", d.message || "(missing)"]), { class: "differs" })] : null,
      h("div", { class: l.report.stored ? "two" : "" },
        l.report.stored ? h("div", {}, h("h3", {}, "Stored"), h("pre", { tabindex: "0", "aria-label": "Stored payload" }, pretty(l.report.stored.data))) : null,
        h("div", {}, h("h3", {}, "In quarantine"), h("pre", { tabindex: "0", "aria-label": "Message in quarantine" }, pretty(l.report.body)))));
  }

  async function resend(id) {
    try {
      const result = await post("resend", { id });
      await list();
      fill(one, h("p", { class: "good" }, result.said));
    } catch (err) {
      if (!ended) one.prepend(h("p", { class: "problem" }, err.message));
    }
    one.focus();
  }

  if (about.live) list();
  else fill(out, h("p", { class: "empty" }, "To look is to receive the messages: they are hidden from others for a moment, and each is counted as received once more."));
  return () => { ended = true; };
}
