// What the functions did: a list, and one invocation with its log lines and its AWS calls on a time line.
import { get, place } from "./api.js";
import { badge, bytes, code, count, el, facts, moment, ms, nothing, num, one, pre, route, row, sync, table } from "./dom.js";

const kind = (i) => ({ failed: "bad", done: i.outcome >= "400" && i.outcome < "500" ? "warn" : "good" })[i.state] ?? "going";
const took = (i) => (i.state === "waiting" ? `waiting for ${ms(i.wait_ms)}` : ms(i.duration_ms));

export function invocations() {
  const chosen = el("select", { id: "function", onchange: filter });
  const failed = el("input", { type: "checkbox", id: "failed", onchange: filter });
  const text = el("input", { type: "search", id: "text", autocomplete: "off", spellcheck: "false", placeholder: "request ID, task ID, error …", oninput: filter });
  const sandbox = el("input", { type: "checkbox", id: "sandbox", onchange: filter });
  const sandboxLabel = el("label", { for: "sandbox" }, sandbox, " include the sandbox portal");
  const list = table("Invocations, newest first", ["Started", "Function", "Event", "Outcome", "Duration", "Calls"], "invocations");
  const foot = el("div");
  const detail = el("section", { class: "detail", "aria-label": "Invocation" });
  const root = el("div", {}, el("h2", {}, "Invocations"),
    el("form", { class: "filters", onsubmit: (e) => e.preventDefault() },
      el("label", { for: "function" }, "Function "), chosen, el("label", { for: "failed" }, failed, " failed only"), sandboxLabel,
      el("label", { for: "text" }, "Contains "), text),
    el("div", { class: "split" }, el("div", {}, list.whole, foot), detail));
  let query = {};
  let meanwhile = {};

  function filter() {
    location.hash = place("invocations", { function: chosen.value, failed: failed.checked ? "1" : "", sandbox: sandbox.checked ? "1" : "", text: text.value, id: query.id });
  }

  const listRow = (i) => row(list, [
    moment(i.at), el("a", { class: "num", href: place("invocations", { ...query, id: i.id }), "data-place": i.id }, i.function.replace(/Function$/, "")),
    [route(i.what), " ", i.cold && badge("cold", "quiet")], badge(i.outcome || i.state, kind(i)), num(took(i)), i.call_count || "",
  ], { "aria-current": i.chosen && "true" });

  return {
    root,
    async refresh(asked, signal, state) {
      query = asked;
      sync(chosen, [{ id: "" }, ...state.functions.map((f) => ({ id: f.id }))], (f) => f.id, (f) => el("option", { value: f.id }, f.id || "all"));
      if (document.activeElement !== chosen) chosen.value = query.function ?? "";
      failed.checked = Boolean(query.failed);
      // One export makes dozens of requests to the portal, among which the rest would be hard to find.
      const portal = state.functions.find((f) => f.id.startsWith("Sandbox"))?.id;
      sandbox.checked = Boolean(query.sandbox);
      sandboxLabel.hidden = !portal || Boolean(query.function);
      const filters = { function: query.function, without: query.sandbox || query.function ? "" : portal, failed: query.failed, limit: query.text ? "500" : query.limit };
      if (document.activeElement !== text) text.value = query.text ?? "";
      const answer = await get(["invocations"], filters, signal);
      const found = answer.invocations.filter((i) => !query.text || JSON.stringify(i).toLowerCase().includes(query.text.toLowerCase()));
      sync(list.body, found.map((i) => ({ ...i, chosen: i.id === query.id, links: filters })), (i) => i.id, listRow);
      one(foot, {
        empty: found.length === 0, filtered: Boolean(query.function || query.failed || query.text),
        more: answer.invocations.length >= 100 && !filters.limit,
      }, footer);
      root.classList.toggle("chosen", Boolean(query.id));
      one(detail, query.id ? await whole(query.id, signal) : undefined, (i) => invocation(i, state, query));
    },
  };

  // whole is one invocation and those that began while it ran: the sandbox portal answers an export in this way.
  async function whole(id, signal) {
    const i = await get(["invocations", id], {}, signal);
    if (meanwhile.id !== id || meanwhile.state !== i.state) {
      const from = Date.parse(i.at);
      const offset = (o) => Date.parse(o.at) - from; // to the millisecond, which is enough for a picture
      const { invocations: all } = await get(["invocations"], { limit: "500" }, signal);
      const during = all.filter((o) => o.id !== id && offset(o) >= i.wait_ms && offset(o) <= i.wait_ms + i.duration_ms);
      meanwhile = { id, state: i.state, list: during.map((o) => ({ function: o.function, from: offset(o), length: o.wait_ms + o.duration_ms })) };
    }
    return { ...i, meanwhile: meanwhile.list };
  }

  function footer(f) {
    if (f.empty) return nothing(f.filtered ? "No invocations match these filters." : "No function has been invoked yet.");
    return f.more ? el("p", {}, el("a", { href: place("invocations", { ...query, limit: "500" }) }, "Show all kept invocations")) : el("p");
  }
}

function invocation(i, state, query) {
  const lines = (i.lines ?? []).map((text) => ({ text, trouble: trouble(text) }));
  const others = lines.filter((l) => !l.trouble).map((l) => l.text);
  const memory = state.functions.find((f) => f.id === i.function)?.memory_mb;
  return el("article", {},
    el("p", { class: "back" }, el("a", { href: place("invocations", { ...query, id: "" }), "data-place": "close" }, "Close")),
    el("h3", {}, i.function, " ", badge(i.outcome || i.state, kind(i))), el("p", { class: "what" }, code(i.what)),
    i.error && el("p", { class: "bad" }, i.error),
    facts([
      ["Started", [moment(i.at), el("small", {}, ` by ${i.trigger === "http" ? "a request" : i.trigger === "other" ? "a call" : `a ${i.trigger}`}`)]],
      [i.cold ? "Cold start" : "Waited", ms(i.wait_ms)], ["Duration", ms(i.duration_ms)],
      ["Memory", i.peak_memory_bytes && `${bytes(i.peak_memory_bytes)} at most${memory ? `, of ${memory} MB` : ""}`],
      ["Trace", code(i.id)], ["Request", i.request_ids?.length && code(i.request_ids.join(", "))],
    ]),
    [...(i.wide ?? []), ...lines.filter((l) => l.trouble).map((l) => l.trouble)].map(wideLine),
    el("h4", {}, i.calls?.length ? `AWS calls (${i.call_count})` : "AWS calls"),
    timeline(i), !i.calls?.length && nothing("No AWS calls."),
    i.call_count > (i.calls?.length ?? 0) && nothing(`${count(i.call_count - i.calls.length, "more call")} not kept.`),
    el("h4", {}, "Other log lines"),
    others.length ? pre(others.join("\n"), "Other log lines", "lines") : nothing("No other log lines."),
    i.lines_missed > 0 && nothing(`${count(i.lines_missed, "more line")} not kept.`));
}

// trouble is a log line that tells of an error although it belongs to no unit of work, such as a start that failed.
function trouble(text) {
  try {
    const line = JSON.parse(text);
    return line.msg && ["WARN", "ERROR"].includes(line.level) ? line : undefined;
  } catch {
    return undefined;
  }
}

// wideLine shows the line of a unit of work: what everybody wants to know first, then the rest.
function wideLine(line) {
  const { time, level, msg, ...rest } = line;
  return el("div", { class: "wide" }, el("h4", {}, code(msg), " ", level !== "INFO" && badge(level, "bad")),
    facts(Object.entries(rest).map(([name, value]) => [name, code(typeof value === "object" ? JSON.stringify(value) : String(value))])));
}

// timeline draws waiting, work and every call on one scale.
function timeline(i) {
  const calls = i.calls ?? [];
  const total = Math.max(i.wait_ms + i.duration_ms, ...calls.map((c) => c.start_ms + c.duration_ms), 0.001);
  const list = table("AWS calls, by start time", ["Call", `0 to ${ms(total)}`, "Duration", "Response", "Bytes in → out"], "calls");
  list.whole.classList.add("timeline");
  const track = (bars) => el("div", { class: "track" }, bars.map(([from, length, shade]) => {
    const bar = el("div", { class: `bar ${shade}`, title: `from ${ms(from)} to ${ms(from + length)}` });
    bar.style.left = `${(100 * from) / total}%`;
    bar.style.width = `${(100 * length) / total}%`;
    return bar;
  }));
  list.body.append(
    row(list, [i.cold ? "cold start" : "wait", track([[0, i.wait_ms, "wait"]]), num(ms(i.wait_ms)), "", ""], { class: "span" }),
    row(list, ["function", track([[i.wait_ms, i.duration_ms, "work"]]), num(ms(i.duration_ms)), "", ""], { class: "span" }),
    ...meanwhileOf(i).map(([name, all]) => row(list, [
      `meanwhile ${name}`, track(all.map((o) => [o.from, o.length, "other"])), num(`${all.length} ×`), "", "",
    ], { class: "span" })),
    ...calls.map((c) => row(list, [
      el("div", {}, el("small", {}, `${c.service} `), c.operation, " ", c.init && badge("at start", "quiet"), c.target && el("div", {}, target(c))),
      track([[c.start_ms, c.duration_ms, c.status === 0 || c.status >= 400 ? "bad" : c.service]]), num(ms(c.duration_ms)),
      c.status === 0 ? badge("aborted", "bad") : c.status >= 400 ? [c.status, " ", el("span", { class: "bad" }, c.error ?? "")] : c.status,
      el("small", { class: "num" }, `${bytes(c.bytes_in)} → ${bytes(c.bytes_out)}`),
    ])));
  return list.whole;
}

// target is what a call was about, as a link to it where there is one.
function target(c) {
  const link = (part, query) => el("a", { href: place(part, query) }, code(c.target));
  if (c.status === 0 || c.status >= 400) return code(c.target);
  if (c.service === "sqs") return link("queues", { queue: c.target });
  if (c.service === "dynamodb" && !c.target.includes(",")) {
    const [table, index] = c.target.replace(/ \(\d+ rows\)$/, "").split(" ");
    return link("tables", { table, index });
  }
  const slash = c.target.indexOf("/");
  if (c.service !== "s3" || slash < 0) return code(c.target);
  const key = c.target.slice(slash + 1);
  return link("objects", { bucket: c.target.slice(0, slash), prefix: key.slice(0, key.lastIndexOf("/") + 1), key });
}

// meanwhileOf groups what ran meanwhile by function.
function meanwhileOf(i) {
  const groups = new Map();
  for (const o of i.meanwhile) groups.set(o.function, [...(groups.get(o.function) ?? []), o]);
  return [...groups].sort();
}
