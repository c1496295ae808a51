/**
 * The protocol between the element on a customer's page and the service's page in the element's frame
 * (docs/adr/0035-the-widget.md), and the customer's events. Both sides are built from this file, which contains only
 * types.
 */

/** The mode of the credential. */
export type Mode = "live" | "test";

/** A connection as reported to the customer's page. In TEFCA mode, brand_id, portal_id and endpoint_id may be missing. */
export interface Connection {
  org_connection_id: string;
  endpoint_id?: string;
  portal_id?: string;
  brand_id?: string;
  connection_status: "authorized" | "revoked";
  platform_type: string;
  request_id?: string;
  scope?: string;
  consent_expires_at?: string;
  tefca_directory_id?: string;
  external_id?: string;
  external_state?: string;
}

/** The events by event_type. */
export interface EventData {
  "patient.connection_pending": {
    public_id: string;
    brand_id?: string;
    portal_id?: string;
    endpoint_id?: string;
    external_id?: string;
    external_state?: string;
    org_connection_id?: string;
  };
  "patient.connection_success": Connection;
  "patient.connection_failed": {
    endpoint_id: string;
    portal_id: string;
    brand_id: string;
    connection_status?: string;
    platform_type?: string;
    request_id: string;
    error: string;
    error_description: string;
    error_uri?: string;
    external_id?: string;
    external_state?: string;
  };
  "widget.complete": Connection[];
  "widget.close": Record<string, never>;
  "search.query": {
    query: string;
    timestamp: number;
    filter: { locations: string[] };
    results: { total: number };
    external_id?: string;
  };
  "widget.view": {
    view: string;
    institution?: { brand_id?: string; portal_id?: string; endpoint_id?: string };
  };
  "widget.exit": {
    reason: "completed" | "closed" | "cancelled" | "failed";
    view: string;
    error?: string;
    request_id?: string;
  };
  "widget.load_error": { reason: string };
}

/** The detail of an eventBus event. A widget.config_error event has no data. */
export type Payload =
  | { [T in keyof EventData]: { api_mode: Mode; event_type: T; data: EventData[T] } }[keyof EventData]
  | { api_mode: Mode; event_type: "widget.config_error" };

/**
 * The customer's configuration. The element sends the configuration only over the port, never in a URL, because it
 * contains personal data.
 */
export interface Config {
  publicId: string;
  reconnectOrgConnectionId?: string;
  externalId?: string;
  externalState?: string;
  requestId?: string;
  email?: string;
  brandId?: string;
  portalId?: string;
  endpointId?: string;
  searchOnly: boolean;
  searchQuery?: string;
  searchSortBy?: string;
  searchSortByOpts?: string;
  showSplash: boolean;
  tefcaMode: boolean;
  eventTypes: string[];
  lang?: string;
}

/** Sent with window.postMessage from the frame to the page, with target "*". The message announces the frame and contains no data. */
export interface Hello {
  svc: "hello";
  v: 1;
}

/**
 * Sent with window.postMessage from the page to the frame, with the origin of base-url as the target and one end of a
 * MessageChannel. All further messages use that channel.
 */
export interface Init {
  svc: "init";
  v: 1;
  config: Config;
  /** Set by the older element. The frame is hidden and only polls this attempt. */
  watch?: Watch;
}

/** A failed attempt, as reported by the older element. */
export type Refusal = Pick<
  EventData["patient.connection_failed"],
  "error" | "error_description" | "request_id" | "external_state" | "error_uri"
>;

/** The detail of an orgConnectionCallback event: a connection or an error. */
export type Callback = Omit<Connection, "tefca_directory_id"> | Refusal;

/**
 * The attempt of the older element's window. The element created the attempt, so the server may not know the attempt
 * yet, or may never know it. The hidden frame reports the attempt's end as a result, and polls for at most 30 minutes.
 */
export interface Watch {
  attemptId: string;
  attemptToken: string;
}

/**
 * The fragment of the URL of the older element's window (/widget/connect), as URLSearchParams. No server or log sees
 * the fragment. All other parameters are in the query. The window sets its opener to null before it navigates to a
 * portal, so that no page of the portal can reach the customer's page.
 */
export interface WindowFragment {
  attempt_id: string;
  attempt_token: string;
  request_id?: string;
  external_id?: string;
  external_state?: string;
  reconnect_org_connection_id?: string;
  brand_id?: string;
  portal_id?: string;
  endpoint_id?: string;
}

/**
 * Sent with window.postMessage from the older element's window to its opener, with target "*". The message reports that
 * the window is open and the server knows the window's attempt. The element forwards the message to its hidden frames,
 * so that they don't poll for an attempt that doesn't exist yet. A severed window can't send the message.
 */
export interface Here {
  svc: "here";
  attemptId: string;
  made: boolean;
}

/**
 * Sent with window.postMessage from a window to the frame that opened it, with the service's origin as the target. The
 * message reports that the window is about to leave for the portal. The window's name identifies the attempt. A window
 * without an opener can't send the message.
 */
export interface Left {
  svc: "left";
  name: string;
  /** Set if the browser blocks cookies. The window then stays open. */
  cookies?: false;
}

/**
 * Sent with window.postMessage from the frame to a window that sent Left, with the service's origin as the target. The
 * window leaves when it receives the message, or after a second.
 */
export interface Leave {
  svc: "leave";
}

/** Messages over the port from the frame to the page. */
export type FromFrame =
  | { type: "ready" } // content is visible
  | { type: "result"; callback: Callback } // the end of the attempt that a hidden frame watches
  | { type: "event"; payload: Payload; reason?: string } // the reason of a widget.config_error, for the developer's console
  | { type: "closed" }; // the patient has finished, so the page closes the modal

/** Messages over the port from the page to the frame. */
export type ToFrame =
  | { type: "close" } // the patient wants to close; if an attempt is open, the frame asks first; it responds with closed
  | Here;
