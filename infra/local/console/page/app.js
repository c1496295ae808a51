// Shows one part of the console at a time and keeps it fresh.
import { get, here, place, quiet, Refused, say } from "./api.js";
import { el, keep, nothing, one, sync } from "./dom.js";
import { inbox, mail } from "./messages.js";
import { invocations } from "./invocations.js";
import { objects } from "./objects.js";
import { overview } from "./overview.js";
import { queues } from "./queues.js";
import { tables } from "./tables.js";

const period = 2000;
const parts = new Map([
  ["overview", { title: "Overview", make: overview }],
  ["invocations", { title: "Invocations", make: invocations, number: (t) => t.invocations, alarm: (t) => t.failed, what: "failed" }],
  ["tables", { title: "Tables", make: tables, number: (t) => t.rows }],
  ["queues", { title: "Queues", make: queues, number: (t) => t.messages, alarm: (t) => t.dead_letters, what: "dead" }],
  ["objects", { title: "Objects", make: objects }],
  ["inbox", { title: "Inbox", make: inbox, number: (t) => t.webhooks, alarm: (t) => t.unverified, what: "unverified" }],
  ["mail", { title: "Mail", make: mail, number: (t) => t.mails }],
]);
const main = document.getElementById("main");
const nav = document.getElementById("nav");
const problem = el("div", { role: "alert" });
let shown; // the part that is on the page
let running; // what is being fetched

function links(totals = {}) {
  const { part } = here();
  return [...parts].map(([name, p]) => ({
    name, title: p.title, current: name === part, number: p.number?.(totals) ?? 0, alarm: p.alarm?.(totals) ?? 0, what: p.what,
  }));
}

function drawNav(totals) {
  sync(nav, links(totals), (l) => l.name, (l) =>
    el("a", { href: place(l.name), "aria-current": l.current && "page", "data-place": l.name }, l.title,
      l.number > 0 && el("span", { class: "number" }, ` ${l.number}`),
      l.alarm > 0 && el("span", { class: "alarm" }, ` ${l.alarm} ${l.what}`)));
}

// open puts the part of the address on the page.
function open() {
  const { part } = here();
  const wanted = parts.get(part) ?? parts.get("overview");
  if (shown === wanted) return;
  shown = wanted;
  wanted.view ??= wanted.make();
  main.replaceChildren(problem, wanted.view.root);
  document.title = `${wanted.title} · Recordbridge (local)`;
}

async function refresh() {
  if (document.hidden) return;
  open();
  running?.abort();
  const mine = (running = new AbortController());
  const { query } = here();
  try {
    const state = await get(["state"], {}, mine.signal);
    drawNav(state.totals);
    await shown.view.refresh(query, mine.signal, state);
    one(problem, undefined, nothing);
    keep();
    quiet("Running");
  } catch (error) {
    if (mine.signal.aborted) return;
    if (error instanceof Refused) one(problem, { text: error.message }, (p) => nothing(p.text));
    else say("The runner isn't responding", true);
  }
}

async function loop() {
  await refresh();
  setTimeout(loop, period);
}

window.addEventListener("hashchange", () => {
  refresh();
  if (!main.contains(document.activeElement)) main.focus({ preventScroll: true });
});
window.addEventListener("console:changed", refresh);
document.addEventListener("visibilitychange", refresh);
loop();
