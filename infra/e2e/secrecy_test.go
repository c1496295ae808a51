package e2e_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/infra/local/aws/ddb"
	"recordbridge/infra/local/aws/wire"
)

// wiretap keeps what must stay secret, and what is said where everybody may read it.
type wiretap struct {
	mu      sync.Mutex
	secrets map[string]string   // the secret, and what it is
	said    map[string][]string // where, and what
}

func newWiretap() *wiretap {
	return &wiretap{secrets: map[string]string{}, said: map[string][]string{}}
}

func (w *wiretap) hide(what, value string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(value) > 7 {
		w.secrets[value] = what
	}
}

func (w *wiretap) hear(where, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.said[where] = append(w.said[where], text)
}

// queues hears every message that is sent.
func (w *wiretap) queues(next wire.Handler) wire.Handler {
	return func(out http.ResponseWriter, r *http.Request, c wire.Call) {
		if c.Service == "sqs" && strings.HasPrefix(c.Operation, "SendMessage") {
			body, err := io.ReadAll(r.Body)
			if err == nil {
				w.hear("a queue", string(body))
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
		}
		next(out, r, c)
	}
}

// network hears what the service and the world outside tell each other: what goes to and comes from the portal is
// secret, what the service answers is not. Files and webhooks go to those whom they are for.
func (w *wiretap) network(r *http.Request, sent []byte, status int, header http.Header, body []byte) {
	switch path := r.URL.Path; {
	case strings.Contains(path, "/sandbox/"):
		w.hideForm(string(sent))
		w.hideForm(header.Get("Location"))
		var answer any
		if json.Unmarshal(body, &answer) == nil {
			w.hideLeaves("", answer)
		}
	case strings.HasPrefix(path, "/v1/"):
		w.hear(fmt.Sprintf("the answer %d of %s", status, path), string(body))
		if location := header.Get("Location"); !strings.Contains(path, "/download/") {
			w.hear("the redirect of "+path, location)
		}
	}
}

// hideForm hides what OAuth hands on in forms and addresses.
func (w *wiretap) hideForm(text string) {
	if _, query, found := strings.Cut(text, "?"); found {
		text = query
	}
	form, err := url.ParseQuery(text)
	if err != nil {
		return
	}
	for _, name := range []string{"code", "code_verifier", "refresh_token", "error_description"} {
		w.hide("the portal's "+name, form.Get(name))
	}
}

// hideLeaves hides tokens, and what of a FHIR resource tells about a person.
func (w *wiretap) hideLeaves(name string, value any) {
	private := []string{
		"access_token", "refresh_token", "id_token", "error_description", "diagnostics",
		"family", "given", "line", "city", "postalCode", "birthDate", "div", "data", "text", "display", "value", "onsetDateTime",
	}
	switch value := value.(type) {
	case map[string]any:
		for key, element := range value {
			w.hideLeaves(key, element)
		}
	case []any:
		for _, element := range value {
			w.hideLeaves(name, element)
		}
	case string:
		if slices.Contains(private, name) {
			w.hide("the portal's "+name, value)
		}
	}
}

// TestSecretsAndRecordsStayWhereTheyBelong performs the job, its repetition with renewed tokens and its failures, with
// a portal that says private things in its errors, and looks for every secret and every part of the record in logs,
// queues, answers, addresses and rows.
func TestSecretsAndRecordsStayWhereTheyBelong(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWiretap()
		s := newStack(t, options{tap: w})
		for _, own := range s.seeded.Organisations {
			w.hide("a private key", own.PrivateKey)
			w.hide("a webhook secret", own.WebhookSecret)
		}
		runMainJob(s)
		runGossipingPortal(s)
		for line := range strings.Lines(s.logs.String()) {
			w.hear("a log", line)
		}
		w.hearRows(t, s)
		w.report(t)
	})
}

const gossip = "Juniper Vale of 7 Example Lane has been seen here"

// runGossipingPortal: sign-in, refresh and collection fail, and the portal tells private things about it.
func runGossipingPortal(s *stack) {
	s.t.Helper()
	said := 0
	tell := func(part string) {
		s.outside = func(r *http.Request) *http.Response {
			if !strings.Contains(r.URL.Path, "/sandbox/") || !strings.Contains(r.URL.Path, part) {
				return nil
			}
			said++
			body := `{"resourceType":"OperationOutcome","issue":[{"diagnostics":"` + gossip + `"}],"error":"invalid_grant","error_description":"` + gossip + `"}`
			return &http.Response{
				StatusCode: http.StatusBadRequest, Header: http.Header{"Content-Type": {"application/json"}},
				Body: io.NopCloser(strings.NewReader(body)), Request: r,
			}
		}
	}
	connectionID := s.connect(crashPersona, "approve").Get("org_connection_id")
	tell("/oauth/token")
	s.browser().open(s.connectURL(), crashPersona, "approve")
	<-time.After(2 * time.Hour)
	s.startExport(connectionID) // with tokens that cannot be renewed
	s.settle(30)
	s.outside = nil
	connectionID = s.connect(crashPersona, "approve").Get("org_connection_id")
	tell("/fhir")
	s.startExport(connectionID)
	s.settle(400)
	if said < 3 || len(s.events("patient.ehi_export_failed")) != 2 {
		s.t.Errorf("the portal told its gossip %d times, and %d exports failed", said, len(s.events("patient.ehi_export_failed")))
	}
}

// hearRows reads every table. What is sealed does not show what is in it.
func (w *wiretap) hearRows(t *testing.T, s *stack) {
	t.Helper()
	for _, table := range s.cloud.DynamoDB().Tables() {
		if table.Name == "test-SandboxTable" {
			continue // that is the portal
		}
		for from := ""; ; {
			page, err := s.cloud.DynamoDB().Browse(ddb.Position{Table: table.Name, From: from, Limit: 100})
			must(t, err)
			for _, found := range page.Rows {
				row, err := json.Marshal(found.Item)
				must(t, err)
				w.hear("a row of "+table.Name, string(row))
			}
			if from = page.Next; from == "" {
				break
			}
		}
	}
}

func (w *wiretap) report(t *testing.T) {
	t.Helper()
	w.secrets[gossip] = "the portal's gossip"
	if len(w.secrets) < 30 || len(w.said) < 10 {
		t.Errorf("only %d secrets were seen, and %d places", len(w.secrets), len(w.said))
	}
	for where, texts := range w.said {
		all := strings.Join(texts, "\n")
		for value, what := range w.secrets {
			if strings.Contains(all, value) {
				t.Errorf("%s says %s: %q", where, what, value)
			}
		}
	}
}
