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

var (
	baseURL, publicID = os.Getenv("BASE_URL"), os.Getenv("PUBLIC_ID")
	policy            = strings.ReplaceAll("default-src 'none'; script-src 'self' BASE/; frame-src BASE/; "+
		"connect-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'", "BASE", baseURL)
	options = recordbridge.Options{BaseURL: baseURL, PublicID: publicID, PrivateKey: os.Getenv("PRIVATE_KEY")}
	client  = must(recordbridge.New(options))
	page    = template.Must(template.ParseFS(files, "page.html"))
	pragmas = "?_pragma=busy_timeout(5000)&_pragma=journal_mode(wal)"
	db      = must(sql.Open("sqlite", "file:"+os.Getenv("DATABASE")+pragmas))
	working sync.Mutex
)

func main() {
	must(db.Exec(string(must(files.ReadFile("schema.sql")))))
	go work() // continues after a restart
	http.Handle("GET /app.js", http.FileServerFS(files))
	http.Handle("GET /{$}", handler(home))
	http.Handle("GET /records/{id}", handler(record))
	http.Handle("POST /records/{id}/delete", handler(remove))
	http.Handle("POST /webhook", handler(webhook))
	noOtherSite := http.NewCrossOriginProtection()
	log.Fatal(http.ListenAndServe("localhost:"+os.Getenv("PORT"), noOtherSite.Handler(http.DefaultServeMux)))
}

// home shows the widget, the user's connections, and the record that the query names.
func home(w http.ResponseWriter, r *http.Request) error {
	user, states, connections := "", "", map[string]string{}
	if db.QueryRow("SELECT id FROM users WHERE session = ?", session(r)).Scan(&user) != nil {
		// Your application asks the visitor to sign in. This one creates a user, whose ID nobody else can guess.
		user = rand.Text()
		cookie := http.Cookie{Name: "session", Value: rand.Text(), HttpOnly: true, SameSite: http.SameSiteLaxMode}
		if err := exec("INSERT INTO users (id, session) VALUES (?, ?)", user, cookie.Value); err != nil {
			return err
		}
		http.SetCookie(w, &cookie)
	}
	query := "SELECT json_group_object(id, state) FROM connections WHERE user = ?"
	if err := db.QueryRow(query, user).Scan(&states); err != nil {
		return err
	}
	if err := json.Unmarshal([]byte(states), &connections); err != nil {
		return err
	}
	return page.Execute(w, map[string]any{
		"BaseURL": baseURL, "PublicID": publicID, "User": user, "Connections": connections, "Record": r.FormValue("record"),
	})
}

// record sends one of the user's records as NDJSON.
func record(w http.ResponseWriter, r *http.Request) error {
	var lines string
	err := db.QueryRow(`SELECT group_concat(json, char(10)) FROM users JOIN connections c ON user = users.id
		JOIN resources ON connection = c.id AND resources.task = c.task WHERE session = ? AND c.id = ? GROUP BY c.id`,
		session(r), r.PathValue("id")).Scan(&lines)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/fhir+ndjson")
	_, err = io.WriteString(w, lines)
	return err
}

// remove revokes a connection, and deletes its record at Recordbridge and here.
func remove(w http.ResponseWriter, r *http.Request) error {
	var id uuid.UUID
	err := db.QueryRow("SELECT c.id FROM users JOIN connections c ON user = users.id WHERE session = ? AND c.id = ?",
		session(r), r.PathValue("id")).Scan(&id)
	if err != nil {
		return err
	}
	if _, err := client.Disconnect(r.Context(), id); err != nil {
		return err
	}
	if err := exec("DELETE FROM connections WHERE id = ?1; DELETE FROM resources WHERE connection = ?1", id); err != nil {
		return err
	}
	http.Redirect(w, r, "/", http.StatusSeeOther)
	return nil
}

// session returns the visitor's session, or "".
func session(r *http.Request) string {
	cookie, err := r.Cookie("session")
	if err != nil {
		return ""
	}
	return cookie.Value
}

// webhook stores an event and responds at once. An event that arrives again changes nothing.
func webhook(w http.ResponseWriter, r *http.Request) error {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	if err != nil {
		return err
	}
	event, err := recordbridge.VerifyWebhook(body, r.Header, os.Getenv("WEBHOOK_SECRET"))
	if err != nil {
		return err
	}
	defer func() { go work() }()
	return exec("INSERT OR IGNORE INTO events (id, body) VALUES (?, ?)", event.ID, string(body))
}

// work processes the stored events. It repeats what failed after the next event.
func work() {
	working.Lock()
	defer working.Unlock()
	var row int
	var body []byte
	next := "SELECT rowid, body FROM events WHERE body IS NOT NULL AND rowid > ? ORDER BY rowid"
	for db.QueryRow(next, row).Scan(&row, &body) == nil {
		err := process(context.Background(), body)
		if err == nil {
			err = exec("UPDATE events SET body = NULL WHERE rowid = ?", row)
		}
		if err != nil {
			log.Printf("event %d: %v", row, err)
		}
	}
}

// process requests the export of a new connection, and saves the record of a successful export.
func process(ctx context.Context, body []byte) error {
	var event recordbridge.Event
	if err := json.Unmarshal(body, &event); err != nil {
		return err
	}
	switch event := event.Value.(type) {
	case api.ConnectionSuccessEvent:
		id, user := event.Data.OrgConnectionId, ""
		isUser := db.QueryRow("SELECT id FROM users WHERE id = ?", event.Data.ExternalId).Scan(&user) == nil
		if !isUser || event.Data.ConnectionStatus != api.ConnectionSuccessDataConnectionStatusAuthorized {
			return nil
		}
		if _, err := client.CreateExport(ctx, api.CreateExportRequest{OrgConnectionId: id}); err != nil {
			return err
		}
		return exec("INSERT OR REPLACE INTO connections (id, user, state) VALUES (?, ?, 'exporting')", id, user)
	case api.ExportSuccessEvent:
		return save(ctx, event.Data.TaskId, event.Data.OrgConnectionId)
	case api.ExportFailureEvent:
		return exec("UPDATE connections SET state = 'failed' WHERE id = ?", event.Data.OrgConnectionId)
	case api.AuthorizationRevokedEvent:
		return exec("UPDATE connections SET state = 'revoked' WHERE id = ?", event.Data.OrgConnectionId)
	}
	return nil
}

// save stores the record of an export. The record becomes visible once it is complete and its digest matches.
func save(ctx context.Context, task string, id uuid.UUID) error {
	files, err := client.VerifiedFiles(ctx, task)
	if err != nil || len(files) == 0 {
		return err
	}
	for resource, err := range client.Resources(ctx, files[0], nil) {
		if err != nil {
			return err
		}
		err = exec("INSERT OR REPLACE INTO resources (id, type, connection, task, json) VALUES (?, ?, ?, ?, ?)",
			resource.ID, resource.ResourceType, id, task, string(resource.Raw))
		if err != nil {
			return err
		}
	}
	return exec(`UPDATE connections SET state = 'ready', task = ?1 WHERE id = ?2;
		DELETE FROM resources WHERE connection = ?2 AND task IS NOT (SELECT task FROM connections WHERE id = ?2)`, task, id)
}

func exec(query string, arguments ...any) error {
	_, err := db.Exec(query, arguments...)
	return err
}

type handler func(w http.ResponseWriter, r *http.Request) error

// ServeHTTP logs the error of a handler, which never contains health data, and responds without details.
func (handle handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Security-Policy", policy)
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
