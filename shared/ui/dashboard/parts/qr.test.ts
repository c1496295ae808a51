import assert from "node:assert/strict";
import { test } from "node:test";
import jsQR from "jsqr";
import { encode, outline } from "./qr.ts";

/** Each version's capacity at level M, in bytes (table 7). */
const CAPACITY = [14, 26, 42, 62, 84, 106, 122, 152, 180, 213, 251, 287, 331, 362, 412, 450, 504, 560, 624, 666];

/** Renders a code as a camera sees it. Each module is several pixels wide, and the margin is four modules wide. */
function read(code: boolean[][], points = 3): string | undefined {
  const side = (code.length + 8) * points;
  const image = new Uint8ClampedArray(side * side * 4).fill(255);
  for (let y = 0; y < side; y += 1) {
    for (let x = 0; x < side; x += 1)
      if (code[Math.floor(y / points) - 4]?.[Math.floor(x / points) - 4])
        image.fill(0, (y * side + x) * 4, (y * side + x) * 4 + 3);
  }
  return jsQR(image, side, side)?.data;
}

test("encode produces readable QR codes for every version at full capacity", () => {
  for (const [i, length] of CAPACITY.entries()) {
    const text = Array.from({ length }, (_, at) => String.fromCharCode(33 + ((at * 37) % 90))).join("");
    const code = encode(text) ?? [];
    assert.equal(code.length, 21 + 4 * i);
    assert.equal(read(code), text, `${length} bytes`);
    assert.equal(encode(`${text}.`)?.length, i === 19 ? undefined : 25 + 4 * i);
  }
  const address = "otpauth://totp/Recordbridge:zoë@alder.example?issuer=Recordbridge&secret=JBSWY3DPEHPK3PXP";
  assert.equal(read(encode(address) ?? []), address);
});

test("the QR code's outline covers each dark module once", () => {
  const code = encode("otpauth://totp/x") ?? [];
  const drawn = code.map((row) => row.map(() => false));
  for (const [, x = "", y = "", width = ""] of outline(code).matchAll(/M(\d+) (\d+)h(\d+)v1h-\3z/g)) {
    for (let i = 0; i < Number(width); i += 1) drawn[Number(y)]![Number(x) + i] = true;
  }
  assert.deepEqual(drawn, code);
});
