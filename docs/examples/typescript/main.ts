/** A web application whose users collect their health records with Recordbridge. */
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { DatabaseSync } from "@photostructure/sqlite"; // the same as node:sqlite, which needs Node 22
import { type Event, Recordbridge, verifyWebhook } from "@recordbridge/server";
import express, { type ErrorRequestHandler, type Request } from "express";

const { BASE_URL = "", PUBLIC_ID = "", PRIVATE_KEY = "", WEBHOOK_SECRET = "", DATABASE = "", PORT } = process.env;
const POLICY =
  `default-src 'none'; script-src 'self' ${BASE_URL}/; frame-src ${BASE_URL}/; connect-src 'self'; img-src data:; ` +
  "form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
const folder = fileURLToPath(new URL("..", import.meta.url));

const client = new Recordbridge({ baseUrl: BASE_URL, publicId: PUBLIC_ID, privateKey: PRIVATE_KEY });
const db = new DatabaseSync(DATABASE);
db.exec(readFileSync(`${folder}/schema.sql`, "utf8"));

const app = express();
app.set("views", folder);
app.use((_request, response, next) => {
  response.set({ "Content-Security-Policy": POLICY, "Cache-Control": "no-store" });
  next();
});

/** Shows the widget, the user's connections, and the record that the query names. */
app.get("/", (request, response) => {
  let session = sessionOf(request);
  let user = db.prepare("SELECT id FROM users WHERE session = ?").get(session)?.id;
  if (user === undefined) {
    // Your application asks the visitor to sign in. This one creates a user, whose ID nobody else can guess.
    session = randomUUID();
    user = randomUUID();
    db.prepare("INSERT INTO users (id, session) VALUES (?, ?)").run(user, session);
    response.cookie("session", session, { httpOnly: true, sameSite: "lax" });
  }
  const connections = db.prepare("SELECT id, state FROM connections WHERE user = ?").all(user);
  const { record } = request.query;
  response.render("page.ejs", { baseUrl: BASE_URL, publicId: PUBLIC_ID, user, connections, record });
});

app.get("/app.js", (_request, response) => response.sendFile(`${folder}/app.js`));

/** Sends one of the user's records as NDJSON. */
app.get("/records/:id", (request, response) => {
  const query =
    "SELECT json FROM resources r JOIN connections c ON r.connection = c.id AND r.task = c.task WHERE c.id = ?";
  const lines = db.prepare(query).all(ownConnection(request));
  response.type("application/fhir+ndjson").send(lines.map(({ json }) => json).join("\n"));
});

/** Revokes a connection, and deletes its record at Recordbridge and here. */
app.post("/records/:id/delete", async (request, response) => {
  const id = ownConnection(request);
  await client.disconnect(id);
  db.prepare("DELETE FROM connections WHERE id = ?").run(id);
  db.prepare("DELETE FROM resources WHERE connection = ?").run(id);
  response.redirect(303, "/");
});

/** Stores an event and responds at once. An event that arrives again changes nothing. */
app.post("/webhook", express.raw({ type: "application/json", limit: "1mb" }), (request, response) => {
  const body = request.body as Buffer;
  const event = verifyWebhook(body, request.headers, WEBHOOK_SECRET);
  db.prepare("INSERT OR IGNORE INTO events (id, body) VALUES (?, ?)").run(event.id, body.toString());
  response.sendStatus(204);
  work();
});

/** Logs an error, which never contains health data, and responds without details. */
app.use(((error, request, response, _next) => {
  console.error(request.method, request.route?.path, error);
  response.sendStatus(error.status ?? 400);
}) as ErrorRequestHandler);

app.listen(Number(PORT), "localhost");
let working = Promise.resolve();
work(); // continues after a restart

/** Processes the stored events one after another. It repeats what failed after the next event. */
function work(): void {
  working = working.then(async () => {
    for (const { id, body } of db.prepare("SELECT id, body FROM events WHERE body IS NOT NULL ORDER BY rowid").all()) {
      try {
        await handle(JSON.parse(body));
        db.prepare("UPDATE events SET body = NULL WHERE id = ?").run(id);
      } catch (error) {
        console.error("event", id, error);
      }
    }
  });
}

/** Requests the export of a new connection, and saves the record of a successful export. */
async function handle({ type, data }: Event): Promise<void> {
  switch (type) {
    case "patient.connection_success": {
      const user = db.prepare("SELECT id FROM users WHERE id = ?").get(data.external_id)?.id;
      if (user === undefined || data.connection_status !== "authorized") return;
      await client.createExport({ org_connection_id: data.org_connection_id });
      const query = "INSERT OR REPLACE INTO connections (id, user, state) VALUES (?, ?, 'exporting')";
      db.prepare(query).run(data.org_connection_id, user);
      return;
    }
    case "patient.ehi_export_success":
      return save(data.org_connection_id, data.task_id);
    case "patient.ehi_export_failed":
      db.prepare("UPDATE connections SET state = 'failed' WHERE id = ?").run(data.org_connection_id);
      return;
    case "patient.authorization_revoked":
      db.prepare("UPDATE connections SET state = 'revoked' WHERE id = ?").run(data.org_connection_id);
  }
}

/** Stores the record of an export. The record becomes visible once it is complete and its digest matches. */
async function save(connection: string, task: string): Promise<void> {
  const [file] = await client.verifiedFiles(task);
  const query = "INSERT OR REPLACE INTO resources (id, type, connection, task, json) VALUES (?, ?, ?, ?, ?)";
  const insert = db.prepare(query);
  for await (const resource of client.resources(file!)) {
    insert.run(resource.id ?? "", resource.resourceType, connection, task, JSON.stringify(resource));
  }
  db.prepare("UPDATE connections SET state = 'ready', task = ? WHERE id = ?").run(task, connection);
  const others = "connection = ? AND task IS NOT (SELECT task FROM connections WHERE id = ?)";
  db.prepare(`DELETE FROM resources WHERE ${others}`).run(connection, connection);
}

/** Returns the ID of the requested connection if it belongs to the signed-in user. */
function ownConnection(request: Request<{ id: string }>): string {
  const query = "SELECT c.id FROM users JOIN connections c ON user = users.id WHERE session = ? AND c.id = ?";
  const found = db.prepare(query).get(sessionOf(request), request.params.id);
  if (found === undefined) throw Object.assign(new Error("not the user's connection"), { status: 404 });
  return found.id;
}

function sessionOf(request: Request): string {
  return /(?:^|; )session=([^;]+)/.exec(request.headers.cookie ?? "")?.[1] ?? "";
}
