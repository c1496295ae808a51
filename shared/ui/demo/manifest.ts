/** Controls of the playground, derived from custom-elements.json, so that a new attribute gets its control as soon as it is documented. */
import described from "../sdk/custom-elements.json";

/** The elements, starting with the current element. */
export const TAGS = ["svc-widget-element", "svc-widget"] as const;
export type Tag = (typeof TAGS)[number];

/** A control for an attribute or property. */
export interface Control {
  name: string;
  help: string;
  kind: "text" | "switch" | "choice";
  choices: string[];
  /** The default if the attribute is missing, or "" if there is no default to show. */
  standard: string;
}

interface Described {
  name: string;
  description?: string;
  type?: { text: string };
  default?: string;
}

interface Declaration {
  tagName?: string;
  attributes?: Described[];
  cssProperties?: Described[];
}

const modules: { declarations: Declaration[] }[] = described.modules;

function declaration(tag: Tag): Declaration {
  return modules.flatMap((module) => module.declarations).find((one) => one.tagName === tag) ?? {};
}

const unquoted = (text: string): string => text.replace(/^["'`]|["'`]$/g, "");

/** Returns the literals of a union such as "redirect" | "popup", or none for wider types. */
function choices(type: string): string[] {
  const parts = type
    .split("|")
    .map((part) => part.trim())
    .filter((part) => part !== "undefined" && part !== "null");
  return parts.length > 1 && parts.every((part) => /^["']/.test(part)) ? parts.map(unquoted) : [];
}

function control(one: Described): Control {
  const type = one.type?.text ?? "string";
  const literals = choices(type);
  const kind = type.startsWith("boolean") ? "switch" : literals.length > 0 ? "choice" : "text";
  return {
    name: one.name,
    help: one.description ?? "",
    kind,
    choices: literals,
    standard: unquoted(one.default ?? ""),
  };
}

/** Returns the controls of an element's attributes, in documented order. */
export const attributes = (tag: Tag): Control[] => (declaration(tag).attributes ?? []).map(control);

/** Returns the controls of an element's CSS properties. */
export const properties = (tag: Tag): Control[] => (declaration(tag).cssProperties ?? []).map(control);
