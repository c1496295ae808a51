/** A fake service, so that tests can show every view. Its responses have the formats in docs/openapi.yaml. */
import type { Page, Route } from "@playwright/test";

const id = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;

const NAMES: [string, string, string][] = [
  ["Alder Regional Medical Center", "Portland", "OR"],
  ["Birch Children’s Hospital and Clinics of the Upper Valley", "Bend", "OR"],
  ["Cedar Family Practice", "Salem", "OR"],
  ["Dogwood Health", "Tacoma", "WA"],
];

/** Portal hosts of Dogwood Health, an institution with several portals. */
export const DOGWOOD_HOSTS = [
  "fhir.dogwood.example",
  "a-host-with-a-long-name.practices-of-dogwood-health.tacoma.example",
] as const;

const portal = (n: number, name: string, host?: string): object => ({
  id: id(200 + n),
  name,
  portal_website: "https://portal.example",
  logo_uri: "",
  description: n % 2 === 0 ? "For patients of the hospital" : "For patients of its practices",
  endpoint_ids: [id(300 + n)],
  ...(host ? { hosts: [host] } : {}),
});

function hit(n: number): object {
  const [name, city, state] = NAMES[n] ?? ["Elm Clinic", "Reno", "NV"];
  const portals =
    n === 3
      ? [portal(3, "MyDogwood", DOGWOOD_HOSTS[0]), portal(4, "Dogwood Practices", DOGWOOD_HOSTS[1])]
      : [portal(n, `${name} portal`)];
  const brand = {
    id: id(100 + n),
    name,
    logo_uri: "",
    brand_website: "https://hospital.example",
    description: "",
    locations: [{ city, state }],
    platform_type: "sandbox",
    aliases: [],
  };
  return {
    _id: id(100 + n),
    _score: 1,
    sort: [1, id(n)],
    _source: { ...brand, portals, health: { state: n === 2 ? "degraded" : "ok" } },
  };
}

/**
 * The message that the start page sends to the frame before the start page navigates to the portal
 * (shared/adapters/window/sheets/leave.js).
 */
export const LEFT = `<script>opener?.postMessage({ svc: "left", name }, location.origin)</script>`;

/** The status of the visit's attempt. */
export type Progress = "created" | "open" | "done" | "declined" | "broken";

const PROGRESS: Record<Progress, object> = {
  created: { status: "created" },
  open: { status: "open" },
  done: {
    status: "done",
    result: {
      org_connection_id: id(1),
      endpoint_id: id(300),
      portal_id: id(200),
      brand_id: id(100),
      connection_status: "authorized",
      platform_type: "sandbox",
      request_id: id(9),
      consent_expires_at: "2027-11-23T10:00:00Z",
    },
    patient_initials: "A. M.",
  },
  declined: {
    status: "failed",
    error: {
      error: "access_denied",
      error_description: "The patient declined.",
      request_id: id(9),
      cause: "declined",
      suggested_action: "Nothing: the patient decides.",
    },
  },
  broken: {
    status: "failed",
    error: {
      error: "svc_token_exchange",
      error_description: "The token endpoint refused our client.",
      request_id: id(9),
      cause: "invalid_client",
      suggested_action: "Compare the client with the one registered at the health system.",
    },
  },
};

export class Canned {
  progress: Progress = "created";
  found = true;

  async serve(page: Page, base: string): Promise<void> {
    const answers: [RegExp, () => object | undefined][] = [
      [
        /\/bridge\/catalog\/search/,
        () => ({
          hits: {
            total: { value: this.found ? NAMES.length : 0, relation: "eq" },
            max_score: 1,
            hits: this.found ? NAMES.map((_, n) => hit(n)) : [],
          },
        }),
      ],
      [
        /\/bridge\/email\/codes/,
        () => ({ verification_id: id(7), expires_at: "2099-01-01T00:00:00Z", resend_after: "2099-01-01T00:00:00Z" }),
      ],
      [/\/bridge\/email\/verification/, () => ({ email_token: "t".repeat(43), expires_at: "2099-01-01T00:00:00Z" })],
      [/\/bridge\/attempts\//, () => ({ attempt_id: id(5), ...PROGRESS[this.progress] })],
      [
        /\/bridge\/attempts\?/,
        () => ({
          attempt_id: id(5),
          attempt_token: "t".repeat(43),
          connect_url: `${base}/bridge/connect`,
          start_value: "s".repeat(43),
          expires_at: "2099-01-01T00:00:00Z",
        }),
      ],
      [/\/support\/request/, () => undefined],
      [/\/support\/healthsystem/, () => undefined],
    ];
    for (const [path, data] of answers) {
      await page.route(path, (route: Route) => route.fulfill({ json: { success: true, data: data() } }));
    }
    await page
      .context()
      .route(/\/bridge\/connect$/, (route) =>
        route.fulfill({ contentType: "text/html", body: `<title>Portal</title>${LEFT}` }),
      );
  }
}
