/**
 * Colour arithmetic according to WCAG 2.2 (relative luminance, contrast ratio), which makes text and shapes readable in
 * any organisation's accent colour.
 */

type Rgb = [number, number, number]; // each component is 0 to 255

const white: Rgb = [255, 255, 255];
const black: Rgb = [0, 0, 0];

/** The default accent, which also replaces an invalid accent. */
export const defaultAccent = "#0f5e78";

/** The background sheets behind the accent, as in tokens.css. */
export const sheets = { light: "#ffffff", dark: "#1a2229" };

/** The minimum contrast: WCAG 1.4.3 for text, 1.4.11 for shapes. */
const textRatio = 4.5;
const shapeRatio = 3;

export interface Shades {
  accent: string; // fill of a button
  edge: string; // border of that button
  onAccent: string; // text on the accent
  accentText: string; // links and visible edges
}

export function shades(accent: string | undefined, sheet: string): Shades {
  const given = parse(accent ?? "") ?? parse(defaultAccent) ?? black;
  const ground = parse(sheet) ?? white;
  const edge = apart(given, ground, shapeRatio);
  // A pale accent stays unchanged on a light sheet, within the button's edge. A dark accent would look disabled on a dark sheet.
  const fill = luminance(ground) > 0.18 ? given : edge;
  const on = contrastOf(white, fill) >= textRatio ? white : black;
  return {
    accent: format(fill),
    edge: format(edge),
    onAccent: format(on),
    accentText: format(apart(given, ground, textRatio)),
  };
}

/** Returns the contrast ratio of two colours, from 1 to 21. */
export function contrast(a: string, b: string): number {
  return contrastOf(parse(a) ?? black, parse(b) ?? black);
}

function parse(hex: string): Rgb | undefined {
  const digits = /^#([0-9a-f]{6})$/i.exec(hex)?.[1];
  if (!digits) return undefined;
  const n = parseInt(digits, 16);
  return [n >> 16, (n >> 8) & 255, n & 255];
}

function format(colour: Rgb): string {
  return `#${colour.map((part) => Math.round(part).toString(16).padStart(2, "0")).join("")}`;
}

function luminance(colour: Rgb): number {
  const [r, g, b] = colour.map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  }) as Rgb;
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrastOf(a: Rgb, b: Rgb): number {
  const [high, low] = [luminance(a), luminance(b)].sort((x, y) => y - x) as [number, number];
  return (high + 0.05) / (low + 0.05);
}

/**
 * Returns the colour if its contrast with the ground is sufficient. If the contrast is too low, returns the nearest
 * mixture with black or white that has sufficient contrast.
 */
function apart(colour: Rgb, ground: Rgb, ratio: number): Rgb {
  const pole = luminance(ground) > 0.18 ? black : white;
  for (let share = 0; share < 1; share += 0.02) {
    const mixed = colour.map((part, i) => Math.round(part + ((pole[i] ?? 0) - part) * share)) as Rgb;
    if (contrastOf(mixed, ground) >= ratio) return mixed;
  }
  return pole;
}
