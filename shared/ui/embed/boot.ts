/** Boot data that the server writes into the page. The first view therefore needs no request. */
import type { Mode } from "../kit/protocol.ts";
import type { Org } from "./machine/state.ts";

export interface Boot {
  shell: "frame" | "page" | "window";
  base_url: string;
  api_mode: Mode;
  public_id: string;
  org: Org | null;
  allowed_origins: string[];
  error: { error: string; error_description: string; request_id: string } | null;
  query: Partial<
    Record<
      | "redirect_uri"
      | "external_id"
      | "external_state"
      | "request_id"
      | "reconnect_org_connection_id"
      | "brand_id"
      | "portal_id"
      | "endpoint_id"
      | "lang",
      string
    >
  >;
}

export function readBoot(document: Document): Boot {
  return JSON.parse(document.getElementById("boot")?.textContent ?? "") as Boot;
}
