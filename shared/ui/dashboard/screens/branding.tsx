/** The organisation's branding, with a preview on light and dark backgrounds. */
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
      <Title lead="What patients see when they connect, in both modes.">Branding</Title>
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
      <Field label="Logo" type="url" readOnly={isReviewed} placeholder="https://" help="An https URL. Square, at least 96 pixels." {...field("logo_uri")} />
      <Accent {...field("accent")} />
      <Field label="Privacy policy" type="url" placeholder="https://" {...field("privacy_policy_uri")} />
      <Field label="Terms" type="url" placeholder="https://" {...field("terms_uri")} />
      <Field label="Website" type="url" readOnly={isReviewed} placeholder="https://" {...field("website_uri")} />
      <Field label="Notice addresses, one per line" rows={2} help="We send emails about failing webhooks and new credentials. Verify new addresses below. Patients don’t see them." {...field("emails")} />
    </Form>
  );
  return (
    <div class="two">
      <Panel title="Settings">
        {may("operate") ? form : <p>Only owners and admins can change these.</p>}
      </Panel>
      <Panel title="Preview" lead="How patients will see it once you save." actions={<LinkButton href={link("playground")}>Open playground</LinkButton>}>
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
        <Field label="Accent" value={value} set={(text) => set(text.toLowerCase())} pattern="#[0-9a-f]{6}" placeholder={defaultAccent} help="For example, #1a5fb4. Leave empty for the default." maxLength={7} />
        <input type="color" aria-label="Pick the accent colour" value={shown} onInput={(event) => set(event.currentTarget.value)} />
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

/** Returns how an accent will be adjusted for contrast (WCAG 2.2, 1.4.3 and 1.4.11). */
export function warnings(accent: string): string[] {
  const light = contrast(accent, sheets.light);
  const said: string[] = [];
  if (light < 4.5) said.push(`On white, its contrast is ${light.toFixed(1)}; text needs 4.5. Links will use a darker shade.`);
  if (contrast(accent, sheets.dark) < 3) said.push("It’s hard to see on a dark background. Buttons there will use a lighter shade.");
  return said;
}

/** A miniature of the widget's first page and button. */
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
    <div ref={ref} class={`preview ${ground}`} role="img" aria-label={`First page of the widget on a ${ground} background`}>
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
