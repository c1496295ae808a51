/** Writes the npm package to a folder (build/npm by default), using the output of build.mjs. It does not publish the package. */
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const sdk = dirname(fileURLToPath(import.meta.url));
const repository = join(sdk, "../../..");
const [built = join(repository, "build/ui"), out = join(repository, "build/npm")] = process.argv
  .slice(2)
  .map((path) => resolve(path));

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
const { files } = JSON.parse(readFileSync(join(built, "manifest.json"), "utf8"));
copyFileSync(join(built, files["sdk/svc-widget.js"].path), join(out, "svc-widget.js"));
copyFileSync(join(repository, "LICENSE"), join(out, "LICENSE"));
copyFileSync(join(sdk, "../kit/protocol.ts"), join(out, "protocol.d.ts"));
for (const name of ["package.json", "README.md", "custom-elements.json", "events.schema.json"])
  copyFileSync(join(sdk, name), join(out, name));
for (const name of readdirSync(join(sdk, "package"))) {
  writeFileSync(
    join(out, name),
    readFileSync(join(sdk, "package", name), "utf8").replaceAll("../../kit/protocol.ts", "./protocol.d.ts"),
  );
}
