/** The search's filter by state and ZIP code. */
import { states } from "../../kit/states.ts";
import type { Filter } from "../machine/message.ts";
import type { Ui } from "./ui.ts";

export function Places({ ui: { s, t, send } }: { ui: Ui }) {
  const { filter } = s.search;
  const narrow = (change: Partial<Filter>) => send({ type: "narrow", filter: { ...filter, ...change } });
  return (
    <div class="pair">
      <div class="field">
        <label for="state">{t.say("search_state")}</label>
        <select id="state" value={filter.state} onChange={(event) => narrow({ state: event.currentTarget.value })}>
          <option value="">{t.say("search_states")}</option>
          {states.map(([code, name]) => (
            <option key={code} value={code}>
              {name}
            </option>
          ))}
        </select>
      </div>
      <div class="field">
        <label for="zip">
          {t.say("search_zip")} <span class="hidden">({t.say("search_zip_hint")})</span>
        </label>
        <input
          id="zip"
          value={filter.zip}
          inputMode="numeric"
          autocomplete="postal-code"
          maxLength={5}
          onInput={(event) => narrow({ zip: event.currentTarget.value.replace(/\D/g, "") })}
        />
      </div>
    </div>
  );
}
