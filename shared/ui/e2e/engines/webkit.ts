/** Starts the MiniBrowser of Debian's WebKitGTK on a separate display, through WebKitWebDriver. */
import { spawn } from "node:child_process";
import { createServer, type AddressInfo } from "node:net";
import { COMMANDS, installed, start, stop, until, type Engine, type Options, type Send } from "./driver.ts";

const BROWSER = "/usr/lib/x86_64-linux-gnu/webkit2gtk-4.1/MiniBrowser";

/** Starts an X server, which chooses a free display and prints its number. */
async function display(): Promise<{ name: string; end: () => void }> {
  const server = spawn(
    installed("Xvfb", "xvfb"),
    ["-displayfd", "3", "-screen", "0", "1280x1024x24", "-nolisten", "tcp"],
    { stdio: ["ignore", "ignore", "ignore", "pipe"] },
  );
  const number = await new Promise<string>((resolve, reject) => {
    server.stdio[3]?.once("data", (bytes: Buffer) => resolve(bytes.toString().trim()));
    server.once("exit", () => reject(new Error("Xvfb did not start")));
  });
  return { name: `:${number}`, end: () => server.kill() };
}

/** Returns a port that was free a moment ago. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

export async function webkit({ folder, blocksCookies }: Options): Promise<Engine> {
  const screen = await display();
  const port = await freePort();
  const program = start(installed("WebKitWebDriver", "webkit2gtk-driver"), [`--port=${port}`], {
    ...process.env,
    DISPLAY: screen.name,
    HOME: folder,
    XDG_RUNTIME_DIR: folder,
    NO_AT_BRIDGE: "1",
    WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: "1", // the sandbox needs privileges that a container lacks
  });
  const base = `http://127.0.0.1:${port}`;
  await until("WebKitWebDriver starts", async () => (await fetch(`${base}/status`)).ok);
  const browser = {
    binary: BROWSER,
    args: ["--automation", `--cookies-policy=${blocksCookies ? "never" : "no-third-party"}`],
  };
  const capabilities = { alwaysMatch: { "webkitgtk:browserOptions": browser } };
  const { sessionId } = (await request("POST", `${base}/session`, { capabilities })) as { sessionId: string };
  const send: Send = (name, parameters = {}) => {
    const [method, path] = COMMANDS[name];
    const { id, ...body } = parameters as { id?: string };
    const address = `${base}/session/${sessionId}/${path.replace("{id}", id ?? "")}`;
    return request(
      method,
      address,
      method === "POST" ? (path === "frame" ? { id: null, ...parameters } : body) : undefined,
    );
  };
  const end = async (): Promise<void> => {
    await request("DELETE", `${base}/session/${sessionId}`).catch(() => undefined); // if the request fails, stop kills the browser
    await stop(program);
    screen.end();
  };
  return { send, stop: end };
}

async function request(method: string, address: string, body?: object): Promise<unknown> {
  const response = await fetch(address, body === undefined ? { method } : { method, body: JSON.stringify(body) });
  const { value } = (await response.json()) as { value: unknown };
  if (response.ok) return value;
  const { error, message } = value as { error: string; message: string };
  throw new Error(`${method} ${address}: ${error}: ${message}`);
}
