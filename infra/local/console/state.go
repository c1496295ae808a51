package console

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"recordbridge/infra/local/timeline"
	"recordbridge/infra/local/triggers"
)

// Stack provides access to the runner. All lists are in display order.
type Stack interface {
	Links() Links
	Functions() []Function
	Mails() []Mail
	Webhooks() []Webhook
	// Fire runs a scheduled function immediately. If Fire returns an error, the console shows it to the user.
	Fire(ctx context.Context, function string) error
	// Kill ends a function's processes and returns how many it ended.
	Kill(function string) int
}

// Links holds the URLs of the stack's components.
type Links struct {
	Stack    string `json:"stack"` // stack name
	BaseURL  string `json:"base_url"`
	InboxURL string `json:"inbox_url"`
	RunFile  string `json:"run_file"` // path of the file that contains the keys
}

// Function describes a function of the stack.
type Function struct {
	ID          string   `json:"id"`
	Schedule    string   `json:"schedule,omitempty"` // schedule, such as "every 1m0s"
	MemoryMB    int      `json:"memory_mb"`          // memory limit on AWS; not enforced locally
	Timeout     string   `json:"timeout"`            // time limit, such as "30s"
	Processes   int      `json:"processes"`
	Busy        int      `json:"busy"`
	Invocations int      `json:"invocations"`
	Failures    int      `json:"failures"`
	Log         []string `json:"log"` // oldest line first
}

// Mail is an email that the stack has sent.
type Mail struct {
	ID      string    `json:"id"`
	At      time.Time `json:"at"`
	From    string    `json:"from"`
	To      []string  `json:"to"`
	Subject string    `json:"subject"`
	Text    string    `json:"text"`
	HTML    string    `json:"-"` // served separately, at /mail/{id}
	HasHTML bool      `json:"has_html,omitempty"`
}

// Webhook is a delivery that the inbox received.
type Webhook struct {
	ID         int               `json:"id"` // sequence number since the runner started
	ReceivedAt time.Time         `json:"received_at"`
	Path       string            `json:"path"`
	Signature  string            `json:"signature"`        // verification result: "verified", "wrong" or "unknown"
	Reason     string            `json:"reason,omitempty"` // reason why the signature is not "verified"
	Headers    map[string]string `json:"headers"`
	Body       string            `json:"body"`
}

// state contains the data that every part of the page shows, and the content of the page's first part.
type state struct {
	Links

	Functions []Function `json:"functions"`
	Totals    totals     `json:"totals"`
}

type totals struct {
	Invocations int `json:"invocations"` // stored invocations
	Failed      int `json:"failed"`      // failed invocations
	Rows        int `json:"rows"`
	Messages    int `json:"messages"`     // messages in queues other than dead-letter queues
	DeadLetters int `json:"dead_letters"` // messages in dead-letter queues
	Mails       int `json:"mails"`
	Webhooks    int `json:"webhooks"`
	Unverified  int `json:"unverified"` // webhooks with an invalid signature
}

func (c *console) serveState(w http.ResponseWriter, _ *http.Request) {
	functions := c.Stack.Functions()
	for i := range functions {
		functions[i].Log = maskAll(functions[i].Log)
	}
	writeJSON(w, http.StatusOK, state{Links: c.Stack.Links(), Functions: functions, Totals: c.totals()})
}

func (c *console) totals() totals {
	t := totals{
		Invocations: len(c.Invocations.List(timeline.Filter{})),
		Failed:      len(c.Invocations.List(timeline.Filter{Failed: true})),
		Mails:       len(c.Stack.Mails()),
	}
	for _, table := range c.Tables.Tables() {
		t.Rows += table.Rows
	}
	for _, q := range c.Queues.Details() {
		if n := q.Visible + q.InFlight + q.Delayed; q.DeadLetter {
			t.DeadLetters += n
		} else {
			t.Messages += n
		}
	}
	for _, hook := range c.Stack.Webhooks() {
		t.Webhooks++
		if hook.Signature == "wrong" {
			t.Unverified++
		}
	}
	return t
}

func (c *console) serveMail(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]any{"mails": c.Stack.Mails()})
}

// mailPolicy is the content security policy for the HTML of emails. The policy allows the email's own styles, as mail
// clients do. It forbids scripts, requests and forms, and gives each email a separate origin.
const mailPolicy = "sandbox; default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'"

// serveMailHTML serves a mail's HTML, which the page shows in a frame.
func (c *console) serveMailHTML(w http.ResponseWriter, r *http.Request) {
	for _, m := range c.Stack.Mails() {
		if m.ID == r.PathValue("id") && m.HTML != "" {
			w.Header().Set("Content-Security-Policy", mailPolicy)
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = io.WriteString(w, m.HTML) // the client may have disconnected
			return
		}
	}
	writeError(w, http.StatusNotFound, "Mail not found, or it has no HTML part")
}

func (c *console) serveInbox(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]any{"webhooks": c.Stack.Webhooks()})
}

func (c *console) serveFire(w http.ResponseWriter, r *http.Request) {
	err := c.Stack.Fire(r.Context(), r.PathValue("function"))
	switch {
	case errors.Is(err, triggers.ErrNoSchedule):
		writeError(w, http.StatusNotFound, err.Error())
	case err != nil:
		writeError(w, http.StatusBadGateway, err.Error())
	default:
		writeJSON(w, http.StatusOK, map[string]string{"fired": r.PathValue("function")})
	}
}

func (c *console) serveKill(w http.ResponseWriter, r *http.Request) {
	writeJSON(w, http.StatusOK, map[string]int{"killed": c.Stack.Kill(r.PathValue("function"))})
}

// serveReturn shows the parameters of a redirect. The response is a page or, if the client requests JSON, an object
// with the first value of every parameter.
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
	// Execute returns an error only if the browser has disconnected
	_ = c.returnPage.Execute(w, map[string]any{"Parameters": rows, "Failed": r.URL.Query().Has("error")})
}
