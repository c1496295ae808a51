/** SVG charts of numbers over time. A table with the same numbers is next to each chart. */
import type { JSX } from "preact";
import { dateText } from "./dates.ts";
import { thinned, type Line } from "./tests.ts";

/** The size of a chart's coordinate system. The chart is stretched to its place, but strokes are not. */
const [WIDTH, HEIGHT] = [100, 100];

interface Scale {
  from: number;
  to: number;
  low: number;
  high: number;
}

/** Returns the scale that shows all numbers and limits, or undefined if the numbers exceed a chart. */
function scaleOf(lines: readonly Line[]): Scale | undefined {
  const scale = { from: Infinity, to: -Infinity, low: Infinity, high: -Infinity };
  const include = (value: number | undefined): void => {
    if (value === undefined) return;
    scale.low = Math.min(scale.low, value);
    scale.high = Math.max(scale.high, value);
  };
  for (const line of lines) {
    include(line.low);
    include(line.high);
    for (const { time, value } of line.points) {
      scale.from = Math.min(scale.from, time);
      scale.to = Math.max(scale.to, time);
      include(value);
    }
  }
  const size = scale.high - scale.low;
  if (!Number.isFinite(size) || !Number.isFinite(scale.to - scale.from)) return undefined;
  const margin = size * 0.1 || Math.abs(scale.high) * 0.1 || 1;
  return { ...scale, low: scale.low - margin, high: scale.high + margin };
}

/** Draws the lines, with the reference range as a band. */
function Drawing({ lines, scale, label }: { lines: readonly Line[]; scale: Scale; label?: string }): JSX.Element {
  const x = (time: number): number =>
    scale.to === scale.from ? WIDTH / 2 : round(((time - scale.from) / (scale.to - scale.from)) * WIDTH);
  const y = (value: number): number => round(HEIGHT - ((value - scale.low) / (scale.high - scale.low)) * HEIGHT);
  return (
    <svg
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      {...(label === undefined ? { "aria-hidden": "true" } : { role: "img", "aria-label": label })}
    >
      {lines.map(({ low, high }, i) => {
        if (low === undefined && high === undefined) return null;
        const top = high === undefined ? 0 : y(high);
        const bottom = low === undefined ? HEIGHT : y(low);
        return <rect key={i} class="band" x="0" width={WIDTH} y={top} height={Math.max(0, bottom - top)} />;
      })}
      {lines.map(({ points }, i) => {
        const shown = thinned(points).map(({ time, value }) => `${x(time)} ${y(value)}`);
        return (
          <g key={i} class={`line n${i % 3}`}>
            <path d={`M${shown.join("L")}`} />
            <path class="dots" d={shown.map((at) => `M${at}h0`).join("")} />
          </g>
        );
      })}
    </svg>
  );
}

const round = (value: number): number => Math.round(value * 100) / 100;

/** A chart without axes. */
export function Spark({ lines }: { lines: readonly Line[] }): JSX.Element | null {
  const scale = scaleOf(lines);
  return scale === undefined ? null : <Drawing lines={lines} scale={scale} />;
}

/** A chart with its unit, limits and dates. */
export function Chart({ lines }: { lines: readonly Line[] }): JSX.Element | null {
  const scale = scaleOf(lines);
  if (scale === undefined) return null;
  const unit = lines[0]?.unit ?? "";
  const dates = lines.flatMap(({ points }) => [points[0], points.at(-1)]).filter((one) => one !== undefined);
  dates.sort((a, b) => a.time - b.time);
  const [first, last] = [dateText(dates[0]?.date ?? ""), dateText(dates.at(-1)?.date ?? "")];
  return (
    <figure>
      <figcaption>
        {lines.map((line, i) => (
          <span key={i} class={`legend n${i % 3}`}>
            {lines.length > 1 && <i aria-hidden="true" />}
            {lines.length > 1 ? line.name : unit || "Value"}
            {limits(line) !== "" && <span class="soft"> · reference range {limits(line)}</span>}
          </span>
        ))}
        {lines.length > 1 && unit !== "" && <span class="soft">{unit}</span>}
      </figcaption>
      <div class="plot">
        <span class="y">{axis(scale.high)}</span>
        <Drawing lines={lines} scale={scale} label={lines.map(summary).join(". ")} />
        <span class="y">{axis(scale.low)}</span>
        <span class="x">{first}</span>
        <span class="x">{last}</span>
      </div>
    </figure>
  );
}

function limits({ low, high }: Line): string {
  if (low === undefined) return high === undefined ? "" : `up to ${high}`;
  return high === undefined ? `from ${low}` : `${low}–${high}`;
}

const axis = (value: number): string => String(Number(value.toPrecision(3)));

/** Describes a line for people who can't see the chart. */
function summary(line: Line): string {
  const { name, unit, points } = line;
  const values = points.map(({ value }) => value);
  const [low, high] = values.reduce(([a, b], c) => [Math.min(a, c), Math.max(b, c)], [Infinity, -Infinity]);
  const [first, last] = [points[0], points.at(-1)];
  const range = limits(line) === "" ? "" : `, reference range ${limits(line)}`;
  return (
    `${name}: ${points.length} values in ${unit || "no unit"}, from ${first?.value} on ${dateText(first?.date ?? "")} ` +
    `to ${last?.value} on ${dateText(last?.date ?? "")}, lowest ${low}, highest ${high}${range}`
  );
}
