/**
 * Edits of objects that others may edit at the same time. An edit contains the version that the form was loaded with. If
 * the object has changed since, the form keeps the user's changes and shows how they differ from the current values.
 */
import { useEffect, useState } from "preact/hooks";
import { Refused } from "../api/api.ts";
import type { Versioned } from "../api/records.ts";
import { useUnsaved } from "./app.ts";

/** A field's value. The order of a list's items has no meaning. */
export type Value = string | readonly string[] | null;
/** The values of a form's fields by name. */
export type Draft<D> = { [Name in keyof D]: Value };

/** Describes the fields of a form that edits an object. */
export type Fields<T, D extends Draft<D>> = {
  [Name in keyof D]: {
    label: string;
    /** Returns the field's initial value. */
    of: (object: T) => D[Name];
    /** Return what a comparison shows for the object's value and for the typed value, if it differs from them. */
    saved?: (object: T) => Value;
    typed?: (value: D[Name]) => Value;
  };
};

export interface Form<T, D extends Draft<D>> {
  base: T; // the version that the draft changes
  draft: D;
  was?: T; // set after a conflict: the version that the user first loaded
}

/** A field that the user or the other edit changed. A changed list is described by its added and removed items. */
export interface Difference {
  label: string;
  theirs?: Value; // absent if the other edit didn't change the field
  mine?: Value; // absent if the user didn't change the field
}

const text = (value: Value): string => JSON.stringify(Array.isArray(value) ? [...value].sort() : value);
const same = (a: Value, b: Value): boolean => text(a) === text(b);
const namesOf = <T, D extends Draft<D>>(fields: Fields<T, D>): (keyof D)[] => Object.keys(fields) as (keyof D)[];

export function draftOf<T, D extends Draft<D>>(fields: Fields<T, D>, object: T): D {
  const draft: Partial<D> = {};
  for (const name of namesOf(fields)) draft[name] = fields[name].of(object);
  return draft as D;
}

const isChanged = <T, D extends Draft<D>>(fields: Fields<T, D>, { base, draft }: Form<T, D>): boolean =>
  namesOf(fields).some((name) => !same(draft[name], fields[name].of(base)));

function changeOf(from: Value, to: Value): Value {
  if (from === null || to === null || typeof from === "string" || typeof to === "string") return to;
  const added = to.filter((one) => !from.includes(one)).map((one) => `Added: ${one}`);
  const removed = from.filter((one) => !to.includes(one)).map((one) => `Removed: ${one}`);
  return same(from, to) ? to : [...added, ...removed];
}

/** Returns the differences after a conflict. Saving the form overwrites the current values for which mine is set. */
export function differences<T, D extends Draft<D>>(fields: Fields<T, D>, form: Form<T, D>): Difference[] {
  const { base, draft, was = base } = form;
  return namesOf(fields).flatMap((name) => {
    const { label, of, saved = of, typed = (value) => value } = fields[name];
    const isTheirs = !same(saved(was), saved(base));
    const isMine = !same(draft[name], of(base));
    if (!isTheirs && !isMine) return [];
    return [
      {
        label,
        ...(isTheirs && { theirs: changeOf(saved(was), saved(base)) }),
        ...(isMine && { mine: changeOf(saved(was), typed(draft[name])) }),
      },
    ];
  });
}

interface Server<T, D extends Draft<D>> {
  load: () => Promise<T>;
  save: (draft: D, version: string) => Promise<T>;
}

/**
 * Saves a form and resolves to its next state. After a conflict, that state is based on the current object, and fields
 * that the user didn't change have their current values.
 */
export async function send<T extends Versioned, D extends Draft<D>>(
  fields: Fields<T, D>,
  form: Form<T, D>,
  { load, save }: Server<T, D>,
): Promise<Form<T, D>> {
  const { base, draft } = form;
  try {
    const base = await save(draft, form.base.version);
    return { base, draft: draftOf(fields, base) };
  } catch (error) {
    if (!(error instanceof Refused) || error.failure.status !== 409) throw error;
    const current = await load();
    if (current.version === base.version) throw error; // refused for another reason
    const merged = draftOf(fields, current);
    for (const name of namesOf(fields)) if (!same(draft[name], fields[name].of(base))) merged[name] = draft[name];
    const next = { base: current, draft: merged };
    return isChanged(fields, next) ? { ...next, was: form.was ?? base } : next;
  }
}

export interface Edit<D extends Draft<D>> {
  draft: D;
  set: <Name extends keyof D>(name: Name, value: D[Name]) => void;
  /** Whether the draft differs from the object. */
  isChanged: boolean;
  /** The differences, until the user resolves a conflict. */
  conflict: Difference[] | undefined;
  save: () => Promise<void>;
  /** Resolves a conflict by discarding the draft. */
  discard: () => void;
}

interface EditOptions<T, D extends Draft<D>> extends Server<T, D> {
  data: T;
  fields: Fields<T, D>;
  /** Called with each newer object. isSaved is true if the object contains the user's changes. */
  done: (object: T, isSaved: boolean) => void;
}

export function useEdit<T extends Versioned, D extends Draft<D>>(options: EditOptions<T, D>): Edit<D> {
  const { data, fields, done } = options;
  const [form, setForm] = useState<Form<T, D>>(() => ({ base: data, draft: draftOf(fields, data) }));
  useEffect(() => {
    if (form.was === undefined && !isChanged(fields, form)) setForm({ base: data, draft: draftOf(fields, data) });
  }, [data.version]);
  const isUnsaved = isChanged(fields, form);
  const declare = useUnsaved();
  useEffect(() => declare(isUnsaved), [isUnsaved]);
  return {
    draft: form.draft,
    set: (name, value) => setForm((before) => ({ ...before, draft: { ...before.draft, [name]: value } })),
    isChanged: isUnsaved,
    conflict: form.was && differences(fields, form),
    save: async () => {
      const next = await send(fields, form, options);
      setForm(next);
      done(next.base, next.was === undefined);
    },
    discard: () => setForm({ base: form.base, draft: draftOf(fields, form.base) }),
  };
}
