/** Events for the customer's page. The events are built from the server's responses, in the formats of shared/ui/sdk/events.schema.json. */
import type { Connection, EventData, Payload, Refusal } from "../../kit/protocol.ts";
import type { AttemptError, Failure } from "../api/records.ts";
import type { Effect } from "./message.ts";
import type { Attempt, State, Target, View } from "./state.ts";

const maxDescription = 200;

function emit(payload: Payload): Effect & { do: "emit" } {
  return { do: "emit", payload };
}

/** Omits empty members, because the schema requires absent optional members to be missing. */
function given<T extends Record<string, string | undefined>>(members: T): { [K in keyof T]?: string } {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value)) as { [K in keyof T]?: string };
}

/** Converts a text to ASCII, because error_description is ASCII. Accented letters lose their accents. */
export function ascii(text: string): string {
  const plain = text
    .normalize("NFKD")
    .replace(/[\u0300-\u036f]/g, "")
    .replace(/[‘’]/g, "'")
    .replace(/[“”]/g, '"')
    .replace(/[–—]/g, "-");
  return plain
    .replace(/[^\x20-\x7e]+/g, " ")
    .replace(/ {2,}/g, " ")
    .trim()
    .slice(0, maxDescription);
}

/**
 * Maps svc_unavailable and svc_rate_limited to svc_server_error. In a browser, the service has four additional codes
 * (docs/reference/deviations.md, Connecting).
 */
function told(error: string): string {
  return error === "svc_unavailable" || error === "svc_rate_limited" ? "svc_server_error" : error;
}

export function pending(s: State, a: Pick<Attempt, "target">): Effect {
  const data: EventData["patient.connection_pending"] = {
    public_id: s.publicId,
    ...given({
      brand_id: a.target.brandId,
      portal_id: a.target.portalId,
      endpoint_id: a.target.endpointId,
      external_id: s.config.externalId,
      external_state: s.config.externalState,
      org_connection_id: a.target.reconnect,
    }),
  };
  return emit({ api_mode: s.mode, event_type: "patient.connection_pending", data });
}

export function success(s: State, data: Connection): Effect {
  if (s.shell === "watch") return { do: "result", callback: data };
  return emit({ api_mode: s.mode, event_type: "patient.connection_success", data });
}

/** Returns a failure in the older element's format. */
export function refusal(
  error: Pick<AttemptError, "error" | "error_description" | "request_id">,
  externalState: string | undefined,
): Refusal {
  return {
    error: told(error.error),
    error_description: ascii(error.error_description),
    request_id: error.request_id,
    ...given({ external_state: externalState }),
  };
}

/** Returns a failure as an event. Returns no event if the institution is unknown, because the event must name the institution. */
export function failed(s: State, target: Target, error: Failure | AttemptError): Effect[] {
  const { endpointId = "", portalId = "", brandId = "" } = target;
  const requestId = "request_id" in error ? error.request_id : error.requestId;
  const description = "error_description" in error ? error.error_description : error.description;
  if (!requestId) return [];
  const said = refusal(
    { error: error.error, error_description: description, request_id: requestId },
    s.config.externalState,
  );
  if (s.shell === "watch") return [{ do: "result", callback: said }];
  if (!(endpointId && portalId && brandId) || s.config.tefcaMode) return []; // TEFCA mode does not use this event
  const data: EventData["patient.connection_failed"] = {
    endpoint_id: endpointId,
    portal_id: portalId,
    brand_id: brandId,
    ...given({ platform_type: target.platformType ?? ("platform_type" in error ? error.platform_type : undefined) }),
    ...said,
    ...given({ external_id: s.config.externalId }),
  };
  return [emit({ api_mode: s.mode, event_type: "patient.connection_failed", data })];
}

/** Returns an event without data. The reason is meant for developers. */
export function configError(s: State, reason: string): Effect {
  return { ...emit({ api_mode: s.mode, event_type: "widget.config_error" }), reason };
}

/** Lists each connection once, because a patient may have connected it twice through a reconnect. */
export function complete(s: State): Effect {
  const byId = new Map(s.connected.map(({ connection }) => [connection.org_connection_id, connection]));
  return emit({ api_mode: s.mode, event_type: "widget.complete", data: [...byId.values()] });
}

/** Views that widget.view doesn't report, because these views show no content. */
const unseen = ["loading", "closed"];

/** Returns the event if the element's event-types attribute requests it. */
export function viewed(before: State, s: State): Effect[] {
  const { view, config, target, institution } = s;
  if (view === before.view || unseen.includes(view) || !config.eventTypes.includes("widget.view")) return [];
  const ids = given({
    brand_id: target?.brandId ?? (institution?.id || undefined),
    portal_id: target?.portalId,
    endpoint_id: target?.endpointId,
  });
  const data: EventData["widget.view"] = { view, ...(Object.keys(ids).length > 0 && { institution: ids }) };
  return [emit({ api_mode: s.mode, event_type: "widget.view", data })];
}

/** Returns the event if the element's event-types attribute requests it. */
export function exited(s: State, view: View): Effect[] {
  if (!s.config.eventTypes.includes("widget.exit")) return [];
  const reason =
    s.connected.length > 0
      ? "completed"
      : view === "failed"
        ? "failed"
        : view === "stopping" || view === "waiting"
          ? "cancelled"
          : "closed";
  const ended = reason === "failed" ? given({ error: s.ending?.error?.error, request_id: s.ending?.requestId }) : {};
  return [emit({ api_mode: s.mode, event_type: "widget.exit", data: { reason, view, ...ended } })];
}

/** Returns the event if the element's event-types attribute requests it. */
export function searched(s: State, now: number): Effect[] {
  const { query, filter, total } = s.search;
  if (!s.config.eventTypes.includes("search.query") || query.trim() === "" || total === undefined) return [];
  const data: EventData["search.query"] = {
    query,
    timestamp: Math.floor(now / 1000),
    filter: { locations: filter.state ? [filter.state] : [] },
    results: { total },
    ...given({ external_id: s.config.externalId }),
  };
  return [emit({ api_mode: s.mode, event_type: "search.query", data })];
}
