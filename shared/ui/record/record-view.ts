/** Defines the element. A page may contain the script twice, and only the first script defines the element. */
import { RecordView } from "./element.ts";

if (globalThis.customElements && !customElements.get("record-view")) customElements.define("record-view", RecordView);
