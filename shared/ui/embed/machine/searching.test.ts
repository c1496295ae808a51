import assert from "node:assert/strict";
import test from "node:test";
import { Bench, failure, hit } from "../testing/bench.ts";

test("typing sends one query 200 ms after the last key", async () => {
  const bench = new Bench();
  for (const query of ["a", "al", "ald"]) {
    bench.send({ type: "type", query });
    await bench.pass(150);
  }
  await bench.pass(1000);
  assert.deepEqual(bench.times("search"), [0, 500], "the suggestions, then the query");
});

test("a response to an outdated query is ignored", async () => {
  const bench = new Bench();
  const answers: ((total: number) => void)[] = [];
  bench.answers.search = () =>
    new Promise((resolve) => answers.push((total) => resolve({ ok: true, data: { total, hits: [hit()] } })));
  bench.send({ type: "type", query: "alder" });
  await bench.pass(200);
  bench.send({ type: "type", query: "alder h" });
  await bench.pass(200);
  answers[2]?.(1);
  await bench.pass(0);
  answers[1]?.(99);
  await bench.pass(0);
  assert.equal(bench.state.search.total, 1);
});

test("the next page of results is requested with the server's cursor and appended", async () => {
  const bench = new Bench();
  bench.send({ type: "type", query: "alder" });
  await bench.pass(200);
  const last = bench.state.search.hits.at(-1);
  bench.send({ type: "more" });
  bench.send({ type: "more" });
  await bench.pass(0);
  const asked = bench.asked.filter((one) => one.call === "search");
  assert.equal(asked.length, 3);
  assert.deepEqual((asked[2]?.ask as { after: unknown }).after, last?.sort);
  assert.equal(bench.state.search.hits.length, 4);
});

test("retrying a failed page of results requests that page, not the first", async () => {
  const bench = new Bench();
  bench.send({ type: "type", query: "alder" });
  await bench.pass(200);
  bench.fault = () => failure("network");
  bench.send({ type: "more" });
  await bench.pass(0);
  bench.fault = () => undefined;
  bench.send({ type: "retry" });
  await bench.pass(0);
  assert.equal(bench.state.search.hits.length, 4);
});

test("an empty query in live mode shows only the most used institutions", async () => {
  const bench = new Bench();
  bench.answers.search = () => ({
    ok: true,
    data: { total: 38_000, hits: [{ ...hit("used"), mostUsed: true }, hit("first of the alphabet")] },
  });
  await bench.pass(0);
  assert.deepEqual(
    bench.state.search.hits.map(({ id }) => id),
    ["used"],
  );
  assert.equal(bench.state.search.total, 1);
  bench.send({ type: "narrow", filter: { state: "", zip: "122" } });
  await bench.pass(1000);
  assert.equal(bench.state.search.hits.length, 1);
  bench.send({ type: "narrow", filter: { state: "NY", zip: "12203" } });
  await bench.pass(1000);
  assert.equal(bench.state.search.hits.length, 2, "a state or a complete ZIP code is enough");
});

test("an empty query that fails or returns no institutions shows only the hint", async () => {
  for (const fault of [undefined, failure("unavailable")]) {
    const bench = new Bench();
    bench.fault = () => fault;
    await bench.pass(0);
    assert.deepEqual(bench.state.search.hits, []);
    assert.equal(bench.state.search.total, undefined);
    assert.equal(bench.state.trouble, undefined);
  }
});

test("search-query runs immediately, and search-sort-by-opts filters by ZIP code", async () => {
  const searchSortByOpts = btoa(JSON.stringify({ locationZipcodes: ["12203-0001"] })).replace(/=+$/, "");
  const bench = new Bench({ searchQuery: "alder", searchSortBy: "location", searchSortByOpts });
  await bench.pass(0);
  assert.deepEqual(bench.asked[0]?.ask, { query: "alder", state: "", zip: "12203", after: undefined });
  assert.equal(new Bench({ searchSortBy: "location", searchSortByOpts: "%%%" }).state.search.filter.zip, "");
});

test("search.query is emitted only for the first page, and only if the page requests it", async () => {
  const silent = new Bench({ searchQuery: "alder" });
  await silent.pass(0);
  assert.equal(silent.events.length, 0);

  const bench = new Bench({ searchQuery: "alder", eventTypes: ["search.query"], externalId: "visit-9" });
  bench.send({ type: "narrow", filter: { state: "NY", zip: "" } });
  await bench.pass(300);
  bench.send({ type: "more" });
  await bench.pass(0);
  const data = {
    query: "alder",
    timestamp: Math.floor(bench.began / 1000),
    filter: { locations: ["NY"] },
    results: { total: 2 },
    external_id: "visit-9",
  };
  assert.deepEqual(bench.events, [{ api_mode: "live", event_type: "search.query", data }]);
});

test("the institution view does not show a failed search's error", async () => {
  const bench = new Bench();
  await bench.toInstitution();
  bench.send({ type: "back" });
  bench.answers.search = () => new Promise(() => undefined);
  bench.send({ type: "type", query: "x" });
  bench.send({ type: "pick", id: hit().id });
  bench.fault = (_, call) => (call === "search" ? failure("network") : undefined);
  await bench.pass(1000);
  assert.equal(bench.state.trouble, undefined);
});
