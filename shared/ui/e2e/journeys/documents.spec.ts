/** Tests docs/guide/widget.md and widget-reference.md. The quick start must run, and the tables must be complete. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Patient } from "../support/patient.ts";
import { customer, repository } from "../support/run.ts";
import { expect, test } from "../support/test.ts";

const guide = readFileSync(join(repository, "docs/guide/widget.md"), "utf8");
const reference = readFileSync(join(repository, "docs/guide/widget-reference.md"), "utf8");

interface Described {
  declarations: {
    tagName?: string;
    attributes?: { name: string }[];
    cssProperties?: { name: string }[];
    cssParts?: { name: string }[];
  }[];
}

const described = (
  JSON.parse(readFileSync(join(repository, "shared/ui/sdk/custom-elements.json"), "utf8")) as { modules: Described[] }
).modules;
const elements = described.flatMap((module) => module.declarations);

/** Returns a chapter of a document, including the chapter's subchapters. */
function chapter(document: string, title: string): string {
  const [, depth = "##"] = new RegExp(`^(#+) ${title}$`, "m").exec(document) ?? [];
  const [, text = ""] = document.split(new RegExp(`^${depth} ${title}$`, "m"));
  return text.split(new RegExp(`^#{2,${depth.length}} `, "m"))[0] ?? "";
}

/** Returns the first column of a chapter's tables. */
const named = (text: string): string[] =>
  [...text.matchAll(/^\| (`[^|]+`) \|/gm)]
    .flatMap(([, cell = ""]) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name))
    .filter((name) => name !== "event_type"); // a table header

test("the documented quick start works as written", async ({ page, run, host }) => {
  const [, code = ""] = /```html\n(<!doctype html>[\s\S]+?)```/.exec(chapter(guide, "Quick start")) ?? [];
  const html = code
    .replaceAll("https://api.example.com/v1", run.base_url)
    .replace(/public_test_[0-9a-f-]+/, customer(run).public_id);
  await page.goto(host.publish({ site: "myapp", html }));
  const patient = new Patient(page);
  await page.getByRole("button", { name: "Share Records" }).click();
  await patient.proveEmail(run);
  await patient.connect();
  await patient.finish();
  await expect(page.getByRole("heading", { name: "Connected: 1" })).toBeVisible();
});

for (const [title, tag] of [
  ["`svc-widget-element`", "svc-widget-element"],
  ["`svc-widget`", "svc-widget"],
] as const) {
  test(`the documented attributes of ${tag} are complete`, () => {
    const attributes = elements.find((one) => one.tagName === tag)?.attributes?.map((one) => one.name) ?? [];
    const written = named(chapter(reference, title)).filter((name) => !/[(.]/.test(name));
    expect(attributes.length).toBeGreaterThan(5);
    expect(written.sort()).toEqual([...attributes].sort());
  });
}

test("the documented events match the schema", () => {
  const schema = readFileSync(join(repository, "shared/ui/sdk/events.schema.json"), "utf8");
  const types = new Set(
    [...schema.matchAll(/"const": ?"((?:patient|widget|search)\.[a-z_]+)"/g)].map(([, type = ""]) => type),
  );
  expect(types.size).toBe(10);
  expect(named(chapter(reference, "Events")).sort()).toEqual([...types].sort());
});

test("every CSS part and property is documented", () => {
  const text = chapter(reference, "Styling");
  for (const { cssProperties = [], cssParts = [] } of elements)
    for (const { name } of [...cssProperties, ...cssParts]) expect(text).toContain(name);
});
