/** The names and places of audit log entries' actors and targets. */
import type { AuditRow, Credential, Member, Mode, Webhook } from "../api/records.ts";
import { useHere, useQuery } from "../app/app.ts";
import { address } from "../app/router.ts";

/** The screen of an audit row's target, by the first word of the row's action. */
const SCREENS: Record<string, string> = {
  webhook: "webhooks",
  delivery: "deliveries",
  connection: "connections",
  credential: "credentials",
  key: "credentials",
  inquiry: "inbox",
};

/** The organisation's named objects. A list is undefined until it has been loaded. */
export interface Known {
  org: { id: string; name: string };
  members: Member[] | undefined;
  webhooks: Record<Mode, Webhook[] | undefined>;
  credentials: Record<Mode, Credential[] | undefined>;
}

type Entry = Pick<AuditRow, "action" | "target" | "mode">;

/**
 * Returns an audit row's target as text, and its place if the target has a screen and may still exist. The text is the
 * target's name or, if it has none, its ID.
 */
export function targetOf({ action, target, mode }: Entry, known: Known): { text: string; place?: string } {
  const { org, members, webhooks, credentials } = known;
  const [id = target, ...rest] = target.split(" ");
  const named = (name: string): string => [name, ...rest].join(" ");
  const screen = SCREENS[action.split(".")[0] ?? ""];
  if (screen === undefined || mode === undefined) {
    const member = members?.find((one) => one.account_id === id);
    return { text: named(member?.email ?? (id === org.id ? org.name : id)) };
  }
  const to = (of: string): string => address({ org: org.id, mode, screen, id: of });
  if (action === "webhook.simulated" || action === "webhook.tested")
    return { text: id, place: address({ org: org.id, mode, screen: "deliveries", filters: { event_id: id } }) };
  if (screen === "webhooks") {
    const found = webhooks[mode]?.find((one) => one.webhook_id === id);
    if (found) return { text: found.note || new URL(found.url).host, place: to(id) };
    return webhooks[mode] ? { text: id } : { text: id, place: to(id) };
  }
  if (screen === "credentials") {
    const found = credentials[mode]?.find(
      ({ public_id: of, keys }) => of === `public_${mode}_${id}` || keys.some((key) => key.key_id === id),
    );
    return found ? { text: found.note || found.public_id, place: to(found.public_id) } : { text: id };
  }
  return { text: named(id), place: to(id) };
}

/** Returns an actor's name. Members are named by email address, and former members by ID. */
export const actorOf = (actor: string, members: Member[] | undefined): string =>
  members?.find(({ account_id: id }) => actor === `member:${id}`)?.email ?? actor;

/** Returns a function that names actors. */
export function useWho(): (actor: string) => string {
  const { orgBase } = useHere();
  const members = useQuery<{ members: Member[] }>(`${orgBase}/members`).data?.members;
  return (actor) => actorOf(actor, members);
}

/** Loads the organisation's named objects of both modes. */
export function useKnown(): Known {
  const { org, orgBase } = useHere();
  const all = <T>(path: string): T | undefined => useQuery<T>(`${orgBase}/${path}`).data;
  return {
    org,
    members: all<{ members: Member[] }>("members")?.members,
    webhooks: {
      test: all<{ webhooks: Webhook[] }>("test/webhooks")?.webhooks,
      live: all<{ webhooks: Webhook[] }>("live/webhooks")?.webhooks,
    },
    credentials: {
      test: all<{ credentials: Credential[] }>("test/credentials")?.credentials,
      live: all<{ credentials: Credential[] }>("live/credentials")?.credentials,
    },
  };
}
