// Buckets, folders and objects.
import { address, get, place } from "./api.js";
import { bytes, code, count, el, facts, moment, more, nothing, num, one, pre, row, sync, table } from "./dom.js";

const mostLines = 200;

export function objects() {
  const path = el("nav", { class: "path", "aria-label": "Folder" });
  const list = table("Objects", ["Name", "Size", "Modified", "ETag"], "objects");
  const foot = el("div");
  const detail = el("section", { class: "detail", "aria-label": "Object" });
  const root = el("div", {}, el("h2", {}, "Objects"), path, el("div", { class: "split" }, el("div", {}, list.whole, foot), detail));

  const link = (query, text) => el("a", { href: place("objects", query), "data-place": JSON.stringify(query) }, text);

  // steps are the bucket and the folders down to here.
  function steps({ bucket, prefix = "" }) {
    const all = [{ query: {}, text: "Buckets" }];
    if (bucket) all.push({ query: { bucket }, text: bucket });
    let at = "";
    for (const folder of prefix.split("/").slice(0, -1)) {
      at += `${folder}/`;
      all.push({ query: { bucket, prefix: at }, text: folder || "(empty)" });
    }
    return all;
  }

  function listed(entry) {
    if (entry.query) return row(list, [link(entry.query, entry.text), "", "", ""]);
    const o = entry.object;
    return row(list, [link(entry.at, code(entry.text)), num(bytes(o.size)), moment(o.modified), el("small", {}, o.etag.replaceAll('"', ""))],
      { "aria-current": entry.chosen && "true" });
  }

  async function entries(query, signal) {
    if (!query.bucket) {
      const { buckets } = await get(["buckets"], {}, signal);
      return { all: buckets.map((bucket) => ({ id: bucket, query: { bucket }, text: bucket })), next: "" };
    }
    const { bucket, prefix = "" } = query;
    const page = await get(["buckets", bucket, "objects"], { prefix, from: query.from }, signal);
    return {
      all: [
        ...page.folders.map((f) => ({ id: `folder ${f}`, query: { bucket, prefix: f }, text: f.slice(prefix.length) })),
        ...page.objects.map((o) => ({
          id: `object ${o.key}`, object: o, text: o.key.slice(prefix.length) || "(no name)",
          at: { bucket, prefix, from: query.from, key: o.key }, chosen: o.key === query.key,
        })),
      ],
      next: page.next,
    };
  }

  return {
    root,
    async refresh(query, signal) {
      sync(path, steps(query), (s) => JSON.stringify(s.query), (s) => link(s.query, s.text));
      const { all, next } = await entries(query, signal);
      sync(list.body, all, (e) => e.id, listed);
      one(foot, { empty: all.length === 0, next, query: { ...query, key: "" } }, (f) => el("p", { class: "pages" },
        f.empty && nothing("No files here yet. Complete an export to see its files."),
        f.query.from && link({ ...f.query, from: "" }, "First page"), f.next && link({ ...f.query, from: f.next }, "Next page")));
      root.classList.toggle("chosen", Boolean(query.key));
      one(detail, query.key ? await get(["buckets", query.bucket, "object"], { key: query.key }, signal) : undefined, (o) => shownObject(o, query));
    },
  };
}

function shownObject(o, query) {
  const download = address(["buckets", query.bucket, "download"], { key: o.key });
  return el("article", {},
    el("p", { class: "back" }, el("a", { href: place("objects", { ...query, key: "" }), "data-place": "close" }, "Close")),
    el("h3", {}, code(o.key)),
    facts([["Size", `${bytes(o.size)} (${o.size})`], ["Modified", moment(o.modified)], ["ETag", code(o.etag)], ["Type", o.content_type],
      ["Encryption", o.encryption], ["Metadata", o.metadata && code(JSON.stringify(o.metadata))]]),
    el("p", {}, el("a", { href: download, download: true, "data-place": "download" }, "Download")),
    o.binary ? nothing("Not a text file.") : o.size === 0 ? nothing("Empty.") : text(o));
}

// text shows NDJSON line by line, anything else as it is.
function text(o) {
  const cut = o.truncated && nothing(`Only the first ${count(o.text.length, "character")} are shown.`);
  const lines = (o.truncated ? o.text.slice(0, o.text.lastIndexOf("\n") + 1) : o.text).split("\n").filter(Boolean);
  const parsed = lines.slice(0, mostLines).map(json);
  if (lines.length === 0 || parsed.includes(undefined)) return [pre(o.text, "The object's text", "text"), cut];
  return [
    el("ol", { class: "lines" }, parsed.map((value, i) => el("li", {}, more(`line ${i}`, [code(title(value)), ` ${lines[i].slice(0, 90)}`],
      () => pre(JSON.stringify(value, null, 2), `Line ${i + 1}`))))),
    lines.length > mostLines && nothing(`${count(lines.length - mostLines, "more line")} not shown.`), cut,
  ];
}

function json(line) {
  try {
    const value = JSON.parse(line);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

const title = (value) => [value.resourceType, value.id].filter(Boolean).join("/") || "JSON";
