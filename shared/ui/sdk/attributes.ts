/**
 * The attributes of both elements and their properties. A property is its attribute in camel case; a missing string is
 * "". Frameworks write "false" into boolean attributes, so a boolean is true if present and not "false".
 */
import type { Config } from "../kit/protocol.ts";

/** Parameters of the connect endpoint, there with underscores. */
export const PASSED = ["request-id", "external-id", "external-state", "reconnect-org-connection-id", "brand-id", "portal-id", "endpoint-id"] as const;

/** Attributes sent to the frame unchanged. */
const TOLD = [...PASSED, "email", "search-query", "search-sort-by", "search-sort-by-opts"] as const;

/** lang is also an attribute of both; HTML defines its property. */
export const ELEMENT_STRINGS = [...TOLD, "public-id", "base-url", "event-types", "preload"] as const;
export const ELEMENT_BOOLEANS = ["search-only", "show-splash", "static-backdrop", "tefca-mode"] as const;

/** The attributes of svc-widget. */
export const OLDER_STRINGS = [...PASSED, "public-id", "base-url", "connect-mode", "popup-timeout", "redirect-uri"] as const;

type Camel<S extends string> = S extends `${infer Head}-${infer Tail}` ? `${Head}${Capitalize<Camel<Tail>>}` : S;

export type Reflected<Strings extends string, Booleans extends string = never> = { [S in Strings as Camel<S>]: string } & { [B in Booleans as Camel<B>]: boolean };

const camel = (name: string): string => name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());

/** Reports whether a boolean attribute is on. */
export const isOn = (element: Element, name: string): boolean => (element.getAttribute(name) ?? "false") !== "false";

/** Defines an element class's properties. null, undefined and false remove the attribute. */
export function reflect(prototype: HTMLElement, strings: readonly string[], booleans: readonly string[] = []): void {
  for (const name of [...strings, ...booleans]) {
    Object.defineProperty(prototype, camel(name), {
      get(this: HTMLElement) {
        return booleans.includes(name) ? isOn(this, name) : (this.getAttribute(name) ?? "");
      },
      set(this: HTMLElement, value: string | boolean | null | undefined) {
        if (value === false || value == null) this.removeAttribute(name);
        else this.setAttribute(name, String(value));
      },
    });
  }
}

/** Adopts properties that a framework set before the script loaded, because they shadow those of the class. */
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
  return Object.fromEntries(names.map((name) => [style(name), element.getAttribute(name) ?? ""]).filter(([, value]) => value));
}

/** Returns the parameters of the connect endpoint. */
export const passed = (element: Element): Record<string, string> => given(element, PASSED, (name) => name.replaceAll("-", "_"));

/** Returns the frame's configuration from an element's attributes. */
export function config(element: Element, lang: string): Config {
  return {
    ...given(element, TOLD, camel),
    publicId: element.getAttribute("public-id") ?? "",
    searchOnly: isOn(element, "search-only"),
    showSplash: isOn(element, "show-splash"),
    tefcaMode: isOn(element, "tefca-mode"),
    eventTypes: element.getAttribute("event-types")?.match(/[^\s,]+/g) ?? [],
    ...(lang && { lang }),
  };
}
