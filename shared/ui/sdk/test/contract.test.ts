/** Tests the elements against their documented tables, and custom-elements.json against the elements. */
import assert from "node:assert/strict";
import { test } from "node:test";
import described from "../custom-elements.json";
import type {
  Callback as DeclaredCallback,
  SvcWidget as DeclaredOlder,
  SvcWidgetElement as Declared,
} from "../package/svc-widget.d.ts";
import { SvcWidget, SvcWidgetElement } from "../svc-widget.ts";
import type { Callback } from "../../kit/protocol.ts";

/** An element's own members. The compiler checks that the declared members match. */
type Own<E> = Omit<E, keyof HTMLElement | "connectedCallback" | "disconnectedCallback" | "attributeChangedCallback">;
type Same<A, B> = [A, B] extends [B, A] ? true : never;
true satisfies Same<Own<Declared>, Own<SvcWidgetElement>>;
true satisfies Same<Own<DeclaredOlder>, Own<SvcWidget>>;
true satisfies Same<DeclaredCallback, Callback>;

/**
 * The tables of docs/guide/widget-reference.md: attribute, type, default. The first table lists the attributes that no
 * version may remove or change.
 */
const LASTING = {
  "svc-widget-element": `
    public-id string
    reconnect-org-connection-id string
    external-id string
    search-only boolean
    search-query string
    show-splash boolean
    static-backdrop boolean
    event-types string
    email string`,
  "svc-widget": `
    public-id string
    connect-mode string redirect
    popup-timeout string 30
    reconnect-org-connection-id string
    request-id string
    external-id string
    external-state string`,
};

/** The attributes that the service adds (docs/reference/deviations.md, Elements). */
const ADDED = {
  "svc-widget-element": `
    tefca-mode boolean
    brand-id string
    portal-id string
    endpoint-id string
    base-url string
    lang string
    search-sort-by string
    search-sort-by-opts string
    external-state string
    request-id string
    preload string none`,
  "svc-widget": `
    brand-id string
    portal-id string
    endpoint-id string
    base-url string
    lang string
    redirect-uri string`,
};

const EVENTS = { "svc-widget-element": ["eventBus"], "svc-widget": ["orgConnectionCallback"] };
const CLASSES = { "svc-widget-element": SvcWidgetElement, "svc-widget": SvcWidget };
const TAGS = ["svc-widget-element", "svc-widget"] as const;

const rows = (table: string): string[] =>
  table
    .trim()
    .split("\n")
    .map((row) => row.trim());

for (const tag of TAGS) {
  const declaration = described.modules
    .flatMap(({ declarations }) => declarations)
    .find(({ tagName }) => tagName === tag);
  assert(declaration, tag);

  test(`${tag} has the documented attributes`, () => {
    const own = declaration.attributes.map((attribute) => {
      const type = attribute.type.text === "boolean" ? "boolean" : "string";
      return [attribute.name, type, ...("default" in attribute ? [attribute.default.replaceAll('"', "")] : [])].join(
        " ",
      );
    });
    assert.deepEqual(own.sort(), [...rows(LASTING[tag]), ...rows(ADDED[tag])].sort());
  });

  test(`${tag} observes and reflects each documented attribute`, () => {
    const names = declaration.attributes.map(({ name }) => name).sort();
    assert.deepEqual([...CLASSES[tag].observedAttributes].sort(), names);
    const reflected = Object.getOwnPropertyNames(CLASSES[tag].prototype);
    for (const { name, fieldName } of declaration.attributes)
      assert(name === "lang" || reflected.includes(fieldName), fieldName);
    const fields = declaration.members.flatMap((member) =>
      "attribute" in member ? [`${member.attribute} ${member.name} ${member.type?.text}`] : [],
    );
    assert.deepEqual(
      fields,
      declaration.attributes.map(
        ({ name, fieldName, type }) => `${name} ${fieldName} ${type.text === "boolean" ? "boolean" : "string"}`,
      ),
    );
  });

  test(`${tag} has show(), hide() and one event`, () => {
    assert.deepEqual(
      declaration.members.flatMap(({ kind, name }) => (kind === "method" ? [name] : [])),
      ["show", "hide"],
    );
    assert(CLASSES[tag].prototype.show.length + CLASSES[tag].prototype.hide.length === 0);
    assert.deepEqual(
      declaration.events.map(({ name }) => name),
      EVENTS[tag],
    );
  });
}
