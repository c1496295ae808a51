/** The facilities with records of the patient, and the choice. */
import type { Facility } from "../../api/records.ts";
import type { Words } from "../../../kit/words/tefca.ts";
import { isAlive, open } from "../../machine/facilities.ts";
import type { State } from "../../machine/state.ts";
import { Button, Quiet, Title, Trouble } from "../parts.tsx";
import { orgName, type Ui } from "../ui.ts";

/** Returns the facilities with the given match, sorted by name, because the network's order has no meaning. */
export function listed(s: State, match: Facility["match"]): Facility[] {
  const those = s.tefca?.standing?.facilities.filter((one) => one.match === match) ?? [];
  return those.sort((a, b) => a.name.localeCompare(b.name));
}

export function Facilities({ ui }: { ui: Ui<Words> }) {
  const { s, t } = ui;
  const found = listed(s, "found");
  if (found.length === 0) return <None ui={ui} />;
  return (
    <div class="view">
      <Title lead={isAlive(s) && t.say("tefca_found_lead", { org: orgName(ui) })}>
        {t.count("tefca_found", found.length)}
      </Title>
      <Choice ui={ui} found={found} />
      <Others ui={ui} />
      <Trouble ui={ui} />
      <Connect ui={ui} />
    </div>
  );
}

/** The facilities that were found. Only facilities that can be connected have a checkbox. */
function Choice({ ui, found }: { ui: Ui<Words>; found: Facility[] }) {
  const { s, t, send } = ui;
  const ids = open(s).map((one) => one.tefca_directory_id);
  const ticked = s.tefca?.ticked ?? [];
  const all = ids.every((id) => ticked.includes(id));
  const wrong = s.judged > 0;
  return (
    <fieldset aria-describedby={wrong ? "choice-wrong" : undefined}>
      <legend class="hidden">{t.say("tefca_places")}</legend>
      {ids.length > 1 && isAlive(s) && (
        <Quiet onClick={() => send({ type: "tick", ids, on: !all })}>
          {t.say(all ? "tefca_nothing" : "tefca_all")}
        </Quiet>
      )}
      <ul class="list">
        {found.map((one) => (
          <li key={one.tefca_directory_id}>
            {ids.includes(one.tefca_directory_id) && isAlive(s) ? (
              <Box ui={ui} one={one} wrong={wrong} />
            ) : (
              <Place one={one} state={stateOf(ui, one)} />
            )}
          </li>
        ))}
      </ul>
      {wrong && (
        <p class="wrong" id="choice-wrong">
          {t.say("tefca_choose_wrong")}
        </p>
      )}
    </fieldset>
  );
}

function Box({ ui, one, wrong }: { ui: Ui<Words>; one: Facility; wrong: boolean }) {
  const { s, send } = ui;
  const { tefca_directory_id: id } = one;
  return (
    <label class="choice">
      <input
        type="checkbox"
        checked={s.tefca?.ticked.includes(id) ?? false}
        aria-invalid={wrong ? "true" : undefined}
        onChange={(event) => send({ type: "tick", ids: [id], on: event.currentTarget.checked })}
      />
      <Named one={one} state={stateOf(ui, one)} />
    </label>
  );
}

function Named({ one: { name, city, state: of }, state }: { one: Facility; state?: string | undefined }) {
  const place = [city, of].filter(Boolean).join(", ");
  return (
    <span>
      <b>{name}</b>
      {place && <span class="small soft">{place}</span>}
      {state && <span class="small">{state}</span>}
    </span>
  );
}

export function Place({ one, state }: { one: Facility; state?: string | undefined }) {
  return (
    <div class="choice">
      <Named one={one} state={state} />
      {one.outcome && <i class={`sign ${one.outcome}`} aria-hidden="true" />}
    </div>
  );
}

/** Returns the result of connecting a facility, in words. */
export function stateOf({ t }: Ui<Words>, { outcome, reason }: Facility): string | undefined {
  if (outcome === "failed" && reason) return t.say(`tefca_${reason}`);
  return outcome && t.say(`tefca_is_${outcome}`);
}

function Connect({ ui: { s, t, send } }: { ui: Ui<Words> }) {
  const ids = s.tefca?.ticked ?? [];
  if (!isAlive(s)) {
    return (
      <div class="below stack">
        <p>{t.say("tefca_ended")}</p>
        <Button onClick={() => send({ type: "restart" })}>{t.say("tefca_again")}</Button>
      </div>
    );
  }
  return (
    <div class="below stack">
      <Button disabled={s.busy} onClick={() => send({ type: "authorize", ids })}>
        {s.busy ? t.say("preparing") : ids.length > 0 ? t.count("tefca_connect", ids.length) : t.say("tefca_connect")}
      </Button>
    </div>
  );
}

/** Facilities that can't be connected, with explanations. */
function Others({ ui }: { ui: Ui<Words> }) {
  const { s, t } = ui;
  return (
    <>
      {(["ambiguous", "unanswered"] as const).map((match) => {
        const those = listed(s, match);
        if (those.length === 0) return null;
        return (
          <section key={match} class="stack" aria-labelledby={match}>
            <h2 id={match}>{t.say(`tefca_${match}`)}</h2>
            <p class="soft">{t.say(`tefca_${match}_text`)}</p>
            <ul class="list">
              {those.map((one) => (
                <li key={one.tefca_directory_id}>
                  <Place one={one} />
                </li>
              ))}
            </ul>
          </section>
        );
      })}
    </>
  );
}

/** Shown if no facility can be connected. A reconnect offers no search. */
function None({ ui }: { ui: Ui<Words> }) {
  const { s, t, send } = ui;
  const search = !s.config.reconnectOrgConnectionId;
  return (
    <div class="view">
      <Title mark="search" lead={t.say("tefca_none_lead")}>
        {t.say("tefca_none_title")}
      </Title>
      <Others ui={ui} />
      <div class="stack">
        <h2>{t.say("tefca_can")}</h2>
        <ul class="bullets">
          <li>{t.say("tefca_none_moved")}</li>
          {search && <li>{t.say("tefca_none_search")}</li>}
          <li>{t.say("tefca_none_help")}</li>
        </ul>
      </div>
      <div class="stack end">
        {search && <Button onClick={() => send({ type: "instead" })}>{t.say("tefca_search")}</Button>}
        <Button second={search} onClick={() => send({ type: "restart" })}>
          {t.say("tefca_again")}
        </Button>
      </div>
    </div>
  );
}
