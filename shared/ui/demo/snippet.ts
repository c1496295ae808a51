/** Generates the code that a customer copies, from the current choice alone. */
import type { Tag } from "./manifest.ts";

/** The current choice. A switch that is on has the value "". */
export interface Choice {
  tag: Tag;
  attributes: ReadonlyMap<string, string>;
  style: ReadonlyMap<string, string>;
  /** The button's text; "" for the default. */
  label: string;
  /** URL of the script. */
  script: string;
}

export type Dialect = "HTML" | "React" | "Vue" | "Angular";
export const DIALECTS: readonly Dialect[] = ["HTML", "React", "Vue", "Angular"];

const EVENTS: Record<Tag, string> = { "svc-widget-element": "eventBus", "svc-widget": "orgConnectionCallback" };

/** Returns the name of an element's event. */
export const eventOf = (tag: Tag): string => EVENTS[tag];

const escaped = (text: string): string => text.replace(/&/g, "&amp;").replace(/"/g, "&quot;").replace(/</g, "&lt;");

const inBraces = (text: string): string => `{${JSON.stringify(text)}}`;

function assignments(attributes: ReadonlyMap<string, string>, quoted: (text: string) => string): string[] {
  return [...attributes].map(([name, value]) => (value === "" ? name : `${name}=${quoted(value)}`));
}

function element(tag: Tag, parts: string[], label: string, indent: string): string {
  if (parts.length === 0) return `${indent}<${tag}>${label}</${tag}>`;
  const lines = parts.map((part) => `${indent}  ${part}`).join("\n");
  return `${indent}<${tag}\n${lines}\n${indent}>${label}</${tag}>`;
}

const declarations = (style: ReadonlyMap<string, string>): string =>
  [...style].map(([name, value]) => `  ${name}: ${value};\n`).join("");

function html(choice: Choice): string {
  const quoted = (text: string): string => `"${escaped(text)}"`;
  const style = choice.style.size === 0 ? "" : `<style>\n${choice.tag} {\n${declarations(choice.style)}}\n</style>\n`;
  return `<script type="module" src="${escaped(choice.script)}"></script>
${style}${element(choice.tag, assignments(choice.attributes, quoted), escaped(choice.label), "")}
<script type="module">
  document.querySelector("${choice.tag}").addEventListener("${eventOf(choice.tag)}", (event) => {
    console.log(event.detail);
  });
</script>
`;
}

/**
 * Returns a React component. The script's URL is in a constant, because compilers try to resolve the module of a literal
 * import. React's types don't include the element.
 */
function react(choice: Choice): string {
  const style = choice.style.size === 0 ? [] : [`style={${JSON.stringify(Object.fromEntries(choice.style))}}`];
  const parts = [
    ...assignments(choice.attributes, inBraces),
    ...style,
    `on${eventOf(choice.tag)}={(event: CustomEvent) => console.log(event.detail)}`,
  ];
  const label = choice.label === "" ? "" : inBraces(choice.label);
  return `import { useEffect } from "react"; // 19 or later

const script = ${JSON.stringify(choice.script)};

declare module "react" {
  namespace JSX {
    interface IntrinsicElements {
      "${choice.tag}": Record<string, unknown>;
    }
  }
}

export function ConnectRecords() {
  useEffect(() => {
    import(/* webpackIgnore: true */ /* @vite-ignore */ script);
  }, []);
  return (
${element(choice.tag, parts, label, "    ")}
  );
}
`;
}

/** Returns a Vue component. The script adds the listener, because Vue converts the capitals of @eventBus to hyphens unless the element is declared as custom. */
function vue(choice: Choice): string {
  const quoted = (text: string): string => `"${escaped(text)}"`;
  const style = [...choice.style].map(([name, value]) => `${name}: ${value}`).join("; ");
  const parts = [
    'ref="widget"',
    ...assignments(choice.attributes, quoted),
    ...(style === "" ? [] : [`style=${quoted(style)}`]),
  ];
  return `<script setup lang="ts">
// vite.config.js: vue({ template: { compilerOptions: { isCustomElement: (tag) => tag.startsWith("svc-") } } })
import { onMounted, useTemplateRef } from "vue";

const script = ${JSON.stringify(choice.script)};
const widget = useTemplateRef<HTMLElement>("widget");
onMounted(() => {
  widget.value?.addEventListener("${eventOf(choice.tag)}", (event) => console.log((event as CustomEvent).detail));
  import(/* @vite-ignore */ script);
});
</script>

<template>
${element(choice.tag, parts, choice.label === "" ? "" : `<span v-pre>${escaped(choice.label)}</span>`, "  ")}
</template>
`;
}

/** Escapes text for an Angular template, where braces and @ are special characters, in a template literal. */
const inTemplate = (text: string): string =>
  escaped(text)
    .replace(/[{}@]/g, (one) => `&#${one.charCodeAt(0)};`)
    .replace(/[`\\]/g, "\\$&");

function angular(choice: Choice): string {
  const quoted = (text: string): string => `"${inTemplate(text)}"`;
  const style = [...choice.style].map(([name, value]) => `${name}: ${value}`).join("; ");
  const parts = [
    ...assignments(choice.attributes, quoted),
    ...(style === "" ? [] : [`style=${quoted(style)}`]),
    `(${eventOf(choice.tag)})="told($event)"`,
  ];
  return `import { Component, CUSTOM_ELEMENTS_SCHEMA } from "@angular/core";

const script = ${JSON.stringify(choice.script)};

@Component({
  selector: "app-connect-records",
  schemas: [CUSTOM_ELEMENTS_SCHEMA],
  template: \`
${element(choice.tag, parts, inTemplate(choice.label), "    ")}
  \`,
})
export class ConnectRecords {
  constructor() {
    import(/* @vite-ignore */ script);
  }

  told(event: Event) {
    console.log((event as CustomEvent).detail);
  }
}
`;
}

const WRITERS: Record<Dialect, (choice: Choice) => string> = { HTML: html, React: react, Vue: vue, Angular: angular };

/** Returns the code in a dialect. */
export const snippet = (dialect: Dialect, choice: Choice): string => WRITERS[dialect](choice);
