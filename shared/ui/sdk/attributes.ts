/**
 * The attributes and properties of both elements. A property has its attribute's name in camel case. A missing string
 * attribute is "". A boolean attribute is true if it is present and not "false", because frameworks write "false" into
 * boolean attributes.
 */
import type { Config } from "../kit/protocol.ts";
import { languageOf } from "./words.ts";

/** Parameters of the connect endpoint. The endpoint's names have underscores. */
export const PASSED = [
  "request-id",
  "external-id",
  "external-state",
  "reconnect-org-connection-id",
  "brand-id",
  "portal-id",
  "endpoint-id",
] as const;

/** Attributes that are sent to the frame unchanged. */
const TOLD = [...PASSED, "public-id", "email", "search-query", "search-sort-by", "search-sort-by-opts"] as const;

/** The attributes of svc-widget-element. lang has a property in HTML, too. */
export const ELEMENT_STRINGS = [...TOLD, "base-url", "event-types", "preload", "lang"] as const;
const SWITCHES = ["search-only", "show-splash", "tefca-mode"] as const;
export const ELEMENT_BOOLEANS = [...SWITCHES, "static-backdrop"] as const;

/** The attributes of svc-widget. */
export const OLDER_STRINGS = [
  ...PASSED,
  "public-id",
  "base-url",
  "connect-mode",
  "popup-timeout",
  "redirect-uri",
  "lang",
] as const;

type Camel<S extends string> = S extends `${infer Head}-${infer Tail}` ? `${Head}${Capitalize<Camel<Tail>>}` : S;

export type Reflected<Strings extends string, Booleans extends string = never> = {
  [S in Strings as Camel<S>]: string;
} & { [B in Booleans as Camel<B>]: boolean };

const camel = (name: string): string => name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());

/** Defines the properties of an element class's attributes. null, undefined and false remove the attribute. */
export function reflect({
  prototype,
  observedAttributes,
}: {
  prototype: HTMLElement;
  observedAttributes: readonly string[];
}): void {
  for (const name of observedAttributes) {
    Object.defineProperty(prototype, camel(name), {
      get(this: HTMLElement) {
        const value = this.getAttribute(name);
        return ELEMENT_BOOLEANS.includes(name as never) ? (value ?? "false") !== "false" : (value ?? "");
      },
      set(this: HTMLElement, value: string | boolean | null | undefined) {
        if (value === false || value == null) this.removeAttribute(name);
        else this.setAttribute(name, value as string);
      },
    });
  }
}

/** Adopts properties that a framework set before the script loaded, because such properties shadow those of the class. */
export function adoptEarly(element: HTMLElement): void {
  for (const [name, value] of Object.entries(element)) {
    const properties = element as unknown as Record<string, unknown>;
    if (!(name in Object.getPrototypeOf(element))) continue;
    delete properties[name];
    properties[name] = value;
  }
}

/** Returns the non-empty attributes, named in the given style. */
function given(element: Element, names: readonly string[], style: (name: string) => string): Record<string, string> {
  return Object.fromEntries(
    names.map((name) => [style(name), element.getAttribute(name) ?? ""]).filter(([, value]) => value),
  );
}

/** Returns the parameters of the connect endpoint. */
export const passed = (element: Element): Record<string, string> =>
  given(element, PASSED, (name) => name.replaceAll("-", "_"));

type Switch = keyof Reflected<never, (typeof SWITCHES)[number]>;

/** Returns the frame's configuration. The older element has no property for an attribute that it lacks. */
export function config(
  element: HTMLElement & Reflected<"public-id"> & Partial<Reflected<"event-types", (typeof ELEMENT_BOOLEANS)[number]>>,
): Config {
  return {
    ...(given(element, TOLD, camel) as Reflected<"public-id">), // show() requires it
    ...(Object.fromEntries(SWITCHES.map((name) => [camel(name), !!element[camel(name) as Switch]])) as Record<
      Switch,
      boolean
    >),
    eventTypes: element.eventTypes?.match(/[^\s,]+/g) ?? [],
    lang: languageOf(element),
  };
}
