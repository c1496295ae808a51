/** The organisation's branding, with a preview in each possible colour scheme. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { BrandedOrganisation } from "../api/records.ts";
import { defaultAccent } from "../../kit/colour.ts";
import { useAction, useHere, useQuery } from "../app/app.ts";
import { Field, Form, LinkButton, Load, Notice, Panel, Title } from "../parts/controls.tsx";
import { Addresses } from "./addresses.tsx";
import { Leaving } from "./leaving.tsx";
import { isColour, Preview, schemesOf, warnings } from "./preview.tsx";

type Texts = Pick<
  BrandedOrganisation,
  | "name"
  | "logo_uri"
  | "accent"
  | "font"
  | "purpose"
  | "purpose_es"
  | "privacy_policy_uri"
  | "terms_uri"
  | "website_uri"
>;
type Draft = Texts & { emails: string; radius: string; color_scheme: string };

const schemes = [
  ["auto", "Follow the device"],
  ["light", "Always light"],
  ["dark", "Always dark"],
] as const;

export function Branding(): JSX.Element {
  const { orgBase } = useHere();
  const answer = useQuery<BrandedOrganisation>(orgBase);
  return (
    <>
      <Title lead="Patients see this branding when they connect in test or live mode.">Branding</Title>
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
  const {
    name,
    logo_uri,
    accent,
    font,
    color_scheme,
    purpose,
    purpose_es,
    privacy_policy_uri,
    terms_uri,
    website_uri,
  } = data;
  const [draft, setDraft] = useState<Draft>({
    name,
    logo_uri,
    accent,
    radius: String(data.radius ?? ""),
    font,
    color_scheme,
    purpose,
    purpose_es,
    privacy_policy_uri,
    terms_uri,
    website_uri,
    emails: data.emails.join("\n"),
  });
  const action = useAction();
  const field = (of: keyof Draft) => ({
    value: draft[of],
    set: (value: string) => setDraft({ ...draft, [of]: value }),
  });
  const save = async (): Promise<void> => {
    const { emails, radius, ...rest } = draft;
    done(
      await api.patch<BrandedOrganisation>(orgBase, {
        ...rest,
        radius: radius === "" ? null : Number(radius),
        emails: emails.split(/[\s,]+/).filter((one) => one !== ""),
      }),
    );
    await refresh();
    say("Saved.");
  };
  const isReviewed = data.live_access === "granted" || data.live_access === "requested";
  const form = (
    <Form action={action} does={save} send="Save">
      {isReviewed && (
        <Notice>
          <p>Our live mode review covers these details. Contact us to change your name, logo or website.</p>
        </Notice>
      )}
      <Field label="Name" required readOnly={isReviewed} maxLength={100} {...field("name")} />
      <Field
        label="Logo"
        type="url"
        readOnly={isReviewed}
        placeholder="https://"
        help="Enter the HTTPS URL of a square image at least 96 pixels wide."
        {...field("logo_uri")}
      />
      <Accent {...field("accent")} scheme={draft.color_scheme} />
      <Field
        label="Corner radius"
        type="number"
        min={0}
        max={24}
        placeholder="12"
        help="Enter a value from 0 to 24 pixels. Leave this field empty to use the default."
        {...field("radius")}
      />
      <Field
        label="Font"
        maxLength={200}
        placeholder="Georgia, serif"
        help="List fonts in order of preference. Patients see the first font installed on their device. Fonts aren’t downloaded."
        {...field("font")}
      />
      <Field label="Colour scheme" choices={schemes} {...field("color_scheme")} />
      <Purpose
        label="Purpose in English"
        placeholder="We find clinical trials that may be right for you."
        help="Tell patients in one or two sentences why you collect their records. We show this text in quotation marks."
        {...field("purpose")}
      />
      <Purpose
        label="Purpose in Spanish"
        placeholder="Buscamos estudios clínicos que puedan ser adecuados para usted."
        help="Patients see this text if they use Spanish. If you leave this field empty, we refer patients to your privacy policy."
        {...field("purpose_es")}
      />
      <Field label="Privacy policy" type="url" placeholder="https://" {...field("privacy_policy_uri")} />
      <Field label="Terms" type="url" placeholder="https://" {...field("terms_uri")} />
      <Field label="Website" type="url" readOnly={isReviewed} placeholder="https://" {...field("website_uri")} />
      <Field
        label="Email addresses for notices, one per line"
        rows={2}
        help="We email these addresses about failing webhooks and new credentials. Patients can’t see these email addresses. Verify new addresses below."
        {...field("emails")}
      />
    </Form>
  );
  return (
    <div class="two">
      <Panel title="Settings">{may("operate") ? form : <p>Only owners and admins can change branding.</p>}</Panel>
      <Panel
        title="Preview"
        lead="Patients will see this design after you save."
        actions={<LinkButton href={link("playground")}>Open playground</LinkButton>}
      >
        {schemesOf(draft.color_scheme).map((ground) => (
          <Preview key={ground} draft={draft} ground={ground} />
        ))}
      </Panel>
    </div>
  );
}

/** A text area without line breaks, which a purpose can't contain. */
function Purpose({
  set,
  ...field
}: {
  label: string;
  value: string;
  placeholder: string;
  help: string;
  set: (value: string) => void;
}): JSX.Element {
  return <Field rows={2} maxLength={160} set={(text) => set(text.replace(/\s*\n\s*/g, " "))} {...field} />;
}

function Accent({ value, set, scheme }: { value: string; set: (value: string) => void; scheme: string }): JSX.Element {
  const shown = isColour(value) ? value : defaultAccent;
  const told = isColour(value) ? warnings(value, scheme) : [];
  return (
    <>
      <div class="pick">
        <Field
          label="Accent"
          value={value}
          set={(text) => set(text.toLowerCase())}
          pattern="#[0-9a-f]{6}"
          placeholder={defaultAccent}
          help="For example, #1a5fb4. Leave this field empty to use the default."
          maxLength={7}
        />
        <input
          type="color"
          aria-label="Pick an accent colour"
          value={shown}
          onInput={(event) => set(event.currentTarget.value)}
        />
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
