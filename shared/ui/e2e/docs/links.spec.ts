/** Checks the links of the built documentation site, and that the reference is complete. */
import { posix } from "node:path";
import { chapters, documentation, explanation } from "../../dashboard/parts/chapters.ts";
import { expect, test } from "../support/test.ts";
import { files, open, textOf } from "./site.ts";

const pages = files.filter((path) => path.endsWith(".html"));
const decoded = (text: string): string => text.replaceAll("&amp;", "&").replaceAll("&quot;", '"');
const anchorsOf = (path: string): Set<string> =>
  new Set([...textOf(path).matchAll(/ id="([^"]+)"/g)].map(([, id = ""]) => decoded(id)));
const anchors = new Map(pages.map((path) => [path, anchorsOf(path)]));

/** Returns the reason why a link from a page leads nowhere, or undefined. */
function fault(page: string, link: string): string | undefined {
  const [file = "", anchor = ""] = decoded(link).split("#");
  if (file.startsWith("/")) return `${page}: ${file} ignores the site's base`;
  const to = file === "" ? page : posix.join(posix.dirname(page), file);
  if (!files.includes(to)) return `${page}: there is no ${to}`;
  if (anchor === "" || !to.endsWith(".html") || anchors.get(to)?.has(decodeURIComponent(anchor))) return undefined;
  return `${page}: ${to} has no #${anchor}`;
}

test("docs: all links of built pages resolve, with anchors", () => {
  const found: (string | undefined)[] = [];
  let links = 0;
  for (const page of pages) {
    for (const [, link = ""] of textOf(page).matchAll(/ (?:href|src|spec-url)="([^"]+)"/g)) {
      if (/^(https?|mailto|data):/.test(link)) continue;
      links++;
      found.push(fault(page, link));
    }
  }
  expect(links).toBeGreaterThan(1000);
  expect(found.filter((one) => one !== undefined)).toEqual([]);
});

test("docs: the dashboard's chapters are built pages", () => {
  const links = [...Object.values(chapters), documentation, explanation("svc_not_found") ?? ""];
  expect(links.map((link) => fault("index.html", link.replace(/^docs\//, ""))).filter(Boolean)).toEqual([]);
});

interface Operation {
  operationId?: string;
  summary?: string;
  tags?: string[];
}

test("docs: the API reference shows every operation", async ({ page, run }) => {
  const description = JSON.parse(textOf("reference/openapi.json")) as {
    tags: { name: string }[];
    paths: Record<string, Record<string, Operation>>;
  };
  const operations = Object.values(description.paths)
    .flatMap((path) => Object.values(path))
    .filter(({ operationId }) => operationId !== undefined);
  expect(operations.length).toBeGreaterThan(100);
  const shown: string[] = [];
  for (const { name } of description.tags) {
    await page.goto("about:blank");
    await open(page, run, `reference/api.html#/${name}`);
    await page.getByRole("heading", { name }).first().waitFor();
    shown.push(await page.locator("redoc").innerText());
  }
  const text = shown.join("\n");
  expect(operations.map(({ summary = "no summary" }) => summary).filter((summary) => !text.includes(summary))).toEqual(
    [],
  );
});

test("docs: the event reference shows every event", async ({ page, run }) => {
  const { components } = JSON.parse(textOf("reference/asyncapi.json")) as { components: { messages: object } };
  const names = Object.keys(components.messages);
  expect(names.length).toBe(10);
  for (const name of names) {
    await page.goto("about:blank");
    await open(page, run, `reference/events.html#/channels/webhook#channels/webhook/messages&m=${name}`);
    await expect(page.getByText(`"${name}"`).first()).toBeVisible();
  }
});
