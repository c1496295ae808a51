// Command example is a web application whose users collect their health records with Recordbridge.
package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"embed"
	"encoding/json"
	"html/template"
	"io"
	"log"
	"net/http"
	"os"
	"strings"
	"sync"

	"github.com/google/uuid"
	_ "modernc.org/sqlite"

	recordbridge "recordbridge/infra/sdk/go"
	"recordbridge/infra/sdk/go/api"
)

//go:embed page.html app.js schema.sql
var files embed.FS

type app struct {
	db                *sql.DB
	client            *recordbridge.Client
	page              *template.Template
	baseURL, publicID string
	working           sync.Mutex
}

func main() {
	a := &app{baseURL: os.Getenv("BASE_URL"), publicID: os.Getenv("PUBLIC_ID")}
	a.page = template.Must(template.ParseFS(files, "page.html"))
	a.client = must(recordbridge.New(recordbridge.Options{
		BaseURL: a.baseURL, PublicID: a.publicID, PrivateKey: os.Getenv("PRIVATE_KEY"),
	}))
	a.db = must(sql.Open("sqlite", "file:"+os.Getenv("DATABASE")+"?_pragma=busy_timeout(5000)&_pragma=journal_mode(wal)"))
	must(a.db.Exec(string(must(files.ReadFile("schema.sql")))))
	go a.work() // continues after a restart

	http.Handle("GET /app.js", http.FileServerFS(files))
	http.Handle("GET /{$}", handler(a.home))
	http.Handle("GET /records/{id}", handler(a.record))
	http.Handle("POST /records/{id}/delete", handler(a.delete))
	http.Handle("POST /webhook", handler(a.webhook))
	noOtherSite := http.NewCrossOriginProtection()
	log.Fatal(http.ListenAndServe("localhost:"+os.Getenv("PORT"), noOtherSite.Handler(http.DefaultServeMux)))
}

// home shows the widget, the user's connections, and the record that the query names.
func (a *app) home(w http.ResponseWriter, r *http.Request) error {
	user, states, connections := "", "", map[string]string{}
	if a.db.QueryRow("SELECT id FROM users WHERE session = ?", session(r)).Scan(&user) != nil {
		// Your application asks the visitor to sign in. This one creates a user, whose ID nobody else can guess.
		user = rand.Text()
		cookie := http.Cookie{Name: "session", Value: rand.Text(), HttpOnly: true, SameSite: http.SameSiteLaxMode}
		if _, err := a.db.Exec("INSERT INTO users (id, session) VALUES (?, ?)", user, cookie.Value); err != nil {
			return err
		}
		http.SetCookie(w, &cookie)
	}
	query := "SELECT json_group_object(id, state) FROM connections WHERE user = ?"
	if err := a.db.QueryRow(query, user).Scan(&states); err != nil {
		return err
	}
	if err := json.Unmarshal([]byte(states), &connections); err != nil {
		return err
	}
	w.Header().Set("Content-Security-Policy", strings.ReplaceAll("default-src 'none'; script-src 'self' BASE/; "+
		"frame-src BASE/; connect-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
		"BASE", a.baseURL))
	return a.page.Execute(w, map[string]any{
		"BaseURL": a.baseURL, "PublicID": a.publicID, "User": user, "Connections": connections,
		"Record": r.FormValue("record"),
	})
}

// session returns the visitor's session, or "".
func session(r *http.Request) string {
	cookie, err := r.Cookie("session")
	if err != nil {
		return ""
	}
	return cookie.Value
}

// record sends one of the user's records as NDJSON.
func (a *app) record(w http.ResponseWriter, r *http.Request) error {
	var lines string
	err := a.db.QueryRow(`SELECT group_concat(json, char(10)) FROM users JOIN connections c ON user = users.id
		JOIN resources ON connection = c.id AND resources.task = c.task WHERE session = ? AND c.id = ? GROUP BY c.id`,
		session(r), r.PathValue("id")).Scan(&lines)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/fhir+ndjson")
	_, err = io.WriteString(w, lines)
	return err
}

// delete revokes a connection, and deletes its record at Recordbridge and here.
func (a *app) delete(w http.ResponseWriter, r *http.Request) error {
	var id uuid.UUID
	err := a.db.QueryRow("SELECT c.id FROM users JOIN connections c ON user = users.id WHERE session = ? AND c.id = ?",
		session(r), r.PathValue("id")).Scan(&id)
	if err != nil {
		return err
	}
	if _, err := a.client.Disconnect(r.Context(), id); err != nil {
		return err
	}
	if err := a.exec("DELETE FROM connections WHERE id = ?1; DELETE FROM resources WHERE connection = ?1", id); err != nil {
		return err
	}
	http.Redirect(w, r, "/", http.StatusSeeOther)
	return nil
}

// webhook stores an event and responds at once. An event that arrives again changes nothing.
func (a *app) webhook(w http.ResponseWriter, r *http.Request) error {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	if err != nil {
		return err
	}
	event, err := recordbridge.VerifyWebhook(body, r.Header, os.Getenv("WEBHOOK_SECRET"))
	if err != nil {
		return err
	}
	defer func() { go a.work() }()
	return a.exec("INSERT OR IGNORE INTO events (id, body) VALUES (?, ?)", event.ID, string(body))
}

// work processes the stored events. It repeats what failed after the next event.
func (a *app) work() {
	a.working.Lock()
	defer a.working.Unlock()
	var row int
	var body []byte
	next := "SELECT rowid, body FROM events WHERE body IS NOT NULL AND rowid > ? ORDER BY rowid"
	for a.db.QueryRow(next, row).Scan(&row, &body) == nil {
		var event recordbridge.Event
		err := json.Unmarshal(body, &event)
		if err == nil {
			err = a.process(context.Background(), event.Value)
		}
		if err == nil {
			err = a.exec("UPDATE events SET body = NULL WHERE rowid = ?", row)
		}
		if err != nil {
			log.Printf("event %s: %v", event.ID, err)
		}
	}
}

// process requests the export of a new connection, and saves the record of a successful export.
func (a *app) process(ctx context.Context, event any) error {
	switch event := event.(type) {
	case api.ConnectionSuccessEvent:
		id, user := event.Data.OrgConnectionId, ""
		isUser := a.db.QueryRow("SELECT id FROM users WHERE id = ?", event.Data.ExternalId).Scan(&user) == nil
		if !isUser || event.Data.ConnectionStatus != api.ConnectionSuccessDataConnectionStatusAuthorized {
			return nil
		}
		if _, err := a.client.CreateExport(ctx, api.CreateExportRequest{OrgConnectionId: id}); err != nil {
			return err
		}
		return a.exec("INSERT OR REPLACE INTO connections (id, user, state) VALUES (?, ?, 'exporting')", id, user)
	case api.ExportSuccessEvent:
		return a.save(ctx, event.Data.TaskId, event.Data.OrgConnectionId)
	case api.ExportFailureEvent:
		return a.exec("UPDATE connections SET state = 'failed' WHERE id = ?", event.Data.OrgConnectionId)
	case api.AuthorizationRevokedEvent:
		return a.exec("UPDATE connections SET state = 'revoked' WHERE id = ?", event.Data.OrgConnectionId)
	}
	return nil
}

// save stores the record of an export. The record becomes visible once it is complete and its digest matches.
func (a *app) save(ctx context.Context, task string, id uuid.UUID) error {
	files, err := a.client.VerifiedFiles(ctx, task)
	if err != nil || len(files) == 0 {
		return err
	}
	for resource, err := range a.client.Resources(ctx, files[0], nil) {
		if err != nil {
			return err
		}
		err = a.exec("INSERT OR REPLACE INTO resources (id, type, connection, task, json) VALUES (?, ?, ?, ?, ?)",
			resource.ID, resource.ResourceType, id, task, string(resource.Raw))
		if err != nil {
			return err
		}
	}
	return a.exec(`UPDATE connections SET state = 'ready', task = ?1 WHERE id = ?2;
		DELETE FROM resources WHERE connection = ?2 AND task IS NOT (SELECT task FROM connections WHERE id = ?2)`, task, id)
}

func (a *app) exec(query string, arguments ...any) error {
	_, err := a.db.Exec(query, arguments...)
	return err
}

type handler func(w http.ResponseWriter, r *http.Request) error

// ServeHTTP logs the error of a handler, which never contains health data, and responds without details.
func (handle handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	if err := handle(w, r); err != nil {
		log.Printf("%s: %v", r.Pattern, err)
		http.Error(w, "not found or not possible", http.StatusBadRequest)
	}
}

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}
