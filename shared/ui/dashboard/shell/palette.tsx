/** Search (Ctrl K or ⌘ K). Finds screens by keyword, and objects by ID. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { useHere } from "../app/app.ts";
import type { Here } from "../app/app.ts";
import { Dialog } from "../parts/dialog.tsx";
import { address } from "../app/router.ts";
import { screens } from "./places.ts";

interface Found {
  title: string;
  group: string;
  href: string;
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const task = /^[0-9a-f]{32}$/i;
const publicId = /^public_(test|live)_[0-9a-f-]{36}$/i;

/** Returns the matches for a search text, the likeliest match first. */
export function find(text: string, here: Pick<Here, "link" | "may" | "place" | "session" | "org">): Found[] {
  const asked = text.trim().toLowerCase();
  return [...byId(asked, here), ...byWords(asked, here), ...byExternalId(text.trim(), here)];
}

function byId(asked: string, { link, org, place }: Pick<Here, "link" | "org" | "place">): Found[] {
  const mode = publicId.exec(asked)?.[1];
  if (mode === "test" || mode === "live")
    return [
      {
        title: asked,
        group: "Credential",
        href: address({ ...place, org: org.id, mode, screen: "credentials", id: asked, filters: {} }),
      },
    ];
  if (task.test(asked)) return [{ title: asked, group: "Export", href: link("exports", asked) }];
  if (!uuid.test(asked)) return [];
  return [
    { title: asked, group: "Connection", href: link("connections", asked) },
    { title: asked, group: "Webhook", href: link("webhooks", asked) },
    { title: asked, group: "Event deliveries", href: link("deliveries", "", { event_id: asked }) },
    { title: asked, group: "Delivery", href: link("deliveries", asked) },
    { title: asked, group: "API request", href: link("logs", "", { request_id: asked }) },
    { title: asked, group: "Sign-in", href: link("logs", "sign-ins", { request_id: asked }) },
  ];
}

/** Offers a search by external ID, which can be any text. Short texts are more likely to be keywords. */
function byExternalId(asked: string, { link }: Pick<Here, "link">): Found[] {
  if (asked.length < 3) return [];
  const filters = { external_id: asked };
  return [
    { title: `Sign-ins of “${asked}”`, group: "External ID", href: link("logs", "sign-ins", filters) },
    { title: `Connections of “${asked}”`, group: "External ID", href: link("connections", "", filters) },
  ];
}

function byWords(
  asked: string,
  { link, may, org, session, place }: Pick<Here, "link" | "may" | "place" | "session" | "org">,
): Found[] {
  const known = screens
    .filter(({ needs }) => needs === undefined || may(needs))
    .map(({ name, title, words, group }) => ({ title, words, group, href: link(name) }));
  const others = session.organisations
    .filter((one) => one.id !== org.id)
    .map(({ id, name }) => ({
      title: name,
      words: "organisation switch",
      group: "Organisation",
      href: address({ org: id, mode: place.mode }),
    }));
  const other = place.mode === "test" ? "live" : "test";
  const modes = [
    {
      title: `Switch to ${other} mode`,
      words: "mode test live",
      group: "Mode",
      href: address({ ...place, org: org.id, mode: other, id: "", filters: {} }),
    },
  ];
  const all = [...known, ...others, ...modes];
  const has = ({ title, words }: { title: string; words: string }): boolean =>
    asked.split(/\s+/).every((word) => `${title} ${words}`.toLowerCase().includes(word));
  const rank = ({ title }: { title: string }): number => (title.toLowerCase().startsWith(asked) ? 0 : 1);
  return all.filter(has).sort((a, b) => rank(a) - rank(b));
}

export function Palette({ close }: { close: () => void }): JSX.Element {
  const here = useHere();
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const found = find(text, here);
  const chosen = Math.min(at, found.length - 1);
  const open = (one: Found | undefined): void => {
    if (one === undefined) return;
    location.hash = one.href;
    close();
  };
  const press = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      setAt((chosen + step + found.length) % Math.max(1, found.length));
    } else if (event.key === "Enter") {
      event.preventDefault();
      open(found[chosen]);
    }
  };
  return (
    <Dialog title="Search" close={close}>
      <input
        class="palette"
        type="text"
        role="combobox"
        aria-label="Search pages or enter an ID"
        aria-expanded="true"
        aria-controls="found"
        aria-activedescendant={found.length > 0 ? `found-${chosen}` : undefined}
        placeholder="Search pages or enter an ID"
        autocomplete="off"
        spellcheck={false}
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={press}
      />
      <ul id="found" role="listbox" aria-label="Results" class="found">
        {found.map((one, i) => (
          <li
            key={one.href + one.group}
            id={`found-${i}`}
            role="option"
            aria-selected={i === chosen}
            onClick={() => open(one)}
            onMouseMove={() => setAt(i)}
          >
            <span>{one.title}</span> <span class="soft">{one.group}</span>
          </li>
        ))}
      </ul>
      <p class="soft" role="status">
        {found.length === 0
          ? "No results. Enter a page name or a complete ID."
          : `${found.length} ${found.length === 1 ? "result" : "results"}. Press Enter to open a result, or Escape to close the search.`}
      </p>
    </Dialog>
  );
}
