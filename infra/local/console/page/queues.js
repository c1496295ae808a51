// Queues, their messages, and what can be done with dead letters.
import { get, place } from "./api.js";
import { act } from "./overview.js";
import { badge, code, count, el, moment, nothing, one, pretty, row, since, sync, table } from "./dom.js";

export function queues() {
  const list = table("Queues", ["Queue", "Visible", "In flight", "Delayed", "Oldest", "Dead letters", "Actions"], "queues");
  const detail = el("section", { class: "detail", "aria-label": "Messages" });
  const root = el("div", {}, el("h2", {}, "Queues"), list.whole, detail);

  function queueRow(q) {
    const held = q.visible + q.in_flight + q.delayed;
    const relation = q.dead_letter
      ? `for ${q.serves.join(", ")}`
      : q.dead_letters ? `${q.dead_letters} after ${count(q.max_receives, "receive")}` : "";
    const actions = [
      q.dead_letter && q.visible > 0 && act("Redrive", ["queues", q.name, "redrive"],
        (answer) => `${count(answer.moved, "message")} moved back${answer.left ? `, ${answer.left} without a source queue stayed` : ""}`),
      held > 0 && act("Purge", ["queues", q.name, "purge"], () => `${q.name} is empty`,
        `Permanently delete ${count(held, "message")} from ${q.name}?`),
    ];
    for (const button of actions.filter(Boolean)) button.setAttribute("aria-label", `${button.textContent} ${q.name}`);
    return row(list, [
      [el("a", { href: place("queues", { queue: q.name }), "data-place": q.name }, q.name), q.dead_letter && badge("dead letters", held ? "bad" : "quiet")],
      q.visible, q.in_flight, q.delayed, q.oldest ? since(q.oldest) : "", el("small", {}, relation), actions,
    ], { "aria-current": q.chosen && "true" });
  }

  return {
    root,
    async refresh(query, signal) {
      const all = (await get(["queues"], {}, signal)).queues;
      sync(list.body, all.map((q) => ({ ...q, chosen: q.name === query.queue })), (q) => q.name, queueRow);
      if (!query.queue) {
        one(detail, { id: "none", text: "Choose a queue to view its messages without receiving them." }, (n) => nothing(n.text));
        return;
      }
      const answer = await get(["queues", query.queue, "messages"], {}, signal);
      one(detail, { id: query.queue, ...answer }, messages);
    },
  };
}

function messages({ id, messages: all, limit }) {
  const list = table("Messages, oldest first", ["Sent", "State", "Receives", "Visible", "Body", "Message"], "messages");
  list.body.append(...all.map((m) => row(list, [
    moment(m.sent), badge(m.state, m.state === "in flight" ? "going" : "quiet"), m.receives, moment(m.visible_at),
    el("pre", { class: "inline" }, pretty(m.body)), el("small", {}, m.id, m.source ? ` from ${m.source.split(":").pop()}` : ""),
  ])));
  return el("div", {}, el("h3", {}, "Messages in ", code(id)),
    all.length ? list.whole : nothing("No messages."),
    all.length === limit && nothing(`Only the ${limit} oldest messages are shown.`));
}
