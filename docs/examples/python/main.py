"""A web application whose users collect their health records with Recordbridge."""

import json
import logging
import os
import secrets
import sqlite3
import threading
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import BackgroundTasks, FastAPI, HTTPException, Request, Response
from fastapi.responses import FileResponse, PlainTextResponse, RedirectResponse
from fastapi.templating import Jinja2Templates
from recordbridge import CreateExportRequest, Recordbridge, verify_webhook
from standardwebhooks.webhooks import WebhookVerificationError

FOLDER = Path(__file__).parent
BASE_URL, PUBLIC_ID = os.environ["BASE_URL"], os.environ["PUBLIC_ID"]
POLICY = (
    f"default-src 'none'; script-src 'self' {BASE_URL}/; frame-src {BASE_URL}/; connect-src 'self'; img-src data:; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)

app = FastAPI(openapi_url=None)
pages = Jinja2Templates(FOLDER)
client = Recordbridge(BASE_URL, PUBLIC_ID, os.environ["PRIVATE_KEY"])
db = sqlite3.connect(os.environ["DATABASE"], isolation_level=None, check_same_thread=False)
db.executescript((FOLDER / "schema.sql").read_text())
working = threading.Lock()


@app.middleware("http")
async def add_headers(request: Request, call_next: Any) -> Response:
    response = await call_next(request)
    response.headers["Content-Security-Policy"] = POLICY
    response.headers["Cache-Control"] = "no-store"
    return response


@app.get("/")
def home(request: Request, record: str = "") -> Response:
    """Shows the widget, the user's connections, and the record that the query names."""
    session = request.cookies.get("session", "")
    user = db.execute("SELECT id FROM users WHERE session = ?", [session]).fetchone()
    if user is None:
        # Your application asks the visitor to sign in. This one creates a user, whose ID nobody else can guess.
        session, user = secrets.token_urlsafe(), [secrets.token_urlsafe()]
        db.execute("INSERT INTO users (id, session) VALUES (?, ?)", [user[0], session])
    connections = db.execute("SELECT id, state FROM connections WHERE user = ?", [user[0]]).fetchall()
    values = {"base_url": BASE_URL, "public_id": PUBLIC_ID, "user": user[0]}
    values |= {"connections": connections, "record": record}
    response = pages.TemplateResponse(request, "page.html", values)
    response.set_cookie("session", session, httponly=True, samesite="lax")
    return response


@app.get("/app.js")
def script() -> Response:
    return FileResponse(FOLDER / "app.js")


@app.get("/records/{connection}")
def send(request: Request, connection: str) -> Response:
    """Sends one of the user's records as NDJSON."""
    lines = db.execute(
        "SELECT json FROM resources r JOIN connections c ON r.connection = c.id AND r.task = c.task WHERE c.id = ?",
        [own(request, connection)],
    )
    return PlainTextResponse("\n".join(line for (line,) in lines), media_type="application/fhir+ndjson")


@app.post("/records/{connection}/delete")
def delete(request: Request, connection: str) -> Response:
    """Revokes a connection, and deletes its record at Recordbridge and here."""
    client.disconnect(own(request, connection))
    db.execute("DELETE FROM connections WHERE id = ?", [connection])
    db.execute("DELETE FROM resources WHERE connection = ?", [connection])
    return RedirectResponse("/", status_code=303)


def own(request: Request, connection: str) -> str:
    """Returns the ID of a connection if it belongs to the signed-in user."""
    query = "SELECT c.id FROM users JOIN connections c ON user = users.id WHERE session = ? AND c.id = ?"
    found = db.execute(query, [request.cookies.get("session"), connection]).fetchone()
    if found is None:
        raise HTTPException(404)
    return found[0]


@app.post("/webhook", status_code=204)
async def webhook(request: Request, background: BackgroundTasks) -> None:
    """Stores an event and responds at once. An event that arrives again changes nothing."""
    body = await request.body()
    try:
        verify_webhook(body, request.headers, os.environ["WEBHOOK_SECRET"])
    except WebhookVerificationError as error:
        raise HTTPException(400) from error
    db.execute("INSERT OR IGNORE INTO events (id, body) VALUES (?, ?)", [json.loads(body)["id"], body])
    background.add_task(work)


def work() -> None:
    """Processes the stored events. It repeats what failed after the next event."""
    with working:
        stored = db.execute("SELECT id, body FROM events WHERE body IS NOT NULL ORDER BY rowid").fetchall()
        for event_id, body in stored:
            try:
                process(**json.loads(body))
                db.execute("UPDATE events SET body = NULL WHERE id = ?", [event_id])
            except Exception:
                logging.exception("event %s", event_id)


def process(type: str, data: dict[str, Any], **_: Any) -> None:
    """Requests the export of a new connection, and saves the record of a successful export."""
    connection = data.get("org_connection_id")
    match type:
        case "patient.connection_success" if data["connection_status"] == "authorized":
            user = db.execute("SELECT id FROM users WHERE id = ?", [data["external_id"]]).fetchone()
            if user is not None:
                client.create_export(CreateExportRequest(connection))
                query = "INSERT OR REPLACE INTO connections (id, user, state) VALUES (?, ?, 'exporting')"
                db.execute(query, [connection, *user])
        case "patient.ehi_export_success":
            save(connection, data["task_id"])
        case "patient.ehi_export_failed":
            db.execute("UPDATE connections SET state = 'failed' WHERE id = ?", [connection])
        case "patient.authorization_revoked":
            db.execute("UPDATE connections SET state = 'revoked' WHERE id = ?", [connection])


def save(connection: str, task: str) -> None:
    """Stores the record of an export. The record becomes visible once it is complete and its digest matches."""
    for resource in client.resources(client.verified_files(task)[0]):
        row = [resource.get("id"), resource["resourceType"], connection, task, json.dumps(resource)]
        db.execute("INSERT OR REPLACE INTO resources (id, type, connection, task, json) VALUES (?, ?, ?, ?, ?)", row)
    db.execute("UPDATE connections SET state = 'ready', task = ? WHERE id = ?", [task, connection])
    others = "connection = ?1 AND task IS NOT (SELECT task FROM connections WHERE id = ?1)"
    db.execute(f"DELETE FROM resources WHERE {others}", [connection])


if __name__ == "__main__":
    threading.Thread(target=work).start()  # continues after a restart
    uvicorn.run(app, host="localhost", port=int(os.environ["PORT"]), log_level="warning")
