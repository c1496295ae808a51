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

// Root is the path under which the console has to be served.
const Root = "/_local"

//go:embed page
var files embed.FS

// Options are what the console shows and acts on; all of them have to be set.
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

// New serves the console of a stack. What changes something is refused to pages of other origins.
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

// servePage serves index.html at Root and the scripts and styles beside it.
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
		case "return.html": // a template
			continue
		}
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) { http.ServeFileFS(w, r, page, name) })
	}
	mux.Handle("GET "+Root+"/{$}", http.RedirectHandler(Root, http.StatusMovedPermanently))
	return nil
}

// withHeaders makes sure that nothing a function wrote or a redirect brought can act on the page.
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

// limit reads how much a request wants: the usual number unless it names one, and never more than most.
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
		status, body = http.StatusInternalServerError, []byte(`{"error":"the state cannot be written as JSON"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n')) // a client that went away needs no answer
}

func writeError(w http.ResponseWriter, status int, message string) {
	writeJSON(w, status, map[string]string{"error": message})
}
