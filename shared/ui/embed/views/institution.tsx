/** The chosen institution: its portal, and what happens next. */
import { Fragment } from "preact";
import type { Portal } from "../api/records.ts";
import { Agreement } from "./begin.tsx";
import { Icon } from "./icons.tsx";
import { Button, Logo, Pair, Quiet, Title, Trouble } from "./parts.tsx";
import { institutionName, orgName, type Ui } from "./ui.ts";

export function Institution({ ui }: { ui: Ui }) {
  const { s } = ui;
  if (s.target) return <Ready ui={ui} />;
  if (s.institution && s.institution.portals.length > 1 && s.portalId === undefined) return <Portals ui={ui} />;
  return s.busy || s.trouble ? <Loading ui={ui} /> : <Nowhere ui={ui} />;
}

function Loading({ ui }: { ui: Ui }) {
  const { s, t, send } = ui;
  return (
    <div class="view" aria-busy={s.busy}>
      <Title>{t.say("institution_title", { name: institutionName(ui) })}</Title>
      <Trouble ui={ui} />
      {s.busy ? (
        <p class="soft">{t.say("preparing")}</p>
      ) : (
        <Button second onClick={() => send({ type: "restart" })}>
          {t.say("search_again")}
        </Button>
      )}
    </div>
  );
}

/** A brand without an endpoint in the catalogue. */
function Nowhere({ ui }: { ui: Ui }) {
  const { t, send } = ui;
  return (
    <div class="view">
      <Title lead={t.say("no_portal_text")}>{t.say("no_portal", { name: institutionName(ui) })}</Title>
      <div class="stack">
        <Button onClick={() => send({ type: "show", view: "missing" })}>{t.say("missing_title")}</Button>
        <Button second onClick={() => send({ type: "restart" })}>
          {t.say("search_again")}
        </Button>
      </div>
    </div>
  );
}

function Portals({ ui }: { ui: Ui }) {
  const { s, t, send } = ui;
  return (
    <div class="view">
      <Title lead={t.say("portal_lead", { name: institutionName(ui) })}>{t.say("portal_title")}</Title>
      <ul class="list">
        {s.institution?.portals.map((portal) => (
          <li key={portal.id}>
            <button class="choice" type="button" onClick={() => send({ type: "portal", id: portal.id })}>
              <Logo src={portal.logo_uri} name={portal.name} />
              <span>
                <b>{portal.name}</b>
                {portal.description && <span class="small soft">{portal.description}</span>}
                <Hosts ui={ui} portal={portal} />
              </span>
              <Icon name="next" />
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** The hosts of a portal's servers, which are the only displayed detail that a list of institutions can't falsify. */
function Hosts({ ui: { t }, portal }: { ui: Ui; portal: Portal }) {
  return portal.hosts?.length ? (
    <span class="small soft host">{t.say("portal_host", { host: portal.hosts.join(", ") })}</span>
  ) : null;
}

function Ready({ ui }: { ui: Ui }) {
  const { s, t, send } = ui;
  const [name, org] = [institutionName(ui), orgName(ui)];
  const renews = s.target?.reconnect !== undefined;
  const several = (s.institution?.portals.length ?? 0) > 1;
  const portal = several ? s.institution?.portals.find((one) => one.id === s.portalId) : undefined;
  const inPage = s.shell === "page" || s.shell === "window";
  const steps = [
    t.say(inPage ? "next_page" : "next_window", { name: portal?.name ?? name }),
    t.say("next_sign_in"),
    t.say("next_allow"),
    t.say(inPage ? "next_app" : "next_return", { org }),
  ];
  return (
    <div class="view">
      <Pair ui={ui} name={name} logo={s.institution?.logo ?? ""} />
      <Title lead={renews ? t.say("reconnect_lead", { org }) : undefined}>
        {t.say(renews ? "reconnect_title" : "institution_title", { name })}
      </Title>
      {portal && (
        <div class="row">
          <span class="name">
            <Logo src={portal.logo_uri} name={portal.name} />
            <span>
              {portal.name}
              <Hosts ui={ui} portal={portal} />
            </span>
          </span>
          <Quiet onClick={() => send({ type: "portal", id: undefined })}>{t.say("portal_other")}</Quiet>
        </div>
      )}
      <Health ui={ui} name={name} />
      <Steps ui={ui} steps={steps} />
      <Trouble ui={ui} />
      {s.busy && s.slow && <p class="notice">{t.say("slow")}</p>}
      <div class="below stack">
        <Consent
          ui={ui}
          from={name}
          what={t.say("splash_shared_text")}
          long={t.say("consent_long_text", { name })}
          stop={t.say("success_stop", { name, org })}
        />
        <Button disabled={s.busy} onClick={() => send({ type: "leave" })}>
          {t.say(s.busy ? "preparing" : "go")}
        </Button>
      </div>
    </div>
  );
}

/**
 * The consent: a summary line, and expandable details about the data, the purpose, the duration, and how to stop sharing.
 * The organisation's own purpose has a separate line, so that it can't imitate our statement.
 */
export function Consent({
  ui,
  from,
  what,
  long,
  stop,
}: {
  ui: Ui;
  from: string;
  what: string;
  long: string;
  stop: string;
}) {
  const { s, t } = ui;
  const org = orgName(ui);
  const purpose = t.lang === "es" ? s.org?.purpose_es : s.org?.purpose;
  const rows: [string, ...string[]][] = [
    [t.say("consent_what"), what],
    [
      t.say("consent_why"),
      purpose ? t.say("consent_why_own", { org, purpose }) : t.say("consent_why_text", { org }),
      t.say("consent_why_us", { org }),
    ],
    [t.say("consent_long"), long],
    [t.say("consent_stop"), stop],
  ];
  return (
    <div class="consent">
      <p class="small">{t.say("consent", { org, name: from })}</p>
      <details class="details">
        <summary>{t.say("consent_more")}</summary>
        <dl>
          {rows.map(([head, ...texts]) => (
            <Fragment key={head}>
              <dt>{head}</dt>
              {texts.map((text) => (
                <dd key={text}>{text}</dd>
              ))}
            </Fragment>
          ))}
        </dl>
        <Agreement ui={ui} />
      </details>
    </div>
  );
}

export function Steps({ ui: { t }, steps }: { ui: Ui; steps: string[] }) {
  return (
    <div class="stack">
      <h2>{t.say("next")}</h2>
      <ol class="steps">
        {steps.map((step) => (
          <li key={step}>{step}</li>
        ))}
      </ol>
    </div>
  );
}

function Health({ ui: { s, t }, name }: { ui: Ui; name: string }) {
  const health = s.institution?.health;
  if (health !== "down" && health !== "degraded") return null;
  return (
    <div class="notice warn">
      <p>{t.say(health === "down" ? "down_warning" : "degraded_warning", { name })}</p>
    </div>
  );
}
