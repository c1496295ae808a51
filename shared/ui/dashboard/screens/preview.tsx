/** A preview of the widget in an organisation's look, and its contrast warnings. */
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { contrast, shades, sheets } from "../../kit/colour.ts";

type Ground = keyof typeof sheets;

/** The fields of an unsaved form that the preview shows. Any field may be invalid. */
interface Draft {
  name: string;
  logo_uri: string;
  accent: string;
  radius: string;
  font: string;
  purpose: string;
  purpose_es: string;
  privacy_policy_uri: string;
  terms_uri: string;
}

export const isColour = (text: string): boolean => /^#[0-9a-f]{6}$/i.test(text);

/** Returns the colour schemes in which patients may see the widget. */
export function schemesOf(scheme: string): Ground[] {
  return scheme === "light" || scheme === "dark" ? [scheme] : ["light", "dark"];
}

/**
 * Describes how an accent will be adjusted for contrast (WCAG 2.2, 1.4.3 and 1.4.11). No accent has a contrast of 4.5
 * on both backgrounds. Accent-coloured text is therefore checked on the dark background only if no other background is
 * possible.
 */
export function warnings(accent: string, scheme: string): string[] {
  const [light, dark] = [contrast(accent, sheets.light), contrast(accent, sheets.dark)];
  const said: string[] = [];
  if (scheme !== "dark" && light < 4.5)
    said.push(
      `The accent colour’s contrast ratio on white is ${light.toFixed(1)}, but text needs at least 4.5. Links will use a darker shade.`,
    );
  if (scheme === "dark" && dark < 4.5)
    said.push(
      `The accent colour’s contrast ratio on the dark background is ${dark.toFixed(1)}, but text needs at least 4.5. Links will use a lighter shade.`,
    );
  if (scheme !== "light" && dark < 3)
    said.push("The accent colour is hard to see on a dark background. Buttons in dark mode will use a lighter shade.");
  return said;
}

/** Returns a radius as the server renders it (pages/look.go). Returns the default for an invalid radius. */
export function lengthOf(radius: string): string {
  return `${/^\d+$/.test(radius) && Number(radius) <= 24 ? Number(radius) / 16 : 0.75}rem`;
}

/** A miniature of the widget with a field, a list entry and a button. */
export function Preview({ draft, ground }: { draft: Draft; ground: Ground }): JSX.Element {
  const ref = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const { accent, edge, onAccent, accentText } = shades(
      isColour(draft.accent) ? draft.accent : undefined,
      sheets[ground],
    );
    const values = {
      "--p-accent": accent,
      "--p-edge": edge,
      "--p-on": onAccent,
      "--p-text": accentText,
      "--p-radius": lengthOf(draft.radius),
    };
    const style = ref.current?.style;
    for (const [name, value] of Object.entries(values)) style?.setProperty(name, value);
    style?.removeProperty("font-family"); // the browser ignores an invalid new value
    if (draft.font !== "") style?.setProperty("font-family", `${draft.font}, var(--system)`);
  }, [draft.accent, draft.radius, draft.font, ground]);
  const name = draft.name || "Your organisation";
  const [broken, setBroken] = useState("");
  const hasLogo = draft.logo_uri.startsWith("https://") && URL.canParse(draft.logo_uri) && broken !== draft.logo_uri;
  return (
    <div ref={ref} class={`preview ${ground}`} role="img" aria-label={`The widget in ${ground} mode`}>
      <p class="preview-head">
        {hasLogo ? (
          <img src={draft.logo_uri} alt="" referrerPolicy="no-referrer" onError={() => setBroken(draft.logo_uri)} />
        ) : (
          <span class="preview-logo">{name.charAt(0)}</span>
        )}
        <strong>{name}</strong>
      </p>
      <p class="preview-title">Share your health records with {name}</p>
      <p class="preview-links">
        {draft.privacy_policy_uri && <span>Privacy policy</span>} {draft.terms_uri && <span>Terms</span>}
      </p>
      {draft.purpose.trim() && (
        <p class="preview-purpose">
          {name} says: “{draft.purpose.trim()}”
        </p>
      )}
      {draft.purpose_es.trim() && (
        <p class="preview-purpose" lang="es">
          {name} indica: «{draft.purpose_es.trim()}»
        </p>
      )}
      <p class="preview-field">Search by name</p>
      <p class="preview-row">
        <span class="preview-logo">SH</span>
        <strong>Sandbox Hospital</strong>
      </p>
      <p class="preview-button">Agree and continue</p>
    </div>
  );
}
