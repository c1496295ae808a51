/** The consent pane with and without the organisation's own purpose, in both languages. */
import assert from "node:assert/strict";
import test from "node:test";
import { isValidElement, type ComponentChildren } from "preact";
import { words as en } from "../../kit/words/en.ts";
import { words as es } from "../../kit/words/es.ts";
import { language } from "../../kit/words/language.ts";
import { Bench } from "../testing/bench.ts";
import { Consent } from "./institution.tsx";

const english = language("en", en);
const spanish = language("es", es);
const markup = "</script><img src=x onerror=alert(1)>{org}";

/** Returns the rendered elements with a tag. Components without hooks are plain functions. */
function rendered(node: ComponentChildren, tag: string): Record<string, unknown>[] {
  if (Array.isArray(node)) return node.flatMap((one) => rendered(one, tag));
  if (!isValidElement(node)) return [];
  const { type, props } = node as { type: unknown; props: { children?: ComponentChildren } };
  if (typeof type === "function") return rendered((type as (props: object) => ComponentChildren)(props), tag);
  return [...(type === tag ? [{ ...props }] : []), ...rendered(props.children, tag)];
}

/** Returns the lines of the pane's second row, with the heading of that row first. */
function why(t: typeof english, purpose: string, purposeEs: string): unknown[] {
  const { state } = new Bench();
  const org = {
    name: "Alder",
    logo_uri: "",
    privacy_policy_uri: "",
    terms_uri: "",
    website_uri: "",
    accent: "",
    purpose,
    purpose_es: purposeEs,
  };
  const ui = { s: { ...state, org }, t, send: () => undefined, rest: undefined };
  const pane = <Consent ui={ui} from="Birch" what="what" long="long" stop="stop" />;
  const [heading] = rendered(pane, "dt").slice(1);
  const lines = rendered(pane, "dd");
  assert.deepEqual(
    [lines[0]?.["children"], ...lines.slice(-2).map(({ children }) => children)],
    ["what", "long", "stop"],
  );
  for (const line of [heading, ...lines]) assert.deepEqual(Object.keys(line ?? {}), ["children"]);
  return [heading, ...lines.slice(1, -2)].map((line) => line?.["children"]);
}

const general = [
  "Purpose",
  "Alder uses your records as described in its privacy policy.",
  "We collect your records for Alder.",
];
const generalEs = [
  "Finalidad",
  "Alder usa sus registros según indica su política de privacidad.",
  "Obtenemos sus registros para Alder.",
];

test("the consent pane quotes the organisation's purpose in the patient's language", () => {
  const purposes = ["We plan your care.", "Planificamos su atención."] as const;
  assert.deepEqual(why(english, ...purposes), [general[0], "Alder says: “We plan your care.”", general[2]]);
  assert.deepEqual(why(spanish, ...purposes), [
    generalEs[0],
    "Alder indica: «Planificamos su atención.»",
    generalEs[2],
  ]);
});

test("the consent pane shows the general text if the organisation states no purpose in the patient's language", () => {
  assert.deepEqual(why(english, "", ""), general);
  assert.deepEqual(why(spanish, "", ""), generalEs);
  assert.deepEqual(why(english, "", "Planificamos su atención."), general);
  assert.deepEqual(why(spanish, "We plan your care.", ""), generalEs);
});

test("the consent pane shows markup in a stored purpose as text", () => {
  assert.deepEqual(why(english, markup, ""), [general[0], `Alder says: “${markup}”`, general[2]]);
  assert.deepEqual(why(spanish, "", markup), [generalEs[0], `Alder indica: «${markup}»`, generalEs[2]]);
});
