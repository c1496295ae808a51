/** The organisation's notice addresses, their verification status, and a form that verifies an address by code. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { BrandedOrganisation, SentCode } from "../api/records.ts";
import { useAction, useHere } from "../app/app.ts";
import { Button, Empty, Field, Form, Panel, Trouble } from "../parts/controls.tsx";
import { Badge, Table } from "../parts/show.tsx";

interface Asked {
  email: string;
  sent: SentCode;
}

export function Addresses({
  data,
  done,
}: {
  data: BrandedOrganisation;
  done: (data: BrandedOrganisation) => void;
}): JSX.Element {
  const { api, orgBase, may, say } = useHere();
  const [asked, setAsked] = useState<Asked>();
  const [code, setCode] = useState("");
  const action = useAction();
  const isVerified = (email: string): boolean => data.verified_emails.includes(email);
  const send = (email: string) => (): void =>
    action.run(async () => setAsked({ email, sent: await api.post<SentCode>(`${orgBase}/emails`, { email }) }));
  const verify = async (): Promise<void> => {
    done(
      await api.put<BrandedOrganisation>(`${orgBase}/emails`, {
        email: asked?.email,
        verification_id: asked?.sent.verification_id,
        code: code.replace(/\D/g, ""),
      }),
    );
    setAsked(undefined);
    setCode("");
    say("Email address verified.");
  };
  const actions = (email: string): JSX.Element | string =>
    isVerified(email) || !may("operate") ? (
      ""
    ) : (
      <Button busy={action.busy} onClick={send(email)} label={`Send code to ${email}`}>
        Send code
      </Button>
    );
  return (
    <Panel title="Notice addresses" lead="We send notices only to verified email addresses.">
      {data.emails.length === 0 ? (
        <Empty title="No addresses yet." />
      ) : (
        <Table
          label="Notice addresses"
          head={["Address", "Status", "Actions"]}
          rows={data.emails}
          keyOf={(email) => email}
          cells={(email) => [
            email,
            <Badge of={isVerified(email) ? "verified" : "unverified"} tone={isVerified(email) ? "good" : "warn"} />,
            actions(email),
          ]}
        />
      )}
      {asked && !isVerified(asked.email) ? (
        <Form action={action} does={verify} send="Verify" cancel={() => setAsked(undefined)}>
          <Field
            label={`Code sent to ${asked.email}`}
            value={code}
            set={setCode}
            inputMode="numeric"
            autocomplete="one-time-code"
            required
            maxLength={12}
          />
        </Form>
      ) : (
        <Trouble failure={action.failure} />
      )}
    </Panel>
  );
}
