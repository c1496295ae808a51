/**
 * The customers' script, which defines both elements. If a page loads the script twice, the first definition stays. On
 * a server, the script has no effect.
 */
import { SvcWidgetElement } from "./element.ts";
import { SvcWidget } from "./widget.ts";

const registry = globalThis.customElements;

for (const [name, element] of Object.entries({ "svc-widget-element": SvcWidgetElement, "svc-widget": SvcWidget })) {
  registry?.get(name) ?? registry?.define(name, element);
}

export { SvcWidget, SvcWidgetElement };
