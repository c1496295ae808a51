/** What there is to do first, what is wrong now, and the code to begin with. */
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
  credential_made: ["Create a credential", "Its public id is for your pages, its private key for your server.", "credentials", "Create"],
  redirect_registered: ["Register where patients return", "Only a redirect URI that is registered is returned to.", "credentials", "Register"],
  webhook_made: ["Add a webhook", "Records and news of connections come there.", "webhooks", "Add"],
  webhook_verified: ["Send it a test event", "An answer of your receiver of 2xx shows that it works.", "webhooks", "Simulate"],
  first_connection: ["Connect a sample patient", "In the playground, with your own public id.", "playground", "Open"],
  first_export: ["Receive a first record", "Ask for it with the code below; it comes to your webhook.", "exports", "Look"],
};

/** In live mode the same step connects a real person. */
const LIVE_CONNECTION: (typeof STEPS)[Step] = ["Connect a first patient", "From your own page. Patients in live mode are real.", "connections", "View connections"];

export function Overview(): JSX.Element {
  const here = useHere();
  return here.place.mode === "live" ? <LiveGate>{() => <Working />}</LiveGate> : <Working />;
}

function Working(): JSX.Element {
  const here = useHere();
  const answer = useQuery<Answer>(`${here.base}/overview`);
  return (
    <>
      <Title lead={here.place.mode === "test" ? "Build and test with sample patients." : "Activity of your patients."}>Overview</Title>
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
            <span class="break">{url}</span> since <Time at={since} />
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
          const [title, why, screen, does] = step === "first_connection" && place.mode === "live" ? LIVE_CONNECTION : STEPS[step];
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

/** What this month has seen so far. */
function Counts(): JSX.Element | null {
  const { base, link } = useHere();
  const month = monthBefore(0);
  const counts = useQuery<{ months: UsedMonth[] }>(`${base}/usage`, { from: month, to: month }).data?.months.at(-1);
  if (counts === undefined) return null;
  return (
    <section aria-label="This month" class="counts">
      <Count name="Connections" value={counts.connections} href={link("connections")} />
      <Count name="Exports that succeeded" value={counts.exports_succeeded} href={link("exports", "", { status: "success" })} />
      <Count name="Exports that failed" value={counts.exports_failed} href={link("exports", "", { status: "failed" })} />
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
      <Panel title="The code to begin with">
        <Empty title="It needs a credential.">
          <p>With one, the code here has your own public id in it and can be copied as it is.</p>
          <LinkButton href={link("credentials")}>Create a credential</LinkButton>
        </Empty>
      </Panel>
    );
  }
  const given: Given = { base: boot.base_url, publicId: first.public_id };
  return (
    <>
      <Panel title="On your page" lead="The button that patients connect with. external-id is your own id of the patient, and comes back with every event.">
        <Tabs label="Language of the page" names={PAGE}>
          {(name) => <Code label={`Page, ${name}`} text={page(name as (typeof PAGE)[number], given)} />}
        </Tabs>
      </Panel>
      <Panel title="On your server" lead="Asks for a record. It comes to your webhook as patient.ehi_export_success, with links to its files.">
        <Tabs label="Language of the server" names={ASK}>
          {(name) => <Code label={`Server, ${name}`} text={ask(name as (typeof ASK)[number], given)} />}
        </Tabs>
      </Panel>
      <Panel title="In your webhook" lead="Shows that an event is from us. Libraries of Standard Webhooks do the same.">
        <Tabs label="Language of the webhook" names={RECEIVE}>
          {(name) => <Code label={`Webhook, ${name}`} text={receive(name as (typeof RECEIVE)[number])} />}
        </Tabs>
      </Panel>
    </>
  );
}
