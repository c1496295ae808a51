/** An in-memory fake of the dashboard's API (docs/openapi.yaml), so that tests can show every screen without a service. */
import type { Mode, Overview, Webhook } from "../api/records.ts";
import { accountRoutes } from "./accountroutes.ts";
import { edited, missing, stop, Stop, type Answer, type Asked, type Told } from "./answers.ts";
import { before, id } from "./ids.ts";
import { credential, delivery, TYPES, webhook } from "./objects.ts";
import { world } from "./world.ts";
import type { World } from "./world.ts";
import { institutions } from "./catalogue.ts";

const SECRET = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";

export class Fake {
  world: World;
  /** The failure of the next request. */
  refuse: { status: number; code: string; text: string } | undefined;
  /** Whether revealing a secret requires a proof. */
  wantsProof = false;
  readonly asked: string[] = [];
  #count = 50;

  constructor(of: World = world()) {
    this.world = of;
  }

  answer(asked: Asked): Told {
    this.asked.push(`${asked.method} ${asked.path}`);
    try {
      if (this.refuse) {
        const { status, code, text } = this.refuse;
        throw new Stop(status, code, text);
      }
      const data = this.#find(asked);
      return { status: 200, json: { success: true, data } };
    } catch (error) {
      if (!(error instanceof Stop)) throw error;
      return {
        status: error.status,
        json: { success: false, error: error.code, error_description: error.message, request_id: id(99) },
      };
    }
  }

  #find(asked: Asked): unknown {
    const spot = asked.path.replace(
      /^organisations\/[0-9a-f-]{36}(\/(test|live)(?=\/|$))?/,
      (_, mode: string | undefined) => (mode ? "M" : "O"),
    );
    const mode = /\/(live)(\/|$)/.exec(asked.path) ? "live" : "test";
    for (const [pattern, answer] of [
      ...accountRoutes(this),
      ...this.#build(mode),
      ...this.#watch(mode),
      ...this.#organisation(),
    ]) {
      const [method = "", path = ""] = pattern.split(" ");
      const found = new RegExp(`^${path.replace(":id", "([^/]+)")}$`).exec(spot);
      if (found && method === asked.method) return answer(asked, decodeURIComponent(found[1] ?? ""));
    }
    return missing();
  }

  #build(mode: Mode): [string, Answer][] {
    const { world: w } = this;
    const own = (): World["credentials"] => w.credentials.filter((one) => one.public_id.includes(mode));
    const key = `private_${mode}_${"k".repeat(49)}`;
    const secret = (): object =>
      this.wantsProof
        ? stop(403, "svc_proof_required", "Verify your identity again.")
        : { secrets: [{ secret: SECRET }] };
    const one = (at: string): Webhook => w.webhooks.find((hook) => hook.webhook_id === at) ?? missing();
    return [
      ["GET M/overview", () => this.#overview(mode)],
      ["GET M/credentials", () => ({ credentials: own() })],
      [
        "POST M/credentials",
        ({ body }) => {
          const made = credential(mode, (this.#count += 1), {
            ...body,
            keys: [{ key_id: id(this.#count), created_at: before(0) }],
            created_at: before(0),
          });
          w.credentials.push(made);
          return { credential: made, private_key: key };
        },
      ],
      ["GET M/credentials/:id", (_, at) => own().find((found) => found.public_id === at) ?? missing()],
      [
        "PATCH M/credentials/:id",
        (asked, at) => edited(own().find((found) => found.public_id === at) ?? missing(), asked),
      ],
      [
        "DELETE M/credentials/:id",
        (_, at) => {
          w.credentials = w.credentials.filter((found) => found.public_id !== at);
        },
      ],
      [
        "POST M/credentials/:id/keys",
        (_, at) => {
          own()
            .find((found) => found.public_id === at)
            ?.keys.push({ key_id: id((this.#count += 1)), created_at: before(0) });
          return { private_key: key };
        },
      ],
      ["GET M/webhook-types", () => ({ types: TYPES })],
      ["GET M/webhooks", () => ({ webhooks: mode === "test" ? w.webhooks : [] })],
      [
        "POST M/webhooks",
        ({ body }) => {
          const made = webhook((this.#count += 1), {
            ...body,
            headers: [],
            created_at: before(0),
            health: { failures: 0 },
          });
          w.webhooks.push(made);
          return { webhook: made, secret: SECRET };
        },
      ],
      ["GET M/webhooks/:id", (_, at) => one(at)],
      [
        "PATCH M/webhooks/:id",
        (asked, at) => {
          const { types = one(at).types, headers, ...rest } = asked.body as Partial<Webhook>;
          const required = TYPES.filter((of) => of.default === "required").map(({ type }) => type);
          const names = headers === undefined ? one(at).headers : Object.keys(headers);
          const body = { ...rest, types: [...new Set([...required, ...types])], headers: names };
          return edited(one(at), { ...asked, body });
        },
      ],
      ["POST M/webhooks/:id/secret/reveal", secret],
      ["POST M/webhooks/:id/secret/rotate", (_, at) => ({ webhook: one(at), secret: SECRET })],
      [
        "POST M/webhooks/:id/enable",
        (_, at) => {
          delete one(at).disabled;
          return { webhook: one(at), missed_since: before(9), replayed: 14 };
        },
      ],
      [
        "POST M/webhooks/:id/disable",
        (_, at) => Object.assign(one(at), { disabled: { at: before(0), reason: "by_hand" } }),
      ],
      [
        "POST M/webhooks/:id/simulate",
        ({ body }, at) => {
          const made = delivery((this.#count += 1), {
            webhook_id: at,
            type: String(body["type"]),
            created_at: before(0),
          });
          w.deliveries.unshift(made);
          return { delivery_id: made.delivery_id, event_id: made.event_id };
        },
      ],
      // two deliveries failed, more than an hour ago
      [
        "POST M/webhooks/:id/replay",
        ({ body }) => ({ replayed: Date.parse(String(body["since"])) < Date.parse(before(120)) ? 2 : 0 }),
      ],
    ];
  }

  #watch(mode: Mode): [string, Answer][] {
    const { world: w } = this;
    const rows = <T>(of: T[]): T[] => (mode === "test" ? of : []);
    const like = <T extends object>(of: T[], query: URLSearchParams): T[] =>
      rows(of).filter((row) =>
        [...query].every(([name, value]) => !(name in row) || (row as Record<string, unknown>)[name] === value),
      );
    return [
      [
        "GET M/deliveries",
        ({ query }) => ({
          deliveries: like(w.deliveries, query),
          ...(w.searchedTo && query.get("cursor") === null && { next: "older", searched_to: w.searchedTo }),
        }),
      ],
      ["GET M/deliveries/:id", (_, at) => w.deliveries.find((one) => one.delivery_id === at) ?? missing()],
      [
        "POST M/deliveries/:id/replay",
        (_, at) => {
          const found = w.deliveries.find((one) => one.delivery_id === at) ?? missing();
          const [first] = found.attempts;
          if (first) found.attempts.push({ ...first, number: 1, trigger: "manual", at: before(0) });
          found.status = "delivered";
        },
      ],
      [
        "GET M/requests",
        ({ query }) => {
          const { status, ...rest } = Object.fromEntries(query);
          return {
            requests: like(w.requests, new URLSearchParams(rest)).filter(
              (one) =>
                !status || (status === "error" ? one.error !== undefined : `${one.status}`.startsWith(status[0]!)),
            ),
          };
        },
      ],
      ["GET M/sign-ins", ({ query }) => ({ sign_ins: like(w.signIns, query) })],
      ["GET M/connections", ({ query }) => ({ connections: like(w.connections, query) })],
      ["GET M/connections/:id", (_, at) => w.connections.find((one) => one.org_connection_id === at) ?? missing()],
      [
        "GET M/connections/:id/erasure",
        () => ({
          erasure_id: id(9),
          stage: "done",
          requested_at: before(39),
          finished_at: before(8),
          portal: "asked",
          counts: { connections: 1, tokens: 1, exports: 2, files: 4, events: 3, deliveries: 3, attempts: 4 },
        }),
      ],
      [
        "POST M/connections/:id/erase",
        (_, at) => {
          w.connections = w.connections.filter((one) => one.org_connection_id !== at);
          return {
            erasure_id: id(9),
            stage: "finding",
            requested_at: before(0),
            counts: { connections: 0, tokens: 0, exports: 0, files: 0, events: 0, deliveries: 0, attempts: 0 },
          };
        },
      ],
      ["GET M/exports", ({ query }) => ({ exports: like(w.exports, query) })],
      ["GET M/exports/:id", (_, at) => w.exports.find((one) => one.task_id === at) ?? missing()],
      [
        "GET M/usage",
        ({ query }) => ({ months: w.months, ...(query.get("format") === "csv" && { csv: "month,connections\n" }) }),
      ],
      ["GET M/inquiries", ({ query }) => ({ inquiries: like(w.inquiries, query) })],
      ["GET M/inquiries/:id", (_, at) => w.inquiries.find((one) => one.inquiry_id === at) ?? missing()],
      [
        "PATCH M/inquiries/:id",
        ({ body }, at) => Object.assign(w.inquiries.find((one) => one.inquiry_id === at) ?? missing(), body),
      ],
      [
        "POST M/inquiries/:id/answers",
        ({ body }, at) => {
          const found = w.inquiries.find((one) => one.inquiry_id === at) ?? missing();
          const text = String(body["text"]);
          if (!found.answers.some((one) => one.text === text))
            found.answers.push({ at: before(0), by: `member:${w.session.account.id}`, text, delivery: "sent" });
          found.status = "answered";
          return found;
        },
      ],
    ];
  }

  #organisation(): [string, Answer][] {
    const { world: w } = this;
    return [
      ["GET O", () => w.organisation],
      ["PATCH O", (asked) => edited(w.organisation, asked)],
      ["GET O/deletion", () => w.deletion ?? missing()],
      [
        "POST O/deletion",
        ({ body }) =>
          body["name"] === w.organisation.name
            ? (w.deletion = { stage: "waiting", requested_at: before(0), begins_at: before(-10080), can_cancel: true })
            : stop(400, "svc_invalid_request", "To delete the organisation, repeat its exact name."),
      ],
      [
        "DELETE O/deletion",
        () => {
          w.deletion = undefined;
        },
      ],
      ["POST O/emails", () => ({ verification_id: id(8), expires_at: before(-10), resend_after: before(-1) })],
      [
        "PUT O/emails",
        ({ body }) => {
          if (body["code"] !== "123456") stop(400, "svc_invalid_request", "The code is wrong. Check it and try again.");
          return Object.assign(w.organisation, {
            verified_emails: [...w.organisation.verified_emails, String(body["email"])],
          });
        },
      ],
      ["GET O/live-access", () => w.live],
      [
        "POST O/live-access",
        ({ body }) =>
          Object.assign(w.live, {
            stage: "requested",
            purpose: body["purpose"],
            requested_at: before(0),
            reason: undefined,
          }),
      ],
      ["GET O/members", () => ({ members: w.members })],
      [
        "PATCH O/members/:id",
        (asked, at) => void edited(w.members.find((one) => one.account_id === at) ?? missing(), asked),
      ],
      [
        "DELETE O/members/:id/recovery",
        (_, at) => {
          delete w.members.find((one) => one.account_id === at)?.recovers_at;
        },
      ],
      ["GET O/invitations", () => ({ invitations: w.invitations })],
      [
        "POST O/invitations",
        ({ body }) =>
          w.invitations.push({
            id: id((this.#count += 1)),
            email: String(body["email"]),
            role: "viewer",
            created_at: before(0),
            expires_at: before(-9000),
          }),
      ],
      ["POST bridge/catalog/search", ({ body }) => ({ hits: institutions(String(body["query"]).toLowerCase()) })],
      ["GET O/audit", ({ query }) => this.#audit(query)],
      ["GET O/audit/export", () => ({ ndjson: '{"seq":1}\n', seq: 2, hash: "b".repeat(64) })],
    ];
  }

  /** Filters a page of the audit log. A request reads at most 50 rows. */
  #audit(query: URLSearchParams): object {
    const given = (name: string): string => query.get(name) ?? "";
    const older = this.world.audit.filter(({ seq }) => seq < Number(given("before") || Infinity));
    const read = older.slice(0, 50);
    const rows = read.filter(
      ({ at, actor, action, target }) =>
        ["", actor].includes(given("actor")) &&
        action.startsWith(given("action")) &&
        ["", target, target.split(" ")[0]].includes(given("target")) &&
        Date.parse(at) >= (Date.parse(given("from")) || 0) &&
        Date.parse(at) < (Date.parse(given("to")) || Infinity),
    );
    return { rows, ...(older.length > read.length && { next: read.at(-1)?.seq }) };
  }

  #overview(mode: Mode): Overview {
    const { world: w } = this;
    const isTest = mode === "test";
    const first = w.credentials.find((one) => one.public_id.includes(mode));
    const webhooks = isTest ? w.webhooks : [];
    return {
      credentials: w.credentials.length,
      webhooks: webhooks.length,
      failing_webhooks: webhooks
        .filter(({ disabled }) => disabled)
        .map(({ webhook_id, url, health }) => ({
          webhook_id,
          url,
          failures: health.failures,
          since: before(9000),
          disabled: true,
        })),
      checklist: [
        { step: "credential_made", done: first !== undefined },
        { step: "redirect_registered", done: (first?.redirect_uris.length ?? 0) > 0 },
        { step: "webhook_made", done: webhooks.length > 0 },
        { step: "webhook_verified", done: isTest && w.deliveries.some((one) => one.status === "delivered") },
        { step: "first_connection", done: isTest && w.connections.length > 0 },
        { step: "first_export", done: false },
      ],
      limits: [
        { name: "concurrent_exports", used: isTest ? 3 : 0, limit: 20 },
        { name: "webhooks", used: webhooks.length, limit: 25 },
      ],
    };
  }
}
