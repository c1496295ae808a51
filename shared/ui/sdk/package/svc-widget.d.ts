/** Types of both elements. protocol.d.ts contains the types of the elements' events. */
import type { Connection, EventData, Mode, Payload } from "../../kit/protocol.ts";

export type { Connection, EventData, Mode, Payload };

type Failure = EventData["patient.connection_failed"];

/** The detail of an orgConnectionCallback event: a connection or an error. */
export type Callback =
  | Omit<Connection, "tefca_directory_id">
  | Pick<Failure, "error" | "error_description" | "request_id" | "external_state" | "error_uri">;

/** Members of both elements, and the elements' events. Each property reflects the attribute with the hyphenated name. */
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
  addEventListener<K extends keyof Events>(
    type: K,
    listener: (this: this, event: Events[K]) => unknown,
    options?: boolean | AddEventListenerOptions,
  ): void;
  addEventListener(
    type: string,
    listener: EventListenerOrEventListenerObject,
    options?: boolean | AddEventListenerOptions,
  ): void;
  removeEventListener<K extends keyof Events>(
    type: K,
    listener: (this: this, event: Events[K]) => unknown,
    options?: boolean | EventListenerOptions,
  ): void;
  removeEventListener(
    type: string,
    listener: EventListenerOrEventListenerObject,
    options?: boolean | EventListenerOptions,
  ): void;
}

export interface SvcWidgetElementEventMap extends HTMLElementEventMap {
  eventBus: CustomEvent<Payload>;
}

/** A button that opens a modal in which a patient connects health records. */
export interface SvcWidgetElement extends Widget<SvcWidgetElementEventMap> {
  email: string;
  searchOnly: boolean;
  searchQuery: string;
  searchSortBy: string;
  searchSortByOpts: string;
  showSplash: boolean;
  staticBackdrop: boolean;
  tefcaMode: boolean;
  /** Optional event types, separated by commas. */
  eventTypes: string;
  /** "hover" or "none". */
  preload: string;
  /** Opens the modal. */
  show(): void;
  /** Closes the modal immediately. */
  hide(): void;
}

export interface SvcWidgetEventMap extends HTMLElementEventMap {
  orgConnectionCallback: CustomEvent<Callback>;
}

/** The older element: a button that redirects the patient or opens a window. */
export interface SvcWidget extends Widget<SvcWidgetEventMap> {
  /** "redirect" or "popup". */
  connectMode: string;
  /** The time limit in minutes. */
  popupTimeout: string;
  redirectUri: string;
  /** Redirects the patient or opens the window. */
  show(): void;
  /** Stops waiting for the window. Also closes the window if it shows one of the service's pages. */
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
