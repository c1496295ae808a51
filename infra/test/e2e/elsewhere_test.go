package e2e_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"recordbridge/infra/cleanup"
	"recordbridge/infra/ctl/target"
	"recordbridge/infra/ctl/wiring"
	"recordbridge/infra/local/inbox"
	"recordbridge/infra/local/runfile"
	"recordbridge/infra/local/seed"
	"recordbridge/infra/test/contract"
	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/words/ids"
)

// nameEnd is the name suffix of tests that use only the stack's public interfaces. The make e2e command selects these
// tests by the suffix of their names.
const nameEnd = "FromOutside"

// Polling interval and maximum number of polls for a running stack, whose first responses may require container cold
// starts.
const (
	moment  = 200 * time.Millisecond
	moments = 600
)

// runningStack is a stack outside this process on which all tests run their journeys.
type runningStack struct {
	stack    target.Stack
	operator *wiring.Operator
	baseURL  string
	endpoint string // sandbox endpoint's ID
	inboxURL string // URL of the webhook inbox; "" if the stack has none
	client   *http.Client

	mu   sync.Mutex
	left []string // descriptions of data that could not be deleted
	made int      // number of organisations created
}

var elsewhere = sync.OnceValues(func() (*runningStack, error) {
	ctx := context.Background()
	var p runningStack
	var err error
	if name := os.Getenv("RECORDBRIDGE_STACK"); name != "" {
		p.stack, err = target.Named(ctx, name)
	} else {
		p.stack, err = target.FromFile(ctx, os.Getenv("RECORDBRIDGE_RUN_FILE"))
	}
	if err != nil {
		return nil, err
	}
	own, meant := cmp.Or(p.stack.Run.BaseURL, p.stack.Outputs["BaseUrl"]), os.Getenv("RECORDBRIDGE_BASE_URL")
	if p.baseURL = cmp.Or(meant, own); meant != "" && p.stack.Run.BaseURL != "" && meant != own {
		return nil, fmt.Errorf("%s is at %s, not at %s", p.stack.Name, own, meant)
	}
	p.inboxURL = cmp.Or(os.Getenv("RECORDBRIDGE_INBOX_URL"), p.stack.Run.InboxURL)
	p.client = &http.Client{
		Timeout:       time.Minute,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	if p.operator, err = p.stack.Open(ctx, "e2e"); err != nil {
		return nil, err
	}
	if p.endpoint, err = cleanup.Sandbox(ctx, p.operator, p.baseURL); err == nil && p.endpoint == "" {
		err = fmt.Errorf("%s has no endpoint for the sandbox at %s/sandbox/fhir: deploy it with EnableSandbox and make one "+
			"with ctl endpoint create", p.stack.Name, p.baseURL)
	}
	return &p, err
})

// usesRunningStack reports whether the tests run against a stack outside this process.
func usesRunningStack() bool {
	return os.Getenv("RECORDBRIDGE_STACK") != "" || os.Getenv("RECORDBRIDGE_RUN_FILE") != ""
}

// newTenantOnRunningStack creates organisations for a journey and deletes them when the test ends.
func newTenantOnRunningStack(t *testing.T) *outside {
	t.Helper()
	p, err := elsewhere()
	expect.NoError(t, err)
	// ReturnURL is never requested, because the test's browser stops before requesting it.
	to := seed.Options{BaseURL: p.baseURL, ReturnURL: customer + "/_local/return"}
	if p.inboxURL != "" {
		to.InboxURL = p.inboxURL + "/" + ids.Random()
	}
	made, err := seed.Organisations(t.Context(), p.operator, to)
	t.Cleanup(func() { p.clear(t, made) })
	expect.NoError(t, err)
	o := &outside{
		t: t, operator: p.operator, mostTicks: moments, tick: func() { <-time.After(moment) },
		secrets: map[string]string{},
	}
	o.assemble()
	o.seeded = p.stack.Run
	o.seeded.BaseURL, o.seeded.InboxURL, o.seeded.Organisations = p.baseURL, to.InboxURL, made
	o.seeded.Sandbox.EndpointID = p.endpoint
	o.do = func(r *http.Request) (*http.Response, error) { return p.ask(t, r) }
	o.received = func() []inbox.Delivery { return p.received(t, to.InboxURL) }
	return o
}

// clear deletes the organisations that a journey created.
func (p *runningStack) clear(t *testing.T, made []runfile.Organisation) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	for len(made) > 0 {
		end := slices.IndexFunc(made, func(o runfile.Organisation) bool { return o.ID != made[0].ID })
		if end < 0 {
			end = len(made)
		}
		left, err := cleanup.Clear(ctx, p.operator, p.client, p.baseURL, made[:end])
		if err != nil {
			t.Errorf("organisation %s is not taken away whole: %v", made[0].ID, err)
		}
		p.mu.Lock()
		if p.made++; left != "" {
			p.left = append(p.left, made[0].ID)
		}
		p.mu.Unlock()
		made = made[end:]
	}
}

// ask sends a request and, if the response comes from the service's API, checks the response against docs/openapi.yaml.
func (p *runningStack) ask(t *testing.T, r *http.Request) (*http.Response, error) {
	t.Helper()
	response, err := p.client.Do(r)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(response.Body)
	if err = errors.Join(err, response.Body.Close()); err != nil {
		return nil, err
	}
	if at, isOurs := strings.CutPrefix(r.URL.Scheme+"://"+r.URL.Host+r.URL.Path, p.baseURL); isOurs {
		checkAnswer(t, r.Method, at, contract.Answer{Status: response.StatusCode, Header: response.Header, Body: body})
	}
	response.Body = io.NopCloser(bytes.NewReader(body))
	return response, nil
}

// received returns an inbox's deliveries in the format in which `make run` serves them.
func (p *runningStack) received(t *testing.T, address string) []inbox.Delivery {
	t.Helper()
	if address == "" {
		t.Skip("nothing receives webhooks: INBOX_URL")
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, http.NoBody)
	expect.NoError(t, err)
	response, err := p.client.Do(r)
	expect.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	var list []inbox.Delivery
	expect.NoError(t, json.NewDecoder(response.Body).Decode(&list))
	for _, d := range list {
		header := http.Header{}
		for name, value := range d.Headers {
			header.Set(name, value)
		}
		checkEvent(t, header, []byte(d.Body))
	}
	return list
}

// tell prints the stack's name, the data that could not be deleted, and the tests that can't run on the stack.
func tell(out io.Writer) {
	p, err := elsewhere()
	if err != nil {
		fmt.Fprintln(out, "e2e:", err)
		return
	}
	fmt.Fprintf(out, "e2e: against %s, API %s\nmade %d organisations and removed %d; %d stay suspended, since what they "+
		"connected is kept for good: %s\n",
		p.stack.Name, p.baseURL, p.made, p.made-len(p.left), len(p.left), strings.Join(p.left, ", "))
	inside := insideTests()
	fmt.Fprintf(out, "skipped, since they look inside or need hours of virtual time (%d): %s\n", len(inside),
		strings.Join(inside, ", "))
}

// insideTests returns this folder's tests that can run only against a stack within this process.
func insideTests() []string {
	files, _ := filepath.Glob("*_test.go")
	var names []string
	for _, file := range files {
		text, _ := os.ReadFile(file)
		for _, found := range regexp.MustCompile(`(?m)^func (Test\w+)\(t \*testing\.T\)`).FindAllStringSubmatch(string(text),
			-1) {
			if !strings.HasSuffix(found[1], nameEnd) {
				names = append(names, found[1])
			}
		}
	}
	return names
}
