/** The script of customers' pages: defines both elements. Where it is loaded twice, the first one stays. On a server it does nothing. */
import { SvcWidgetElement } from "./element.ts";
import { SvcWidget } from "./widget.ts";

const elements = { "svc-widget-element": SvcWidgetElement, "svc-widget": SvcWidget };

if (globalThis.customElements) {
  for (const [name, element] of Object.entries(elements)) customElements.get(name) ?? customElements.define(name, element);
}

export { SvcWidget, SvcWidgetElement };
