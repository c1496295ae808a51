/**
 * The playground (docs/guide/widget.md, "The playground"): a control for every attribute, the live element, its events,
 * and code to copy. The playground uses the element as a customer's page would, through the public URL, attributes,
 * methods and events.
 */
import { render } from "preact";
import type { JSX } from "preact";
import { useMemo, useReducer, useState } from "preact/hooks";
import { attributes, properties, TAGS } from "./manifest.ts";
import type { Control, Tag } from "./manifest.ts";
import { Field, Log, Panel, Snippet } from "./page.tsx";
import type { Entry } from "./page.tsx";
import type { Choice } from "./snippet.ts";
import { Stage } from "./stage.tsx";

/** The part of the server's boot data that the playground uses. */
const boot: { base_url: string; public_id: string } = JSON.parse(document.getElementById("boot")?.textContent ?? "{}");

/** Returns the element named in the page's URL. The URL names a credential and an element, but no personal data. */
const askedTag = (): Tag => TAGS.find((tag) => tag === new URLSearchParams(location.search).get("element")) ?? TAGS[0];

type Values = ReadonlyMap<string, string>;

interface Change {
  name: string;
  value: string | undefined;
}

function changed(values: Values, { name, value }: Change): Values {
  const next = new Map(values);
  if (value === undefined) next.delete(name);
  else next.set(name, value);
  return next;
}

const only = (values: Values, controls: Control[]): Values =>
  new Map([...values].filter(([name]) => controls.some((control) => control.name === name)));

interface FieldsProps {
  name: string;
  title: string;
  controls: Control[];
  values: Values;
  set: (change: Change) => void;
}

function Fields({ name, title, controls, values, set }: FieldsProps): JSX.Element {
  return (
    <Panel name={name} title={title}>
      {controls.map((control) => (
        <Field
          key={control.name}
          control={control}
          value={values.get(control.name)}
          onChange={(value) => set({ name: control.name, value })}
        />
      ))}
    </Panel>
  );
}

let entries = 0;

function entry(name: string, detail: unknown): Entry {
  entries += 1;
  const type =
    typeof detail === "object" && detail !== null && "event_type" in detail ? String(detail.event_type) : name;
  return { id: entries, at: new Date().toLocaleTimeString(), name: type, detail: JSON.stringify(detail, null, 2) };
}

const LABEL: Control = {
  name: "label",
  help: "The button’s text. Leave this field empty for the default.",
  kind: "text",
  choices: [],
  standard: "Share Records",
};

function Playground(): JSX.Element {
  const [tag, setTag] = useState(askedTag);
  const [values, set] = useReducer(changed, new Map([["public-id", boot.public_id]]));
  const [style, restyle] = useReducer(changed, new Map<string, string>());
  const [label, setLabel] = useState("");
  const [turn, setTurn] = useState(0);
  const [log, setLog] = useState<Entry[]>([]);
  const [trouble, setTrouble] = useState("");
  const choice = useMemo<Choice>(
    () => ({
      tag,
      attributes: only(values, attributes(tag)),
      style: only(style, properties(tag)),
      label,
      script: `${boot.base_url}/sdk/4/svc-widget.js`,
    }),
    [tag, values, style, label],
  );
  return (
    <>
      <header>
        <h1>Widget playground</h1>
        <p>
          Set attributes, try the element as a patient would, watch its events and copy the code. The playground uses a
          real credential. In test mode, all patients are sample patients.
        </p>
      </header>
      <main>
        <div class="results">
          <Panel name="stage" title="Live">
            {trouble !== "" && <p role="alert">{trouble}</p>}
            <Stage
              choice={choice}
              turn={turn}
              onRenew={() => setTurn(turn + 1)}
              onTrouble={setTrouble}
              onEvent={(name, detail) => setLog((before) => [entry(name, detail), ...before])}
            />
          </Panel>
          <Log entries={log} onClear={() => setLog([])} />
          <Snippet choice={choice} />
        </div>
        <div class="controls">
          <Panel name="element" title="Element">
            <div class="row" role="group" aria-label="Element">
              {TAGS.map((one) => (
                <button key={one} type="button" aria-pressed={one === tag} onClick={() => setTag(one)}>
                  {one}
                </button>
              ))}
            </div>
            <Field control={LABEL} value={label} onChange={(value) => setLabel(value ?? "")} />
          </Panel>
          <Fields name="attributes" title="Attributes" controls={attributes(tag)} values={values} set={set} />
          <Fields name="style" title="Style" controls={properties(tag)} values={style} set={restyle} />
        </div>
      </main>
    </>
  );
}

const root = document.getElementById("app");
if (root !== null) render(<Playground />, root);
