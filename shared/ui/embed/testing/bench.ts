/** Runs the application without a browser, with a clock that tests control. */
import type { Callback, Config, Payload, Watch } from "../../kit/protocol.ts";
import type { Api } from "../api/api.ts";
import type {
  Answer,
  CallName,
  Calls,
  Facility,
  Failure,
  Hit,
  IdentityProvider,
  Portal,
  Progress,
  Standing,
} from "../api/records.ts";
import type { Message, Opened, Own, Start } from "../machine/message.ts";
import { run, type Runner } from "../machine/run.ts";
import { step as tefcaStep } from "../machine/tefca.ts";
import { start, type Shell, type State } from "../machine/state.ts";

export const ids = {
  brand: "0ae6105d-75f7-4870-a72b-0ebb0a8f873d",
  portal: "39f75093-e9f7-4a5f-95b1-2d8f9323081e",
  endpoint: "935cddab-b857-4c34-aabf-583fcec9e6a7",
  connection: "6f1c2a52-0f6e-4d2b-9c0c-6a4a8a0f2a11",
};

export const connection = {
  org_connection_id: ids.connection,
  endpoint_id: ids.endpoint,
  portal_id: ids.portal,
  brand_id: ids.brand,
  connection_status: "authorized",
  platform_type: "sandbox",
  request_id: "r-1",
} as const;

export const declined: Progress = {
  status: "failed",
  error: {
    error: "access_denied",
    error_description: "The patient declined.",
    request_id: "r-2",
    cause: "declined",
    suggested_action: "Explain it.",
  },
};

export const cancelled: Progress = {
  status: "failed",
  error: {
    error: "access_denied",
    error_description: "The patient cancelled.",
    request_id: "r-3",
    cause: "cancelled",
    suggested_action: "Nothing.",
  },
};

export function failure(kind: Failure["kind"], more: Partial<Failure> = {}): Failure {
  return {
    kind,
    error: "svc_server_error",
    description: "It failed.",
    cause: undefined,
    requestId: kind === "network" ? undefined : "r-9",
    retryAfter: undefined,
    ...more,
  };
}

export function portal(id: string = ids.portal, endpoints: string[] = [ids.endpoint]): Portal {
  return { id, name: `Portal ${id}`, portal_website: "", logo_uri: "", description: "", endpoint_ids: endpoints };
}

export function hit(id: string = ids.brand, portals: Portal[] = [portal()]): Hit {
  const record = {
    id,
    name: `Alder ${id}`,
    logo: "",
    website: "",
    description: "",
    locations: [],
    health: "ok" as const,
  };
  return {
    ...record,
    platformType: "sandbox",
    portals,
    endpointId: undefined,
    away: undefined,
    mostUsed: false,
    sort: [7.5, "alder", 3, id],
  };
}

type Answers = {
  [K in CallName]: (ask: Calls[K]["ask"]) => Answer<Calls[K]["data"]> | Promise<Answer<Calls[K]["data"]>>;
};

export interface Asked {
  call: CallName;
  ask: unknown;
  at: number; // milliseconds since the bench started
}

export class Bench {
  readonly began = Date.parse("2026-11-21T09:30:00Z");
  readonly asked: Asked[] = [];
  readonly events: Payload[] = [];
  readonly reasons: (string | undefined)[] = [];
  readonly opened: string[] = [];
  readonly raised: string[] = [];
  readonly shut: string[] = [];
  readonly left: string[] = [];
  closed = 0;
  reloaded = 0;
  readonly results: Callback[] = [];
  /** The browser's reaction to a click. */
  how: Opened = "seen";
  /** Overrides a call's answer, given the call's number, starting at 0. */
  fault: (n: number, call: CallName) => Failure | undefined = () => undefined;
  progress: Progress = { status: "created" };
  /** The answer to a cancellation. */
  cancelled: Progress = cancelled;
  providers: IdentityProvider[] = [{ id: "idp", name: "Aspen ID" }];
  standing: Standing = { status: "created", facilities: [] };
  /** Whether TEFCA mode's chunk loads. */
  loads = true;
  answers: Answers;
  readonly runner: Runner;
  #now = 0;
  #made = 0;
  #timers = new Map<number, { at: number; then: () => void }>();
  #nextTimer = 1;

  /** Creates a bench. given.after is the time in milliseconds since another bench began. */
  constructor(
    config: Partial<Config> = {},
    shell: Shell = "frame",
    { after = 0, ...given }: { own?: Own; watch?: Watch; kept?: State["kept"]; after?: number } = {},
  ) {
    this.#now = after;
    this.answers = this.#usual();
    const whole: Config = {
      publicId: "public_test_1",
      searchOnly: true,
      showSplash: false,
      tefcaMode: false,
      eventTypes: [],
      ...config,
    };
    const pages = {
      shell,
      mode: "live",
      publicId: "public_live_1",
      baseUrl: "https://svc.example/v1",
      org: undefined,
      redirectUri: "https://org.example/back",
      own: undefined,
    } as const;
    this.runner = run(start(pages, whole), this.#world(), () => undefined);
    this.send({ type: "begin", config: whole, ...given });
  }

  now(): number {
    return this.began + this.#now;
  }

  get state(): State {
    return this.runner.state();
  }

  send(message: Message): void {
    this.runner.send(message);
  }

  /** Returns the times at which a call was made. */
  times(call: CallName): number[] {
    return this.asked.filter((one) => one.call === call).map((one) => one.at);
  }

  told(type: Payload["event_type"]): Payload[] {
    return this.events.filter((event) => event.event_type === type);
  }

  /** Advances the time. Answers arrive immediately. */
  async pass(ms: number): Promise<void> {
    const end = this.#now + ms;
    await settle();
    for (;;) {
      const [next] = [...this.#timers].filter(([, timer]) => timer.at <= end).sort((a, b) => a[1].at - b[1].at);
      if (!next) break;
      this.#timers.delete(next[0]);
      this.#now = Math.max(this.#now, next[1].at);
      next[1].then();
      await settle();
    }
    this.#now = end;
  }

  /** Advances the time without running timers, as when a laptop is closed. */
  sleep(ms: number): void {
    this.#now += ms;
  }

  /** Leads TEFCA mode to the view that opens the window. */
  async toProvider(): Promise<void> {
    await this.pass(0);
    this.send({ type: "agree" });
    await this.pass(0);
  }

  /** Leads TEFCA mode to the open identity check window. */
  async toVerifying(): Promise<string> {
    await this.toProvider();
    this.send({ type: "leave" });
    return this.state.current ?? "";
  }

  /** Leads TEFCA mode to the found facilities. */
  async toFacilities(...facilities: Facility[]): Promise<string> {
    const id = await this.toVerifying();
    this.standing = { status: "located", identity_expires_at: "2026-11-21T10:00:00Z", facilities };
    this.send({ type: "wake" });
    await this.pass(0);
    return id;
  }

  /** Leads to the view that opens the window. */
  async toInstitution(id: string = ids.brand): Promise<void> {
    this.send({ type: "type", query: "alder" });
    await this.pass(200);
    this.send({ type: "pick", id });
    await this.pass(0);
  }

  /** Leads to the waiting view with an open window. */
  async toWaiting(id: string = ids.brand): Promise<string> {
    await this.toInstitution(id);
    this.send({ type: "leave" });
    return this.state.current ?? "";
  }

  #usual(): Answers {
    const ok = <T>(data: T): Answer<T> => ({ ok: true, data });
    return {
      search: () => ok({ total: 2, hits: [hit(), hit("other", [portal("p2", ["e2"])])] }),
      institution: () => ok(hit()),
      endpoint: ({ ids: [id = ""] }) => ok({ id, health: "ok", platformType: "sandbox" }),
      prepare: (ask) => {
        const id = `attempt-${++this.#made}`;
        const to = {
          endpoint_id: ask.endpoint_id ?? ids.endpoint,
          portal_id: ask.portal_id ?? ids.portal,
          brand_id: ask.brand_id ?? ids.brand,
        };
        return ok({
          attempt_id: id,
          attempt_token: `token-${id}`,
          connect_url: "https://svc.example/v1/bridge/connect",
          start_value: id,
          ...to,
        });
      },
      progress: () => ok(this.progress),
      cancel: () => ok(this.cancelled),
      providers: () => ok({ providers: this.providers, simulated: true }),
      identity: () => {
        const id = `identity-${++this.#made}`;
        return ok({
          attempt_id: id,
          attempt_token: `token-${id}`,
          identity_url: "https://svc.example/v1/bridge/tefca/identity/start",
          start_value: id,
        });
      },
      records: () => ok(this.standing),
      authorize: () => ok(this.standing),
      codes: () =>
        ok({ verification_id: "v-1", resend_after: new Date(this.began + this.#now + 30_000).toISOString() }),
      verify: () => ok({ email_token: "e-1", expires_at: new Date(this.began + this.#now + 3_600_000).toISOString() }),
      support: () => ok(undefined),
      missing: () => ok(undefined),
    };
  }

  #world() {
    const answer = async (call: CallName, ask: unknown): Promise<Answer<unknown>> => {
      const n = this.asked.push({ call, ask, at: this.#now }) - 1;
      await Promise.resolve(); // so that a test can still override the first answer
      const fault = this.fault(n, call);
      const handler = this.answers[call] as (ask: unknown) => Answer<unknown> | Promise<Answer<unknown>>;
      return fault ? { ok: false, failure: fault } : handler(ask);
    };
    const calls = Object.keys(this.answers) as CallName[];
    return {
      api: Object.fromEntries(calls.map((call) => [call, (ask: unknown) => answer(call, ask)])) as unknown as Api,
      now: () => this.began + this.#now,
      setTimeout: (then: () => void, ms: number) => {
        this.#timers.set(this.#nextTimer, { at: this.#now + ms, then });
        return this.#nextTimer++;
      },
      clearTimeout: (timer: unknown) => void this.#timers.delete(timer as number),
      open: (_id: string, { url, value }: Start) => {
        this.opened.push(`${url} ${value}`);
        return this.how;
      },
      raise: (id: string) => void this.raised.push(id),
      shut: (id: string) => void this.shut.push(id),
      load: async () => {
        await Promise.resolve(); // so that a test can still make the request fail
        if (!this.loads) throw new TypeError("no network");
        return tefcaStep;
      },
      reload: () => void this.reloaded++,
      copy: () => Promise.resolve(),
      go: (url: string) => void this.left.push(url),
      leave: ({ url, value }: Start) => void this.left.push(`${url} ${value}`),
      emit: (payload: Payload, reason?: string) => {
        this.events.push(payload);
        this.reasons.push(reason);
      },
      result: (callback: Callback) => void this.results.push(callback),
      closed: () => void this.closed++,
    };
  }
}

/** Runs all effects that are now due. */
async function settle(): Promise<void> {
  for (let i = 0; i < 20; i++) await Promise.resolve();
}
