import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import test from "node:test";
import { screens } from "../shell/places.ts";
import { chapters, documentation, explanation } from "./chapters.ts";

const docs = "../../docs/"; // relative to shared/ui, where tests run

/** Returns the anchors of a document's headings, as GitHub and the site generate them. */
function anchors(markdown: string): string[] {
  const prose = markdown.replaceAll(/^```[\s\S]*?^```/gm, "");
  return [...prose.matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

test("every screen has a chapter", () => {
  assert.deepEqual(Object.keys(chapters).sort(), screens.map(({ name }) => name).sort());
});

test("every chapter and its anchor exist in the documentation's source", () => {
  for (const chapter of [...Object.values(chapters), documentation, explanation("svc_conflict") ?? ""]) {
    const [page = "", anchor] = chapter.split("#");
    const file = docs + page.replace("docs/", "").replace("index.html", "README.md").replace(".html", ".md");
    assert.ok(existsSync(file), `${chapter}: there is no ${file}`);
    if (anchor !== undefined) assert.ok(anchors(readFileSync(file, "utf8")).includes(anchor), chapter);
  }
});

test("only the service's own error codes are explained", () => {
  assert.equal(explanation("access_denied"), undefined);
});
