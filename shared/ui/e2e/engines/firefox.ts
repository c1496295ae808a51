/** Starts Debian's Firefox and controls it through its Marionette protocol, because Debian has no geckodriver. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createConnection, type Socket } from "node:net";
import { join } from "node:path";
import { installed, start, stop, until, type Engine, type Options, type Send } from "./driver.ts";

/** Settings of the profile. Popups need a click, as in a patient's Firefox, and nothing is sent to Mozilla. */
const PREFERENCES = {
  "marionette.port": 0,
  "remote.prefs.recommended": false,
  "dom.disable_open_during_load": true,
  "browser.shell.checkDefaultBrowser": false,
  "browser.startup.page": 0,
  "browser.aboutwelcome.enabled": false,
  "datareporting.policy.dataSubmissionEnabled": false,
  "datareporting.policy.dataSubmissionPolicyBypassNotification": true,
  "app.normandy.enabled": false,
  "app.update.disabledForTesting": true,
  "browser.safebrowsing.malware.enabled": false,
  "browser.safebrowsing.phishing.enabled": false,
  "browser.region.network.url": "",
  "network.captive-portal-service.enabled": false,
  "network.connectivity-service.enabled": false,
  "services.settings.server": "data:,#remote-settings-dummy/v1",
  "toolkit.telemetry.enabled": false,
};

/** The preference that makes Firefox block all cookies. */
const BLOCKED = { "network.cookie.cookieBehavior": 2 };

export async function firefox({ folder, blocksCookies }: Options): Promise<Engine> {
  const preferences = Object.entries({ ...PREFERENCES, ...(blocksCookies && BLOCKED) });
  writeFileSync(
    join(folder, "user.js"),
    preferences.map(([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});\n`).join(""),
  );
  const program = start(
    installed("firefox-esr", "firefox-esr"),
    ["--headless", "--no-remote", "--marionette", "--profile", folder],
    {
      ...process.env,
      HOME: folder, // Firefox rejects another user's home directory
      MOZ_DISABLE_AUTO_SAFE_MODE: "1",
    },
  );
  const file = join(folder, "MarionetteActivePort");
  const port = await until("Firefox starts", async () => existsSync(file) && Number(readFileSync(file, "utf8")));
  const socket = createConnection(port, "127.0.0.1");
  const command = commands(socket);
  const send: Send = (name, parameters) => command(`WebDriver:${name}`, parameters);
  await command("WebDriver:NewSession", {});
  const end = async (): Promise<void> => {
    socket.destroy();
    await stop(program);
  };
  return { send, stop: end };
}

type Reply = [type: number, id: number, error: { error: string; message: string } | null, result: unknown];

/** Returns a function that sends commands as "<length>:[0,<id>,<name>,<parameters>]" and waits for their replies. */
function commands(socket: Socket): (name: string, parameters?: object) => Promise<unknown> {
  const waiting = new Map<number, (reply: Reply) => void>();
  let received = Buffer.alloc(0);
  let sent = 0;
  socket.on("data", (bytes) => {
    received = Buffer.concat([received, bytes]);
    for (let colon; (colon = received.indexOf(":")) > 0;) {
      const end = colon + 1 + Number(received.subarray(0, colon));
      if (received.length < end) return;
      const message: unknown = JSON.parse(received.subarray(colon + 1, end).toString());
      received = received.subarray(end);
      if (Array.isArray(message)) waiting.get(Number(message[1]))?.(message as Reply);
    }
  });
  return async (name, parameters = {}) => {
    const id = ++sent;
    const replied = new Promise<Reply>((resolve) => waiting.set(id, resolve));
    const text = JSON.stringify([0, id, name, parameters]);
    socket.write(`${Buffer.byteLength(text)}:${text}`);
    const [, , error, result] = await replied;
    waiting.delete(id);
    if (error) throw new Error(`${name}: ${error.error}: ${error.message}`);
    const isWrapped = typeof result === "object" && result !== null && "value" in result;
    return isWrapped ? result.value : result;
  };
}
