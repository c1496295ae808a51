/**
 * Stores the current place in the URL's fragment, so that no ID reaches a server's log. The form is
 * #/<organisation>/<mode>/<screen>/<id>?<filters>, or #/<screen>/<id> for screens without an organisation. Links in
 * emails omit the organisation (#/test/webhooks/<id>) if the recipient has exactly one.
 */
import { useEffect, useState } from "preact/hooks";
import type { Mode } from "../api/records.ts";

export interface Place {
  org: string;
  mode: Mode;
  screen: string; // "" for the overview
  id: string;
  filters: Record<string, string>;
}

const id = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const isMode = (text: string | undefined): text is Mode => text === "test" || text === "live";

export function parse(fragment: string): Place {
  const [path = "", search = ""] = fragment.replace(/^#?\/?/, "").split("?");
  const parts = path
    .split("/")
    .filter((part) => part !== "")
    .map(decoded);
  const org = id.test(parts[0] ?? "") ? (parts.shift() ?? "") : "";
  const mode = isMode(parts[0]) ? (parts.shift() as Mode) : "test";
  return {
    org,
    mode,
    screen: parts[0] ?? "",
    id: parts[1] ?? "",
    filters: Object.fromEntries(new URLSearchParams(search)),
  };
}

/** Returns a place's fragment, omitting empty parts. */
export function address({ org = "", mode, screen = "", id: of = "", filters = {} }: Partial<Place>): string {
  const parts = [org, org === "" ? "" : (mode ?? "test"), screen, of]
    .filter((part) => part !== "")
    .map(encodeURIComponent);
  const given = Object.entries(filters).filter(([, value]) => value !== "");
  return `#/${parts.join("/")}${given.length === 0 ? "" : `?${new URLSearchParams(given)}`}`;
}

/** Returns the current place. If mayLeave returns false, a navigation is undone. */
export function usePlace(mayLeave: () => boolean): Place {
  const [place, setPlace] = useState(() => parse(location.hash));
  useEffect(() => {
    let shown = location.hash;
    const moved = (): void => {
      if (location.hash === shown) return;
      if (!mayLeave()) {
        location.hash = shown;
        return;
      }
      shown = location.hash;
      setPlace(parse(shown));
    };
    addEventListener("hashchange", moved);
    return () => removeEventListener("hashchange", moved);
  }, []);
  return place;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return "";
  }
}
