/** Sample institutions with every health state. */
import type { CatalogHit } from "../api/records.ts";
import { id } from "./ids.ts";

/** Returns the search results for a lower-case text. */
export function institutions(query: string): { total: { value: number }; hits: CatalogHit[] } {
  const hits = (["ok", "degraded", "down", "unknown"] as const).map((state, n) => ({
    _id: id(800 + n),
    sort: [n],
    _source: {
      id: id(800 + n),
      name: `${["Alder", "Birch", "Cedar", "Dogwood"][n]} Medical Center`,
      locations: n === 3 ? [] : Array.from({ length: n + 1 }, () => ({ city: "Springfield", state: "IL" })),
      platform_type: "sandbox",
      health: { state },
    },
  }));
  const found = hits.filter(({ _source }) => _source.name.toLowerCase().includes(query));
  return { total: { value: found.length }, hits: found };
}
