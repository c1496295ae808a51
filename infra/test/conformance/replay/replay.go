// Package replay runs the scripts of package corpus against a server. It implements each service's wire protocol
// itself, because an SDK could correct or hide parts of a request or response. Requests are signed with the SDK's
// signer.
package replay

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"recordbridge/infra/test/conformance/corpus"
)

// Target is a server to run scripts against.
type Target struct {
	Name                 string
	URL                  string // such as http://127.0.0.1:1234
	AccessKey, SecretKey string
	Client               interface {
		Do(r *http.Request) (*http.Response, error)
	}
	// NewID returns a name that is unique to one run of a script. It consists of lower-case letters and digits, and is
	// valid for tables, queues and buckets.
	NewID func() string
}

// DifferenceError reports a response that differs from a script's expectation.
type DifferenceError struct {
	Step int // 1-based index, counting the fixtures' steps
	Call string
	What string
}

// Error implements error.
func (d *DifferenceError) Error() string {
	return fmt.Sprintf("step %d, %s: %s", d.Step, d.Call, d.What)
}

// Play runs s against p. It returns a *DifferenceError if a response differs from the script's expectation, and another
// error if the server is unreachable or the script can't run.
func Play(ctx context.Context, p Target, s corpus.Script) error {
	variables := map[string]string{"id": p.NewID(), "url": p.URL}
	for i, step := range s.Steps {
		if step.Wait > 0 {
			if err := wait(ctx, step.Wait); err != nil {
				return err
			}
			continue
		}
		what, err := p.performEach(ctx, s.Service, step, variables)
		if err != nil {
			return fmt.Errorf("step %d, %s: %w", i+1, step.Call, err)
		}
		if what != "" {
			return &DifferenceError{Step: i + 1, Call: step.Call, What: what}
		}
	}
	return nil
}

// performEach runs a step once for each string in Each, or just once if Each is nil. It returns the first difference,
// or "" if all responses match.
func (p Target) performEach(ctx context.Context, service string, step corpus.Step,
	variables map[string]string,
) (what string, err error) {
	if step.Each == nil {
		return p.perform(ctx, service, step, variables)
	}
	for _, text := range step.Each {
		variables["each"] = text
		if what, err = p.perform(ctx, service, step, variables); what != "" || err != nil {
			return fmt.Sprintf("with %q: %s", text, what), err
		}
	}
	return "", nil
}

func (p Target) perform(ctx context.Context, service string, step corpus.Step,
	variables map[string]string,
) (what string, err error) {
	got, err := p.call(ctx, service, step, variables)
	if err != nil {
		return "", err
	}
	if what, err = got.check(step, variables); what != "" || err != nil {
		return what, err
	}
	for name, path := range step.Save {
		value := got.find(path)
		if value == nil {
			return "there is no " + path, nil
		}
		variables[name] = fmt.Sprint(value)
	}
	return "", nil
}

func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return fmt.Errorf("wait: %w", ctx.Err())
	case <-timer.C:
		return nil
	}
}

func (p Target) call(ctx context.Context, service string, step corpus.Step,
	variables map[string]string,
) (*answer, error) {
	r, body, err := p.request(ctx, service, step, variables)
	if err != nil {
		return nil, err
	}
	if r, err = p.sign(ctx, r, body, service, step.Sign); err != nil {
		return nil, err
	}
	response, err := p.Client.Do(r)
	if err != nil {
		return nil, fmt.Errorf("call: %w", err)
	}
	return read(response)
}

// find returns the value that a Save path selects: either "header NAME" or a path into the body.
func (a *answer) find(path string) any {
	if name, ok := strings.CutPrefix(path, "header "); ok {
		if value := a.header.Get(name); value != "" {
			return value
		}
		return nil
	}
	return corpus.Find(a.value, path)
}

// check compares the response with the step's expectations. It returns the first difference, or "" if there is none.
func (a *answer) check(step corpus.Step, variables map[string]string) (string, error) {
	if what := a.checkOutcome(step); what != "" {
		return what, nil
	}
	if what, err := a.checkBody(step, variables); what != "" || err != nil {
		return what, err
	}
	for name, pattern := range step.Answers {
		want, err := corpus.ExpandText(pattern, variables)
		if err != nil {
			return "", err
		}
		var got any
		if values := a.header.Values(name); len(values) > 0 {
			got = strings.Join(values, ", ")
		}
		if what := corpus.Match(want, got); what != "" {
			return "header " + name + what, nil
		}
	}
	return "", nil
}

// checkOutcome checks only the response's status and error code.
func (a *answer) checkOutcome(step corpus.Step) string {
	switch {
	case step.Prepares:
	case step.Fails != "" && a.code != step.Fails:
		return fmt.Sprintf("answers %s, want %s", a, step.Fails)
	case step.Fails == "" && step.Status == 0 && a.status >= http.StatusBadRequest:
		return fmt.Sprintf("answers %s, want success", a)
	case step.Status != 0 && a.status != step.Status:
		return fmt.Sprintf("answers status %d %s, want %d", a.status, a.code, step.Status)
	}
	return ""
}

func (a *answer) checkBody(step corpus.Step, variables map[string]string) (string, error) {
	if step.Response != nil {
		want, err := corpus.Expand(step.Response, variables)
		if err != nil {
			return "", err
		}
		if what := corpus.Match(want, a.value); what != "" {
			return what, nil
		}
	}
	if step.Text != nil {
		want, err := corpus.Expand(step.Text, variables)
		if err != nil {
			return "", err
		}
		if what := corpus.Match(want, string(a.body)); what != "" {
			return "the body" + what, nil
		}
	}
	return "", nil
}
