/**
 * What the element on a customer's page and our page in its frame say to each other (docs/adr/0035-the-widget.md), and the events that
 * reach the customer. Both sides are built from this file; nothing here is code.
 */

/** The mode of the credential. */
export type Mode = "live" | "test";

/** A connection, as it is told to the customer's page. In TEFCA mode brand_id, portal_id and endpoint_id may be missing. */
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

/** The events, by event_type. */
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
}

/** What eventBus carries in its detail. widget.config_error has no data. */
export type Payload =
  | { [T in keyof EventData]: { api_mode: Mode; event_type: T; data: EventData[T] } }[keyof EventData]
  | { api_mode: Mode; event_type: "widget.config_error" };

/** What the customer has configured. It travels over the port alone, never in an address: some of it is a person's. */
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

/** window.postMessage, frame to page, target "*": it says nothing but that somebody is there. */
export interface Hello {
  svc: "hello";
  v: 1;
}

/** window.postMessage, page to frame, target the origin of base-url, with one end of a MessageChannel. All else goes over that. */
export interface Init {
  svc: "init";
  v: 1;
  config: Config;
  /** Set by the older element: this frame is hidden and only asks after that attempt. */
  watch?: Watch;
}

/** What the older element tells of an attempt that came to nothing. */
export type Refusal = Pick<EventData["patient.connection_failed"], "error" | "error_description" | "request_id" | "external_state" | "error_uri">;

/** What orgConnectionCallback carries in its detail: a connection, or what went wrong. */
export type Callback =
  | Omit<Connection, "tefca_directory_id">
  | Refusal;

/**
 * The attempt of a window that the older element has opened. It is of the element's making and may not be known to the server yet, nor ever. The hidden
 * frame tells its end as a result, and asks no longer than 30 minutes.
 */
export interface Watch {
  attemptId: string;
  attemptToken: string;
}

/**
 * The fragment of that window's address (/widget/connect), in the form of URLSearchParams: no server and no log sees it. The rest is in the query.
 * The window sets its opener to null before it leaves for a portal, so that no page there reaches the customer's.
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
 * window.postMessage, the older element's window to its opener, target "*": that it is there, and that the server knows its attempt. The element hands it
 * on to its hidden frames, which then need not ask after what is not there yet. A window that was severed cannot say so.
 */
export interface Here {
  svc: "here";
  attemptId: string;
  made: boolean;
}

/**
 * window.postMessage from a window to the frame that opened it, with our origin as the target: the window is about to leave for the portal.
 * Its name identifies the attempt. A window without an opener can't send it.
 */
export interface Left {
  svc: "left";
  name: string;
}

/** Over the port, frame to page. */
export type FromFrame =
  | { type: "ready" } // something can be seen
  | { type: "result"; callback: Callback } // the end of what a hidden frame watches
  | { type: "event"; payload: Payload; reason?: string } // the reason of a widget.config_error, for the console of who builds the page
  | { type: "closed" }; // the patient has finished: the page closes the modal

/** Over the port, page to frame. */
export type ToFrame =
  | { type: "close" } // the patient wants to close; the frame asks first where an attempt is open, and answers with closed
  | Here;
