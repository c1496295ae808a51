/** Outcomes: connected, failed, finished. */
import type { Ending } from "../machine/state.ts";
import { Icon, type IconName } from "./icons.tsx";
import { Button, Logo, Quiet, Title } from "./parts.tsx";
import { orgName, type Ui } from "./ui.ts";

export function Connected({ ui }: { ui: Ui }) {
  const { s, t } = ui;
  const name = s.latest?.name || t.say("your_hospital");
  const until = s.latest?.connection.consent_expires_at;
  return (
    <div class="view">
      <Title mark="check" tone="good" lead={t.say("success_lead", { org: orgName(ui), name })}>
        {t.say("success_title")}
      </Title>
      {s.latest?.initials && <p class="soft">{t.say("success_patient", { initials: s.latest.initials })}</p>}
      {until && <p class="soft">{t.say("success_until", { date: t.date(until) })}</p>}
      <p class="soft">{t.say("success_stop", { name, org: orgName(ui) })}</p>
      {s.connected.length > 1 && <Made ui={ui} />}
      <EndOf ui={ui} />
    </div>
  );
}

function EndOf({ ui: { s, t, send } }: { ui: Ui }) {
  return (
    <div class="stack end">
      <Button onClick={() => send({ type: "close_now" })}>{t.say("done")}</Button>
      {!s.config.reconnectOrgConnectionId && (
        <Button second onClick={() => send({ type: "restart" })}>
          {t.say("another")}
        </Button>
      )}
    </div>
  );
}

/** All connections made while the page was open. */
export function Made({ ui: { s, t } }: { ui: Ui }) {
  return (
    <ul class="list">
      {s.connected.map(({ name, connection }) => (
        <li key={connection.org_connection_id} class="name">
          <Logo src="" name={name} />
          <span>{name || t.say("your_hospital")}</span>
          <Icon name="check" />
        </li>
      ))}
    </ul>
  );
}

export function Finish({ ui }: { ui: Ui }) {
  const { s, t } = ui;
  const n = s.connected.length;
  return (
    <div class="view">
      <Title lead={n > 0 ? t.say("finish_lead", { org: orgName(ui) }) : undefined}>
        {n > 0 ? t.count("finish_title", n) : t.say("finish_none")}
      </Title>
      <Made ui={ui} />
      <EndOf ui={ui} />
    </div>
  );
}

type Kind =
  | "used"
  | "declined"
  | "unanswered"
  | "unready"
  | "other_patient"
  | "unknown"
  | "gone"
  | "expired"
  | "lost"
  | "mistaken"
  | "ours";

/** Views for the causes of docs/openapi.yaml. An unknown cause counts as the portal's mistake. */
const kinds: Record<string, Kind> = {
  declined: "declined",
  server_error: "unanswered",
  temporarily_unavailable: "unanswered",
  no_answer: "unanswered",
  portal_unavailable: "unanswered",
  portal_moved: "unready",
  cancelled: "declined",
  unavailable: "ours", // the service itself failed; a portal's failure has a separate cause
  invalid_client: "unready",
  unauthorized_client: "unready",
  unsupported_grant_type: "unready",
  unsupported_response_type: "unready",
  invalid_scope: "unready",
  redirect_refused: "unready",
  client_secret_encoding: "unready",
  client_unproven: "unready",
  no_patient: "unready",
  refused: "unready",
  taken: "used",
  wrong_patient: "other_patient",
  connection_unknown: "unknown",
  given_up: "gone",
  expired: "expired",
  lost: "lost",
  try_again: "ours",
  internal: "ours",
};

/** Failures for which retrying is pointless. */
const hopeless: Kind[] = ["unready", "unknown", "gone", "used"];

const marks: Partial<Record<Kind, IconName>> = { expired: "clock", declined: "hand", unanswered: "clock" };

export function Failed({ ui }: { ui: Ui }) {
  const { s, t, send } = ui;
  const ending = s.ending;
  const kind = kinds[ending?.cause ?? ""] ?? "mistaken";
  const name = ending?.target.name || t.say("your_hospital");
  const again = !hopeless.includes(kind);
  const search = kind !== "used" && (!s.config.reconnectOrgConnectionId || kind === "gone" || kind === "unknown");
  return (
    <div class="view">
      <Title
        mark={marks[kind] ?? "cross"}
        {...(marks[kind] ? {} : { tone: "bad" as const })}
        lead={t.say(`${kind}_text`, { name, org: orgName(ui) })}
      >
        {t.say(`${kind}_title`, { name })}
      </Title>
      {ending && <Details ui={ui} ending={ending} />}
      <div class="stack end">
        {kind === "used" && <Button onClick={() => send({ type: "close_now" })}>{t.say("close")}</Button>}
        {again && <Button onClick={() => send({ type: "prepare" })}>{t.say("try_again")}</Button>}
        {search && (
          <Button second={again} onClick={() => send({ type: "restart" })}>
            {t.say("other_hospital")}
          </Button>
        )}
        <Button second onClick={() => send({ type: "show", view: "support" })}>
          {t.say("help")}
        </Button>
      </div>
    </div>
  );
}

/** Details for support. suggested_action is for developers, so it is shown only in test mode. */
export function Details({ ui: { s, t, send }, ending }: { ui: Ui; ending: Ending }) {
  const advice = s.mode === "test" ? ending.error?.suggested_action : undefined;
  return (
    <details class="details">
      <summary>{t.say("details")}</summary>
      <dl>
        {ending.requestId && (
          <>
            <dt>{t.say("reference")}</dt>
            <dd>
              <code>{ending.requestId}</code>{" "}
              <span role="status">
                {s.copied ? (
                  t.say("copied")
                ) : (
                  <Quiet onClick={() => send({ type: "copy", text: ending.requestId ?? "" })}>{t.say("copy")}</Quiet>
                )}
              </span>
            </dd>
          </>
        )}
        <dt>{t.say("error_code")}</dt>
        <dd>
          <code>{[ending.error?.error, ending.cause].filter(Boolean).join(" · ")}</code>
        </dd>
        {advice && (
          <>
            <dt>{t.say("advice")}</dt>
            <dd lang="en">
              {ending.error?.error_description} {advice}
            </dd>
          </>
        )}
      </dl>
    </details>
  );
}
