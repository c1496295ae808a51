/** The customers' script: defines both elements. If it is loaded twice, the first definition stays. On a server it does nothing. */
import { SvcWidgetElement } from "./element.ts";
import { SvcWidget } from "./widget.ts";

const elements = { "svc-widget-element": SvcWidgetElement, "svc-widget": SvcWidget };

if (globalThis.customElements) {
  for (const [name, element] of Object.entries(elements)) customElements.get(name) ?? customElements.define(name, element);
}

export { SvcWidget, SvcWidgetElement };
