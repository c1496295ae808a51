/** The search and its results. */
import type { Hit } from "../api/records.ts";
import { Icon } from "./icons.tsx";
import { Button, Logo, Quiet, Title, Trouble } from "./parts.tsx";
import { isIdle } from "../machine/searching.ts";
import { orgName, type Ui } from "./ui.ts";

export function Search({ ui }: { ui: Ui }) {
  const { s, t, send } = ui;
  const { query, hits, total, loading } = s.search;
  const known = total !== undefined && (total > 0 || (!loading && !s.trouble)); // while a query runs, "no results" would belong to an earlier query
  return (
    <div class="view" onKeyDown={moveFocus}>
      <Title>{t.say("search_title")}</Title>
      <div class="stack" role="search">
        <div class="field">
          <label for="query">{t.say("search")}</label>
          <div class="search">
            <Icon name="search" />
            <input
              id="query"
              type="search"
              value={query}
              autocomplete="off"
              spellcheck={false}
              maxLength={300}
              enterKeyHint="search"
              onInput={(event) => send({ type: "type", query: event.currentTarget.value })}
              onKeyDown={(event) => event.key === "Enter" && send({ type: "search" })}
            />
          </div>
        </div>
        <Narrow ui={ui} />
      </div>
      <Trouble ui={ui} />
      {known ? <Found ui={ui} /> : <p class="soft">{t.say(loading && !isIdle(s) ? "search_busy" : "search_hint")}</p>}
      {hits.length > 0 && (
        <ul class="list" aria-busy={loading}>
          {hits.map((hit) => (
            <Result
              key={hit.id}
              ui={ui}
              hit={hit}
              twin={hits.some((other) => other !== hit && looksLike(other, hit))}
            />
          ))}
        </ul>
      )}
      {total !== undefined && hits.length > 0 && hits.length < total && (
        <Button second disabled={s.search.more} onClick={() => send({ type: "more" })}>
          {t.say(s.search.more ? "search_busy" : "more")}
        </Button>
      )}
      <div class="row below">
        <Quiet onClick={() => send({ type: "show", view: "missing" })}>{t.say("missing")}</Quiet>
        {s.connected.length > 0 && (
          <Button onClick={() => send({ type: "show", view: "finish" })}>
            {t.say("review")} · {t.count("connected", s.connected.length)}
          </Button>
        )}
      </div>
    </div>
  );
}

/** Moves the focus between the input and the results with the arrow keys. The Tab key keeps its default behaviour. */
function moveFocus(event: KeyboardEvent & { currentTarget: HTMLElement }): void {
  const stops = [...event.currentTarget.querySelectorAll<HTMLElement>("#query, .choice")];
  const from = stops.findIndex((stop) => stop === event.target);
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const to = by === undefined || from < 0 ? undefined : stops[from + by];
  if (!to) return;
  event.preventDefault();
  to.focus();
}

function Found({ ui }: { ui: Ui }) {
  const { s, t } = ui;
  const { query, total = 0 } = s.search;
  if (isIdle(s)) return <p class="small soft">{t.say("search_used", { org: orgName(ui) })}</p>;
  if (total > 0) return <p class="small soft">{t.count("found", total)}</p>;
  return (
    <div class="stack">
      <h2>{query.trim() ? t.say("found_none", { query: query.trim() }) : t.say("found_nothing")}</h2>
      <p class="soft">{t.say("found_none_hint")}</p>
    </div>
  );
}

function Narrow({ ui }: { ui: Ui }) {
  const { s, t, rest } = ui;
  const { filter } = s.search;
  return (
    <details open={filter.state !== "" || filter.zip !== ""}>
      <summary>{t.say("search_filter")}</summary>
      {rest && <rest.Places ui={ui} />}
    </details>
  );
}

const placeOf = ({ locations: [first] }: Hit): string => [first?.city, first?.state].filter(Boolean).join(", ");

/** Reports whether patients can't tell two institutions apart by name and place. */
const looksLike = (a: Hit, b: Hit): boolean => a.name === b.name && placeOf(a) === placeOf(b);

const hostOf = ({ portals, website }: Hit): string =>
  portals[0]?.hosts?.join(", ") ?? (URL.canParse(website) ? new URL(website).host : "");

const milesIn = (km: number): number => Math.max(1, Math.round(km / 1.609));

/** A search result. If another result looks identical (twin), the host of the server or website distinguishes the two results. */
function Result({ ui: { s, t, send }, hit, twin }: { ui: Ui; hit: Hit; twin: boolean }) {
  const others = hit.locations.length - 1;
  const place = placeOf(hit);
  const { health, away } = hit;
  const connected = [...s.connected, ...s.earlier].some(({ connection }) => connection.brand_id === hit.id);
  return (
    <li>
      <button class="choice" type="button" onClick={() => send({ type: "pick", id: hit.id })}>
        <Logo src={hit.logo} name={hit.name} />
        <span>
          <b>{hit.name}</b>
          {place && (
            <span class="small soft">
              {place}
              {others > 0 && ` ${t.count("more_places", others)}`}
              {away !== undefined && ` · ${t.count("away", milesIn(away))}`}
            </span>
          )}
          {twin && <span class="small soft host">{hostOf(hit)}</span>}
          {connected && <span class="state connected">{t.say("is_connected")}</span>}
          {(health === "down" || health === "degraded") && (
            <span class={`state ${health}`}>{t.say(`health_${health}`)}</span>
          )}
        </span>
        <Icon name="next" />
      </button>
    </li>
  );
}
