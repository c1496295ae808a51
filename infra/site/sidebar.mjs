/** Derives the navigation from the documents. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Lists the sections of the site: the folder, and the title in the navigation. */
const sections = {
  guide: "Guide",
  examples: "Examples",
  reference: "Reference",
  operate: "Operate",
  develop: "Develop",
  adr: "Decisions",
};

/** Lists the pages that the build creates from the API descriptions. Redoc's pages load without VitePress's router. */
const apis = [
  { text: "API reference", link: "/reference/api.html", target: "_self" },
  { text: "Event reference", link: "/reference/events.html", target: "_self" },
  { text: "Operations and events", link: "/reference/operations.html" },
];

/** The top navigation. */
export const navigation = [
  { text: "Guide", link: "/guide/index.html", activeMatch: "^/(guide|examples)/" },
  { ...apis[0], text: "API" },
  { ...apis[1], text: "Events" },
  { text: "Reference", link: "/reference/index.html", activeMatch: "^/reference/" },
  { text: "Operate", link: "/operate/index.html", activeMatch: "^/operate/" },
  { text: "Develop", link: "/develop/index.html", activeMatch: "^/(develop|adr)/" },
];

/** Returns each section's sidebar. Pages follow the order of the links in the section's index. */
export function sidebar(source) {
  const folders = Object.keys(sections).filter((folder) => existsSync(join(source, folder)));
  const group = Object.fromEntries(folders.map((folder) => [folder, groupOf(source, folder)]));
  const index = (folder) => ({ text: sections[folder], items: group[folder].items.slice(0, 1) });
  const reference = { text: "APIs", items: apis };
  const customers = [group.guide, ...(group.examples ? [group.examples] : []), reference];
  return {
    "/guide/": customers,
    "/examples/": customers,
    "/reference/": [reference, group.reference],
    "/operate/": [group.operate, groupOf(source, "operate/runbooks", "Runbooks")],
    "/develop/": [group.develop, index("adr")],
    "/adr/": [group.adr, index("develop")],
  };
}

/** Returns a folder's index and pages as a group of the sidebar. */
function groupOf(source, folder, text = sections[folder]) {
  const index = existsSync(join(source, folder, "index.md")) ? ["index.md"] : [];
  return { text, items: [...index, ...pagesIn(source, folder)].map((name) => item(source, `${folder}/${name}`)) };
}

/** Returns the names of a folder's pages and of its folders' indexes, without its own index. */
function pagesIn(source, folder) {
  const generated = apis.map(({ link }) => link.slice(1).replace(/html$/, "md"));
  const names = readdirSync(join(source, folder), { withFileTypes: true })
    .map((entry) => (entry.isDirectory() ? `${entry.name}/index.md` : entry.name))
    .filter((name) => name.endsWith(".md") && name !== "index.md" && !generated.includes(`${folder}/${name}`))
    .filter((name) => existsSync(join(source, folder, name)));
  const index = join(source, folder, "index.md");
  const links = existsSync(index) ? readFileSync(index, "utf8") : "";
  const place = (name) => {
    const at = links.indexOf(`](${name.replace(/index\.md$/, "")}`);
    return at < 0 ? Infinity : at;
  };
  return names.sort((a, b) => place(a) - place(b) || (a < b ? -1 : 1));
}

function item(source, path) {
  const [, title] = /^# (.+)$/m.exec(readFileSync(join(source, path), "utf8"));
  return { text: title.replaceAll("`", ""), link: `/${path.replace(/\.md$/, ".html")}` };
}
