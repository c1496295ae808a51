/** What patients have asked while they connected: help, or a health system that is missing. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Inquiry as Row, InquiryDetail, Listed } from "../api/records.ts";
import { useAction, useHere, useQuery } from "../app/app.ts";
import { Button, Empty, Field, Form, LinkButton, Load, Notice, Panel, Title, Trouble } from "../parts/controls.tsx";
import { Badge, Facts, More, Table, Time } from "../parts/show.tsx";
import { useWho } from "./audit.tsx";
import { useFilters } from "./deliveries.tsx";

const KINDS: Record<Row["kind"], string> = { support: "Help", health_system: "A missing health system" };

const about = ({ subject, kind, name }: Row): string => subject ?? (kind === "health_system" && name ? `Missing: ${name}` : KINDS[kind]);

/** What is known of an answer's e-mail, where it has not just gone. */
const DELIVERY: Record<string, string> = {
  sending: "It is not known whether this e-mail has gone. Look again in a minute; then the same text can be sent again.",
  refused: "This e-mail did not go: the patient's address is none that mail can be sent to.",
};

export function Inbox(): JSX.Element {
  const { base, link } = useHere();
  const { filters, set, go } = useFilters("inbox");
  const answer = useQuery<Listed<"inquiries", Row>>(`${base}/inquiries`, filters);
  const isFiltered = Object.keys(filters).length > 0;
  return (
    <>
      <Title lead="What patients have asked for in the widget.">Inbox</Title>
      <div class="filters" role="search" aria-label="Filters">
        <Field label="Status" value={filters["status"] ?? ""} set={set("status")} choices={[["", "any"], "open", "answered", "closed"]} />
        <Field label="About" value={filters["kind"] ?? ""} set={set("kind")} choices={[["", "anything"], ...Object.entries(KINDS)]} />
      </div>
      <Load answer={answer}>
        {({ inquiries, next }) => (
          <>
            {inquiries.length === 0 ? (
              <Empty title={isFiltered ? "No request is like that." : "Nobody has asked for anything."}>
                {isFiltered ? (
                  <LinkButton href={link("inbox")}>Show all</LinkButton>
                ) : (
                  <p>The widget has a link to help on each of its pages; what is written there comes here for 90 days, and to webhooks that are for it.</p>
                )}
              </Empty>
            ) : (
              <Table
                label="Requests"
                head={["About", "From or of", "Status", "When"]}
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
  const move = (status: Row["status"]) => () => action.run(async () => {
    await api.patch(path, { status });
    reload();
  });
  const buttons = may("operate") && (data.status === "closed" ? <Button busy={action.busy} onClick={move("open")}>Open again</Button> : <Button busy={action.busy} onClick={move("closed")}>Close</Button>);
  return (
    <>
      <Panel title={about(data)} lead={KINDS[data.kind]} actions={buttons}>
        <Trouble failure={action.failure} />
        <Facts
          of={[
            ["Status", <Badge of={data.status} />],
            ["When", <Time at={data.created_at} exact />],
            data.email ? ["E-mail", <>{data.email} {data.email_verified ? <Badge of="verified" tone="good" /> : <Badge of="not verified" tone="warn" />}</>] : ["E-mail", "none was left"],
            data.name ? [data.kind === "support" ? "Name" : "Health system", data.name] : undefined,
            data.health_system ? ["Was connecting", data.health_system] : undefined,
            data.website ? ["Website", <span class="break">{data.website}</span>] : undefined,
            data.street_address ? ["Address", data.street_address] : undefined,
          ]}
        />
        {data.body && <blockquote>{data.body}</blockquote>}
      </Panel>
      {data.answers.map(({ at, by, text, delivery }) => (
        <Panel key={text} title="Answer" lead={<>{who(by)}, <Time at={at} exact /></>}>
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
    say("Sent.");
    reload();
  };
  return (
    <Panel title="Answer by e-mail" lead="It comes from us; what the patient replies goes to your organisation's first e-mail address (Branding). Repeated, the same text goes once.">
      {!data.email_verified && (
        <Notice tone="warn">
          <p>Nobody has shown that this address is theirs. Write nothing that another person must not read.</p>
        </Notice>
      )}
      <Form action={action} does={send} send="Send">
        <Field label="Text" rows={6} value={text} set={setText} required maxLength={4000} help="Nothing of a health record belongs in an e-mail." />
      </Form>
    </Panel>
  );
}
