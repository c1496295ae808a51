import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { contrast, defaultAccent, shades, sheets } from "./colour.ts";

const css = readFileSync("kit/tokens.css", "utf8");

test("shades gives readable text on and in every accent", () => {
  const accents = ["#000000", "#ffffff", "#ffff00", "#ff0000", "#00ff00", "#0000ff", "#777777", "#757575", "#f5f7f9", "#1a2229", "#e6007e", "#0a7d33", defaultAccent];
  for (let hue = 0; hue < 4096; hue += 37) accents.push(`#${hue.toString(16).padStart(3, "0").replace(/./g, "$&$&")}`);
  for (const accent of accents) {
    for (const sheet of Object.values(sheets)) {
      const { accent: fill, edge, onAccent, accentText } = shades(accent, sheet);
      assert.ok(contrast(fill, onAccent) >= 4.5, `${onAccent} on ${fill}`);
      assert.ok(contrast(edge, sheet) >= 3, `${edge} on ${sheet}`);
      assert.ok(contrast(accentText, sheet) >= 4.5, `${accentText} on ${sheet}`);
    }
  }
});

test("shades keeps a readable accent and uses the default for an invalid one", () => {
  assert.equal(shades("#0a7d33", sheets.light).accent, "#0a7d33");
  assert.deepEqual(shades("javascript:", sheets.light), shades(undefined, sheets.light));
  assert.deepEqual(shades("#fff", sheets.light), shades(undefined, sheets.light));
});

test("contrast computes the WCAG contrast ratio", () => {
  assert.equal(contrast("#000000", "#ffffff"), 21);
  assert.equal(contrast("#777777", "#ffffff").toFixed(2), "4.48");
});

/** Returns the roles of one scheme in tokens.css. */
function roles(scheme: "light" | "dark"): Record<string, string> {
  const [light = "", dark = ""] = css.split("@media (prefers-color-scheme: dark)");
  const text = scheme === "light" ? light : (dark.split("@media")[0] ?? "");
  return Object.fromEntries([...text.matchAll(/--([\w-]+): (?:var\([\w-]+, )?(#[0-9a-f]{6})/g)].map(([, name = "", value = ""]) => [name, value]));
}

for (const scheme of ["light", "dark"] as const) {
  test(`the colours of the ${scheme} scheme contrast enough`, () => {
    const role = roles(scheme);
    const on = (ink: string, ground: string) => contrast(role[ink] ?? "", role[ground] ?? "");
    for (const ground of ["sheet", "ground", "raised"]) for (const ink of ["ink", "soft"]) assert.ok(on(ink, ground) >= 4.5, `${ink} on ${ground}`);
    for (const tone of ["good", "bad", "warn"]) assert.ok(on(tone, `${tone}-tint`) >= 4.5 && on(tone, "sheet") >= 4.5, tone);
    assert.ok(on("edge", "sheet") >= 3, "edge");
    assert.equal(role["sheet"], sheets[scheme]);
  });

  test(`the accent of the ${scheme} scheme is the default before the script runs`, () => {
    const role = roles(scheme);
    const { accent, edge, onAccent, accentText } = shades(undefined, sheets[scheme]);
    assert.deepEqual([role["accent"], role["accent-edge"], role["on-accent"], role["accent-text"]], [accent, edge, onAccent, accentText]);
  });
}
