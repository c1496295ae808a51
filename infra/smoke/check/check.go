// Package check checks a running stack from outside. The check acts as an organisation in test mode and as the
// organisation's patient. The steps verify that the API is reachable, responds according to docs/openapi.yaml, applies
// rate limits, and connects patients. If the stack includes the sandbox, the check performs the main job.
//
// The check is safe on a stack that serves patients. A live mode credential is rejected before any request is sent. The
// check works in a single organisation and deletes everything that it created, even if a step fails. Keys, tokens and
// URLs with a query are not printed.
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

// Options selects the stack and the organisation.
type Options struct {
	BaseURL string // API base URL, without a trailing slash
	// Credential is a test mode credential. If Credential does not have a public ID, the check creates a credential
	// with Rules and deletes the credential afterwards.
	Credential runfile.Organisation
	Rules      *wiring.Operator // operator's rules for the stack; nil without operator access
	EndpointID string           // endpoint for the patient; the default is the sandbox's, from Rules
	InboxURL   string           // webhook inbox, as in make run; "" if there is no inbox
	HTTP       *http.Client     // client that must not follow redirects
	Now        func() time.Time
	Out        io.Writer
}

// maxTime limits the duration of the complete run.
const maxTime = 3 * time.Minute

// errNotChecked means that a step had nothing to check.
var errNotChecked = errors.New("not checked")

// check is a run of all checks.
type check struct {
	Options

	api                    *contract.API
	left                   []string
	ok, failed, notChecked int
	portal                 *url.URL // URL that the connection redirected to
	connectionID           string
	isMade                 bool // whether the organisation was created by this run
}

// step is a single check, whose function returns a message to print.
type step struct {
	name  string
	look  func(ctx context.Context) (string, error)
	first bool // whether all other steps are skipped if the step fails
}

// Run performs all checks. Run prints each step with the step's duration, and finally the objects that could not be
// deleted. If a step fails, Run returns an error. If the run is rejected, Run returns ErrRefused.
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

// refuse returns an error unless the options contain a test mode credential, or rules for creating a credential.
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

// perform runs the steps and cleans up regardless of the results.
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

// take runs a step and prints the result.
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

// queries matches URL queries. Queries contain tokens, codes and signatures.
var queries = regexp.MustCompile(`\?[^\s"']+`)

// sayf prints a line without any text that could be secret.
func (c *check) sayf(format string, args ...any) {
	line := queries.ReplaceAllString(fmt.Sprintf(format, args...), "?…")
	for _, hidden := range []string{c.Credential.PrivateKey, c.Credential.WebhookSecret} {
		if hidden != "" {
			line = strings.ReplaceAll(line, hidden, "…")
		}
	}
	fmt.Fprintln(c.Out, line)
}
