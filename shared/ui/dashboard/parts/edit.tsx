/** A form that edits an object, and the differences to resolve if the object changed in the meantime. */
import type { ComponentChildren, JSX } from "preact";
import type { Action } from "../app/app.ts";
import type { Difference, Draft, Edit, Value } from "../app/edit.ts";
import { Form } from "./controls.tsx";
import { Table } from "./show.tsx";

interface EditFormProps<D extends Draft<D>> {
  edit: Edit<D>;
  action: Action;
  what: string; // the object's kind, as in "This webhook"
  children?: ComponentChildren;
}

export function EditForm<D extends Draft<D>>({ edit, action, what, children }: EditFormProps<D>): JSX.Element {
  const { conflict } = edit;
  return (
    <Form
      action={action}
      does={edit.save}
      isDisposable // useEdit warns about unsaved changes, also after a conflict
      send={conflict ? "Save my changes" : "Save"}
      {...(conflict && { cancel: edit.discard, cancelLabel: "Use current values" })}
    >
      {children}
      <div role="alert">
        {conflict && (
          <p class="strong">This {what} changed after you opened it, so your changes haven’t been saved yet.</p>
        )}
      </div>
      {conflict && <Differences of={conflict} />}
    </Form>
  );
}

function Differences({ of }: { of: readonly Difference[] }): JSX.Element {
  return (
    <>
      <p class="soft">“Save my changes” overwrites only the fields that you changed.</p>
      <Table
        label="Differences"
        head={["Field", "Other edit", "Your edit"]}
        rows={of}
        keyOf={({ label }) => label}
        cells={({ label, theirs, mine }) => [label, <Change to={theirs} />, <Change to={mine} />]}
      />
    </>
  );
}

function Change({ to }: { to: Value | undefined }): JSX.Element {
  if (to === undefined) return <span class="soft">Not changed</span>;
  const lines = (typeof to === "string" ? [to] : (to ?? [])).filter((one) => one !== "");
  if (lines.length === 0) return <span class="soft">Empty</span>;
  return (
    <>
      {lines.map((line) => (
        <div key={line}>
          <span class="break">{line}</span>
        </div>
      ))}
    </>
  );
}
