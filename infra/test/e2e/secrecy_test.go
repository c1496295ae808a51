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
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/infra/local/aws/ddb"
	"recordbridge/infra/local/aws/wire"
	"recordbridge/infra/testkit/expect"
	synthetic "recordbridge/shared/tefca/people"
)

// wiretap collects secrets and the text that must not contain them.
type wiretap struct {
	mu      sync.Mutex
	secrets map[string]confidence // kind of each secret, keyed by secret
	said    map[string][]string   // recorded text by location
}

// confidence is a kind of secret and the prefixes of the locations that may contain it.
type confidence struct {
	what   string
	except []string
}

func newWiretap() *wiretap {
	return &wiretap{secrets: map[string]confidence{}, said: map[string][]string{}}
}

func (w *wiretap) hide(what, value string, except ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, known := w.secrets[value]; len(value) > 7 && !known {
		w.secrets[value] = confidence{what, except}
	}
}

func (w *wiretap) note(where, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.said[where] = append(w.said[where], text)
}

func (w *wiretap) queues(next wire.Handler) wire.Handler {
	return func(out http.ResponseWriter, r *http.Request, c wire.Call) {
		if c.Service == "sqs" && strings.HasPrefix(c.Operation, "SendMessage") {
			body, err := io.ReadAll(r.Body)
			if err == nil {
				w.note("a queue", string(body))
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
		}
		next(out, r, c)
	}
}

// network records the traffic between the service and external servers. All data exchanged with the portal is treated
// as secret. The service's responses and outgoing messages must contain no secrets, except in files intended for the
// recipient.
func (w *wiretap) network(r *http.Request, sent []byte, status int, header http.Header, body []byte) {
	switch path := r.URL.Path; {
	case strings.Contains(path, "/sandbox/"):
		w.hideForm(string(sent))
		w.hideForm(header.Get("Location"))
		_, credentials, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		w.hide("what we show the portal", credentials)
		var answer any
		if json.Unmarshal(body, &answer) == nil {
			w.hideLeaves("", answer)
		}
	case strings.HasPrefix(path, "/v1/"):
		w.hideOwn(path, header, body)
		w.note(fmt.Sprintf("the answer %d of %s", status, path), string(body))
		if location := header.Get("Location"); !strings.Contains(path, "/download/") {
			w.note("the redirect of "+path, location)
		}
	case strings.HasPrefix(path, "/_local/inbox"):
		w.note("a webhook", string(sent))
		link := linkIn(string(sent))
		w.hide("a download link's signature", link[strings.LastIndex(link, ".")+1:], "a webhook",
			"the answer 200 of /v1/bridge/")
	}
}

// hideOwn records secrets that the service issues to a single browser or widget. A secret value may appear only in the
// response that issues it.
func (w *wiretap) hideOwn(path string, header http.Header, body []byte) {
	left := (&visited{header: header, body: body}).location()
	if left != nil && strings.HasSuffix(left.Path, "/oauth/authorize") {
		for _, name := range []string{"state", "nonce"} {
			w.hide("our "+name, left.Query().Get(name), "the redirect of "+path, "the answer 200 of "+path)
		}
	}
	for _, cookie := range (&http.Response{Header: header}).Cookies() {
		w.hide("a browser's cookie", cookie.Value)
	}
	var verified struct {
		Data struct {
			Token string `json:"email_token"`
		}
	}
	if strings.HasSuffix(path, "/email/verification") && json.Unmarshal(body, &verified) == nil {
		w.hide("an e-mail token", verified.Data.Token, "the answer 200 of "+path)
	}
	var verifying struct{ Data verification }
	if strings.HasSuffix(path, "/tefca/identity") && json.Unmarshal(body, &verifying) == nil {
		only := "the answer 200 of " + path
		w.hide("an attempt's token", verifying.Data.Token, only)
		w.hide("a start value", verifying.Data.Start, only)
	}
	var made struct{ Data attempt }
	if strings.HasSuffix(path, "/bridge/attempts") && json.Unmarshal(body, &made) == nil {
		only := "the answer 200 of " + path
		w.hide("an attempt's token", made.Data.Token, only)
		w.hide("a start value", made.Data.Start, only)
	}
}

// hideForm records OAuth secrets in forms and URLs. The sandbox's URLs contain client secrets.
func (w *wiretap) hideForm(text string) {
	if _, query, found := strings.Cut(text, "?"); found {
		text = query
	}
	form, err := url.ParseQuery(text)
	if err != nil {
		return
	}
	for _, name := range []string{
		"code", "code_verifier", "refresh_token", "token", "client_assertion",
		"error_description",
	} {
		w.hide("the sign-in's "+name, form.Get(name))
	}
	w.hide("our client's secret", form.Get("client_secret"), "a row of ", "the redirect of ")
}

// hideLeaves records tokens and the personal data in FHIR resources as secrets.
func (w *wiretap) hideLeaves(name string, value any) {
	private := []string{
		"access_token", "refresh_token", "id_token", "error_description", "diagnostics",
		"family", "given", "line", "city", "postalCode", "birthDate", "div", "data", "text", "display", "value",
		"onsetDateTime",
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

// TestSecretsAndRecordsDoNotLeak runs the main job, repeats it with refreshed tokens, and then runs it at a portal
// whose errors contain private data. Further cases cover all later scenarios in a connection's life. The test searches
// logs, queues, webhooks, responses, URLs and rows for every secret and every part of the record.
func TestSecretsAndRecordsDoNotLeak(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		run             func(s *stack)
		secrets, places int // minimum counts
	}{
		"the main job and its failures": {func(s *stack) { runMainJob(s); runGossipingPortal(s) }, 30, 10},
		"keeping alive":                 {runKeepAlive, 20, 10},
		"revocation":                    {runRevocation, 8, 7},
		"revocation by export":          {runRevocationByExport, 8, 7},
		"warning":                       {runWarning, 8, 7},
		"reconnect":                     {runReconnect, 20, 10},
		"disconnect":                    {runDisconnect, 20, 10},
		"widget":                        {func(s *stack) { runWidget(s.outside); s.clock.advance(1) }, 20, 10},
		"forms":                         {runHiddenForms, 5, 8},
		"confidential clients":          {runConfidential, 30, 10},
		"identity":                      {runHiddenPerson, 20, 10},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWiretap()
				s := newStack(t, options{tap: w})
				for _, own := range s.seeded.Organisations {
					w.hide("a private key", own.PrivateKey)
					w.hide("a webhook secret", own.WebhookSecret)
				}
				c.run(s)
				for _, signing := range s.secrets {
					w.hide("a webhook secret", signing)
				}
				for line := range strings.Lines(s.logs.String()) {
					w.note("a log", line)
				}
				w.noteRows(t, s)
				w.report(t, c.secrets, c.places)
			})
		})
	}
}

// runHiddenPerson checks that a verified patient's personal data and record are sent only to the network.
func runHiddenPerson(s *stack) {
	s.t.Helper()
	patient, ok := synthetic.Named("alder.fenn@tefca.example")
	if !ok {
		s.t.Fatal("there is no such patient")
	}
	for what, value := range map[string]string{
		"name": patient.Person.Given + " " + patient.Person.Family, "address": patient.Person.Addresses[0].Street,
		"birth date": patient.Person.BirthDate, "e-mail address": patient.Person.Email, "postal code": "PostalCode",
		"id_token": "eyJhbGciOiJSUzI1NiI", // the header's beginning; manifests' signatures begin with another algorithm
	} {
		s.tap.hide("a person's "+what, value)
	}
	runVault(s)
}

// runHiddenForms checks that a patient's form data is sent only to the organisation.
func runHiddenForms(s *stack) {
	s.t.Helper()
	told := []string{"a webhook", "a row of test-WorkTable"}
	for what, value := range map[string]string{
		"a patient's address": patientsAddress, "a patient's name": "Juniper Vale", "a patient's words": "cardiologist",
		"a subject": "No sign-in",
	} {
		s.tap.hide(what, value, told...)
	}
	runForms(s)
}

const gossip = "Juniper Vale of 7 Example Lane has been seen here"

// runGossipingPortal makes sign-in, refresh and export fail at a portal whose errors contain private data.
func runGossipingPortal(s *stack) {
	s.t.Helper()
	var said atomic.Int32
	tell := func(part string) {
		s.intercept = func(r *http.Request) *http.Response {
			if !strings.Contains(r.URL.Path, "/sandbox/") || !strings.Contains(r.URL.Path, part) {
				return nil
			}
			said.Add(1)
			body := `{"resourceType":"OperationOutcome","issue":[{"diagnostics":"` + gossip +
				`"}],"error":"invalid_grant","error_description":"` + gossip + `"}`
			return &http.Response{
				StatusCode: http.StatusBadRequest, Header: http.Header{"Content-Type": {"application/json"}},
				Body: io.NopCloser(strings.NewReader(body)), Request: r,
			}
		}
	}
	connectionID := s.patient.connect(crashPersona, "approve").Get("org_connection_id")
	tell("/oauth/token")
	s.patient.browser().open(s.patient.connectURL(), crashPersona, "approve")
	<-time.After(2 * time.Hour)
	s.org.startExport(connectionID) // this export fails because it can't refresh the tokens
	s.clock.advance(30)
	s.intercept = nil
	connectionID = s.patient.connect(crashPersona, "approve").Get("org_connection_id")
	tell("/fhir")
	s.org.startExport(connectionID)
	s.clock.advance(400)
	if said.Load() < 3 || len(s.webhooks.events("patient.ehi_export_failed")) != 2 {
		s.t.Errorf("the portal told its gossip %d times, and %d exports failed", said.Load(),
			len(s.webhooks.events("patient.ehi_export_failed")))
	}
}

// noteRows records the rows of every table. Encrypted attributes are recorded as stored, because ciphertext doesn't
// reveal its content.
func (w *wiretap) noteRows(t *testing.T, s *stack) {
	t.Helper()
	for _, table := range s.cloud.DynamoDB().Tables() {
		if table.Name == "test-SandboxTable" {
			continue // the sandbox's table belongs to the simulated portal, not to the service
		}
		for _, item := range s.state.browse(table.Name) {
			row, err := json.Marshal(item)
			expect.NoError(t, err)
			w.note("a row of "+table.Name, string(row)+"\n"+binaries(row))
		}
	}
}

// browse reads a complete table and returns its rows in DynamoDB's JSON format.
func (s state) browse(table string) []map[string]json.RawMessage {
	s.t.Helper()
	var all []map[string]json.RawMessage
	for from := ""; ; {
		page, err := s.cloud.DynamoDB().Browse(ddb.Position{Table: table, From: from, Limit: 100})
		expect.NoError(s.t, err)
		for _, found := range page.Rows {
			all = append(all, found.Item)
		}
		if from = page.Next; from == "" {
			return all
		}
	}
}

func (w *wiretap) report(t *testing.T, secrets, places int) {
	t.Helper()
	w.hide("the portal's gossip", gossip)
	if len(w.secrets) < secrets || len(w.said) < places {
		t.Errorf("only %d secrets were seen, and %d places", len(w.secrets), len(w.said))
	}
	for where, texts := range w.said {
		all := strings.Join(texts, "\n")
		for value, of := range w.secrets {
			isMeant := slices.ContainsFunc(of.except, func(place string) bool { return strings.HasPrefix(where, place) })
			if !isMeant && strings.Contains(all, value) {
				t.Errorf("%s says %s: %q", where, of.what, value)
			}
		}
	}
}
