/**
 * QR codes (ISO/IEC 18004). Implements only the features that an authenticator URI needs: bytes, correction level M,
 * versions 1 to 20. The dashboard encodes the QR code itself, because a library would have access to the secret.
 */

/** For each version at level M (table 9): the number of check bytes per block, and the number of blocks. */
const LEVEL_M: readonly (readonly [checks: number, blocks: number])[] = [
  [10, 1],
  [16, 1],
  [26, 1],
  [18, 2],
  [24, 2],
  [16, 4],
  [18, 4],
  [22, 4],
  [22, 5],
  [26, 5],
  [30, 5],
  [22, 8],
  [22, 9],
  [24, 9],
  [24, 10],
  [28, 10],
  [28, 11],
  [26, 13],
  [26, 14],
  [26, 16],
];

/** The modules that each of the eight masks inverts (table 10). */
const MASKS: readonly ((x: number, y: number) => boolean)[] = [
  (x, y) => (x + y) % 2 === 0,
  (_, y) => y % 2 === 0,
  (x) => x % 3 === 0,
  (x, y) => (x + y) % 3 === 0,
  (x, y) => (Math.floor(x / 3) + Math.floor(y / 2)) % 2 === 0,
  (x, y) => ((x * y) % 2) + ((x * y) % 3) === 0,
  (x, y) => (((x * y) % 2) + ((x * y) % 3)) % 2 === 0,
  (x, y) => (((x + y) % 2) + ((x * y) % 3)) % 2 === 0,
];

/** Returns a text's QR code as rows of modules, with true for dark. Returns undefined if the text is too long. */
export function encode(text: string): boolean[][] | undefined {
  const bytes = [...new TextEncoder().encode(text)];
  const version = 1 + LEVEL_M.findIndex((_, i) => bytes.length <= room(i + 1));
  if (version === 0) return undefined;
  const bits = interleaved(padded(bytes, version), version).flatMap((word) => bitsOf(word, 8));
  const candidates = MASKS.map((mask, number) => drawn(version, bits, mask, number));
  return candidates
    .map((code) => ({ code, cost: penalty(code) }))
    .reduce((best, one) => (one.cost < best.cost ? one : best)).code;
}

const bitsOf = (value: number, count: number): boolean[] =>
  Array.from({ length: count }, (_, i) => ((value >>> (count - 1 - i)) & 1) === 1);

/** Returns the centres of alignment patterns, on both axes (annex E). */
function centres(version: number): number[] {
  if (version === 1) return [];
  const count = Math.floor(version / 7) + 2;
  const step = Math.ceil((version * 4 + 4) / (count * 2 - 2)) * 2;
  return [6, ...Array.from({ length: count - 1 }, (_, i) => version * 4 + 10 - step * (count - 2 - i))];
}

/** Returns the capacity of a version in bytes, including check bytes. */
function capacity(version: number): number {
  const count = centres(version).length;
  const alignment = count === 0 ? 0 : (25 * count - 10) * count - 55;
  return Math.floor(((16 * version + 128) * version + 64 - alignment - (version < 7 ? 0 : 36)) / 8);
}

const level = (version: number): readonly [checks: number, blocks: number] => LEVEL_M[version - 1] ?? [0, 1];

function dataWords(version: number): number {
  const [checks, blocks] = level(version);
  return capacity(version) - checks * blocks;
}

const lengthBits = (version: number): number => (version < 10 ? 8 : 16);
const room = (version: number): number => Math.floor((dataWords(version) * 8 - 4 - lengthBits(version)) / 8);

/** Returns the text with its header and padding, in bytes. */
function padded(bytes: number[], version: number): number[] {
  const size = dataWords(version);
  const bits = [
    ...bitsOf(4, 4),
    ...bitsOf(bytes.length, lengthBits(version)),
    ...bytes.flatMap((byte) => bitsOf(byte, 8)),
  ];
  const words = Array.from({ length: Math.min(size, Math.ceil((bits.length + 4) / 8)) }, (_, i) =>
    bits.slice(i * 8, i * 8 + 8).reduce((word, bit, at) => word | (Number(bit) << (7 - at)), 0),
  );
  return [...words, ...Array.from({ length: size - words.length }, (_, i) => (i % 2 === 0 ? 0xec : 0x11))];
}

/** Multiplies two elements of GF(256). */
function product(a: number, b: number): number {
  let result = 0;
  for (let bit = 7; bit >= 0; bit -= 1) result = (result << 1) ^ ((result >>> 7) * 0x11d) ^ (((b >>> bit) & 1) * a);
  return result;
}

/** Returns the coefficients of the generator polynomial for check bytes (annex A), without the leading 1. */
function divisorOf(degree: number): number[] {
  let all = [1];
  for (let i = 0, root = 1; i < degree; i += 1, root = product(root, 2)) {
    const times = all.map((one) => product(one, root));
    all = [...all, 0].map((one, at) => one ^ (times[at - 1] ?? 0));
  }
  return all.slice(1);
}

function checksOf(data: number[], divisor: number[]): number[] {
  return data.reduce<number[]>(
    (rest, byte) => {
      const [first = 0, ...others] = rest;
      const shifted = [...others, 0];
      return divisor.map((one, i) => (shifted[i] ?? 0) ^ product(one, byte ^ first));
    },
    divisor.map(() => 0),
  );
}

/** Interleaves the data blocks and their check bytes. The last blocks may be one byte longer than the others. */
function interleaved(data: number[], version: number): number[] {
  const [checks, count] = level(version);
  const least = Math.floor(data.length / count);
  const short = count - (data.length % count);
  const divisor = divisorOf(checks);
  const blocks = Array.from({ length: count }, (_, i) => {
    const start = i * least + Math.max(0, i - short);
    return data.slice(start, start + least + (i < short ? 0 : 1));
  });
  const turns = (of: number[][], most: number): number[] =>
    Array.from({ length: most }, (_, i) => of.flatMap((one) => one.slice(i, i + 1))).flat();
  return [
    ...turns(blocks, least + 1),
    ...turns(
      blocks.map((one) => checksOf(one, divisor)),
      checks,
    ),
  ];
}

/** Appends the remainder of a value's division, as used in a code's format and version information (annexes C and D). */
function guarded(value: number, polynomial: number, degree: number): number {
  let rest = value;
  for (let i = 0; i < degree; i += 1) rest = (rest << 1) ^ ((rest >>> (degree - 1)) * polynomial);
  return (value << degree) | rest;
}

function drawn(version: number, bits: boolean[], mask: (x: number, y: number) => boolean, number: number): boolean[][] {
  const size = version * 4 + 17;
  const code: (boolean | undefined)[][] = Array.from({ length: size }, () => Array<undefined>(size).fill(undefined));
  const set = (x: number, y: number, dark: boolean): void => {
    const row = code[y];
    if (row !== undefined && x >= 0 && x < size) row[x] = dark;
  };
  const rings = (x: number, y: number, radius: number, light: number[]): void => {
    for (let dy = -radius; dy <= radius; dy += 1)
      for (let dx = -radius; dx <= radius; dx += 1)
        set(x + dx, y + dy, !light.includes(Math.max(Math.abs(dx), Math.abs(dy))));
  };
  for (let i = 0; i < size; i += 1) {
    set(6, i, i % 2 === 0);
    set(i, 6, i % 2 === 0);
  }
  const end = size - 7;
  for (const x of centres(version))
    for (const y of centres(version)) if (![`6 6`, `6 ${end}`, `${end} 6`].includes(`${x} ${y}`)) rings(x, y, 2, [1]);
  for (const [x, y] of [
    [3, 3],
    [size - 4, 3],
    [3, size - 4],
  ] as const)
    rings(x, y, 4, [2, 4]);
  bitsOf(guarded(number, 0x537, 10) ^ 0x5412, 15)
    .reverse()
    .forEach((dark, i) => {
      // level M is 00
      set(i < 8 ? 8 : i === 8 ? 7 : 14 - i, i < 6 ? i : i < 8 ? i + 1 : 8, dark);
      set(i < 8 ? size - 1 - i : 8, i < 8 ? 8 : size - 15 + i, dark);
    });
  set(8, size - 8, true);
  if (version >= 7) {
    bitsOf(guarded(version, 0x1f25, 12), 18)
      .reverse()
      .forEach((dark, i) => {
        set(size - 11 + (i % 3), Math.floor(i / 3), dark);
        set(Math.floor(i / 3), size - 11 + (i % 3), dark);
      });
  }
  let next = 0;
  for (const [x, y] of path(size)) if (code[y]?.[x] === undefined) set(x, y, (bits[next++] ?? false) !== mask(x, y));
  return code as boolean[][];
}

/**
 * Yields the modules in the order in which data fills them. The order uses pairs of columns from the right, alternates
 * between up and down, and skips the timing column.
 */
function* path(size: number): Generator<[x: number, y: number]> {
  for (let pair = 0; pair < (size - 1) / 2; pair += 1) {
    const right = size - 1 - pair * 2 - (size - 1 - pair * 2 <= 6 ? 1 : 0);
    for (let i = 0; i < size; i += 1) for (const x of [right, right - 1]) yield [x, pair % 2 === 0 ? size - 1 - i : i];
  }
}

/** Returns a code's penalty score (section 7.8.3). */
function penalty(code: boolean[][]): number {
  const rows = code.map((row) => row.map(Number).join(""));
  const columns = rows.map((_, x) => rows.map((row) => row[x]).join(""));
  let cost = 0;
  for (const line of [...rows, ...columns]) {
    for (const [run] of line.matchAll(/0{5,}|1{5,}/g)) cost += run.length - 2;
    cost += 40 * [...line.matchAll(/(?=10111010000|00001011101)/g)].length;
  }
  rows.slice(1).forEach((row, y) => {
    for (let x = 1; x < row.length; x += 1)
      if (new Set([row[x], row[x - 1], rows[y]?.[x], rows[y]?.[x - 1]]).size === 1) cost += 3;
  });
  const dark = rows.join("").replaceAll("0", "").length / rows.length ** 2;
  return cost + 10 * Math.floor(Math.abs(dark * 20 - 10));
}

/** Returns a code as an SVG path. Each module has size 1. */
export const outline = (code: boolean[][]): string =>
  code
    .map((row, y) =>
      [...row.map(Number).join("").matchAll(/1+/g)]
        .map(({ index, 0: run }) => `M${index} ${y}h${run.length}v1h-${run.length}z`)
        .join(""),
    )
    .join("");
