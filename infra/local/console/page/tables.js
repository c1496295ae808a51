// Tables, browsed by key.
import { get, place } from "./api.js";
import { bytes, code, count, el, facts, nothing, num, one, pre, row, sync, table } from "./dom.js";

export function tables() {
  const list = el("ul", { class: "chooser", "aria-label": "Tables" });
  const index = el("select", { id: "index", onchange: go });
  const prefix = el("input", { id: "prefix", type: "search", autocomplete: "off", spellcheck: "false", placeholder: "all" });
  const key = el("label", { for: "prefix" });
  const form = el("form", { class: "filters", onsubmit: (e) => (e.preventDefault(), go()) },
    el("label", { for: "index" }, "By "), index, key, prefix, el("button", {}, "Show"));
  const rows = el("div");
  const detail = el("section", { class: "detail", "aria-label": "Row" });
  const root = el("div", {}, el("h2", {}, "Tables"), list, form, el("div", { class: "split" }, rows, detail));
  let query = {};
  let drawn = ""; // which table and index the rows are of: they decide about the columns

  function go() {
    location.hash = place("tables", { table: query.table, index: index.value, prefix: prefix.value });
  }

  const tableItem = (t) => el("li", {}, el("a", { href: place("tables", { table: t.name }), "aria-current": t.chosen && "page", "data-place": t.name },
    t.name.replace(/^local-/, "")), el("span", { class: "number" }, ` ${t.rows}`));

  function drawForm(t) {
    const choices = [{ id: "", text: "table" }, ...t.indexes.map((x) => ({ id: x.name, text: `index ${x.name} (${count(x.rows, "row")})` }))];
    sync(index, choices, (c) => c.id, (c) => el("option", { value: c.id }, c.text));
    const keys = t.indexes.find((x) => x.name === query.index) ?? t;
    key.replaceChildren(`${keys.partition} starts with `);
    if (document.activeElement !== index) index.value = query.index ?? "";
    if (document.activeElement !== prefix) prefix.value = query.prefix ?? "";
    return keys;
  }

  function drawRows(keys, page) {
    const names = [...new Set([keys.partition, keys.sort].filter(Boolean)), ...Object.keys(page.rows[0]?.keys ?? {})];
    const columns = [...new Set(names)];
    const as = JSON.stringify([query.table, query.index, columns]);
    if (as !== drawn) {
      drawn = as;
      const grid = table("Rows", [...columns, "Rest", "Size"], "rows");
      rows.grid = grid;
      rows.columns = columns;
      rows.foot = el("div");
      rows.replaceChildren(grid.whole, rows.foot);
    }
    const shown = page.rows.map((r) => ({ ...r, chosen: r.id === query.row, at: [query.prefix, query.from] }));
    sync(rows.grid.body, shown, (r) => r.id, (r) => row(rows.grid, [
      ...rows.columns.map((name, i) => (i === 0
        ? el("a", { href: place("tables", { ...query, row: r.id }), "data-place": r.id }, code(plain(r.keys[name])))
        : el("code", { class: "key" }, plain(r.keys[name])))),
      el("small", { class: "preview" }, r.preview), num(bytes(r.size)),
    ], { "aria-current": r.chosen && "true" }));
    one(rows.foot, { rows: page.rows.length, next: page.next, query: { ...query, row: "" } }, (f) => el("p", { class: "pages" },
      f.rows === 0 && nothing(f.query.prefix ? "No keys with this prefix." : "The table is empty."),
      f.query.from && el("a", { href: place("tables", { ...f.query, from: "" }), "data-place": "first" }, "First page"),
      f.next && el("a", { href: place("tables", { ...f.query, from: f.next }), "data-place": "next" }, "Next page")));
  }

  return {
    root,
    async refresh(asked, signal) {
      query = asked;
      const all = (await get(["tables"], {}, signal)).tables;
      sync(list, all.map((t) => ({ name: t.name, rows: t.rows, chosen: t.name === query.table })), (t) => t.name, tableItem);
      const chosen = all.find((t) => t.name === query.table);
      form.hidden = !chosen;
      rows.hidden = !chosen;
      root.classList.toggle("chosen", Boolean(chosen && query.row));
      if (!chosen) {
        one(detail, undefined, itemOf);
        return;
      }
      const keys = drawForm(chosen);
      drawRows(keys, await get(["tables", query.table, "items"], { index: query.index, prefix: query.prefix, from: query.from }, signal));
      one(detail, query.row ? await get(["tables", query.table, "item"], { index: query.index, id: query.row }, signal) : undefined,
        (found) => itemOf(found, query));
    },
  };
}

const plain = (value) => (typeof value === "object" ? JSON.stringify(value) : String(value ?? ""));

function itemOf(found, query) {
  const rest = Object.keys(found.item).filter((name) => !found.keys.includes(name));
  const ordered = Object.fromEntries([...found.keys, ...rest].map((name) => [name, found.item[name]]));
  return el("article", {},
    el("p", { class: "back" }, el("a", { href: place("tables", { ...query, row: "" }), "data-place": "close" }, "Close")),
    el("h3", {}, code(plain(found.item[found.keys[0]]))), facts([["Size", bytes(found.size)]]),
    pre(JSON.stringify(ordered, null, 2), "The row as JSON", "item"));
}
