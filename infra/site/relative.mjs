/** Makes the built site independent of its base URL. VitePress can build only for a fixed absolute base. */
import { posix } from "node:path";

/**
 * The base for which VitePress builds, which no file contains at the end. File names contain hashes of the content
 * before the replacement, so change BASE if you change the replacement.
 */
export const BASE = "/base-of-the-site-2/";

/** The global variable that contains the base path at run time. public/start.js sets it. */
const variable = "globalThis.siteBase";

/** Returns the content of the text file at path without BASE. */
export function withoutBase(path, text) {
  const changed = replaced(path, text);
  if (changed.includes(BASE)) throw new Error(`${path} still contains the base`);
  return changed;
}

function replaced(path, text) {
  const up = posix.relative(posix.dirname(path), ".") || ".";
  switch (posix.extname(path)) {
    case ".html":
      return text.replaceAll(`"${BASE}`, `"${up}/`);
    case ".css":
      return text.replaceAll(BASE, `${up}/`);
    case ".js":
      if (path.includes("localSearchIndex")) return text.replaceAll(`"${BASE}`, '"${' + variable + "}"); // a template literal
      return text
        .replaceAll(`\\"${BASE}`, `\\""+${variable}+"`) // in the site's data, which is JSON in a string
        .replaceAll("`" + BASE, "`${" + variable + "}")
        .replaceAll(`"${BASE}`, ` ${variable}+"`); // the space separates it from a keyword such as return
  }
  return text;
}
