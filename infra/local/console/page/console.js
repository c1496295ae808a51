// Shows /_local/state and keeps it fresh. Everything shown goes through textContent: log lines, bodies and mail come
// from elsewhere.
const period = 2000;
const status = document.getElementById("status");
const open = new Set(); // keys of the details that a person has opened
const shown = new Map(); // what each part of the page shows, as JSON: what is unchanged is not drawn again

function element(name, content, attributes = {}) {
  const made = document.createElement(name);
  made.append(...[content].flat().map((part) => (part instanceof Node ? part : String(part ?? ""))));
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

// more shows a first line, and all the text when it is opened.
function more(key, text) {
  if (!text) return "";
  const line = text.split("\n")[0];
  if (text.length <= 100 && line === text) return element("code", text);
  const details = element("details", [element("summary", element("code", line.slice(0, 100))), element("pre", text)]);
  details.open = open.has(key);
  details.addEventListener("toggle", () => (details.open ? open.add(key) : open.delete(key)));
  return details;
}

function button(label, path) {
  const made = element("button", label, { type: "button" });
  made.addEventListener("click", async () => {
    made.disabled = true;
    try {
      const response = await fetch(path, { method: "POST" });
      const answer = await response.json();
      status.textContent = response.ok ? `${label}: done` : `${label}: ${answer.error}`;
    } catch {
      status.textContent = `${label}: the runner does not answer`;
    }
    made.disabled = false;
  });
  return made;
}

function draw(id, list, toRow) {
  const rows = list ?? [];
  const now = JSON.stringify(rows);
  if (shown.get(id) === now) return;
  shown.set(id, now);
  const none = element("tr", element("td", "none", { colspan: "9" }));
  document.getElementById(id).replaceChildren(...(rows.length ? rows.map(toRow) : [none]));
}

const row = (...cells) => element("tr", cells.map((cell) => element("td", cell)));
const time = (text) => new Date(text).toLocaleTimeString();

function functionRow(f) {
  const path = encodeURIComponent(f.id);
  const actions = [button(`Kill ${f.id}`, `/_local/kill/${path}`)];
  if (f.schedule) actions.unshift(button(`Fire ${f.id} (${f.schedule})`, `/_local/fire/${path}`));
  // The newest line first: it is the one that is seen when the rest is closed.
  const log = more(`log ${f.id}`, (f.log ?? []).toReversed().join("\n"));
  return row(f.id, f.processes, f.busy, f.invocations, f.failures, log, actions);
}

function drawLinks(state) {
  if (shown.has("links")) return;
  shown.set("links", "");
  const link = (url) => element("a", url, { href: url });
  document.getElementById("links").replaceChildren(
    element("dt", "API"), element("dd", element("code", state.base_url)),
    element("dt", "Webhook inbox as JSON"), element("dd", link(state.inbox_url)),
    element("dt", "Keys"), element("dd", ["in ", element("code", state.run_file), ", and printed where the runner was started"]),
  );
}

async function refresh() {
  if (document.hidden) return;
  try {
    const state = await (await fetch("/_local/state")).json();
    drawLinks(state);
    draw("functions", state.functions, functionRow);
    draw("queues", state.queues, (q) =>
      row(q.dead_letter ? `${q.name} (dead letters)` : q.name, q.visible, q.in_flight, q.delayed));
    draw("webhooks", state.webhooks, (w) =>
      row(time(w.received_at), w.path, w.verdict, more(`webhook ${w.received_at} ${w.path}`, w.body)));
    draw("mails", state.mails, (m) => row(time(m.at), (m.to ?? []).join(", "), m.subject, more(`mail ${m.at}`, m.text)));
    if (status.textContent === "Loading" || status.classList.contains("lost")) status.textContent = "Running";
    status.classList.remove("lost");
  } catch {
    status.textContent = "The runner does not answer";
    status.classList.add("lost");
  }
}

document.addEventListener("visibilitychange", refresh);
setInterval(refresh, period);
refresh();
