/** The frame around all screens: navigation, organisation, mode and search. */
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { memberOf, useApp, useHere } from "../app/app.ts";
import { documentation } from "../parts/chapters.ts";
import { Notice, Out, Title } from "../parts/controls.tsx";
import { address } from "../app/router.ts";
import { Invitation, NewOrganisation } from "../screens/arrive.tsx";
import { Account } from "../screens/account.tsx";
import { Palette } from "./palette.tsx";
import { screens } from "./places.ts";
import type { Screen } from "./places.ts";

const groups = ["Build", "Monitor", "Organisation", "Account"] as const;

export function Frame(): JSX.Element {
  const { place, session } = useApp();
  const isOf = memberOf(session, place.org) !== undefined;
  return isOf && !["new", "invitation"].includes(place.screen) ? <Within /> : <Outside />;
}

/** The screens that need no organisation. People without an organisation can also open these screens. */
function Outside(): JSX.Element {
  const { place, session, api, enter } = useApp();
  useTop(place.screen);
  const first = session.organisations[0];
  return (
    <div class="outside">
      <header class="bar">
        <p class="brand">Recordbridge</p>
        <div class="row end">
          {first && <a href={address({ org: first.id })}>Back to {first.name}</a>}
          {place.screen !== "account" && <a href="#/account">Your account</a>}
          <button
            class="button quiet"
            type="button"
            onClick={() => void api.remove("session").finally(() => enter(undefined))}
          >
            Sign out
          </button>
        </div>
      </header>
      <main id="main">{outside(place.screen, place.id, place.org)}</main>
    </div>
  );
}

function outside(screen: string, id: string, org: string): JSX.Element {
  if (screen === "invitation") return <Invitation token={id} />;
  if (screen === "account") return <Account />;
  if (org !== "") {
    return (
      <>
        <Title>Organisation not found</Title>
        <p>
          You may not be a member of this organisation. Ask the person who sent you the link for an invitation, or go to{" "}
          <a href="#/">your own organisation</a>.
        </p>
      </>
    );
  }
  return <NewOrganisation />;
}

function Within(): JSX.Element {
  const here = useHere();
  const { place, org } = here;
  const [isOpen, setOpen] = useState(false);
  const [searching, setSearching] = useState(false);
  const screen = screens.find((one) => one.name === place.screen);
  useTop(`${place.org}/${place.mode}/${place.screen}/${place.id}`);
  useEffect(() => setOpen(false), [place]);
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (event.key !== "k" || !(event.metaKey || event.ctrlKey)) return;
      event.preventDefault();
      setSearching(true);
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
  return (
    <div class={`frame ${place.mode}`}>
      <header class="top">
        <a class="skip" href={location.hash} onClick={skip}>
          Skip to content
        </a>
        <div class="bar">
          <button
            class="button quiet menu"
            type="button"
            aria-expanded={isOpen}
            aria-controls="places"
            onClick={() => setOpen(!isOpen)}
          >
            <svg viewBox="0 0 20 20" aria-hidden="true">
              <path d="M3 5h14M3 10h14M3 15h14" />
            </svg>
            <span class="hidden">Menu</span>
          </button>
          <Switcher />
          <Modes />
          <button
            class="button search"
            type="button"
            aria-keyshortcuts="Control+K Meta+K"
            onClick={() => setSearching(true)}
          >
            <svg viewBox="0 0 20 20" aria-hidden="true">
              <path d="M13 13l4 4M14 8.5a5.5 5.5 0 1 1-11 0a5.5 5.5 0 0 1 11 0" />
            </svg>
            <span class="hidden">Search</span>
            <span class="wide" aria-hidden="true">
              Search
            </span>
            <kbd aria-hidden="true">{/^Mac/.test(navigator.platform) ? "⌘" : "Ctrl"} K</kbd>
          </button>
        </div>
        <p class="mode-banner">
          {place.mode === "test" ? "Test mode: sample patients only." : "Live mode: real patients."}
        </p>
      </header>
      <nav id="places" aria-label="Main" class={isOpen ? "open" : undefined}>
        {groups.map((group) => (
          <div key={group}>
            <h2 id={`group-${group}`}>{group}</h2>
            <ul aria-labelledby={`group-${group}`}>
              {screens
                .filter((one) => one.group === group && (one.needs === undefined || here.may(one.needs)))
                .map((one) => (
                  <li key={one.name}>
                    <a href={here.link(one.name)} aria-current={one.name === place.screen ? "page" : undefined}>
                      {one.title}
                    </a>
                  </li>
                ))}
            </ul>
          </div>
        ))}
        <ul>
          <li>
            <Out href={documentation}>Documentation</Out>
          </li>
        </ul>
      </nav>
      <main id="main" key={`${org.id}/${place.mode}/${place.screen}/${place.id}`}>
        {org.status === "inactive" && (
          <Notice tone="bad">
            <p>This organisation is inactive, so its API keys don’t work. Contact us to reactivate the organisation.</p>
          </Notice>
        )}
        {screen ? <Shown screen={screen} /> : <Unknown />}
      </main>
      {searching && <Palette close={() => setSearching(false)} />}
    </div>
  );
}

function Shown({ screen }: { screen: Screen }): JSX.Element {
  const { place } = useApp();
  const { show: Show, one: One } = screen;
  return place.id !== "" && One ? <One id={place.id} /> : <Show />;
}

function Unknown(): JSX.Element {
  const { link } = useHere();
  return (
    <>
      <Title>Page not found</Title>
      <p>
        Check the URL, or go to the <a href={link("")}>overview</a>.
      </p>
    </>
  );
}

/** The organisation switcher. */
function Switcher(): JSX.Element {
  const { session, org, place } = useHere();
  const choose = (id: string): void => {
    location.hash = id === "new" ? "#/new" : address({ org: id, mode: place.mode });
  };
  return (
    <label class="switcher">
      <span class="hidden">Organisation</span>
      <select value={org.id} onChange={(event) => choose(event.currentTarget.value)}>
        {session.organisations.map(({ id, name }) => (
          <option key={id} value={id} selected={id === org.id}>
            {name}
          </option>
        ))}
        <option value="new">New organisation…</option>
      </select>
    </label>
  );
}

function Modes(): JSX.Element {
  const { place, org } = useHere();
  return (
    <div class="modes" role="group" aria-label="Mode">
      {(["test", "live"] as const).map((mode) => (
        <a
          key={mode}
          href={address({ org: org.id, mode, screen: place.screen })}
          aria-current={mode === place.mode ? "true" : undefined}
        >
          {mode === "test" ? "Test" : "Live"}
        </a>
      ))}
    </div>
  );
}

function skip(event: MouseEvent): void {
  event.preventDefault();
  document.querySelector<HTMLElement>("main h1")?.focus();
}

/** Scrolls to the top of a new screen and focuses the screen's title, so that a screen reader starts there. */
function useTop(screen: string): void {
  useEffect(() => {
    scrollTo(0, 0);
    const title = document.querySelector<HTMLElement>("main h1");
    title?.focus({ preventScroll: true });
    document.title = title ? `${title.textContent} · Recordbridge` : "Recordbridge";
  }, [screen]);
}
