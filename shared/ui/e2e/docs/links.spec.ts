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

interface Operation {
  operationId?: string;
  summary: string;
  tags: string[];
  "x-codeSamples"?: { label: string; source: string }[];
}

const api = JSON.parse(textOf("reference/openapi.json")) as {
  tags: { name: string }[];
  paths: Record<string, Record<string, Operation>>;
};
const events = JSON.parse(textOf("reference/asyncapi.json")) as { components: { messages: object } };
const operations = Object.values(api.paths).flatMap((path) =>
  Object.values(path).filter(({ operationId }) => operationId !== undefined),
);
const entryOf = ({ tags, operationId = "" }: Operation): string => `/${tags[0] ?? ""}/${operationId.toLowerCase()}`;
const messages = Object.keys(events.components.messages);
const messageEntry = (name: string): string => `/channels/webhook#channels/webhook/messages&m=${name}`;
// Redoc draws these anchors in the browser.
anchors.set("reference/api.html", new Set(operations.map(entryOf)));
anchors.set("reference/events.html", new Set(messages.map(messageEntry)));

/** Returns the reason why a link from a page leads nowhere, or undefined. */
function fault(page: string, link: string): string | undefined {
  const [file = ""] = decoded(link).split("#", 1);
  const anchor = decoded(link).slice(file.length + 1);
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
    for (const [, link = ""] of textOf(page).matchAll(/ (?:href|src|data-description)="([^"]+)"/g)) {
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

test("docs: the API reference shows every operation", async ({ page, run }) => {
  expect(operations.length).toBeGreaterThan(100);
  await open(page, run, "reference/api.html");
  const shown: string[] = [];
  for (const { name } of api.tags) {
    await page.evaluate((hash) => (location.hash = hash), `/${name}`);
    await page.locator(`redoc [role=navigation] a[href^='#/${name}/']`).first().waitFor();
    const links = page.locator("redoc [role=navigation] a");
    shown.push(
      ...(await links.evaluateAll((all) =>
        all.map((link) => `${link.getAttribute("href") ?? ""} ${link.textContent}`),
      )),
    );
  }
  const missing = operations.filter(
    (one) => !shown.some((text) => text.startsWith(`#${entryOf(one)} `) && text.includes(one.summary)),
  );
  expect(missing).toEqual([]);
});

test("docs: the page of operations and events lists all of them", () => {
  const text = decoded(textOf("reference/operations.html"));
  const entries = [
    ...operations.map((one) => `api.html#${entryOf(one)}`),
    ...messages.map((name) => `events.html#${messageEntry(name)}`),
  ];
  expect(entries.filter((entry) => !text.includes(`./${entry}"`))).toEqual([]);
});

test("docs: an operation has a sample for each language, with the guide's variables", async ({ page, run }) => {
  const samples = operations.find(({ operationId }) => operationId === "getExport")?.["x-codeSamples"] ?? [];
  expect(samples.map(({ label }) => label)).toEqual(["curl", "TypeScript", "Python"]);
  for (const { source } of samples) expect(source).toMatch(/BASE_URL.*\/bridge\/fhir\/ehi-export\/.*TASK/);
  await open(page, run, "reference/api.html#/export/getexport");
  const section = page.locator("[data-section-id='/export/getexport']");
  await expect(section.getByTestId("source-code").first()).toContainText('-u "$PUBLIC_ID:$PRIVATE_KEY"');
});

test("docs: the event reference shows every event", async ({ page, run }) => {
  expect(messages.length).toBe(10);
  await open(page, run, "reference/events.html");
  for (const name of messages) {
    await page.evaluate((hash) => (location.hash = hash), messageEntry(name));
    await expect(page.getByText(`"${name}"`).first()).toBeVisible();
  }
});
