/** Replays a webhook's failed deliveries. */
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Failure } from "../api/api.ts";
import { failureOf, useAction, useHere } from "../app/app.ts";
import { Button, Field, Form, Trouble } from "../parts/controls.tsx";
import { Dialog } from "../parts/dialog.tsx";

const deliveries = (count: number): string => `${count} ${count === 1 ? "delivery" : "deliveries"}`;
const matching = (count: number): string =>
  count === 0 ? "No deliveries failed in this period." : `${deliveries(count)} will be sent again.`;
export const replaying = (count: number): string => `Replaying ${deliveries(count)}.`;

export function Recover({ path, done }: { path: string; done: () => void }): JSX.Element {
  const [isAsked, setAsked] = useState(false);
  return (
    <>
      <Button onClick={() => setAsked(true)}>Replay failed</Button>
      {isAsked && <ReplayFailed path={path} done={done} close={() => setAsked(false)} />}
    </>
  );
}

/** Replays all deliveries that failed within a period, after showing how many. */
function ReplayFailed({ path, done, close }: { path: string; done: () => void; close: () => void }): JSX.Element {
  const { api, say } = useHere();
  const [hours, setHours] = useState("24");
  const [count, setCount] = useState<number>();
  const [failure, setFailure] = useState<Failure>();
  const action = useAction();
  const send = async (preview: boolean): Promise<number> => {
    const since = new Date(Date.now() - Number(hours) * 3_600_000).toISOString();
    return (await api.post<{ replayed: number }>(`${path}/replay`, { since, preview })).replayed;
  };
  useEffect(() => {
    let isCurrent = true;
    setCount(undefined);
    setFailure(undefined);
    send(true).then(
      (found) => isCurrent && setCount(found),
      (error: unknown) => isCurrent && setFailure(failureOf(error)),
    );
    return () => {
      isCurrent = false;
    };
  }, [hours]);
  const replay = async (): Promise<void> => {
    if (count !== 0) say(replaying(await send(false)));
    close();
    done();
  };
  return (
    <Dialog title="Replay failed" close={close}>
      <p>
        We’ll send failed and missed events again, including those waiting for a retry. Their IDs and payloads stay the
        same.
      </p>
      <Form
        action={action}
        does={replay}
        send={count === 0 ? "Close" : "Replay"}
        {...(count !== 0 && { cancel: close })}
      >
        <Field
          label="Period"
          value={hours}
          set={setHours}
          choices={[
            ["1", "Last hour"],
            ["24", "Last day"],
            ["72", "Last 3 days"],
            ["360", "Last 15 days"],
          ]}
        />
        <p role="status">{!failure && (count === undefined ? "Counting deliveries…" : matching(count))}</p>
        <Trouble failure={failure} />
      </Form>
    </Dialog>
  );
}
