/** Declares the messages that the application receives, the effects that it requests, and the values that both carry. Types only. */
import type { Callback, Config, Payload, Watch } from "../../kit/protocol.ts";
import type { Answered, Ask } from "../api/records.ts";

/** What is known of a window: there is a handle, or none (yet), or no window for sure. */
export type Opened = "seen" | "unseen" | "blocked";

/** How an attempt starts: by a form that posts the value to the URL. No link or redirect can do that (docs/adr/0035-the-widget.md). */
export interface Start {
  url: string;
  value: string;
}

/** The attempt that the older element has chosen for its window. The server receives only a hash of its token. */
export interface Own {
  id: string;
  hash: string; // of the token, in hexadecimal digits
}

/** Narrows a search. */
export interface Filter {
  state: string; // two letters, or empty
  zip: string; // five digits, or empty
}

/** Form input that the patient has not sent yet. It is kept while another view is open. */
export interface Draft {
  email: string;
  code: string;
  hospital: string; // that is missing
  name: string; // of the patient
  website: string;
  address: string;
  subject: string;
  body: string;
}

export type Message =
  | { type: "begin"; config: Config; own?: Own | undefined; watch?: Watch | undefined }
  | { type: "misconfigured"; reason: string; requestId?: string | undefined } // the page says so, or it stands where it must not
  | { type: "loaded" } // the words and views of TEFCA mode are there
  | { type: "unloaded" } // they have not come
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
  | { type: "providers" } // ask who can check an identity
  | { type: "provider"; id: string | undefined }
  | { type: "tick"; ids: string[]; on: boolean }
  | { type: "authorize"; ids: string[] }
  | { type: "choose" } // from what the network has found
  | { type: "instead" } // the ordinary search
  | { type: "prepare" } // make an attempt for the institution of the view
  | { type: "stale"; id: string } // an attempt that nobody left with is about to end
  | { type: "leave" } // the click that opens the window
  | { type: "opened"; id: string; how: Opened }
  | { type: "followed" } // the button that starts the attempt in another window
  | { type: "unopened"; id: string } // a while after that
  | { type: "here"; attemptId: string; made: boolean } // the older element's window, to its hidden frame
  | { type: "raise" } // bring the window to the front, or open another
  | { type: "poll"; id: string }
  | { type: "wake" } // a nudge, focus, the network is back: ask now
  | { type: "windows"; closed: string[]; focused: boolean }
  | { type: "cancel" }
  | { type: "retry" }
  | { type: "restart" } // from the search
  | { type: "load" } // the institution that the page names
  | { type: "draft"; draft: Partial<Draft> }
  | { type: "send" } // the form of the view
  | { type: "copy"; text: string }
  | { type: "copied" }
  | { type: "network"; online: boolean }
  | { type: "close" }
  | { type: "stay" }
  | { type: "close_now" }
  | { type: "answered"; answered: Answered };

export type Effect =
  | { do: "ask"; key: string; ask: Ask } // another one with the same key drops this one
  | { do: "drop"; key: string }
  | { do: "wait"; key: string; ms: number; then: Message }
  | { do: "unwait"; key: string }
  | { do: "open"; id: string; start: Start } // has to happen within the click, or the browser refuses the window
  | { do: "raise"; id: string }
  | { do: "load" } // what TEFCA mode adds
  | { do: "reload" } // the page, and all that is known is forgotten
  | { do: "send"; message: Message }
  | { do: "copy"; text: string }
  | { do: "go"; url: string } // this window leaves, in redirect mode
  | { do: "leave"; start: Start } // this window leaves, with an attempt
  | { do: "emit"; payload: Payload; reason?: string }
  | { do: "result"; callback: Callback } // of what a hidden frame watches
  | { do: "closed" };
