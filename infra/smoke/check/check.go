// Package check looks at a running stack from outside, as an organisation in test mode and its patient see it: whether
// the API is there, answers as docs/openapi.yaml says, limits, and connects; and, where the stack has the sandbox,
// whether the main job works.
//
// It is safe on a stack that serves patients: it refuses a credential of live mode before it sends anything, it
// works in one organisation only, and takes away what it made, also when a step fails. It prints no key, no token,
// and no address with its query.
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

// Options say what is looked at, and as whom.
type Options struct {
	BaseURL string // of the API, without a slash at its end
	// Credential is one of test mode; without a public id one is made by Rules, and taken away again.
	Credential runfile.Organisation
	Rules      *wiring.Operator // of the stack; nil without a way in
	EndpointID string           // where the patient connects; without one Rules tell the sandbox's
	InboxURL   string           // receives webhooks as the one of make run does; "" for none
	HTTP       *http.Client     // follows no redirects
	Now        func() time.Time
	Out        io.Writer
}

// maxTime is how long all of it may take.
const maxTime = 3 * time.Minute

// errNotChecked is returned by a step that has nothing to look at.
var errNotChecked = errors.New("not checked")

// check is one run.
type check struct {
	Options

	api                    *contract.API
	left                   []string
	ok, failed, notChecked int
	portal                 *url.URL // where connecting leads
	connectionID           string
	isMade                 bool // the organisation
}

// step is what is looked at. It returns what there is to say.
type step struct {
	name  string
	look  func(ctx context.Context) (string, error)
	first bool // without it nothing else makes sense
}

// Run looks at everything, prints each step with its time and at the end what was left behind, and returns an error
// when a step has failed, or ErrRefused.
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

// ErrRefused says that nothing was sent.
var ErrRefused = errors.New("nothing was sent")

// refuse wants a credential of test mode, or rules to make one by.
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

// perform goes through the steps, and cleans up whatever becomes of them.
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

// take performs one step and prints how it went.
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

// queries of addresses carry tokens, codes and signatures.
var queries = regexp.MustCompile(`\?[^\s"']+`)

// sayf prints a line, without what could be secret in it.
func (c *check) sayf(format string, args ...any) {
	line := queries.ReplaceAllString(fmt.Sprintf(format, args...), "?…")
	for _, hidden := range []string{c.Credential.PrivateKey, c.Credential.WebhookSecret} {
		if hidden != "" {
			line = strings.ReplaceAll(line, hidden, "…")
		}
	}
	fmt.Fprintln(c.Out, line)
}
