/** Configures VitePress (docs/adr/0056-the-documentation-site.md). build.mjs runs VitePress on a copy of docs/. */
import { fileURLToPath } from "node:url";
import { createCssVariablesTheme } from "shiki";
import { defineConfig } from "vitepress";
import { classesForColours, codeGroups, githubAnchor, plainText, siteLinks } from "../markdown.mjs";
import { BASE } from "../relative.mjs";
import { navigation, sidebar } from "../sidebar.mjs";

const source = process.env["SITE_SOURCE"];
const from = (path) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  title: "Recordbridge",
  titleTemplate: ":title | Recordbridge",
  description: "Patients' health records from hospital portals, with their consent.",
  lang: "en",
  base: BASE,
  srcDir: source,
  ignoreDeadLinks: true, // shared/ui/e2e/docs/links.spec.ts checks all links and anchors of the built files
  router: { prefetchLinks: false }, // the prefetched pages would double a page's weight
  metaChunk: true, // instead of an inline script
  themeConfig: {
    logoLink: `${BASE}index.html`,
    nav: navigation,
    sidebar: sidebar(source),
    outline: [2, 3],
    search: { provider: "local" },
  },
  markdown: {
    theme: createCssVariablesTheme({ name: "site", variablePrefix: "--code-" }),
    codeTransformers: [classesForColours],
    anchor: { slugify: githubAnchor },
    config: (md) => md.use(siteLinks, source).use(codeGroups).use(plainText),
  },
  vite: {
    publicDir: from("../public"),
    resolve: { alias: { vue: from("../node_modules/vue") } },
    build: { chunkSizeWarningLimit: 2000 },
    logLevel: "warn",
  },
  // The site's Content-Security-Policy allows no inline script or style. site.css and the theme's scripts replace them.
  transformHtml(html) {
    const start = `<script src="${BASE}start.js"></script>`;
    const [before, ...after] = html.split(/<script id="check-[a-z-]+">[\s\S]*?<\/script>/);
    return (before + start + after.join("")).replaceAll(/ style="(position:relative|--vp-vh:0px);"/g, "");
  },
});
