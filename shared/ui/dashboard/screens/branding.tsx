/** The organisation's branding, with a preview in each possible colour scheme. */
import type { JSX } from "preact";
import type { BrandedOrganisation } from "../api/records.ts";
import { defaultAccent } from "../../kit/colour.ts";
import { useAction, useHere, useQuery } from "../app/app.ts";
import { useEdit, type Fields } from "../app/edit.ts";
import { Field, LinkButton, Load, Notice, Panel, Title } from "../parts/controls.tsx";
import { EditForm } from "../parts/edit.tsx";
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

const FIELDS: Fields<BrandedOrganisation, Draft> = {
  name: { label: "Name", of: (one) => one.name },
  logo_uri: { label: "Logo", of: (one) => one.logo_uri },
  accent: { label: "Accent", of: (one) => one.accent },
  radius: { label: "Corner radius", of: (one) => String(one.radius ?? "") },
  font: { label: "Font", of: (one) => one.font },
  color_scheme: { label: "Colour scheme", of: (one) => one.color_scheme },
  purpose: { label: "Purpose in English", of: (one) => one.purpose },
  purpose_es: { label: "Purpose in Spanish", of: (one) => one.purpose_es },
  privacy_policy_uri: { label: "Privacy policy", of: (one) => one.privacy_policy_uri },
  terms_uri: { label: "Terms", of: (one) => one.terms_uri },
  website_uri: { label: "Website", of: (one) => one.website_uri },
  emails: {
    label: "Email addresses for notices",
    of: (one) => one.emails.join("\n"),
    saved: (one) => one.emails,
    typed: addressesIn,
  },
};

/** Splits a text into email addresses at commas, spaces and line breaks. */
function addressesIn(text: string): string[] {
  return text.split(/[\s,]+/).filter((one) => one !== "");
}

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
  const action = useAction();
  const edit = useEdit({
    data,
    fields: FIELDS,
    load: () => api.get<BrandedOrganisation>(orgBase),
    save: ({ emails, radius, ...rest }, version) => {
      const body = { ...rest, radius: radius === "" ? null : Number(radius), emails: addressesIn(emails) };
      return api.patch<BrandedOrganisation>(orgBase, body, version);
    },
    done: (current, isSaved) => {
      done(current);
      if (isSaved) void refresh().then(() => say("Saved."));
    },
  });
  const { draft } = edit;
  const field = (of: keyof Draft) => ({ value: draft[of], set: (value: string) => edit.set(of, value) });
  const isReviewed = data.live_access === "granted" || data.live_access === "requested";
  const form = (
    <EditForm edit={edit} action={action} what="organisation">
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
    </EditForm>
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
