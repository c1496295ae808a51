/** Derives the navigation from the documents. */
import { readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";

/** Lists the sections of the site: the folder, and the title in the navigation. */
const sections = {
  guide: "Guide",
  reference: "Reference",
  operate: "Operate",
  develop: "Develop",
  adr: "Decisions",
};

const rendered = [
  { text: "API reference", link: "/reference/api.html", target: "_self" },
  { text: "Event reference", link: "/reference/events.html", target: "_self" },
];

/** The top navigation. */
export const navigation = [
  { text: "Guide", link: "/guide/index.html", activeMatch: "^/guide/" },
  ...rendered.map((item, at) => ({ ...item, text: ["API", "Events"][at] })),
  {
    text: "Reference",
    link: "/reference/index.html",
    activeMatch: "^/reference/",
  },
  { text: "Operate", link: "/operate/index.html", activeMatch: "^/operate/" },
  {
    text: "Develop",
    link: "/develop/index.html",
    activeMatch: "^/(develop|adr)/",
  },
];

/** Returns each section's sidebar. Pages follow the order of the links in the section's index. */
export function sidebar(source) {
  return Object.fromEntries(Object.keys(sections).map((folder) => [`/${folder}/`, sidebarOf(source, folder)]));
}

function sidebarOf(source, folder) {
  const pages = pagesIn(source, folder).map((name) => item(source, `${folder}/${name}`));
  const own = {
    text: sections[folder],
    items: [item(source, `${folder}/index.md`), ...pages],
  };
  switch (folder) {
    case "guide":
      return [own, { text: "Reference", items: rendered }];
    case "reference":
      return [{ text: "APIs", items: rendered }, own];
    case "operate": {
      const runbooks = pagesIn(source, "operate/runbooks").map((name) => item(source, `operate/runbooks/${name}`));
      return [own, { text: "Runbooks", items: runbooks }];
    }
    case "develop":
      return [own, { text: "Decisions", items: [item(source, "adr/index.md")] }];
  }
  return [own, { text: "Develop", items: [item(source, "develop/index.md")] }];
}

/** Returns the names of a folder's pages without its index. */
function pagesIn(source, folder) {
  const names = readdirSync(join(source, folder)).filter((name) => name.endsWith(".md") && name !== "index.md");
  let index = "";
  try {
    index = readFileSync(join(source, folder, "index.md"), "utf8");
  } catch {
    return names.sort();
  }
  const place = (name) => (index.includes(`](${name}`) ? index.indexOf(`](${name}`) : Infinity);
  return names.sort((a, b) => place(a) - place(b) || (a < b ? -1 : 1));
}

function item(source, path) {
  const [, title] = /^# (.+)$/m.exec(readFileSync(join(source, path), "utf8"));
  return {
    text: title.replaceAll("`", ""),
    link: `/${posix.join(posix.dirname(path), posix.basename(path, ".md"))}.html`,
  };
}
