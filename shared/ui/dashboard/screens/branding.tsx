/** What patients see of the organisation, before it is saved and on both grounds. */
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { BrandedOrganisation } from "../api/records.ts";
import { contrast, defaultAccent, shades, sheets } from "../../kit/colour.ts";
import { useAction, useHere, useQuery } from "../app/app.ts";
import { Field, Form, LinkButton, Load, Notice, Panel, Title } from "../parts/controls.tsx";
import { Addresses } from "./addresses.tsx";
import { Leaving } from "./leaving.tsx";

type Draft = Pick<BrandedOrganisation, "name" | "logo_uri" | "accent" | "privacy_policy_uri" | "terms_uri" | "website_uri"> & { emails: string };

export function Branding(): JSX.Element {
  const { orgBase } = useHere();
  const answer = useQuery<BrandedOrganisation>(orgBase);
  return (
    <>
      <Title lead="What patients see of you when they connect, in both modes.">Branding</Title>
      <Load answer={answer}>
        {(data) => (
          <>
            <Editor data={data} done={answer.set} />
            <Addresses data={data} done={answer.set} />
          </>
        )}
      </Load>
      <Leaving />
    </>
  );
}

function Editor({ data, done }: { data: BrandedOrganisation; done: (data: BrandedOrganisation) => void }): JSX.Element {
  const { api, orgBase, may, say, refresh, link } = useHere();
  const { name, logo_uri, accent, privacy_policy_uri, terms_uri, website_uri } = data;
  const [draft, setDraft] = useState<Draft>({ name, logo_uri, accent, privacy_policy_uri, terms_uri, website_uri, emails: data.emails.join("\n") });
  const action = useAction();
  const field = (of: keyof Draft) => ({ value: draft[of], set: (value: string) => setDraft({ ...draft, [of]: value }) });
  const save = async (): Promise<void> => {
    const { emails, ...rest } = draft;
    done(await api.patch<BrandedOrganisation>(orgBase, { ...rest, emails: emails.split(/[\s,]+/).filter((one) => one !== "") }));
    await refresh();
    say("Saved.");
  };
  const isReviewed = data.live_access === "granted" || data.live_access === "requested";
  const form = (
    <Form action={action} does={save} send="Save">
      {isReviewed && <Notice><p>Your name, logo and website are part of the review for live mode. Contact us to change them.</p></Notice>}
      <Field label="Name" required readOnly={isReviewed} maxLength={100} {...field("name")} />
      <Field label="Logo" type="url" readOnly={isReviewed} placeholder="https://" help="https, square, at least 96 pixels." {...field("logo_uri")} />
      <Accent {...field("accent")} />
      <Field label="Privacy policy" type="url" placeholder="https://" {...field("privacy_policy_uri")} />
      <Field label="Terms" type="url" placeholder="https://" {...field("terms_uri")} />
      <Field label="Website" type="url" readOnly={isReviewed} placeholder="https://" {...field("website_uri")} />
      <Field label="E-mail addresses for notices, one a line" rows={2} help="Get e-mail about failing webhooks and new credentials. Verify new addresses below. Patients do not see them." {...field("emails")} />
    </Form>
  );
  return (
    <div class="two">
      <Panel title="Yours">
        {may("operate") ? form : <p>Owners and admins can change it.</p>}
      </Panel>
      <Panel title="Preview" lead="As patients see it, before it is saved." actions={<LinkButton href={link("playground")}>See the real one</LinkButton>}>
        <Preview draft={draft} ground="light" />
        <Preview draft={draft} ground="dark" />
      </Panel>
    </div>
  );
}

const isColour = (text: string): boolean => /^#[0-9a-f]{6}$/i.test(text);

function Accent({ value, set }: { value: string; set: (value: string) => void }): JSX.Element {
  const shown = isColour(value) ? value : defaultAccent;
  const told = isColour(value) ? warnings(value) : [];
  return (
    <>
      <div class="pick">
        <Field label="Accent" value={value} set={(text) => set(text.toLowerCase())} pattern="#[0-9a-f]{6}" placeholder={defaultAccent} help="As #1a5fb4; empty for ours." maxLength={7} />
        <input type="color" aria-label="Pick the accent" value={shown} onInput={(event) => set(event.currentTarget.value)} />
      </div>
      <div role="status">
        {told.map((text) => (
          <Notice key={text} tone="warn">
            <p>{text}</p>
          </Notice>
        ))}
      </div>
    </>
  );
}

/** What is changed of an accent so that everybody can read it (WCAG 2.2, 1.4.3 and 1.4.11). */
export function warnings(accent: string): string[] {
  const light = contrast(accent, sheets.light);
  const said: string[] = [];
  if (light < 4.5) said.push(`On white it has a contrast of ${light.toFixed(1)}, of the 4.5 that text needs: links get a darker shade of it.`);
  if (contrast(accent, sheets.dark) < 3) said.push("On a dark ground it could hardly be seen: buttons get a lighter shade of it there.");
  return said;
}

/** The first page of the widget and its button, in miniature. */
function Preview({ draft, ground }: { draft: Draft; ground: "light" | "dark" }): JSX.Element {
  const ref = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const { accent, edge, onAccent, accentText } = shades(isColour(draft.accent) ? draft.accent : undefined, sheets[ground]);
    const values = { "--p-accent": accent, "--p-edge": edge, "--p-on": onAccent, "--p-text": accentText };
    for (const [name, value] of Object.entries(values)) ref.current?.style.setProperty(name, value);
  }, [draft.accent, ground]);
  const name = draft.name || "Your organisation";
  const [broken, setBroken] = useState("");
  const hasLogo = draft.logo_uri.startsWith("https://") && URL.canParse(draft.logo_uri) && broken !== draft.logo_uri;
  return (
    <div ref={ref} class={`preview ${ground}`} role="img" aria-label={`The first page of the widget on a ${ground} ground`}>
      <p class="preview-head">
        {hasLogo ? <img src={draft.logo_uri} alt="" referrerPolicy="no-referrer" onError={() => setBroken(draft.logo_uri)} /> : <span class="preview-logo">{name.charAt(0)}</span>}
        <strong>{name}</strong>
      </p>
      <p class="preview-title">Share your health records with {name}</p>
      <p class="preview-links">
        {draft.privacy_policy_uri && <span>Privacy policy</span>} {draft.terms_uri && <span>Terms</span>}
      </p>
      <p class="preview-button">Agree and continue</p>
    </div>
  );
}
