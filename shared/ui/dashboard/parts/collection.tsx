/** A list of an organisation's credentials or webhooks, with a form to create a new entry. A secret is shown once, after creation. */
import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import { useHere, useQuery } from "../app/app.ts";
import { Button, Empty, Load, Title } from "./controls.tsx";
import { Table } from "./show.tsx";

export interface MakeProps<Made> {
  done: (made: Made) => void;
  close: () => void;
}

interface CollectionProps<Name extends string, One, Made> {
  of: Name; // the list's path and its field in the response
  title: string;
  lead: string;
  create: string;
  empty: ComponentChildren; // shown if the list is empty
  Make: (props: MakeProps<Made>) => JSX.Element;
  Once: (props: { made: Made }) => JSX.Element;
  head: readonly string[];
  keyOf: (one: One) => string;
  cells: (one: One) => readonly ComponentChildren[];
}

export function Collection<Name extends string, One, Made>(p: CollectionProps<Name, One, Made>): JSX.Element {
  const { base, may, place } = useHere();
  const answer = useQuery<Record<Name, One[]>>(`${base}/${p.of}`);
  const [isNew, setNew] = useState(false);
  const [made, setMade] = useState<Made>();
  const done = (one: Made): void => {
    setMade(() => one);
    setNew(false);
    answer.reload();
  };
  const actions = may("develop") && !isNew && (
    <Button kind="main" onClick={() => setNew(true)}>
      {p.create}
    </Button>
  );
  return (
    <>
      <Title lead={p.lead} actions={actions}>
        {p.title}
      </Title>
      {made && <p.Once made={made} />}
      {isNew && <p.Make done={done} close={() => setNew(false)} />}
      <Load answer={answer}>
        {({ [p.of]: rows }) => {
          if (rows.length > 0)
            return <Table label={p.title} head={p.head} rows={rows} keyOf={p.keyOf} cells={p.cells} />;
          if (isNew) return <></>;
          return (
            <Empty title={`No ${p.of} in ${place.mode} mode yet.`}>
              <p>{p.empty}</p>
            </Empty>
          );
        }}
      </Load>
    </>
  );
}
