// Writes whatwg.json, which shows how this Node reads URLs (WHATWG URL Standard): node shared/words/weburl/testdata/whatwg.mjs
import fs from "node:fs";

const curated = [
  "https://api.recordbridge.example/v1", "https://API.Recordbridge.Example:443/", "https://api.recordbridge.example./", "https://api.recordbridge.example../",
  "https:api.recordbridge.example/v1", "https:/api.recordbridge.example", "https:///api.recordbridge.example", "https:\\\\api.recordbridge.example\\v1",
  " https://api.recordbridge.example", "https://api.record\tbridge.example", "ht\ntps://api.recordbridge.example", "\u0001https://api.recordbridge.example",
  "https://a@api.recordbridge.example", "https://api.recordbridge.example@evil.example", "https://evil.example\\@api.recordbridge.example",
  "https://api.recordbridge.example:8443", "https://api.recordbridge.example:", "https://api.recordbridge.example:0443", "https://api.recordbridge.example:65536",
  "https://api%2erecordbridge%2eexample", "https://%61pi.recordbridge.example", "https://api.recordbridge.example%2f", "https://api.recordbridge.example%00",
  "https://ａpi.recordbridge.example", "https://api。recordbridge．example｡", "https://a\u00adpi.recordbridge.example", "https://a\u200dpi.recordbridge.example",
  "https://a\u200bpi.recordbridge.example", "https://api.recordbridge.example／x", "https://api.recordbridge.example＠evil.example", "https://api.recordbridge.example：443",
  "https://ⓐⓟⓘ.recordbridge.example", "https://𝐚𝐩𝐢.recordbridge.example", "https://xn--api-.recordbridge.example", "https://xn--localhost-", "https://ﬁle.example",
  "https://127.0.0.1", "https://127.1", "https://0177.1", "https://0x7f.1", "https://2130706433", "https://0x7f000001", "https://127.0.0.1.", "https://１27.0.0.1",
  "https://127。0。0。1", "https://127.0.0.01", "https://127.0.0.256", "https://127.0.0.0x", "https://1.2.3.4.5", "https://a.1", "https://0", "https://0.0.0.0",
  "https://[::1]", "https://[0:0:0:0:0:0:0:1]", "https://[::ffff:127.0.0.1]", "https://[::ffff:7f00:1]", "https://[::127.0.0.1]", "https://[::1%25eth0]",
  "https://[1:0:0:2:0:0:0:3]", "https://[1::2::3]", "https://[::1]:443", "https://[::1]x", "https://[::1", "https://::1",
  "https://bücher.example", "https://BÜCHER.example", "https://xn--bcher-kva.example", "https://faß.example", "https://ẞ.example", "https://日本語.example", "https://مثال.example",
  "https://*", "https://*.example", "https://", "https:", "https", "//api.recordbridge.example", "https://a b.example", "https://a_b.example", "https://-a.example", "https://a--b.example",
  "https://r3---sn.example", "https://" + "a".repeat(64) + ".example", "https://a.example/%zz", "https://a.example/{x}|y", "https://a.example?x#y", "https://a.example#", "http://localhost:4566",
  "http://LOCALHOST:4566", "http://a.localhost:4566", "http://localhost.:4566", "http://ｌocalhost:4566", "ftp://a.example", "javascript://a.example/%0aalert(1)", "https://ℹ.example",
];

// Pieces in every order that a small generator of random numbers gives.
let state = 1n;
const next = (n) => {
  state = (state * 6364136223846793005n + 1442695040888963407n) & 0xffffffffffffffffn;
  return Number((state >> 33n) % BigInt(n));
};
const pieces = [
  "https:", "http:", "HTTPS:", "/", "//", "\\", "@", ":", "443", "80", ".", "。", "．", "api", "ａpi", "example", "127.0.0.1", "0x7f", "0177", "1", "１", "[", "]", "::1", "ffff",
  "%2e", "%61", "%", "\u00ad", "\u200d", "\u200b", "\t", "\n", " ", "ü", "Ü", "ß", "xn--", "bcher-kva", "-", "_", "*", "?", "#", "x", "／", "＠", "①", "\u0300", "..",
];
const random = Array.from({ length: 3000 }, () => {
  const count = 1 + next(6);
  let text = ["https://", "http://", "https://", "https:/", ""][next(5)];
  for (let i = 0; i < count; i++) text += pieces[next(pieces.length)];
  return text;
});

const rows = [...new Set([...curated, ...random])].map((given) => {
  try {
    const u = new URL(given);
    return [given, u.protocol, u.hostname, u.port];
  } catch {
    return [given];
  }
});
fs.writeFileSync(new URL("whatwg.json", import.meta.url), "[\n" + rows.map((r) => JSON.stringify(r)).join(",\n") + "\n]\n");
