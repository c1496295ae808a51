// Package sim simulates a network (docs/guide/tefca.md, "Simulation"). The network has about twenty fictitious
// facilities, which hold records of the patients of tefca/people and behave like real facilities. Reports and documents
// don't depend on the time or order of requests.
package sim

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"recordbridge/shared/tefca"
	"recordbridge/shared/words/secret"
)

// Network is a simulated tefca.Network. The network's facilities provide documents and have no FHIR servers.
type Network struct {
	Now  func() time.Time
	Wait func(ctx context.Context, d time.Duration) error // waits for d; returns an error if ctx ends
}

// maxWait is the time after which unresponsive facilities are reported. The wait is just long enough for a tester to
// notice. A longer wait would only occupy a worker.
const maxWait = 12 * time.Second

// Pass waits for d in real time, or until ctx ends.
func Pass(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx) //nolint:wrapcheck // the cause says who ended the wait
	}
}

// reply is one facility's response to a location query.
type reply struct {
	from  place
	after time.Duration
	match tefca.Match // empty if the facility has no matching person
	local string
}

// Locate implements tefca.Network. Facilities respond after 0.2 to 6 seconds, unless they are defined as slow or
// silent. Locate reports each response as it arrives, on the calling goroutine.
func (n Network) Locate(ctx context.Context, who tefca.Assertion, found func(tefca.Facility) error) error {
	if err := n.accept(who); err != nil {
		return err
	}
	replies := repliesTo(who.Person)
	answered := map[int]bool{}
	var passed time.Duration
	for _, r := range replies {
		ended := n.pass(ctx, r.after-passed) != nil
		passed = r.after
		switch {
		case ended && answered[r.from.number]:
			continue
		case ended:
			r.match, r.local = tefca.Unanswered, ""
		}
		answered[r.from.number] = true
		if r.match == "" {
			continue
		}
		facility := r.from.found(r.match)
		facility.Local = secret.New(r.local)
		if err := found(facility); err != nil {
			return err
		}
	}
	return nil
}

// repliesTo returns all facilities' responses about a person, ordered by time.
func repliesTo(who tefca.Person) []reply {
	held := heldOf(who)
	var replies []reply
	for _, p := range places() {
		r := reply{from: p, after: taking(200*time.Millisecond, 6*time.Second, who.Family, who.Given, p.oid())}
		at := slices.IndexFunc(held, func(h holding) bool { return h.at == p.number })
		if at >= 0 {
			replies = append(replies, held[at].replies(r)...)
			continue
		}
		replies = append(replies, r)
	}
	slices.SortStableFunc(replies, func(a, b reply) int { return cmp.Compare(a.after, b.after) })
	return replies
}

// replies returns the responses of a facility that holds records of a patient.
func (h holding) replies(r reply) []reply {
	r.after = cmp.Or(h.slow, r.after)
	r.match, r.local = tefca.Found, strings.Join(h.chart().locals, " ")
	switch h.answer {
	case twice:
		earlier := r
		earlier.local, _, _ = strings.Cut(r.local, " ")
		r.after += time.Second
		return []reply{earlier, r}
	case ambiguous:
		r.match, r.local = tefca.Ambiguous, ""
	case silent:
		r.after, r.match, r.local = maxWait, tefca.Unanswered, ""
	case once:
	}
	return []reply{r}
}

// accept rejects assertions as a real network would: without a verifiable token, at too low a level, or expired.
func (n Network) accept(who tefca.Assertion) error {
	if who.Token.Empty() || who.Level < 2 || !n.Now().Before(who.ExpiresAt) {
		return fmt.Errorf("the simulated network: %w", tefca.ErrIdentity)
	}
	return nil
}

func (n Network) pass(ctx context.Context, d time.Duration) error {
	if err := n.Wait(ctx, d); err != nil {
		return errors.Join(tefca.ErrUnavailable, err)
	}
	if err := ctx.Err(); err != nil {
		return errors.Join(tefca.ErrUnavailable, err)
	}
	return nil
}

// taking returns a pseudo-random duration between least and most. The same arguments always yield the same duration.
func taking(least, most time.Duration, words ...string) time.Duration {
	return least + time.Duration(draw(uint64(most-least), words...)) //nolint:gosec // both are positive
}
