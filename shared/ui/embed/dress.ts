/** Completes the organisation's look. The server has already rendered the part that the first paint shows (pages/look.go). */
import { shades, sheets } from "../kit/colour.ts";
import type { Shell } from "./machine/state.ts";

type Root = Pick<HTMLElement, "toggleAttribute"> & { style: Pick<CSSStyleDeclaration, "setProperty"> };

/** Sets the accent's shades for both backgrounds, and marks a page on which an element overlays its close button. */
export function dress(root: Root, accent: string | undefined, shell: Shell): void {
  for (const [scheme, sheet] of Object.entries(sheets)) {
    const { accent: fill, edge, onAccent, accentText } = shades(accent, sheet);
    root.style.setProperty(`--accent-${scheme}`, fill);
    root.style.setProperty(`--accent-edge-${scheme}`, edge);
    root.style.setProperty(`--on-accent-${scheme}`, onAccent);
    root.style.setProperty(`--accent-text-${scheme}`, accentText);
  }
  root.toggleAttribute("data-closable", shell === "frame");
}
