import assert from "node:assert/strict";
import test from "node:test";
import { ceiling } from "../parts/chart.tsx";
import { actionOf, describe } from "../parts/auditwords.ts";
import { ago, bytes } from "../parts/show.tsx";
import { find } from "../shell/palette.tsx";
import { address, parse } from "../app/router.ts";
import { id, ORG } from "../testing/ids.ts";
import { world } from "../testing/world.ts";
import { actorOf, targetOf } from "./auditnames.ts";
import type { Known } from "./auditnames.ts";
import { lines } from "./credentials.tsx";
import { dayTime } from "./deliveries.tsx";
import { isLoss, why } from "./exports.tsx";
import { lengthOf, schemesOf, warnings } from "./preview.tsx";
import { monthBefore } from "./usage.tsx";
import { headersOf, leaves } from "./webhooksettings.tsx";
import { lastOldSecret } from "./webhooksigning.tsx";

const { session } = world();
const [org] = session.organisations;
assert(org);
const here = {
  session,
  org,
  place: parse(`#/${ORG}/test/deliveries`),
  may: (permission: string) => permission !== "manage",
  link: (screen: string, of = "", filters = {}) => address({ org: ORG, mode: "test", screen, id: of, filters }),
};
const titles = (text: string): string[] => find(text, here).map(({ title, group }) => `${group}: ${title}`);

test("command search matches screens by keyword within the role's permissions", () => {
  assert.equal(titles("keys")[0], "Build: Credentials");
  assert.equal(titles("web")[0], "Build: Webhooks");
  assert.ok(titles("live").includes("Mode: Switch to live mode"));
  assert.ok(titles("birch").includes("Organisation: Birch Labs"));
  assert.deepEqual(
    titles("audit log").filter((one) => one.includes("Audit")),
    [],
  );
});

test("command search suggests every object type that an ID can identify, in the ID's mode", () => {
  assert.deepEqual(
    find(` ${id(7).toUpperCase()} `, here).map(({ group }) => group),
    ["Connection", "Webhook", "Event deliveries", "Delivery", "API request", "Sign-in", "External ID", "External ID"],
  );
  assert.equal(find("Patient 7", here).at(-1)?.href, `#/${ORG}/test/connections?external_id=Patient+7`);
  assert.equal(
    find(id(7), here).find(({ group }) => group === "API request")?.href,
    `#/${ORG}/test/logs?request_id=${id(7)}`,
  );
  assert.equal(find("0".repeat(32), here)[0]?.href, `#/${ORG}/test/exports/${"0".repeat(32)}`);
  assert.equal(find(`public_live_${id(7)}`, here)[0]?.href, `#/${ORG}/live/credentials/public_live_${id(7)}`);
});

test("headersOf splits header lines into names and values", () => {
  assert.deepEqual(headersOf("Authorization: Bearer a:b\n\nX-Own :1 \n"), {
    Authorization: "Bearer a:b",
    "X-Own": "1",
  });
});

test("isLoss ignores resource types that are unsupported or not granted", () => {
  const of = (reason?: string) => isLoss({ type: "Condition", result: "ok", count: 0, ...(reason && { reason }) });
  assert.deepEqual(
    [
      of(),
      of("unsupported"),
      of("not_granted"),
      of("not_requested"),
      of("not_advertised"),
      of("other_server"),
      of("something_new"),
    ],
    [false, false, false, true, true, true, true],
  );
});

test("why returns text for every known reason for missing data", () => {
  assert.equal(why({ type: "Patient", result: "ok", count: 1 }), "");
  assert.equal(
    why({
      type: "Observation",
      result: "truncated",
      count: 9,
      missing: 2,
      reason: "unavailable",
      http_status: 503,
      only_by: "category",
      left_out: 1200,
    }),
    "The portal returned errors or didn’t respond before the export’s deadline. The portal returned HTTP status 503. The portal supports searching only by category. Resources with an unknown category may be missing. We excluded 1,200 resources of another patient.",
  );
  assert.equal(why({ type: "Observation", result: "truncated", count: 9, reason: "new_word" }), "new_word");
});

test("warnings reports accent colours with insufficient contrast", () => {
  assert.equal(warnings("#f2b01e", "auto").length, 1);
  assert.equal(warnings("#111111", "auto").length, 1);
  assert.deepEqual(warnings("#31758b", "auto"), []);
});

test("warnings checks only the chosen colour scheme's backgrounds", () => {
  assert.deepEqual(warnings("#f2b01e", "dark"), []);
  assert.deepEqual(warnings("#111111", "light"), []);
  assert.match(
    warnings("#31758b", "dark").join(),
    /^The accent colour’s contrast ratio on the dark background is 3\.\d, but text needs at least 4\.5\./,
  );
  assert.equal(warnings("#111111", "dark").length, 2);
  assert.deepEqual(["auto", "light", "dark"].map(schemesOf), [["light", "dark"], ["light"], ["dark"]]);
});

test("lengthOf returns the default for an invalid corner radius", () => {
  assert.deepEqual(["", "0", "7", "24"].map(lengthOf), ["0.75rem", "0rem", "0.4375rem", "1.5rem"]);
  assert.deepEqual(["25", "-1", "1.5", "x", "1e1"].map(lengthOf), Array(5).fill("0.75rem"));
});

test("ago, counted and bytes format values for people", () => {
  const now = Date.parse("2026-03-04T05:06:07Z");
  assert.equal(ago("2026-03-04T05:06:05Z", now), "just now");
  assert.equal(ago("2026-03-04T03:06:07Z", now), "2 hours ago");
  assert.equal(ago("2026-03-06T05:06:07Z", now), "in 2 days");
  assert.equal(monthBefore(5, new Date("2026-03-31T00:00:00Z")), "2025-10");
  assert.equal(bytes(3_412_000), "3.4 MB");
  assert.deepEqual([0, 1, 3, 10, 99, 101].map(ceiling), [2, 2, 4, 10, 100, 200]);
});

test("dayTime returns the start and end of a day in the reader's time zone, and nothing for an invalid date", () => {
  const zone = process.env["TZ"];
  process.env["TZ"] = "America/New_York"; // the day when clocks go forward has 23 hours
  assert.equal(dayTime("2026-03-08", false), "2026-03-08T05:00:00.000Z");
  assert.equal(dayTime("2026-03-08", true), "2026-03-09T04:00:00.000Z");
  assert.equal(dayTime("x", true), undefined);
  if (zone === undefined) delete process.env["TZ"];
  else process.env["TZ"] = zone;
});

test("lines splits text at newlines and spaces", () => {
  assert.deepEqual(lines(" https://a.example \n\nhttps://b.example"), ["https://a.example", "https://b.example"]);
});

test("targetOf names an audit entry's target and links to it in the entry's mode", () => {
  const { members, webhooks, credentials } = world();
  const known: Known = {
    org,
    members,
    webhooks: { test: webhooks, live: undefined },
    credentials: { test: credentials, live: [] },
  };
  const target = (action: string, of: string, mode?: "test" | "live"): (string | undefined)[] => {
    const { text, place } = targetOf({ action, target: of, ...(mode && { mode }) }, known);
    return [text, place?.replace(`#/${ORG}/`, "")];
  };
  assert.deepEqual(target("webhook.disabled", id(201), "test"), ["app.example", `test/webhooks/${id(201)}`]);
  assert.deepEqual(target("webhook.removed", id(5), "test"), [id(5), undefined]);
  assert.deepEqual(target("webhook.disabled", id(5), "live"), [id(5), `live/webhooks/${id(5)}`]);
  const web = ["Web app", `test/credentials/public_test_${id(101)}`];
  assert.deepEqual(target("credential.created", id(101), "test"), web);
  assert.deepEqual(target("key.created", id(151), "test"), web);
  assert.deepEqual(target("key.revoked", id(101), "test"), web);
  assert.deepEqual(target("credential.removed", id(101), "live"), [id(101), undefined]);
  for (const action of ["webhook.simulated", "webhook.tested"])
    assert.deepEqual(target(action, id(5), "test"), [id(5), `test/deliveries?event_id=${id(5)}`]);
  assert.deepEqual(target("inquiry.moved", `${id(5)} closed`, "test"), [`${id(5)} closed`, `test/inbox/${id(5)}`]);
  assert.deepEqual(target("member.removed", id(12)), ["grace@alder.example", undefined]);
  assert.deepEqual(target("account.recovery_begun", `${id(11)} lost`, "live"), ["ada@alder.example lost", undefined]);
  assert.deepEqual(target("member.invited", id(5), "live"), [id(5), undefined]);
  assert.deepEqual(target("organisation.changed", org.id, "live"), [org.name, undefined]);
});

test("actorOf names members, and returns other actors unchanged", () => {
  const { members } = world();
  assert.equal(actorOf(`member:${id(11)}`, members), "ada@alder.example");
  assert.equal(actorOf(`member:${id(99)}`, members), `member:${id(99)}`);
  assert.equal(actorOf("operator", undefined), "operator");
});

test("describe shows old and new values, added and removed items, and replaced secrets", () => {
  const told = (field: string, old: string, now: string): string => {
    const { name, text } = describe({ field, old, new: now });
    return `${name}: ${text}`;
  };
  assert.equal(told("rate", "", "5"), "Attempts per second: default → 5");
  assert.equal(told("note", "main", ""), "Note: main → none");
  assert.equal(told("types", "", "webhook.test"), "Event type: added webhook.test");
  assert.equal(told("redirect_uris", "https://a.example", ""), "Redirect URI: removed https://a.example");
  assert.equal(told("header_values", "hidden", "hidden"), "Header values: replaced");
  assert.equal(told("url_query", "", "hidden"), "Query string: none → hidden");
  assert.equal(told("more", "", "3"), "Not shown: 3 more changes");
  assert.equal(told("new_field", "a", "b"), "new_field: a → b");
});

test("actionOf returns an action's label, or the action if it has no label", () => {
  assert.equal(actionOf("webhook.moved"), "Changed a webhook’s URL");
  assert.equal(actionOf("webhook.new_action"), "webhook.new_action");
});

test("lastOldSecret returns the last expiry among unexpired old secrets", () => {
  const now = Date.parse("2026-03-04T12:00:00Z");
  assert.equal(lastOldSecret([], now), undefined);
  assert.equal(lastOldSecret(["2026-03-04T11:59:59Z", "2026-03-04T12:00:00Z"], now), undefined);
  assert.equal(
    lastOldSecret(["2026-03-05T09:00:00Z", "2026-03-01T00:00:00Z", "2026-03-04T13:00:00Z"], now),
    "2026-03-05T09:00:00Z",
  );
});

test("leaves reports whether a new base URL has a different origin", () => {
  const from = "https://hooks.example/a";
  for (const to of ["https://hooks.example/b", "https://HOOKS.example:443/a", "https://", ""])
    assert.equal(leaves(from, to), false, to);
  for (const to of ["https://other.example/a", "https://hooks.example:8443/a", "http://hooks.example/a"])
    assert.equal(leaves(from, to), true, to);
});
