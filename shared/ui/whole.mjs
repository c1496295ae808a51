/** Replaces a built folder atomically, so that readers see either the old or the new build. */
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";

/** The time for which a replaced folder is kept for readers that still use it. */
const KEPT_MS = 600_000;

/**
 * Makes out, an absolute path, a link to a folder with exactly the given files (a map from path to content). Writes
 * nothing if the files are unchanged. Only a link can be replaced atomically. The folders are next to the link and have
 * names that begin with a dot.
 */
export function replace(out, files) {
  if (holds(out, files)) return;
  const [place, prefix] = [dirname(out), `.${basename(out)}-`];
  mkdirSync(place, { recursive: true });
  const folder = mkdtempSync(join(place, prefix));
  chmodSync(folder, 0o755); // a container reads it as another user
  for (const [path, content] of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  const link = `${folder}.link`;
  symlinkSync(basename(folder), link);
  const before = targetOf(out);
  if (before === undefined) rmSync(out, { recursive: true, force: true }); // only a link can be replaced by a link
  renameSync(link, out);
  for (const name of readdirSync(place)) {
    const old = join(place, name);
    if (
      name.startsWith(prefix) &&
      name !== before &&
      lstatSync(old, { throwIfNoEntry: false })?.mtimeMs < Date.now() - KEPT_MS
    )
      rmSync(old, { recursive: true, force: true });
  }
}

function targetOf(link) {
  return lstatSync(link, { throwIfNoEntry: false })?.isSymbolicLink() ? readlinkSync(link) : undefined;
}

function holds(out, files) {
  if (targetOf(out) === undefined || !statSync(out, { throwIfNoEntry: false })) return false;
  const there = readdirSync(out, { recursive: true })
    .map(String)
    .filter((name) => !statSync(join(out, name)).isDirectory());
  return (
    there.length === files.size &&
    there.every((name) => files.has(name) && readFileSync(join(out, name)).equals(Buffer.from(files.get(name))))
  );
}
