import assert from "node:assert/strict";
import test, { type TestContext } from "node:test";
import { MessageChannel } from "node:worker_threads";
import type { Config, Init, ToFrame } from "../kit/protocol.ts";
import { listen } from "./channel.ts";

const config: Config = { publicId: "p", searchOnly: true, showSplash: false, tefcaMode: false, eventTypes: [] };

/** A fake frame with a parent page. */
function frame(t: TestContext, origins: string[]) {
  const said: unknown[] = [];
  const heard: string[] = [];
  const parent = { postMessage: (message: unknown) => void said.push(message) } as unknown as Window;
  const self = Object.assign(new EventTarget(), {
    location: { origin: "https://svc.example" },
    setInterval: () => 1,
    clearInterval: () => heard.push("quiet"),
  }) as unknown as Window;
  const { port1, port2 } = new MessageChannel();
  t.after(() => port1.close());
  const post = listen(parent, self, origins, {
    begin: (init) => void heard.push(`begin ${init.config.publicId}`),
    close: () => void heard.push("close"),
    here: ({ attemptId, made }) => void heard.push(`here ${attemptId} ${made}`),
    foreign: () => void heard.push("foreign"),
  });
  const tell = (origin: string, data: unknown, source: unknown = parent, ports: unknown[] = [port2]) => {
    self.dispatchEvent(Object.assign(new Event("message"), { origin, data, source, ports }));
  };
  return { said, heard, tell, post, page: port1 };
}

const init: Init = { svc: "init", v: 1, config };
const own = "https://clinic.example";

test("the frame sends an empty hello and starts with the page's configuration", (t) => {
  const { said, heard, tell } = frame(t, [own]);
  assert.deepEqual(said, [{ svc: "hello", v: 1 }]);
  tell(own, init);
  assert.deepEqual(heard, ["quiet", "begin p"]);
});

test("an origin must match a registered one exactly", (t) => {
  for (const origin of [
    "https://clinic.example.evil.example",
    "http://clinic.example",
    "https://clinic.example:444",
    "https://www.clinic.example",
    "null",
    "https://Clinic.example",
  ]) {
    const { heard, tell } = frame(t, [own]);
    tell(origin, init);
    assert.deepEqual(heard, ["quiet", "foreign"], origin);
  }
});

test("the service's playground may embed the frame regardless of registered origins", (t) => {
  const { heard, tell } = frame(t, [own]);
  tell("https://svc.example", init);
  assert.deepEqual(heard, ["quiet", "begin p"]);
  for (const origin of ["https://svc.example.evil.example", "http://svc.example", "https://svc.example:444"]) {
    const other = frame(t, [own]);
    other.tell(origin, init);
    assert.deepEqual(other.heard, ["quiet", "foreign"], origin);
  }
});

test("any page may embed the frame if no origins are registered", (t) => {
  const { heard, tell } = frame(t, []);
  tell("https://anybody.example", init);
  assert.deepEqual(heard, ["quiet", "begin p"]);
});

test("the frame accepts one message from its parent, and only with a port", (t) => {
  const { heard, tell } = frame(t, [own]);
  tell(own, init, {});
  tell(own, { ...init, v: 2 });
  tell(own, null);
  tell(own, "init");
  tell(own, init, undefined, []);
  assert.deepEqual(heard, []);
  tell(own, init);
  tell(own, init);
  assert.deepEqual(heard, ["quiet", "begin p"]);
});

test("a page that may not embed the frame receives nothing", async (t) => {
  const { tell, post, page } = frame(t, [own]);
  const got: unknown[] = [];
  page.on("message", (message) => got.push(message));
  tell("https://evil.example", init);
  post({ type: "ready" });
  await new Promise((done) => setImmediate(done));
  assert.deepEqual(got, []);
});

test("the port accepts only close and the older element's window messages", async (t) => {
  const { heard, tell, page } = frame(t, [own]);
  tell(own, init);
  page.postMessage({ type: "begin" });
  page.postMessage({ svc: "here", attemptId: "a", made: true } satisfies ToFrame);
  page.postMessage(null);
  page.postMessage({ type: "close" } satisfies ToFrame);
  for (let i = 0; i < 10 && !heard.includes("close"); i++) await new Promise((done) => setImmediate(done));
  assert.deepEqual(heard, ["quiet", "begin p", "here a true", "close"]);
});
