/** The types of both elements. What their events carry is in protocol.d.ts. */
import type { Connection, EventData, Mode, Payload } from "../../kit/protocol.ts";

export type { Connection, EventData, Mode, Payload };

type Failure = EventData["patient.connection_failed"];

/** What orgConnectionCallback carries in its detail: a connection, or what went wrong. */
export type Callback =
  | Omit<Connection, "tefca_directory_id">
  | Pick<Failure, "error" | "error_description" | "request_id" | "external_state" | "error_uri">;

/** What both elements have, with the events that they tell. Each property reflects the attribute of its name with hyphens. */
interface Widget<Events extends HTMLElementEventMap> extends HTMLElement {
  publicId: string;
  reconnectOrgConnectionId: string;
  externalId: string;
  externalState: string;
  requestId: string;
  brandId: string;
  portalId: string;
  endpointId: string;
  baseUrl: string;
  addEventListener<K extends keyof Events>(type: K, listener: (this: this, event: Events[K]) => unknown, options?: boolean | AddEventListenerOptions): void;
  addEventListener(type: string, listener: EventListenerOrEventListenerObject, options?: boolean | AddEventListenerOptions): void;
  removeEventListener<K extends keyof Events>(type: K, listener: (this: this, event: Events[K]) => unknown, options?: boolean | EventListenerOptions): void;
  removeEventListener(type: string, listener: EventListenerOrEventListenerObject, options?: boolean | EventListenerOptions): void;
}

export interface SvcWidgetElementEventMap extends HTMLElementEventMap {
  eventBus: CustomEvent<Payload>;
}

/** A button and a modal in which a patient connects health records. */
export interface SvcWidgetElement extends Widget<SvcWidgetElementEventMap> {
  email: string;
  searchOnly: boolean;
  searchQuery: string;
  searchSortBy: string;
  searchSortByOpts: string;
  showSplash: boolean;
  staticBackdrop: boolean;
  tefcaMode: boolean;
  /** Optional events, with commas between them. */
  eventTypes: string;
  /** "hover" or "none". */
  preload: string;
  /** Opens the modal. */
  show(): void;
  /** Closes the modal at once. */
  hide(): void;
}

export interface SvcWidgetEventMap extends HTMLElementEventMap {
  orgConnectionCallback: CustomEvent<Callback>;
}

/** The older element: a button that sends the patient away, or opens a window. */
export interface SvcWidget extends Widget<SvcWidgetEventMap> {
  /** "redirect" or "popup". */
  connectMode: string;
  /** In minutes. */
  popupTimeout: string;
  redirectUri: string;
  /** Sends the patient away, or opens the window. */
  show(): void;
  /** Closes the window while it shows a page of ours, and waits for it no longer. */
  hide(): void;
}

export declare const SvcWidgetElement: { new (): SvcWidgetElement; prototype: SvcWidgetElement };
export declare const SvcWidget: { new (): SvcWidget; prototype: SvcWidget };

declare global {
  interface HTMLElementTagNameMap {
    "svc-widget-element": SvcWidgetElement;
    "svc-widget": SvcWidget;
  }
}
