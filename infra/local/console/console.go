// Package console serves the runner's web page at /_local. The page shows the state and activity of the stack on this
// machine: functions, their invocations with log lines and AWS calls, tables, queues, objects, mail and received
// webhooks. On the page, users can run a scheduled function, kill a function's processes, redrive or purge a queue,
// corrupt a row and enable faults. The package also contains the page to which the browser is redirected when the
// seeded test credential is used. The package holds no state. The package reads data and triggers actions through the
// interfaces in Options.
//
// Any user of this machine can open the page, so the page never shows keys. The page omits environment variables,
// Secrets Manager, KMS, binary values, and anything whose name or form suggests that it is a key, secret, token or hash
// (hide.go). The page uses the following JSON endpoints. Names are in snake_case, and times are in RFC 3339. An error
// has the form {"error": "…"} and a status of 4xx or 5xx.
//
//	GET  /_local/api/state                                            links, functions, totals
//	POST /_local/api/functions/{function}/fire                        run its schedule now; responds when it is done
//	POST /_local/api/functions/{function}/kill                        end its processes
//	GET  /_local/api/invocations?function=&without=&failed=1&limit=   invocations, newest first
//	GET  /_local/api/invocations/{id}                                 one invocation, with its lines and calls
//	GET  /_local/api/tables                                           tables with keys, indexes and row counts
//	GET  /_local/api/tables/{table}/items?index=&prefix=&from=&limit= rows by key, in pages
//	GET  /_local/api/tables/{table}/item?index=&id=                   one row
//	POST /_local/api/tables/{table}/damage?id=&attribute=             corrupt a row
//	GET  /_local/api/faults                                           enabled faults
//	POST /_local/api/faults                                           {"faults":[{"name":…,"kind":…}]} replaces all
//	GET  /_local/api/queues                                           queues with their message counts
//	GET  /_local/api/queues/{queue}/messages                          the oldest messages, without receiving them
//	POST /_local/api/queues/{queue}/redrive                           move dead letters back to their source queues
//	POST /_local/api/queues/{queue}/purge                             delete all messages
//	GET  /_local/api/buckets
//	GET  /_local/api/buckets/{bucket}/objects?prefix=&from=           one level of keys, in pages
//	GET  /_local/api/buckets/{bucket}/object?key=                     one object with the beginning of its text
//	GET  /_local/api/buckets/{bucket}/download?key=                   the object's bytes, as an attachment
//	GET  /_local/api/mail                                             mail, newest first
//	GET  /_local/api/inbox                                            webhooks and signature validity, newest first
package console

import (
	"embed"
	"encoding/json"
	"html/template"
	"io/fs"
	"net/http"
	"strconv"
	"strings"
)

// Root is the path under which the console must be served.
const Root = "/_local"

//go:embed page
var files embed.FS

// Options provides the data and actions of the console. All fields are required.
type Options struct {
	Stack       Stack
	Invocations Invocations
	Tables      Tables
	Queues      Queues
	QueueClient QueueClient
	Objects     ObjectClient
	Faults      Faults
}

type console struct {
	Options

	returnPage *template.Template
}

// New returns the console's handler, which rejects state-changing requests from pages of other origins.
func New(o Options) (http.Handler, error) {
	page, err := fs.Sub(files, "page")
	if err != nil {
		return nil, err
	}
	returnPage, err := template.ParseFS(page, "return.html")
	if err != nil {
		return nil, err
	}
	c := &console{Options: o, returnPage: returnPage}
	mux := http.NewServeMux()
	if err := servePage(mux, page); err != nil {
		return nil, err
	}
	mux.HandleFunc("GET "+Root+"/return", c.serveReturn)
	for pattern, serve := range map[string]http.HandlerFunc{
		"GET /state":                      c.serveState,
		"POST /functions/{function}/fire": c.serveFire,
		"POST /functions/{function}/kill": c.serveKill,
		"GET /invocations":                c.serveInvocations,
		"GET /invocations/{id}":           c.serveInvocation,
		"GET /tables":                     c.serveTables,
		"GET /tables/{table}/items":       c.serveItems,
		"GET /tables/{table}/item":        c.serveItem,
		"GET /queues":                     c.serveQueues,
		"GET /queues/{queue}/messages":    c.serveMessages,
		"POST /queues/{queue}/redrive":    c.serveRedrive,
		"POST /queues/{queue}/purge":      c.servePurge,
		"GET /buckets":                    c.serveBuckets,
		"GET /buckets/{bucket}/objects":   c.serveObjects,
		"GET /buckets/{bucket}/object":    c.serveObject,
		"GET /buckets/{bucket}/download":  c.serveDownload,
		"POST /tables/{table}/damage":     c.serveDamage,
		"GET /faults":                     c.serveFaults,
		"POST /faults":                    c.serveSetFaults,
		"GET /mail":                       c.serveMail,
		"GET /mail/{id}":                  c.serveMailHTML,
		"GET /inbox":                      c.serveInbox,
	} {
		method, path, _ := strings.Cut(pattern, " ")
		mux.HandleFunc(method+" "+Root+"/api"+path, serve)
	}
	return withHeaders(http.NewCrossOriginProtection().Handler(mux)), nil
}

// servePage serves index.html at Root, and the scripts and styles in the same folder.
func servePage(mux *http.ServeMux, page fs.FS) error {
	entries, err := fs.ReadDir(page, ".")
	if err != nil {
		return err
	}
	for _, entry := range entries {
		name := entry.Name()
		path := Root + "/" + name
		switch name {
		case "index.html":
			path = Root
		case "return.html": // a template, not a static file
			continue
		}
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) { http.ServeFileFS(w, r, page, name) })
	}
	mux.Handle("GET "+Root+"/{$}", http.RedirectHandler(Root, http.StatusMovedPermanently))
	return nil
}

// withHeaders sets headers that prevent data from functions or redirects from affecting the page.
func withHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Security-Policy",
			"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; frame-src 'self'; base-uri 'none'; "+
				"form-action 'none'; frame-ancestors 'none'")
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

// limit returns the request's limit, or usual if the request does not set a limit. The returned limit never exceeds
// most.
func limit(r *http.Request, usual, most int) int {
	n, err := strconv.Atoi(r.URL.Query().Get("limit"))
	if err != nil || n < 1 {
		return usual
	}
	return min(n, most)
}

func writeJSON(w http.ResponseWriter, status int, value any) {
	body, err := json.Marshal(value)
	if err != nil {
		status, body = http.StatusInternalServerError, []byte(`{"error":"the state can't be encoded as JSON"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n')) // the client may have disconnected
}

func writeError(w http.ResponseWriter, status int, message string) {
	writeJSON(w, status, map[string]string{"error": message})
}
