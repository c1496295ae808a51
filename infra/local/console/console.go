// Package console is the runner's page for people at /_local: functions with their last log lines, queues, mail and
// received webhooks, with buttons that fire a schedule or kill a function's processes. It also holds the page to which
// the seeded test credential sends a browser back. It shows what others own and decides nothing itself; it shows no
// keys, since any user of this machine can open it.
package console

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"html/template"
	"io/fs"
	"net/http"
	"slices"
	"strings"
	"time"

	"recordbridge/infra/local/triggers"
)

// Root is the path under which the console has to be served.
const Root = "/_local"

//go:embed page
var files embed.FS

// Stack is what the console shows and acts on.
type Stack interface {
	State() State
	// Fire runs the schedule of a function now. An error is told to the person who asked.
	Fire(ctx context.Context, function string) error
	// Kill ends the processes of a function and returns how many there were.
	Kill(function string) int
}

// State is everything on the page. Lists are ordered as they are to be shown.
type State struct {
	BaseURL   string     `json:"base_url"`
	InboxURL  string     `json:"inbox_url"`
	RunFile   string     `json:"run_file"` // where the keys are
	Functions []Function `json:"functions"`
	Queues    []Queue    `json:"queues"`
	Mails     []Mail     `json:"mails"`
	Webhooks  []Webhook  `json:"webhooks"`
}

// Function is one function of the stack.
type Function struct {
	ID          string   `json:"id"`
	Schedule    string   `json:"schedule,omitempty"` // such as "every 1m0s"
	Processes   int      `json:"processes"`
	Busy        int      `json:"busy"`
	Invocations int      `json:"invocations"`
	Failures    int      `json:"failures"`
	Log         []string `json:"log"` // oldest line first
}

// Queue is one queue with its numbers of messages.
type Queue struct {
	Name       string `json:"name"`
	Visible    int    `json:"visible"`
	InFlight   int    `json:"in_flight"`
	Delayed    int    `json:"delayed"`
	DeadLetter bool   `json:"dead_letter"`
}

// Mail is one mail that was sent.
type Mail struct {
	At      time.Time `json:"at"`
	To      []string  `json:"to"`
	Subject string    `json:"subject"`
	Text    string    `json:"text"`
}

// Webhook is one delivery that the inbox received.
type Webhook struct {
	ReceivedAt time.Time `json:"received_at"`
	Path       string    `json:"path"`
	Verdict    string    `json:"verdict"` // on its signature
	Body       string    `json:"body"`
}

type console struct {
	stack      Stack
	returnPage *template.Template
}

// New serves the console of stack. What changes something is refused to pages of other origins.
func New(stack Stack) (http.Handler, error) {
	page, err := fs.Sub(files, "page")
	if err != nil {
		return nil, err
	}
	returnPage, err := template.ParseFS(page, "return.html")
	if err != nil {
		return nil, err
	}
	c := &console{stack: stack, returnPage: returnPage}
	mux := http.NewServeMux()
	for path, file := range map[string]string{"": "index.html", "/console.js": "console.js", "/console.css": "console.css"} {
		mux.HandleFunc("GET "+Root+path, func(w http.ResponseWriter, r *http.Request) { http.ServeFileFS(w, r, page, file) })
	}
	mux.Handle("GET "+Root+"/{$}", http.RedirectHandler(Root, http.StatusMovedPermanently))
	mux.HandleFunc("GET "+Root+"/state", c.serveState)
	mux.HandleFunc("GET "+Root+"/return", c.serveReturn)
	mux.HandleFunc("POST "+Root+"/fire/{function}", c.serveFire)
	mux.HandleFunc("POST "+Root+"/kill/{function}", c.serveKill)
	return withHeaders(http.NewCrossOriginProtection().Handler(mux)), nil
}

// withHeaders makes sure that nothing a function wrote or a redirect brought can act on the page.
func withHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Security-Policy",
			"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

func (c *console) serveState(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, c.stack.State())
}

func (c *console) serveFire(w http.ResponseWriter, r *http.Request) {
	err := c.stack.Fire(r.Context(), r.PathValue("function"))
	switch {
	case errors.Is(err, triggers.ErrNoSchedule):
		writeJSON(w, http.StatusNotFound, map[string]string{"error": err.Error()})
	case err != nil:
		writeJSON(w, http.StatusBadGateway, map[string]string{"error": err.Error()})
	default:
		writeJSON(w, http.StatusOK, map[string]string{"fired": r.PathValue("function")})
	}
}

func (c *console) serveKill(w http.ResponseWriter, r *http.Request) {
	writeJSON(w, http.StatusOK, map[string]int{"killed": c.stack.Kill(r.PathValue("function"))})
}

// serveReturn shows what a redirect brought back: to a person as a page, to a program, which asks for JSON, as an
// object of the first value of every parameter.
func (c *console) serveReturn(w http.ResponseWriter, r *http.Request) {
	type parameter struct{ Name, Value string }
	rows, object := []parameter{}, map[string]string{}
	for name, values := range r.URL.Query() {
		object[name] = values[0]
		for _, value := range values {
			rows = append(rows, parameter{name, value})
		}
	}
	if strings.Contains(r.Header.Get("Accept"), "application/json") {
		writeJSON(w, http.StatusOK, object)
		return
	}
	slices.SortStableFunc(rows, func(a, b parameter) int { return strings.Compare(a.Name, b.Name) })
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_ = c.returnPage.Execute(w, map[string]any{"Parameters": rows, "Failed": r.URL.Query().Has("error")}) // fails only when the browser is gone
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
