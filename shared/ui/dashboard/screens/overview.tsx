/** First steps, current problems, and sample code. */
import type { ComponentChildren, JSX } from "preact";
import type { Credential, Listed, UsedMonth, Overview as Answer, Step } from "../api/records.ts";
import { useHere, useQuery } from "../app/app.ts";
import { Empty, LinkButton, Load, Notice, Panel, Title } from "../parts/controls.tsx";
import { Code, Tabs, Time } from "../parts/show.tsx";
import { ASK, ask, PAGE, page, RECEIVE, receive } from "../parts/snippets.ts";
import type { Given } from "../parts/snippets.ts";
import { LiveGate } from "./live.tsx";
import { monthBefore } from "./usage.tsx";

const STEPS: Record<Step, [title: string, why: string, screen: string, does: string]> = {
  credential_made: [
    "Create a credential",
    "Your pages use the credential’s public ID, and your server uses its private key.",
    "credentials",
    "Create",
  ],
  redirect_registered: [
    "Register a redirect URI",
    "Patients can be redirected only to registered URIs.",
    "credentials",
    "Register",
  ],
  webhook_made: ["Add a webhook", "A webhook receives records and connection events.", "webhooks", "Add"],
  webhook_verified: ["Send a test event", "Your endpoint must respond with a 2xx status.", "webhooks", "Simulate"],
  first_connection: ["Connect a sample patient", "Use the playground with your own public ID.", "playground", "Open"],
  first_export: [
    "Receive your first record",
    "Use the code below to request a record. We’ll send the record’s links to your webhook.",
    "exports",
    "View",
  ],
};

/** The step that connects a real person in live mode. */
const LIVE_CONNECTION: (typeof STEPS)[Step] = [
  "Connect your first patient",
  "Connect a patient from your own page. Live mode is for real patients only.",
  "connections",
  "View connections",
];

export function Overview(): JSX.Element {
  const here = useHere();
  return here.place.mode === "live" ? <LiveGate>{() => <Working />}</LiveGate> : <Working />;
}

function Working(): JSX.Element {
  const here = useHere();
  const answer = useQuery<Answer>(`${here.base}/overview`);
  return (
    <>
      <Title
        lead={here.place.mode === "test" ? "Build and test with sample patients." : "See your patients’ activity."}
      >
        Overview
      </Title>
      <Load answer={answer}>
        {(data) => (
          <>
            <Failing data={data} />
            <Checklist data={data} />
          </>
        )}
      </Load>
      <Counts />
      <Begin />
    </>
  );
}

function Failing({ data: { failing_webhooks: failing } }: { data: Answer }): JSX.Element {
  const { link } = useHere();
  return (
    <>
      {failing.map(({ webhook_id: id, url, disabled, since }) => (
        <Notice key={id} tone="bad">
          <p>
            <strong>{disabled ? "A webhook is disabled: " : "A webhook is failing: "}</strong>
            <span class="break">{url}</span> since <Time at={since} exact />
          </p>
          <LinkButton href={link("webhooks", id)}>See why</LinkButton>
        </Notice>
      ))}
    </>
  );
}

function Checklist({ data }: { data: Answer }): JSX.Element | null {
  const { link, place } = useHere();
  const count = data.checklist.filter(({ done }) => done).length;
  const next = data.checklist.find(({ done }) => !done)?.step;
  if (next === undefined) return null;
  return (
    <Panel title="Quick start" lead={`${count} of ${data.checklist.length} done`}>
      <ol class="steps">
        {data.checklist.map(({ step, done }) => {
          const [title, why, screen, does] =
            step === "first_connection" && place.mode === "live" ? LIVE_CONNECTION : STEPS[step];
          return (
            <li key={step} class={done ? "done" : undefined}>
              <span class="tick" aria-hidden="true" />
              <div>
                <p class="strong">
                  {title}
                  {done && <span class="hidden"> (done)</span>}
                </p>
                <p class="soft">{why}</p>
              </div>
              {!done && (
                <LinkButton href={link(screen)} {...(step === next && { kind: "main" as const })}>
                  {does}
                  <span class="hidden">: {title}</span>
                </LinkButton>
              )}
            </li>
          );
        })}
      </ol>
    </Panel>
  );
}

/** This month's counts so far. */
function Counts(): JSX.Element | null {
  const { base, link } = useHere();
  const month = monthBefore(0);
  const counts = useQuery<{ months: UsedMonth[] }>(`${base}/usage`, { from: month, to: month }).data?.months.at(-1);
  if (counts === undefined) return null;
  return (
    <section aria-label="This month" class="counts">
      <Count name="Connections" value={counts.connections} href={link("connections")} />
      <Count
        name="Successful exports"
        value={counts.exports_succeeded}
        href={link("exports", "", { status: "success" })}
      />
      <Count name="Failed exports" value={counts.exports_failed} href={link("exports", "", { status: "failed" })} />
      <Count name="Deliveries" value={counts.deliveries} href={link("deliveries")} />
    </section>
  );
}

const Count = ({ name, value, href }: { name: string; value: ComponentChildren; href: string }): JSX.Element => (
  <a class="count" href={href}>
    <span class="soft">{name}</span>
    <strong>{value}</strong>
  </a>
);

function Begin(): JSX.Element | null {
  const { base, boot, link } = useHere();
  const known = useQuery<Listed<"credentials", Credential>>(`${base}/credentials`).data?.credentials;
  if (known === undefined) return null;
  const [first] = known;
  if (first === undefined) {
    return (
      <Panel title="Sample code">
        <Empty title="Create a credential first.">
          <p>The sample code needs your credential’s public ID.</p>
          <LinkButton href={link("credentials")}>Create credential</LinkButton>
        </Empty>
      </Panel>
    );
  }
  const given: Given = { base: boot.base_url, publicId: first.public_id };
  return (
    <>
      <Panel
        title="On your page"
        lead="This code adds the button that patients use to connect. Set external-id to your own ID for the patient."
      >
        <Tabs label="Page language" names={PAGE}>
          {(name) => <Code label={`Page, ${name}`} text={page(name as (typeof PAGE)[number], given)} />}
        </Tabs>
      </Panel>
      <Panel
        title="On your server"
        lead="This code requests a patient’s record. Your webhook will receive a patient.ehi_export_success event with download links."
      >
        <Tabs label="Server language" names={ASK}>
          {(name) => <Code label={`Server, ${name}`} text={ask(name as (typeof ASK)[number], given)} />}
        </Tabs>
      </Panel>
      <Panel
        title="In your webhook"
        lead="This code verifies that an event came from us. Standard Webhooks libraries can also verify events."
      >
        <Tabs label="Webhook language" names={RECEIVE}>
          {(name) => <Code label={`Webhook, ${name}`} text={receive(name as (typeof RECEIVE)[number])} />}
        </Tabs>
      </Panel>
    </>
  );
}
