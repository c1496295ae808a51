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

export type Dialect = "HTML" | "React" | "Vue";
export const DIALECTS: readonly Dialect[] = ["HTML", "React", "Vue"];

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

const declarations = (style: ReadonlyMap<string, string>): string => [...style].map(([name, value]) => `  ${name}: ${value};\n`).join("");

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

function react(choice: Choice): string {
  const style = choice.style.size === 0 ? [] : [`style={${JSON.stringify(Object.fromEntries(choice.style))}}`];
  const parts = [...assignments(choice.attributes, inBraces), ...style, `on${eventOf(choice.tag)}={(event) => console.log(event.detail)}`];
  const label = choice.label === "" ? "" : inBraces(choice.label);
  return `import { useEffect } from "react"; // 19 or later

export function ConnectRecords() {
  useEffect(() => {
    import(/* webpackIgnore: true */ /* @vite-ignore */ ${JSON.stringify(choice.script)});
  }, []);
  return (
${element(choice.tag, parts, label, "    ")}
  );
}
`;
}

/** The listener is added in script, because Vue turns the capitals of @eventBus into hyphens unless the element is declared custom. */
function vue(choice: Choice): string {
  const quoted = (text: string): string => `"${escaped(text)}"`;
  const style = [...choice.style].map(([name, value]) => `${name}: ${value}`).join("; ");
  const parts = ['ref="widget"', ...assignments(choice.attributes, quoted), ...(style === "" ? [] : [`style=${quoted(style)}`])];
  return `<script setup>
// vite.config.js: vue({ template: { compilerOptions: { isCustomElement: (tag) => tag.startsWith("svc-") } } })
import { onMounted, useTemplateRef } from "vue";

const widget = useTemplateRef("widget");
onMounted(() => {
  widget.value.addEventListener("${eventOf(choice.tag)}", (event) => console.log(event.detail));
  import(/* @vite-ignore */ ${JSON.stringify(choice.script)});
});
</script>

<template>
${element(choice.tag, parts, choice.label === "" ? "" : `<span v-pre>${escaped(choice.label)}</span>`, "  ")}
</template>
`;
}

const WRITERS: Record<Dialect, (choice: Choice) => string> = { HTML: html, React: react, Vue: vue };

/** Returns the code in a dialect. */
export const snippet = (dialect: Dialect, choice: Choice): string => WRITERS[dialect](choice);
