/** The customers' script: defines both elements. If it is loaded twice, the first definition stays. On a server it does nothing. */
import { SvcWidgetElement } from "./element.ts";
import { SvcWidget } from "./widget.ts";

const registry = globalThis.customElements;

for (const [name, element] of Object.entries({ "svc-widget-element": SvcWidgetElement, "svc-widget": SvcWidget })) {
  registry?.get(name) ?? registry?.define(name, element);
}

export { SvcWidget, SvcWidgetElement };
