/** A fake service for TEFCA mode. Its responses have the formats in docs/openapi.yaml. It extends canned.ts. */
import type { Page, Route } from "@playwright/test";
import type { Facility, IdentityProvider, Standing } from "../../embed/api/records.ts";
import { Canned, LEFT } from "./canned.ts";

const PLACES: [string, string, string][] = [
  ["Alder Regional Medical Center", "Madison", "WI"],
  ["Birch Children’s Hospital and Clinics of the Upper Valley", "Portland", "OR"],
  ["Cedar Family Practice", "Austin", "TX"],
  ["Dogwood Health", "Denver", "CO"],
  ["Elm Clinic", "Boston", "MA"],
  ["Fir Imaging Center", "Seattle", "WA"],
];

/** Returns the network's facility at a zero-based index. */
export function place(n: number, more: Partial<Facility> = {}): Facility {
  const [name = "", city = "", state = ""] = PLACES[n] ?? [];
  return { tefca_directory_id: `urn:oid:2.999.1.${n}`, name, city, state, match: "found", ...more };
}

export function connected(n: number): Facility {
  const ids = {
    org_connection_id: `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`,
    tefca_directory_id: place(n).tefca_directory_id,
  };
  return place(n, {
    outcome: "connected",
    connection: {
      ...ids,
      connection_status: "authorized",
      platform_type: "tefca",
      scope: "patient/*.read",
      request_id: "r-1",
    },
  });
}

export const failed = (n: number, reason: NonNullable<Facility["reason"]>): Facility =>
  place(n, { outcome: "failed", reason });

/** Returns a status that includes a valid identity check. */
export const standing = (status: Standing["status"], ...facilities: Facility[]): Standing => ({
  status,
  identity_expires_at: "2099-01-01T00:00:00Z",
  facilities,
});

export class CannedTefca extends Canned {
  providers: IdentityProvider[] = [
    { id: "aspen", name: "Aspen ID" },
    { id: "birch", name: "Birch Identity Service of the States" },
  ];
  /** The attempt's status in responses. */
  standing: Standing = { status: "created", facilities: [] };
  /** The response to a choice. The status is undefined if the identity check has expired. */
  authorized: Standing | undefined;
  /** The number of attempts created. */
  made = 0;
  /** The choices that the page has sent, in order. */
  readonly chosen: string[][] = [];

  override async serve(page: Page, base: string): Promise<void> {
    await super.serve(page, base);
    const answer = (route: Route, data: object): Promise<void> => route.fulfill({ json: { success: true, data } });
    await page.route(/\/bridge\/tefca\/identity\?public_id/, (route) => {
      if (route.request().method() !== "POST") return answer(route, { providers: this.providers, simulated: true });
      const made = {
        attempt_id: `a-${++this.made}`,
        attempt_token: "t".repeat(43),
        identity_url: `${base}/bridge/tefca/identity/start`,
        start_value: "s".repeat(43),
        expires_at: "2099-01-01T00:00:00Z",
      };
      return answer(route, made);
    });
    await page.route(/\/bridge\/tefca\/records\/[^/]+\?/, (route) => answer(route, this.standing));
    await page.route(/\/bridge\/tefca\/records\/[^/]+\/authorization\?/, (route) => {
      this.chosen.push((route.request().postDataJSON() as { tefca_directory_ids: string[] }).tefca_directory_ids);
      if (!this.authorized)
        return route.fulfill({
          status: 409,
          json: {
            success: false,
            error: "svc_invalid_request",
            error_description: "The identity check has ended.",
            request_id: "r-9",
          },
        });
      this.standing = this.authorized;
      return answer(route, this.standing);
    });
    await page
      .context()
      .route(/\/bridge\/tefca\/identity\/start$/, (route) =>
        route.fulfill({ contentType: "text/html", body: `<title>Identity</title><h1>Identity</h1>${LEFT}` }),
      );
  }
}

/** Makes the server reject TEFCA mode. */
export async function refuse(page: Page, status: 400 | 403): Promise<void> {
  const json = {
    success: false,
    error: status === 403 ? "svc_plan_required" : "svc_invalid_request",
    error_description: "This organisation cannot use TEFCA mode.",
    request_id: "r-9",
  };
  await page.route(/\/bridge\/tefca\/identity\?public_id/, (route) => route.fulfill({ status, json }));
}
