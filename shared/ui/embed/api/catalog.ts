/** Reads the catalogue: search results, and institutions by ID. */
import type { Answer, Calls, Endpoint, Health, Hits, Institution, Location, Portal } from "./records.ts";
import type { Fetch } from "./request.ts";

/** The maximum number of requests, because a patient is waiting. */
const maxRecords = 8;

interface Source {
  id: string;
  name: string;
  brand_website: string;
  logo_uri: string;
  description: string;
  locations: Location[];
  platform_type: string;
  portals?: Portal[];
  portal_ids: string[];
  health?: { state: Health };
  distance_km?: number;
  most_used?: true;
}

interface EndpointRecord {
  id: string;
  name: string;
  status: "active" | "suspended";
  fhir_version: string;
  platform_type: string;
  health: { state: Health };
}

/** Merges portals that patients can't tell apart. The merged portal has the endpoints of all of them. */
function distinct(portals: Portal[]): Portal[] {
  const rows = new Map<string, Portal>();
  for (const portal of portals) {
    const key = portal.choice ?? portal.id;
    const owners = Object.fromEntries(portal.endpoint_ids.map((id) => [id, portal.id]));
    const row = rows.get(key);
    rows.set(
      key,
      row
        ? { ...row, endpoint_ids: [...row.endpoint_ids, ...portal.endpoint_ids], owners: { ...row.owners, ...owners } }
        : { ...portal, owners },
    );
  }
  return [...rows.values()];
}

function fromSource(source: Source, portals: Portal[]): Institution {
  return {
    ...{
      id: source.id,
      name: source.name,
      logo: source.logo_uri,
      website: source.brand_website,
      description: source.description,
    },
    ...{
      locations: source.locations,
      health: source.health?.state ?? "unknown",
      platformType: source.platform_type,
      portals: distinct(portals),
      endpointId: undefined,
    },
  };
}

export async function hits(ask: Fetch, { query, state, zip, after }: Calls["search"]["ask"]): Promise<Answer<Hits>> {
  const body = {
    query,
    suggest: true,
    ...(after ? { searchAfter: after } : {}),
    ...(state ? { locations: [state] } : {}),
    ...(zip ? { sortBy: "location", sortByOpts: { locationZipcodes: [zip] } } : {}),
  };
  const answer = await ask<{
    hits: { total: { value: number }; hits: { sort: (string | number)[]; _source: Source }[] };
  }>({ path: "/bridge/catalog/search", body });
  if (!answer.ok) return answer;
  const found = answer.data.hits.hits.map((hit) => ({
    ...fromSource(hit._source, hit._source.portals ?? []),
    away: hit._source.distance_km,
    mostUsed: hit._source.most_used ?? false,
    sort: hit.sort,
  }));
  return { ok: true, data: { total: answer.data.hits.total.value, hits: found } };
}

function record<T>(ask: Fetch, query: Record<string, string>): Promise<Answer<T>> {
  return ask<T>({ path: "/bridge/catalog", query });
}

/** Loads the institution that the page names: a brand with its portals, one portal, or one endpoint. */
export async function institution(ask: Fetch, ids: Calls["institution"]["ask"]): Promise<Answer<Institution>> {
  const { brandId, portalId, endpointId } = ids;
  if (brandId) {
    const brand = await record<Source>(ask, { brand_id: brandId });
    if (!brand.ok) return brand;
    const wanted = (portalId ? [portalId] : brand.data.portal_ids).slice(0, maxRecords);
    const answers = await Promise.all(wanted.map((id) => record<Portal>(ask, { portal_id: id })));
    const failed = answers.find((answer) => !answer.ok);
    const portals = answers.flatMap((answer) => (answer.ok ? [answer.data] : []));
    if (failed && portals.length === 0) return failed as Answer<Institution>;
    return { ok: true, data: { ...fromSource(brand.data, portals), endpointId } };
  }
  if (portalId) {
    const portal = await record<Portal>(ask, { portal_id: portalId });
    if (!portal.ok) return portal;
    const { name, logo_uri, portal_website, description } = portal.data;
    return {
      ok: true,
      data: {
        ...plain(name),
        logo: logo_uri,
        website: portal_website,
        description,
        portals: [portal.data],
        endpointId,
      },
    };
  }
  const endpoint = await record<EndpointRecord>(ask, { endpoint_id: endpointId ?? "" });
  if (!endpoint.ok) return endpoint;
  const { id, name, health, platform_type } = endpoint.data;
  return { ok: true, data: { ...plain(name), health: health.state, platformType: platform_type, endpointId: id } };
}

function plain(name: string): Institution {
  const health = "unknown" as const;
  return {
    id: "",
    name,
    logo: "",
    website: "",
    description: "",
    locations: [],
    health,
    platformType: undefined,
    portals: [],
    endpointId: undefined,
  };
}

const order: Health[] = ["ok", "unknown", "degraded", "down"];

/** Ranks FHIR versions: R4 first, then an unstated version, then older ones. */
const versionRank = (version = ""): number => (version.startsWith("4") ? 0 : version === "" ? 1 : 2);

/** Returns the best endpoint by status, FHIR version and health. The service rejects connections to suspended endpoints. */
export async function bestEndpoint(ask: Fetch, ids: string[]): Promise<Answer<Endpoint>> {
  const answers = await Promise.all(
    ids.slice(0, maxRecords).map((id) => record<EndpointRecord>(ask, { endpoint_id: id })),
  );
  const found = answers.flatMap((answer) => (answer.ok ? [answer.data] : []));
  const rank = (e: EndpointRecord) =>
    100 * Number(e.status !== "active") + 10 * versionRank(e.fhir_version) + order.indexOf(e.health.state);
  const [best] = found.sort((a, b) => rank(a) - rank(b));
  const [first] = answers;
  if (best) return { ok: true, data: { id: best.id, health: best.health.state, platformType: best.platform_type } };
  return first && !first.ok
    ? first
    : {
        ok: false,
        failure: {
          kind: "lost",
          error: "svc_not_found",
          description: "",
          cause: undefined,
          requestId: undefined,
          retryAfter: undefined,
        },
      };
}
