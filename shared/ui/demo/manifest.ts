/**
 * What the playground shows of an element: attributes and CSS properties, as custom-elements.json tells them. Nothing is listed a second time
 * here, so that a new attribute has its control as soon as it is described.
 */
import described from "../sdk/custom-elements.json";

/** The elements that a page can use, the current one first. */
export const TAGS = ["svc-widget-element", "svc-widget"] as const;
export type Tag = (typeof TAGS)[number];

/** How an attribute is set by hand. */
export interface Control {
  name: string;
  help: string;
  kind: "text" | "switch" | "choice";
  choices: string[];
  /** What the element takes where the attribute is missing; "" when there is nothing to tell. */
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

/** Literals of a union, such as "redirect" | "popup"; none where the type is wider. */
function choices(type: string): string[] {
  const parts = type.split("|").map((part) => part.trim()).filter((part) => part !== "undefined" && part !== "null");
  return parts.length > 1 && parts.every((part) => /^["']/.test(part)) ? parts.map(unquoted) : [];
}

function control(one: Described): Control {
  const type = one.type?.text ?? "string";
  const literals = choices(type);
  const kind = type.startsWith("boolean") ? "switch" : literals.length > 0 ? "choice" : "text";
  return { name: one.name, help: one.description ?? "", kind, choices: literals, standard: unquoted(one.default ?? "") };
}

/** The attributes of an element, in the order of their description. */
export const attributes = (tag: Tag): Control[] => (declaration(tag).attributes ?? []).map(control);

/** The CSS properties with which a page changes the element's form. */
export const properties = (tag: Tag): Control[] => (declaration(tag).cssProperties ?? []).map(control);
