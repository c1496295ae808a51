// Builds elements. Everything shown comes from elsewhere (rows, messages, mail, log lines), so text only ever becomes a
// text node, and no attribute but those of our own making is set from data, save the addresses of links within the page.

// el makes an element. props are attributes; "on…" are listeners; false and undefined leave an attribute out.
export function el(name, props = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(props)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value !== undefined && value !== false) made.setAttribute(key, value === true ? "" : String(value));
  }
  made.append(...children.flat(Infinity).filter((c) => c !== undefined && c !== null && c !== false && c !== "").map((c) => (c instanceof Node ? c : String(c))));
  return made;
}

const known = new WeakMap(); // parent to the items it shows: key to {text, node}

// sync makes the children of parent those of items. What has not changed keeps its node, and with it the reader's place;
// what has changed keeps what was open and focused.
export function sync(parent, items, keyOf, render) {
  const before = known.get(parent) ?? new Map();
  const after = new Map();
  for (const item of items) {
    const key = String(keyOf(item));
    const text = JSON.stringify(item);
    let entry = before.get(key);
    if (entry?.text !== text) {
      const node = render(item);
      if (entry) replace(entry.node, node);
      entry = { text, node };
    }
    after.set(key, entry);
  }
  known.set(parent, after);
  const wanted = [...after.values()].map((entry) => entry.node);
  const stay = new Set(wanted);
  for (const child of [...parent.childNodes]) if (!stay.has(child)) child.remove();
  wanted.forEach((node, i) => {
    if (parent.childNodes[i] !== node) parent.insertBefore(node, parent.childNodes[i] ?? null);
  });
}

// one shows a single item, or nothing, like sync.
export function one(parent, item, render) {
  sync(parent, item ? [item] : [], (it) => it.id ?? it.key ?? "one", render);
}

function replace(old, fresh) {
  const find = (place) => [...fresh.querySelectorAll("[data-place]")].find((node) => node.dataset.place === place);
  for (const details of old.querySelectorAll("details[open][data-place]")) {
    const again = find(details.dataset.place);
    if (again) again.open = true;
  }
  const scrolled = [...old.querySelectorAll("[data-place]")].map((node) => [node.dataset.place, node.scrollTop]).filter(([, top]) => top > 0);
  const focused = old.contains(document.activeElement) ? document.activeElement.closest("[data-place]")?.dataset.place : undefined;
  old.replaceWith(fresh);
  for (const [place, top] of scrolled) {
    const again = find(place);
    if (again) again.scrollTop = top;
  }
  if (focused !== undefined) {
    const again = find(focused);
    (again?.matches("details") ? again.querySelector("summary") : again)?.focus({ preventScroll: true });
  }
}

// table makes a table with an empty body; on a phone every cell shows its column's name.
export function table(label, columns, place) {
  const body = el("tbody");
  const head = el("thead", {}, el("tr", {}, columns.map((c) => el("th", { scope: "col" }, c))));
  return { whole: el("div", { class: "scroll", "data-place": place }, el("table", { "aria-label": label }, head, body)), body, columns };
}

// row makes a row of that table.
export function row(of, cells, props = {}) {
  return el("tr", props, cells.map((cell, i) =>
    el("td", { "data-label": of.columns[i] }, cell !== "" && el("div", {}, cell))));
}

// route is a path that may be broken after its slashes.
export const route = (text) => text.split(/(?<=\/)/).map((part) => [part, el("wbr")]);
// num is a value that stays on one line.
export const num = (text) => el("span", { class: "num" }, text);
export const nothing = (text) => el("p", { class: "nothing" }, text);
export const code = (text) => el("code", {}, text);
export const badge = (text, kind) => el("span", { class: `badge ${kind}` }, text);

// facts shows names and values.
export function facts(pairs) {
  const shown = pairs.filter(([, value]) => value !== undefined && value !== "" && value !== null);
  return el("dl", {}, shown.map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));
}

// more shows a first line, and when it is opened what make returns.
export function more(place, summary, make) {
  const details = el("details", { "data-place": place }, el("summary", {}, summary));
  let made = false;
  details.addEventListener("toggle", () => {
    if (details.open && !made) {
      made = true;
      details.append(...[make()].flat());
    }
  });
  return details;
}

// pre shows a long text that scrolls by itself and can be reached with the keyboard.
export const pre = (text, label, place) => el("pre", { tabindex: "0", "aria-label": label, "data-place": place, role: "region" }, text);

// pretty indents a text if it is JSON.
export function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false });
export const moment = (iso) => el("time", { datetime: iso, title: iso }, clock.format(new Date(iso)));
export const ms = (n) => (n < 0.1 ? `${(n * 1000).toFixed(0)} µs` : n >= 10000 ? `${(n / 1000).toFixed(1)} s` : n >= 100 ? `${n.toFixed(0)} ms` : `${n.toFixed(1)} ms`);

export function bytes(n) {
  if (n < 1024) return `${n} B`;
  return n < 1 << 20 ? `${(n / 1024).toFixed(1)} KB` : `${(n / (1 << 20)).toFixed(1)} MB`;
}

export const count = (n, noun) => `${n} ${noun}${n === 1 ? "" : "s"}`;

export function age(iso) {
  const seconds = Math.max(0, (Date.now() - new Date(iso)) / 1000);
  if (seconds < 60) return `${Math.floor(seconds)} s`;
  return seconds < 3600 ? `${Math.floor(seconds / 60)} min` : `${Math.floor(seconds / 3600)} h`;
}

// since shows an age that keep() keeps right.
export const since = (iso) => el("time", { datetime: iso, title: iso, "data-since": iso }, age(iso));
export function keep() {
  for (const node of document.querySelectorAll("time[data-since]")) {
    const now = age(node.dataset.since);
    if (node.textContent !== now) node.textContent = now;
  }
}
