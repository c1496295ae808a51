/** Steps to live mode: a checklist, a request, and the operator's decision. */
import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import type { LiveAccess, LiveStep } from "../api/records.ts";
import { useAction, useHere, useQuery } from "../app/app.ts";
import { Check, Field, Form, LinkButton, Load, Notice, Panel, Title } from "../parts/controls.tsx";
import { Time } from "../parts/show.tsx";
import { address } from "../app/router.ts";

const STEPS: Record<LiveStep, [title: string, why: string, screen: string, does: string]> = {
  privacy_policy: [
    "Add your privacy policy",
    "Patients can read your privacy policy before they share records.",
    "branding",
    "Open branding",
  ],
  notice_address_verified: [
    "Verify an email address for notices",
    "We send emails about your webhooks and credentials to this address.",
    "branding",
    "Open branding",
  ],
  owners_two_factor: [
    "Secure every owner’s account",
    "Each owner needs a passkey or an authenticator app.",
    "members",
    "View members",
  ],
  webhook_verified: [
    "Receive a test event",
    "In test mode, your endpoint must respond to the test event with a 2xx status.",
    "webhooks",
    "Open webhooks",
  ],
};

const LEAD = "Live mode is for real patients. We review every organisation before enabling live mode.";

/** Shows its children if the organisation has live mode. Without live mode, shows the request form. */
export function LiveGate({ children }: { children: () => ComponentChildren }): JSX.Element {
  const { orgBase } = useHere();
  const answer = useQuery<LiveAccess>(`${orgBase}/live-access`);
  return (
    <Load answer={answer}>
      {(data) =>
        data.stage === "granted" ? (
          <>{children()}</>
        ) : (
          <>
            <Title lead={LEAD}>Request live mode</Title>
            <Pending data={data} done={answer.set} />
          </>
        )
      }
    </Load>
  );
}

/** The way to live mode, in either mode. */
export function GoingLive(): JSX.Element {
  const { orgBase, place } = useHere();
  const answer = useQuery<LiveAccess>(`${orgBase}/live-access`);
  return (
    <>
      <Title lead={LEAD}>Going live</Title>
      <Load answer={answer}>
        {(data) =>
          data.stage === "granted" ? (
            <Notice tone="good">
              <p>
                <strong>Live mode is enabled.</strong> Test credentials and webhooks don’t work in live mode, so create
                new ones.
              </p>
              <LinkButton href={address({ org: place.org, mode: "live" })}>Open live mode</LinkButton>
            </Notice>
          ) : (
            <Pending data={data} done={answer.set} />
          )
        }
      </Load>
    </>
  );
}

function Pending({ data, done }: { data: LiveAccess; done: (data: LiveAccess) => void }): JSX.Element {
  return (
    <>
      <Status data={data} />
      {data.stage !== "requested" && <Steps data={data} />}
      {data.stage !== "requested" && <Request data={data} done={done} />}
    </>
  );
}

function Status({ data: { stage, reason, purpose, requested_at: at } }: { data: LiveAccess }): JSX.Element | null {
  if (stage === "requested") {
    return (
      <Notice>
        <p>
          <strong>We’re reviewing your request.</strong> You sent the request <Time at={at ?? ""} />. We’ll email our
          decision to your notice addresses.
        </p>
        <p class="break">{purpose}</p>
      </Notice>
    );
  }
  if (reason === undefined) return null;
  return (
    <Notice tone="bad">
      <p>
        <strong>
          {stage === "withdrawn" ? "Your access to live mode was withdrawn." : "Your request was not approved."}
        </strong>{" "}
        <span class="break">{reason}</span>
      </p>
    </Notice>
  );
}

function Steps({ data: { checklist } }: { data: LiveAccess }): JSX.Element {
  const { place } = useHere();
  return (
    <Panel title="Checklist" lead={`${checklist.filter(({ done }) => done).length} of ${checklist.length} done`}>
      <ol class="steps">
        {checklist.map(({ step, done }) => {
          const [title, why, screen, does] = STEPS[step];
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
                <LinkButton href={address({ org: place.org, mode: "test", screen })}>
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

function Request({ data, done }: { data: LiveAccess; done: (data: LiveAccess) => void }): JSX.Element {
  const { api, orgBase, may, say } = useHere();
  const action = useAction();
  const [purpose, setPurpose] = useState(data.purpose ?? "");
  const [terms, setTerms] = useState(false);
  if (!may("own")) return <p>Only owners can request live mode.</p>;
  if (data.checklist.some((one) => !one.done)) return <p>Complete the checklist to send your request.</p>;
  const send = async (): Promise<void> => {
    done(await api.post<LiveAccess>(`${orgBase}/live-access`, { purpose, terms_accepted: terms }));
    say("Request sent.");
  };
  return (
    <Panel
      title="Your request"
      lead="Your organisation’s name, logo and website are locked during the review and after approval."
    >
      <Form action={action} does={send} send="Send request">
        <Field
          label="What will you use live mode for?"
          rows={4}
          required
          maxLength={1000}
          help="Describe your patients and why they share records with you (at least 20 characters)."
          value={purpose}
          set={setPurpose}
        />
        <Check label="We accept the live mode terms" checked={terms} set={setTerms} />
      </Form>
    </Panel>
  );
}
