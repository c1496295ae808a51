import assert from "node:assert/strict";
import test from "node:test";
import { contrast, sheets } from "../kit/colour.ts";
import { dress } from "./dress.ts";

/** A fake root element that records the values set on it. */
function root() {
  const set: Record<string, string | null> = {};
  const attributes = new Set<string>();
  const style = { setProperty: (name: string, value: string | null) => ((set[name] = value), undefined) };
  const toggleAttribute = (name: string, force?: boolean): boolean => (
    force ? attributes.add(name) : attributes.delete(name),
    force === true
  );
  return { set, attributes, element: { style, toggleAttribute } };
}

test("dress sets readable shades of the accent colour for both colour schemes", () => {
  const { set, element } = root();
  dress(element, "#f2b01e", "page");
  assert.equal(set["--accent-light"], "#f2b01e");
  for (const scheme of ["light", "dark"] as const) {
    const of = (name: string) => set[`--${name}-${scheme}`] ?? "";
    assert.ok(contrast(of("on-accent"), of("accent")) >= 4.5, scheme);
    assert.ok(contrast(of("accent-text"), sheets[scheme]) >= 4.5, scheme);
    assert.ok(contrast(of("accent-edge"), sheets[scheme]) >= 3, scheme);
  }
  assert.equal(Object.keys(set).length, 8, "the server renders the rest");
});

test("dress uses the default accent if the configured accent is not a colour", () => {
  const [given, none] = [root(), root()];
  dress(given.element, "red;}", "frame");
  dress(none.element, undefined, "frame");
  assert.deepEqual(given.set, none.set);
});

test("dress marks only pages that an element's close button overlaps", () => {
  for (const [shell, want] of [
    ["frame", true],
    ["direct", false],
    ["page", false],
    ["window", false],
  ] as const) {
    const { attributes, element } = root();
    dress(element, undefined, shell);
    assert.equal(attributes.has("data-closable"), want, shell);
  }
});
