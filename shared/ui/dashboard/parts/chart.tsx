/**
 * SVG charts. The text next to each chart states the same figures. The style sheet's classes define the colours.
 */
import type { JSX } from "preact";

/** The share of known resources that were collected. A nonzero share of missing resources is always visible. */
export function Share({ count, missing }: { count: number; missing: number }): JSX.Element {
  const lost = missing === 0 ? 0 : Math.max(4, (100 * missing) / (count + missing));
  const got = count === 0 ? 0 : 100 - lost;
  return (
    <svg class="share" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
      <rect class="rest" width="100" height="8" rx="1" />
      <rect class="good" width={got} height="8" rx="1" />
      <rect class="bad" x={got} width={lost} height="8" rx="1" />
    </svg>
  );
}

export interface Series {
  name: string;
  tone: "accent" | "bad";
  values: readonly number[];
}

const height = 160;
const room = 384; // width of all bars
const mostLabels = 6;

/** A stacked bar for each month. */
export function Bars({
  title,
  labels,
  series,
}: {
  title: string;
  labels: readonly string[];
  series: readonly Series[];
}): JSX.Element {
  const totals = labels.map((_, i) => series.reduce((sum, { values }) => sum + (values[i] ?? 0), 0));
  const most = ceiling(Math.max(...totals, 0));
  const step = room / Math.max(mostLabels, labels.length);
  const width = room + 48;
  const isLabelled = (i: number): boolean => (labels.length - 1 - i) % Math.ceil(labels.length / mostLabels) === 0;
  const tall = (value: number): number => (value / most) * height;
  return (
    <figure class="chart">
      <figcaption>
        {title}
        {series.length > 1 && (
          <span class="legend">
            {series.map(({ name, tone }) => (
              <span key={name}>
                <i class={tone} aria-hidden="true" /> {name}
              </span>
            ))}
          </span>
        )}
      </figcaption>
      <svg
        viewBox={`0 0 ${width} ${height + 40}`}
        role="img"
        aria-label={`${title}: ${labels.map((label, i) => `${label} ${totals[i]}`).join(", ")}`}
      >
        {[0, 0.5, 1].map((share) => (
          <g key={share}>
            <line class="grid" x1="44" x2={width} y1={12 + height * (1 - share)} y2={12 + height * (1 - share)} />
            <text x="38" y={16 + height * (1 - share)} text-anchor="end">
              {compact(most * share)}
            </text>
          </g>
        ))}
        {labels.map((label, i) => {
          let top = 12 + height;
          return (
            <g key={label}>
              {series.map(({ name, tone, values }) => {
                const size = tall(values[i] ?? 0);
                top -= size;
                return (
                  <rect
                    key={name}
                    class={tone}
                    x={48 + (i + 0.15) * step}
                    y={top}
                    width={step * 0.7}
                    height={size}
                    rx="2"
                  >
                    <title>{`${label}, ${name}: ${values[i] ?? 0}`}</title>
                  </rect>
                );
              })}
              {isLabelled(i) && (
                <text x={48 + (i + 0.5) * step} y={height + 34} text-anchor="middle">
                  {label}
                </text>
              )}
            </g>
          );
        })}
      </svg>
    </figure>
  );
}

/** Returns the next round number whose half is also an integer. */
export function ceiling(value: number): number {
  const size = 10 ** Math.floor(Math.log10(Math.max(2, value)));
  const found = [1, 2, 4, 6, 8, 10].map((times) => times * size).find((one) => one >= value && one % 2 === 0);
  return found ?? 10 * size;
}

export const compact = (value: number): string =>
  new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 }).format(value);
