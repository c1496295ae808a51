// The first part: where things are, what to try, and the functions.
import { place, post, tell } from "./api.js";
import { code, el, facts, more, num, one, pre, row, sync, table } from "./dom.js";

// act is a button that makes the runner do something, and says what came of it.
export function act(label, path, done, question) {
  const button = el("button", { type: "button", "data-place": path.join("/") }, label);
  button.addEventListener("click", async () => {
    if (question && !confirm(question)) return;
    button.disabled = true;
    try {
      tell(done(await post(path)));
    } catch (error) {
      tell(`${label}: ${error.message}`, true);
    }
    button.disabled = false;
    window.dispatchEvent(new Event("console:changed"));
  });
  return button;
}

function welcome(state) {
  return el("div", {},
    facts([
      ["API", code(state.base_url)],
      ["Webhook inbox", [el("a", { href: place("inbox") }, "readable"), " or ", el("a", { href: state.inbox_url }, "as JSON")]],
      ["Functions", state.stack === "sam local" ? "run in containers; the runner's terminal shows their log lines, and this page shows neither log lines nor AWS calls" : ""],
      ["Keys", ["in ", code(state.run_file), " and in the runner's terminal"]],
    ]),
    state.totals.invocations > 0 ? "" : el("div", { class: "hint" },
      el("p", {}, "No function has run yet. In another shell, run the main workflow, from connecting a synthetic patient to downloading the file:"),
      pre(`make demo ARGS='-run-file ${state.run_file}'`, "Command"),
      el("p", {}, "Then see ", el("a", { href: place("invocations") }, "the invocations"), " with their AWS calls, ",
        el("a", { href: place("inbox") }, "the webhooks"), " and ", el("a", { href: place("objects") }, "the files"), ".")));
}

// short is a log line in a few words.
function short(line) {
  try {
    const { time, level, msg, route, queue, status, outcome, error } = JSON.parse(line);
    const words = [time?.slice(11, 19), level === "INFO" ? "" : level, msg, route ?? queue, status ?? outcome, error];
    return words.filter(Boolean).join(" ") || line.slice(0, 90);
  } catch {
    return line.slice(0, 90);
  }
}

export function overview() {
  const top = el("div");
  const list = table("Functions", ["Function", "Processes", "Invocations", "Failures", "Limits", "Last log lines", "Actions"], "functions");
  const root = el("div", {}, el("h2", {}, "This stack"), top, el("h2", {}, "Functions"), list.whole);

  function functionRow(f) {
    // The newest line first: it is the one that is seen when the rest is closed.
    const lines = f.log.toReversed();
    const log = lines.length ? more(`log ${f.id}`, code(short(lines[0])), () => pre(lines.join("\n"), `Log lines of ${f.id}, newest first`, `lines ${f.id}`)) : "";
    const actions = [
      f.schedule && act("Fire", ["functions", f.id, "fire"], () => `${f.id} has run`),
      f.processes > 0 && act("Kill", ["functions", f.id, "kill"], (answer) => `${f.id}: processes killed: ${answer.killed}`),
    ];
    for (const button of actions.filter(Boolean)) button.setAttribute("aria-label", `${button.textContent} ${f.id}`);
    return row(list, [
      [el("a", { href: place("invocations", { function: f.id }) }, f.id), f.schedule && el("small", {}, ` ${f.schedule.replace(/m0s\b/g, "m")}`)],
      f.busy ? `${f.processes}, ${f.busy} busy` : f.processes, f.invocations,
      f.failures ? el("a", { class: "bad", href: place("invocations", { function: f.id, failed: "1" }) }, f.failures) : 0,
      num(`${f.memory_mb} MB, ${f.timeout.replace(/m0s$/, "m")}`), log, actions,
    ]);
  }

  return {
    root,
    refresh(_, __, state) {
      one(top, { stack: state.stack, base_url: state.base_url, inbox_url: state.inbox_url, run_file: state.run_file, totals: { invocations: Math.min(state.totals.invocations, 1) } }, welcome);
      sync(list.body, state.functions, (f) => f.id, functionRow);
    },
  };
}
