/** A fake client for the same contract: an iframe whose URL contains the attributes, and a page that parses every message as JSON. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { FromFrame } from "../kit/protocol.ts";
import { directConfig, isDirect, tellHolder } from "./direct.ts";

test("a frame with public-id in its URL is configured by its query string", () => {
  const query = new URLSearchParams(
    "public-id=public_test_1&external-id=p7&search-only=false&show-splash=true&tefca-mode=true&event-types=search.query,other&brand-id=b&email=a%40b.example&lang=es&static-backdrop=true&connect-mode=popup",
  );
  assert.equal(isDirect(query), true);
  assert.equal(isDirect(new URLSearchParams("public_id=public_test_1")), false);
  const {
    staticBackdrop: _,
    connectMode: _mode,
    ...config
  } = directConfig(query) as ReturnType<typeof directConfig> & { staticBackdrop?: unknown; connectMode?: unknown };
  assert.deepEqual(config, {
    publicId: "public_test_1",
    externalId: "p7",
    brandId: "b",
    searchOnly: false,
    showSplash: true,
    tefcaMode: true,
    eventTypes: ["search.query", "other"],
    lang: "es",
  });
});

test("the parent of a direct frame receives events as JSON text, ending with widget.close", () => {
  const complete: FromFrame = { type: "event", payload: { api_mode: "test", event_type: "widget.complete", data: [] } };
  const messages = (holder: string | undefined, origins: string[]): unknown[] => {
    const sent: unknown[] = [];
    const tell = tellHolder(
      { postMessage: (text: unknown, target: unknown) => void sent.push([target, JSON.parse(String(text))]) },
      holder,
      origins,
      "test",
    );
    for (const message of [{ type: "ready" }, complete, { type: "closed" }] as FromFrame[]) tell(message);
    return sent;
  };
  const [own, other] = ["https://clinic.example", "https://other.example"];
  const to = (target: string): unknown[] => [
    [target, { api_mode: "test", event_type: "widget.complete", data: [] }],
    [target, { api_mode: "test", event_type: "widget.close", data: {} }],
  ];
  assert.deepEqual(messages(own, []), to("*"), "without registered origins");
  assert.deepEqual(messages(own, [other, own]), to(own), "the holder is one of several");
  assert.deepEqual(messages("https://attacker.example", [own]), to(own), "a foreign page receives nothing");
  assert.deepEqual(messages(undefined, [own]), to(own), "a browser that does not report the holder");
});
