import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import test from "node:test";
import { contrast, defaultAccent, shades, sheets } from "./colour.ts";

const css = readFileSync("kit/tokens.css", "utf8");

test("shades returns readable text colours for every accent", () => {
  const accents = [
    "#000000",
    "#ffffff",
    "#ffff00",
    "#ff0000",
    "#00ff00",
    "#0000ff",
    "#777777",
    "#757575",
    "#f5f7f9",
    "#1a2229",
    "#e6007e",
    "#0a7d33",
    defaultAccent,
  ];
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

test("shades keeps a readable accent and replaces an invalid one with the default", () => {
  assert.equal(shades("#0a7d33", sheets.light).accent, "#0a7d33");
  assert.deepEqual(shades("javascript:", sheets.light), shades(undefined, sheets.light));
  assert.deepEqual(shades("#fff", sheets.light), shades(undefined, sheets.light));
});

test("contrast computes the WCAG contrast ratio", () => {
  assert.equal(contrast("#000000", "#ffffff"), 21);
  assert.equal(contrast("#777777", "#ffffff").toFixed(2), "4.48");
});

/** Returns the declarations of the first rule that follows a text in tokens.css. */
function rule(after: string): string[] {
  const [, text = ""] = css.split(after);
  return (/\{([^{}]*)\}/.exec(text)?.[1] ?? "")
    .split(";")
    .map((one) => one.trim())
    .filter((one) => one !== "");
}

/** Returns the roles of one scheme in tokens.css. */
function roles(scheme: "light" | "dark"): Record<string, string> {
  const text = rule(
    scheme === "light" ? "Nothing else names a value of its own. */" : "@media (prefers-color-scheme: dark)",
  ).join(";");
  return Object.fromEntries(
    [...text.matchAll(/--([\w-]+): (?:var\([\w-]+, )?(#[0-9a-f]{6})/g)].map(([, name = "", value = ""]) => [
      name,
      value,
    ]),
  );
}

test("choosing the dark scheme gives the same colours as the device's dark preference, and choosing light gives none of them", () => {
  const [scheme, ...chosen] = rule('\n:root:where([data-scheme="dark"])');
  assert.equal(scheme, "color-scheme: dark");
  assert.ok(chosen.length > 10);
  assert.deepEqual(chosen, rule("@media (prefers-color-scheme: dark) {"));
  assert.deepEqual(rule('\n:root:where([data-scheme="light"])'), ["color-scheme: light"]);
  assert.match(css, /@media \(prefers-color-scheme: dark\) \{\s+:root:where\(:not\(\[data-scheme="light"\]\)\) \{/);
});

test("forced colours override a chosen scheme", () => {
  const [before = "", forced = ""] = css.split("@media (forced-colors: active)");
  assert.ok(before.includes('[data-scheme="dark"]') && !forced.includes("data-scheme"));
  assert.doesNotMatch(before, /:root\[/, "an attribute outside :where would be stronger");
  for (const name of Object.keys(roles("dark"))) assert.match(forced, new RegExp(`--${name}: [A-Z]`), name);
});

test("the dashboard's preview uses the token colours", () => {
  const preview = readFileSync("dashboard/styles/preview.css", "utf8");
  for (const scheme of ["light", "dark"] as const) {
    const { soft, edge, line, ink, sheet } = roles(scheme);
    const text = preview.split(`.preview.${scheme} {`)[1]?.split("}")[0] ?? "";
    assert.deepEqual(text.match(/#[0-9a-f]{6}/g), [soft, edge, line, ink, sheet], scheme);
  }
});

test("only the colour tokens depend on the device's colour scheme", () => {
  const styles = readdirSync("embed/styles")
    .filter((name) => name !== "look.css")
    .map((name) => `embed/styles/${name}`);
  for (const file of ["embed/critical.css", ...styles])
    assert.ok(!readFileSync(file, "utf8").includes("prefers-color-scheme"), file);
});

for (const scheme of ["light", "dark"] as const) {
  test(`the ${scheme} scheme's colours have sufficient contrast`, () => {
    const role = roles(scheme);
    const on = (ink: string, ground: string) => contrast(role[ink] ?? "", role[ground] ?? "");
    for (const ground of ["sheet", "ground", "raised"])
      for (const ink of ["ink", "soft"]) assert.ok(on(ink, ground) >= 4.5, `${ink} on ${ground}`);
    for (const tone of ["good", "bad", "warn"])
      assert.ok(on(tone, `${tone}-tint`) >= 4.5 && on(tone, "sheet") >= 4.5, tone);
    assert.ok(on("edge", "sheet") >= 3, "edge");
    assert.equal(role["sheet"], sheets[scheme]);
  });

  test(`the ${scheme} scheme uses the default accent before the script runs`, () => {
    const role = roles(scheme);
    const { accent, edge, onAccent, accentText } = shades(undefined, sheets[scheme]);
    assert.deepEqual(
      [role["accent"], role["accent-edge"], role["on-accent"], role["accent-text"]],
      [accent, edge, onAccent, accentText],
    );
  });
}
