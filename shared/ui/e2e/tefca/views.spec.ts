/** Tests every view of TEFCA mode in English and Spanish, in the same way as journeys/views.spec.ts. */
import type { Page } from "@playwright/test";
import type { Standing } from "../../embed/api/records.ts";
import { look } from "../support/looks.ts";
import { CannedTefca, connected, failed, place, standing } from "../support/canned-tefca.ts";
import { script, visit } from "../support/customer.ts";
import type { Host } from "../support/host.ts";
import type { Run } from "../support/run.ts";
import { expect, test } from "../support/test.ts";
import { english, spanish, TefcaPatient } from "./patient.ts";

const found = [place(0), place(1), place(2)];
const unsure = [place(3, { match: "ambiguous" }), place(4, { match: "unanswered" }), place(5, { match: "unanswered" })];

async function looker(
  page: Page,
  run: Run,
  host: Host,
  lang: typeof english,
  attributes: Record<string, string> = {},
): Promise<TefcaPatient> {
  const patient = new TefcaPatient(page, lang, new CannedTefca());
  await patient.canned.serve(page, run.base_url);
  await visit(page, run, host, {
    attributes: { "tefca-mode": "", ...attributes },
    lang: lang.lang,
    head: `<meta name="color-scheme" content="light dark">${script(run)}`,
  });
  await patient.open();
  return patient;
}

const looks = async (patient: TefcaPatient, view: string): Promise<void> =>
  look(patient.page, `tefca-${view}`, patient.lang.lang);

for (const lang of [english, spanish]) {
  test.describe(`in ${lang.lang}`, () => {
    test.use({ locale: `${lang.lang}-US` });

    test("every view up to the summary is accessible", async ({ page, run, host }) => {
      test.setTimeout(900_000);
      const patient = await looker(page, run, host, lang);
      await patient.sees("tefca_intro_title");
      await looks(patient, "intro");
      await patient.next();
      await patient.sees("email_title");
      await patient.field("email").fill("ada.maple@mail.example");
      await patient.button("email_send").click();
      await patient.field("code").fill("123456");
      await patient.button("continue").click();
      await patient.sees("tefca_provider_title");
      await looks(patient, "providers");
      await patient.where.getByRole("button", { name: "Birch" }).click();
      await expect(patient.button("tefca_go")).toBeEnabled();
      await looks(patient, "provider");
      await verified(patient);
      await asked(patient);
      await chosen(patient);
    });

    test("failure views are accessible", async ({ page, run, host }) => {
      test.setTimeout(900_000);
      const patient = await looker(page, run, host, lang, { "search-only": "" });
      patient.canned.providers = patient.canned.providers.slice(0, 1);
      await patient.next();
      await ended(patient);
      await patient.verify(standing("located"));
      await patient.sees("tefca_none_title");
      await looks(patient, "none");
      await patient.button("tefca_again").click();
      await patient.verify(standing("located", ...unsure));
      await patient.sees("tefca_none_title");
      await looks(patient, "none-unsure");
      await patient.button("tefca_again").click();
      await patient.verify({ status: "located", facilities: found });
      await expect(patient.where.getByText(lang.say("tefca_ended"))).toBeVisible();
      await looks(patient, "facilities-ended");
      await patient.button("tefca_again").click();
      await patient.verify(standing("located", ...found));
      await patient.tick("Alder");
      await patient.connecting.click();
      await patient.sees("tefca_ended_title");
      await looks(patient, "ended");
    });
  });
}

async function verified(patient: TefcaPatient): Promise<void> {
  const window = await patient.toIdentity();
  await patient.sees("waiting_title");
  await patient.page.bringToFront();
  await looks(patient, "waiting");
  await patient.stands({ status: "open", facilities: [] });
  await patient.where.getByText(patient.lang.say("tefca_cookies")).click();
  await expect(patient.where.getByText(patient.lang.say("tefca_cookies_text"))).toBeVisible();
  await looks(patient, "waiting-cookies");
  await window.close();
  await expect(patient.button("waiting_reopen")).toBeVisible();
  await looks(patient, "waiting-closed");
}

async function asked(patient: TefcaPatient): Promise<void> {
  await patient.stands(standing("locating"));
  await patient.sees("tefca_locating_title");
  await patient.stands(standing("locating", place(0), place(1)));
  await expect(patient.where.getByRole("status").getByText(patient.lang.count("tefca_answered", 2))).toBeAttached();
  await looks(patient, "locating");
  await patient.close();
  await expect(patient.where.getByText(patient.lang.say("tefca_leaving_locating"))).toBeVisible();
  await looks(patient, "leaving-locating");
  await patient.button("stay").click();
  await patient.stands(standing("located", ...found, ...unsure));
  await patient.sees("tefca_found_other");
  expect(
    await patient.where.getByRole("checkbox", { checked: true }).count(),
    "nothing is chosen for the patient",
  ).toBe(0);
  await looks(patient, "facilities");
  await patient.connecting.click();
  await expect(patient.where.getByText(patient.lang.say("tefca_choose_wrong"))).toBeVisible();
  await expect(patient.where.getByRole("checkbox").first()).toBeFocused();
  await looks(patient, "facilities-wrong");
  await patient.button("tefca_all").click();
  await looks(patient, "facilities-all");
}

async function chosen(patient: TefcaPatient): Promise<void> {
  patient.canned.authorized = standing(
    "authorizing",
    connected(0),
    place(1, { outcome: "connecting" }),
    failed(2, "unavailable"),
    ...unsure,
  );
  await patient.connecting.click();
  await patient.sees("tefca_connecting_title");
  await looks(patient, "connecting");
  await patient.close();
  await expect(patient.button("stay")).toBeVisible();
  await looks(patient, "leaving-connecting");
  await patient.button("stay").click();
  await patient.stands(standing("located", connected(0), connected(1), failed(2, "unavailable"), ...unsure));
  await patient.sees("finish_title_other");
  await looks(patient, "summary-failed");
  patient.canned.authorized = standing("located", connected(0), connected(1), failed(2, "refused"), ...unsure);
  await patient.button("tefca_retry").click();
  await expect(patient.where.getByText(patient.lang.say("tefca_refused"))).toBeVisible();
  await patient.button("back").click();
  await patient.sees("tefca_found_other");
  await looks(patient, "facilities-again");
  patient.canned.authorized = standing("located", connected(0), connected(1), connected(2), ...unsure);
  await patient.tick("Cedar");
  await patient.connecting.click();
  await patient.sees("finish_title_other");
  await looks(patient, "summary");
}

async function ended(patient: TefcaPatient): Promise<void> {
  const error = {
    error: "access_denied",
    error_description: "The patient declined.",
    request_id: "r-9",
    suggested_action: "Nothing: the patient decides.",
  };
  for (const [cause, title] of [
    ["declined", "declined_title"],
    ["level_too_low", "tefca_unproven_title"],
    ["demographics_missing", "tefca_unproven_title"],
    ["network_unavailable", "tefca_network_title"],
    ["provider_refused", "tefca_unready_title"],
  ] as const) {
    const failure: Standing = { status: "failed", facilities: [], error: { ...error, cause } };
    await patient.verify(failure);
    await patient.sees(title);
    await looks(patient, `failed-${cause}`);
    if (cause === "provider_refused") await patient.button("back").click();
    else await patient.button("try_again").click();
  }
}
