import assert from "node:assert/strict";
import test from "node:test";
import { Windows } from "./windows.ts";

const origin = "https://svc.example";
const start = { url: `${origin}/v1/bridge/connect`, value: "secret" };

/** A fake browser window with only the features that Windows uses. The fake records submitted forms. */
function browser(isActive = false) {
  const sent: Record<string, unknown>[] = [];
  const left: string[] = [];
  const element = (): Record<string, unknown> => {
    const fields: Record<string, unknown>[] = [];
    const made: Record<string, unknown> = {
      append: (field: Record<string, unknown>) => fields.push(field),
      remove: () => undefined,
    };
    made["submit"] = () =>
      sent.push({
        method: made["method"],
        action: made["action"],
        target: made["target"],
        fields: fields.map(({ name, value }) => [name, value]),
      });
    return made;
  };
  const said: unknown[] = [];
  const self = {
    document: { createElement: element, body: { append: () => undefined } },
    location: { origin, assign: (url: string) => left.push(url) },
    navigator: { userActivation: { isActive } },
    opener: { postMessage: (message: unknown) => said.push(message) } as unknown,
  };
  return { self: self as unknown as Window, sent, left, said, opener: () => self.opener };
}

const message = (data: unknown, from = origin): MessageEvent =>
  ({
    origin: from,
    data,
    source: { closed: true, focus: () => undefined, postMessage: () => undefined },
  }) as unknown as MessageEvent;

test("a start value is posted in a form body to the attempt's window", () => {
  const { self, sent } = browser();
  assert.equal(new Windows(self).open("a-1", start), "unseen");
  assert.deepEqual(sent, [
    { method: "post", action: start.url, target: "svc-a-1", fields: [["start_value", "secret"]] },
  ]);
});

test("open reports a blocked window", () => {
  assert.equal(new Windows(browser(true).self).open("a-1", start), "blocked");
});

test("a start value is not posted to another origin", () => {
  for (const url of [
    "https://evil.example/v1/bridge/connect",
    "https://svc.example:8443/",
    "javascript:alert(1)",
    "/relative",
    "",
  ]) {
    const { self, sent } = browser();
    new Windows(self).open("a-1", { url, value: "secret" });
    new Windows(self).leave({ url, value: "secret" }, undefined);
    assert.deepEqual(sent, [], url);
  }
});

test("a window that can't be closed yet is closed later", () => {
  const windows = new Windows(browser().self);
  let closes = 0;
  windows.shut("a-1"); // before the window's message
  const source = { closed: false, close: () => (source.closed = ++closes === 2), postMessage: () => undefined };
  windows.heard({ origin, data: { svc: "left", name: "svc-a-1" }, source } as unknown as MessageEvent);
  assert.deepEqual([windows.closed(), windows.closed()], [[], ["a-1"]]);
  assert.equal(closes, 2, "the first close came while the window was navigating");
});

test("the sign-in window navigates once the frame holds its handle", () => {
  const windows = new Windows(browser().self);
  const calls: unknown[] = [];
  const source = {
    closed: false,
    close: () => calls.push("close"),
    postMessage: (...sent: unknown[]) => calls.push(sent),
  };
  windows.heard({ ...message({ svc: "left", name: "svc-a-1" }), source } as unknown as MessageEvent);
  windows.shut("a-1");
  assert.deepEqual(calls, [[{ svc: "leave" }, origin], "close"]);
});

test("the older element's window reports its attempt, drops its opener and navigates", () => {
  const { self, sent, said, opener } = browser();
  new Windows(self).leave(start, "a-1");
  assert.deepEqual(said, [{ svc: "here", attemptId: "a-1", made: true }]);
  assert.equal(opener(), null);
  assert.deepEqual(
    sent.map(({ target }) => target),
    ["_self"],
  );
});

test("the frame identifies a window only by the window's own message", () => {
  const windows = new Windows(browser().self);
  for (const [what, event] of Object.entries({
    "another origin": message({ svc: "left", name: "svc-a-1" }, "https://evil.example"),
    "a sandboxed page": message({ svc: "left", name: "svc-a-1" }, "null"),
    "another message": message({ svc: "nudge", name: "svc-a-1" }),
    "another name": message({ svc: "left", name: "a-1" }),
    "no name": message({ svc: "left" }),
    "no text": message({ svc: "left", name: ["svc-a-1"] }),
    nothing: message(null),
  })) {
    assert.equal(windows.heard(event), undefined, what);
  }
  assert.deepEqual(windows.closed(), []);
  assert.equal(windows.heard(message({ svc: "left", name: "svc-a-1" })), "a-1");
  assert.deepEqual(windows.closed(), ["a-1"]);
});

test("a window that closes before sending its message counts as closed", () => {
  const windows = new Windows(browser().self);
  const late = { ...message({ svc: "left", name: "svc-a-1" }), source: null } as MessageEvent;
  assert.equal(windows.heard(late), "a-1");
  assert.deepEqual(windows.closed(), ["a-1"]);
  windows.raise("a-1");
});

test("redirect mode navigates only to the service's origin", () => {
  const { self, left } = browser();
  for (const url of ["https://evil.example/", `${origin}/v1/bridge/connect?public_id=x`]) new Windows(self).go(url);
  assert.deepEqual(left, [`${origin}/v1/bridge/connect?public_id=x`]);
});
