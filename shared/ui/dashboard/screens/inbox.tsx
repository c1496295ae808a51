/** Requests that patients sent from the widget: requests for help, or reports of a missing health system. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Inquiry as Row, InquiryDetail, Listed } from "../api/records.ts";
import { useAction, useHere, useQuery } from "../app/app.ts";
import { Button, Empty, Field, Form, LinkButton, Load, Notice, Panel, Title, Trouble } from "../parts/controls.tsx";
import { Badge, Facts, More, Table, Time } from "../parts/show.tsx";
import { useWho } from "./auditnames.ts";
import { useFilters } from "./deliveries.tsx";

const KINDS: Record<Row["kind"], string> = { support: "Help", health_system: "Missing health system" };

const about = ({ subject, kind, name }: Row): string =>
  subject ?? (kind === "health_system" && name ? `Missing: ${name}` : KINDS[kind]);

/** Warnings for replies whose email was not simply sent. */
const DELIVERY: Record<string, string> = {
  sending: "We don’t know yet whether this email was sent. Wait a minute, then refresh this page before you try again.",
  refused: "This email wasn’t sent, because the patient’s address can’t receive email.",
};

export function Inbox(): JSX.Element {
  const { base, link } = useHere();
  const { filters, set, go } = useFilters("inbox");
  const answer = useQuery<Listed<"inquiries", Row>>(`${base}/inquiries`, filters);
  const isFiltered = Object.keys(filters).length > 0;
  return (
    <>
      <Title lead="Patients send these requests from the widget.">Inbox</Title>
      <div class="filters" role="search" aria-label="Filters">
        <Field
          label="Status"
          value={filters["status"] ?? ""}
          set={set("status")}
          choices={[["", "any"], "open", "answered", "closed"]}
        />
        <Field
          label="Type"
          value={filters["kind"] ?? ""}
          set={set("kind")}
          choices={[["", "any"], ...Object.entries(KINDS)]}
        />
      </div>
      <Load answer={answer}>
        {({ inquiries, next }) => (
          <>
            {inquiries.length === 0 ? (
              <Empty title={isFiltered ? "No requests match these filters." : "No requests yet."}>
                {isFiltered ? (
                  <LinkButton href={link("inbox")}>Show all</LinkButton>
                ) : (
                  <p>
                    Every page of the widget links to a help form. We keep messages for 90 days and also send them to
                    subscribed webhooks.
                  </p>
                )}
              </Empty>
            ) : (
              <Table
                label="Requests"
                head={["Subject", "Name", "Status", "Received"]}
                rows={inquiries}
                keyOf={({ inquiry_id: id }) => id}
                cells={(one) => [
                  <a href={link("inbox", one.inquiry_id)}>{about(one)}</a>,
                  one.name ?? <span class="soft">–</span>,
                  <Badge of={one.status} />,
                  <Time at={one.created_at} />,
                ]}
              />
            )}
            <More cursor={next} go={go} />
          </>
        )}
      </Load>
    </>
  );
}

export function Inquiry({ id }: { id: string }): JSX.Element {
  const { base, link } = useHere();
  const path = `${base}/inquiries/${encodeURIComponent(id)}`;
  const answer = useQuery<InquiryDetail>(path);
  return (
    <>
      <p class="back">
        <a href={link("inbox")}>Inbox</a>
      </p>
      <Title>Request</Title>
      <Load answer={answer}>{(data) => <Whole path={path} data={data} reload={answer.reload} />}</Load>
    </>
  );
}

function Whole({ path, data, reload }: { path: string; data: InquiryDetail; reload: () => void }): JSX.Element {
  const { api, may } = useHere();
  const who = useWho();
  const action = useAction();
  const move = (status: Row["status"]) => () =>
    action.run(async () => {
      await api.patch(path, { status });
      reload();
    });
  const buttons =
    may("operate") &&
    (data.status === "closed" ? (
      <Button busy={action.busy} onClick={move("open")}>
        Reopen
      </Button>
    ) : (
      <Button busy={action.busy} onClick={move("closed")}>
        Close
      </Button>
    ));
  return (
    <>
      <Panel title={about(data)} lead={KINDS[data.kind]} actions={buttons}>
        <Trouble failure={action.failure} />
        <Facts
          of={[
            ["Status", <Badge of={data.status} />],
            ["Received", <Time at={data.created_at} exact />],
            data.email
              ? [
                  "Email",
                  <>
                    {data.email}{" "}
                    {data.email_verified ? <Badge of="verified" tone="good" /> : <Badge of="unverified" tone="warn" />}
                  </>,
                ]
              : ["Email", "not given"],
            data.name ? [data.kind === "support" ? "Name" : "Health system", data.name] : undefined,
            data.health_system ? ["Connecting to", data.health_system] : undefined,
            data.website ? ["Website", <span class="break">{data.website}</span>] : undefined,
            data.street_address ? ["Address", data.street_address] : undefined,
          ]}
        />
        {data.body && <blockquote>{data.body}</blockquote>}
      </Panel>
      {data.answers.map(({ at, by, text, delivery }) => (
        <Panel
          key={text}
          title="Reply"
          lead={
            <>
              {who(by)}, <Time at={at} exact />
            </>
          }
        >
          {DELIVERY[delivery] && (
            <Notice tone="warn">
              <p>{DELIVERY[delivery]}</p>
            </Notice>
          )}
          <blockquote>{text}</blockquote>
        </Panel>
      ))}
      {may("operate") && data.status !== "closed" && data.email && <Answer path={path} data={data} reload={reload} />}
    </>
  );
}

function Answer({ path, data, reload }: { path: string; data: InquiryDetail; reload: () => void }): JSX.Element {
  const { api, say } = useHere();
  const action = useAction();
  const [text, setText] = useState("");
  const send = async (): Promise<void> => {
    await api.post(`${path}/answers`, { text });
    setText("");
    say("Reply sent.");
    reload();
  };
  return (
    <Panel
      title="Reply by email"
      lead="We’ll email your reply to the patient. The patient’s replies go to the first email address for notices in Branding. If you send the same text twice, the patient gets it only once."
    >
      {!data.email_verified && (
        <Notice tone="warn">
          <p>This email address is unverified. Don’t include anything that only the patient should see.</p>
        </Notice>
      )}
      <Form action={action} does={send} send="Send">
        <Field
          label="Text"
          rows={6}
          value={text}
          set={setText}
          required
          maxLength={4000}
          help="Don’t put health information in an email."
        />
      </Form>
    </Panel>
  );
}
