/**
 * Declares the messages that the application receives, the effects that it requests, and the values that both contain.
 * The file contains only types.
 */
import type { Callback, Config, Payload, Watch } from "../../kit/protocol.ts";
import type { Answered, Ask } from "../api/records.ts";

/** A window's state: open with a handle, possibly open without a handle, or certainly not open. */
export type Opened = "seen" | "unseen" | "blocked";

/** Describes how an attempt starts: a form posts the value to the URL. A link or redirect can't do that (docs/adr/0035-the-widget.md). */
export interface Start {
  url: string;
  value: string;
}

/** The attempt that the older element created for its window. The server receives only a hash of the attempt's token. */
export interface Own {
  id: string;
  hash: string; // SHA-256 of the token, in hexadecimal digits
}

/** Narrows a search. */
export interface Filter {
  state: string; // two letters, or empty
  zip: string; // five digits, or empty
}

/** Form input that the patient has not yet sent. The input is kept while another view is open. */
export interface Draft {
  email: string;
  code: string;
  hospital: string; // the missing institution's name
  name: string; // the patient's name
  website: string;
  address: string;
  subject: string;
  body: string;
}

export type Message =
  | {
      type: "begin";
      config: Config;
      own?: Own | undefined;
      watch?: Watch | undefined;
      kept?: { owner: string; text: string | null } | undefined;
    }
  | { type: "misconfigured"; reason: string; requestId?: string | undefined } // the page is misconfigured, or framed by a page that must not frame it
  | { type: "loaded" } // TEFCA mode's chunk has loaded
  | { type: "unloaded" } // the chunk failed to load
  | { type: "reload" }
  | { type: "agree" }
  | { type: "back" }
  | { type: "show"; view: "support" | "missing" | "search" | "finish" }
  | { type: "email" }
  | { type: "code" }
  | { type: "resend" }
  | { type: "resendable" }
  | { type: "type"; query: string }
  | { type: "narrow"; filter: Filter }
  | { type: "search" }
  | { type: "more" }
  | { type: "pick"; id: string }
  | { type: "portal"; id: string | undefined }
  | { type: "providers" } // load the identity providers
  | { type: "provider"; id: string | undefined }
  | { type: "tick"; ids: string[]; on: boolean }
  | { type: "authorize"; ids: string[] }
  | { type: "choose" } // choose among the found facilities
  | { type: "instead" } // switch to the ordinary search
  | { type: "prepare" } // create an attempt for the view's institution
  | { type: "stale"; id: string } // an unused attempt is about to expire
  | { type: "leave" } // the click that opens the window
  | { type: "opened"; id: string; how: Opened }
  | { type: "raised"; id: string } // the window has had time to come to the front
  | { type: "cookieless"; id: string } // the attempt's window can't continue without cookies
  | { type: "followed" } // the button that starts the attempt in another window
  | { type: "unopened"; id: string } // sent some time after followed
  | { type: "here"; attemptId: string; made: boolean } // from the older element's window to its hidden frame
  | { type: "raise" } // bring the window to the front, or open another
  | { type: "poll"; id: string }
  | { type: "wake" } // nudge, focus or network: poll now
  | { type: "windows"; closed: string[]; focused: boolean }
  | { type: "cancel" }
  | { type: "retry" }
  | { type: "restart" } // from the search
  | { type: "load" } // the institution named by the page
  | { type: "draft"; draft: Partial<Draft> }
  | { type: "send" } // submit the view's form
  | { type: "copy"; text: string }
  | { type: "copied" }
  | { type: "network"; online: boolean }
  | { type: "close" }
  | { type: "stay" }
  | { type: "close_now" }
  | { type: "stopped" } // the server has had time to confirm the cancellation
  | { type: "slow" } // the response is late
  | { type: "answered"; answered: Answered };

export type Effect =
  | { do: "ask"; key: string; ask: Ask } // a request with the same key replaces this request
  | { do: "drop"; key: string }
  | { do: "wait"; key: string; ms: number; then: Message }
  | { do: "unwait"; key: string }
  | { do: "open"; id: string; start: Start } // must happen within the click, or the browser blocks the window
  | { do: "raise"; id: string }
  | { do: "shut"; id: string } // close an attempt's window, if it can be reached
  | { do: "load" } // TEFCA mode's chunk
  | { do: "reload" } // reload the page and forget all state
  | { do: "send"; message: Message }
  | { do: "copy"; text: string }
  | { do: "go"; url: string } // this window navigates, in redirect mode
  | { do: "leave"; start: Start } // this window navigates, with an attempt
  | { do: "emit"; payload: Payload; reason?: string }
  | { do: "result"; callback: Callback } // the result of the attempt that a hidden frame watches
  | { do: "closed" };
