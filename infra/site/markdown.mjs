/** Adapts docs/*.md, which are written for GitHub, to the site. */
import { existsSync } from "node:fs";
import { extname, join, posix, relative, resolve } from "node:path";

/** Returns the anchor that GitHub generates for a heading. */
export function githubAnchor(heading) {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");
}

/**
 * Points links between documents to pages of the site. A link to an API description becomes a link to the rendered
 * reference. A link to a file that the site doesn't contain, such as source code, becomes plain text.
 */
export function siteLinks(md, docs) {
  md.core.ruler.push("site-links", ({ tokens, env }) => {
    for (const { children } of tokens) {
      if (!children) continue;
      for (const [at, token] of children.entries()) {
        if (token.type !== "link_open") continue;
        const href = token.attrGet("href");
        if (/^([a-z][a-z0-9+.-]*:|#)/.test(href)) continue;
        const to = pageOf(href, env.path, docs);
        if (to === undefined) {
          unlink(children, at);
          continue;
        }
        token.attrSet("href", to);
        // VitePress's router leaves links with a target to the browser. It can't open Redoc's pages.
        if (Object.values(rendered).some((page) => to.includes(page.replace("reference/", "")))) {
          token.attrSet("target", "_self");
        }
      }
    }
  });
}

const rendered = {
  "openapi.yaml": "reference/api.html",
  "asyncapi.yaml": "reference/events.html",
};

/** Returns the relative URL of the page for a link in the document at path, or undefined if the site has no such page. */
function pageOf(href, path, docs) {
  const [file] = href.split("#", 1);
  const anchor = href.slice(file.length); // Redoc's anchors contain a second #
  const target = relative(docs, resolve(path, "..", file));
  if (target.startsWith("..")) return undefined;
  const document = join(target, extname(target) === "" ? "index.md" : "").replace(/README\.md$/, "index.md");
  const page = rendered[target] ?? document.replace(/\.md$/, ".html");
  if (!page.endsWith(".html") || (!rendered[target] && !existsSync(join(docs, document)))) return undefined;
  const url = posix.relative(posix.dirname(relative(docs, path)), page);
  return `./${url}${anchor}`;
}

/** Removes the link that starts at an index, but keeps its text. */
function unlink(children, at) {
  const end = children.findIndex((token, index) => index > at && token.type === "link_close");
  for (const index of [at, end]) {
    children[index].type = "text";
    children[index].tag = "";
    children[index].nesting = 0;
    children[index].content = "";
  }
}

const labels = {
  sh: "curl",
  ts: "TypeScript",
  js: "JavaScript",
  python: "Python",
  go: "Go",
};

/**
 * Displays adjacent code blocks in different languages as tabs. On GitHub, they follow each other. The markup is
 * VitePress's own for code groups.
 */
export function codeGroups(md) {
  md.core.ruler.push("code-groups", (state) => {
    const tokens = [];
    let groups = 0;
    for (let at = 0; at < state.tokens.length;) {
      let end = at;
      while (labels[state.tokens[end]?.info.trim()] && state.tokens[end].type === "fence") end++;
      const run = state.tokens.slice(at, end);
      if (run.length < 2 || new Set(run.map(({ info }) => info)).size < run.length) {
        tokens.push(...state.tokens.slice(at, (at = Math.max(end, at + 1))));
        continue;
      }
      const name = `code-${++groups}`;
      const tabs = run.map(({ info }, index) => tabOf(name, info.trim(), index));
      tokens.push(
        html(state, `<div class="vp-code-group"><div class="tabs">${tabs.join("")}</div><div class="blocks">`),
      );
      run[0].info += " active";
      tokens.push(...run, html(state, "</div></div>"));
      at = end;
    }
    state.tokens = tokens;
  });
}

function tabOf(group, language, index) {
  const id = `${group}-${language}`;
  const label = labels[language];
  const checked = index === 0 ? " checked" : "";
  return `<input type="radio" name="${group}" id="${id}"${checked}><label data-title="${label}" for="${id}">${label}</label>`;
}

function html(state, content) {
  const token = new state.Token("html_block", "", 0);
  token.content = content;
  return token;
}

/** Replaces the highlighter's inline styles, which the site's Content-Security-Policy blocks, with classes. */
export const classesForColours = {
  name: "classes-for-colours",
  pre: (node) => void delete node.properties.style,
  span(node) {
    const style = node.properties.style;
    if (style === undefined) return;
    const [, name] = /--code-(?:token-)?([a-z-]+)/.exec(style) ?? [];
    delete node.properties.style;
    if (name !== undefined && name !== "foreground") this.addClassToHast(node, `code-${name}`);
  },
};

/** Stops Vue from evaluating text in double braces. */
export function plainText(md) {
  const { text, code_inline } = md.renderer.rules;
  const escaped = (html) => html.replaceAll("{{", "&#123;&#123;");
  md.renderer.rules.text = (...args) => escaped(text(...args));
  md.renderer.rules.code_inline = (...args) => code_inline(...args).replace("<code", "<code v-pre");
}
