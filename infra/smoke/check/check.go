// Package check tests a running stack from the outside. It acts as an organisation in test mode and as that
// organisation's patient. The steps verify that the API is reachable, complies with docs/openapi.yaml, applies rate
// limits and connects patients. If the stack includes the sandbox, the check also signs in a synthetic patient and
// exports a record.
//
// The check is safe on a stack that serves patients, because it rejects a live mode credential before sending any
// request. The check affects only one organisation. At the end, even if a step failed, it deletes the data that it
// created and lists any that remain. It never prints keys, tokens or URL query strings.
package check

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"recordbridge/docs"
	"recordbridge/infra/ctl/wiring"
	"recordbridge/infra/local/runfile"
	"recordbridge/infra/test/contract"
	"recordbridge/shared/words/org"
)

// Options selects the stack and organisation to check.
type Options struct {
	BaseURL string // API base URL without a trailing slash
	// Credential is a test mode credential. If it has no public ID, the check uses Rules to create an organisation with
	// a credential, and deletes both afterwards.
	Credential runfile.Organisation
	Rules      *wiring.Operator // the stack's operator rules; nil without operator access
	EndpointID string           // endpoint to connect to; defaults to the sandbox's, from Rules
	InboxURL   string           // URL of a webhook inbox such as the one that make run starts; "" if there is none
	HTTP       *http.Client     // client configured not to follow redirects
	Now        func() time.Time
	Out        io.Writer
}

// maxTime limits the duration of an entire run.
const maxTime = 3 * time.Minute

// errNotChecked means that a step was skipped because its preconditions were not met.
var errNotChecked = errors.New("not checked")

type check struct {
	Options

	api                    *contract.API
	left                   []string
	ok, failed, notChecked int
	portal                 *url.URL // authorization URL to which the API redirected
	connectionID           string
	isMade                 bool
}

// step is a single check. look returns a message to print.
type step struct {
	name  string
	look  func(ctx context.Context) (string, error)
	first bool // true if a failure skips all remaining steps
}

// Run performs all checks. It prints each step's result and duration, followed by any objects that remain after
// clean-up. It returns an error if a step fails, and ErrRefused if the run is rejected.
func Run(ctx context.Context, o Options) error {
	api, err := contract.ReadAPI(docs.OpenAPI())
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	c := &check{Options: o, api: api}
	if err := c.refuse(); err != nil {
		return err
	}
	began := c.Now()
	c.perform(ctx)
	for _, what := range c.left {
		c.sayf("left              %s", what)
	}
	c.sayf("smoke: %d ok, %d failed, %d skipped, in %s", c.ok, c.failed, c.notChecked,
		c.Now().Sub(began).Round(time.Millisecond))
	if c.failed > 0 {
		return fmt.Errorf("%d steps failed", c.failed)
	}
	return nil
}

// ErrRefused means that the run was rejected before any request was sent.
var ErrRefused = errors.New("nothing was sent")

// refuse returns an error unless the options contain a test-mode credential, or rules for creating one and no
// credential.
func (c *check) refuse() error {
	if c.Credential.PublicID == "" && c.Rules != nil {
		return nil
	}
	if _, mode, ok := org.ParsePublicID(c.Credential.PublicID); !ok || mode != org.Test {
		return fmt.Errorf("the credential is not for test mode, whose public IDs begin with public_test_; "+
			"%w", ErrRefused)
	}
	return nil
}

// perform runs the steps in order. It cleans up even if a step fails.
func (c *check) perform(ctx context.Context) {
	defer c.clean(context.WithoutCancel(ctx))
	for _, s := range c.steps() {
		if !c.take(ctx, s) && s.first {
			return
		}
	}
}

func (c *check) steps() []step {
	return []step{
		{name: "organisation", look: c.arrive, first: true},
		{name: "API", look: c.answers, first: true},
		{name: "version", look: c.version},
		{name: "unknown path", look: c.unknownPath},
		{name: "challenge", look: c.challenge},
		{name: "errors", look: c.refusals},
		{name: "headers", look: c.headers},
		{name: "CORS", look: c.cors},
		{name: "key", look: c.key},
		{name: "rate limit", look: c.limits},
		{name: "JWKS", look: c.jwks},
		{name: "connect", look: c.connect},
		{name: "sign-in", look: c.signIn},
		{name: "export", look: c.export},
	}
}

// take runs a step, prints its result and reports whether it succeeded.
func (c *check) take(ctx context.Context, s step) bool {
	began := c.Now()
	said, err := s.look(ctx)
	took := c.Now().Sub(began).Round(time.Millisecond)
	switch {
	case errors.Is(err, errNotChecked):
		c.notChecked++
		c.sayf("-                 %s: skipped: %s", s.name, said)
	case err != nil:
		c.failed++
		c.sayf("FAILED  %8s  %s: %v", took, s.name, err)
		return false
	default:
		c.ok++
		c.sayf("ok      %8s  %s: %s", took, s.name, said)
	}
	return true
}

// queries matches URL query strings, which may contain tokens, codes or signatures.
var queries = regexp.MustCompile(`\?[^\s"']+`)

// sayf prints a line with secrets and URL queries redacted.
func (c *check) sayf(format string, args ...any) {
	line := queries.ReplaceAllString(fmt.Sprintf(format, args...), "?…")
	for _, hidden := range []string{c.Credential.PrivateKey, c.Credential.WebhookSecret} {
		if hidden != "" {
			line = strings.ReplaceAll(line, hidden, "…")
		}
	}
	fmt.Fprintln(c.Out, line)
}
