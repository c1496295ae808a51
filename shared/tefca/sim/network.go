// Package sim is a simulated network (docs/guide/tefca.md, "Simulation"): about twenty facilities that do not exist,
// which hold records of the patients of tefca/people and behave as facilities do. It owns the facilities, the records
// and the behaviour, is the same whenever and in whatever order it is asked, and asks nobody.
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

// Network is a tefca.Network. All its facilities have documents, and none a FHIR server.
type Network struct {
	Now  func() time.Time
	Wait func(ctx context.Context, d time.Duration) error // lets time pass; its error is that ctx has ended
}

// maxWait is how long a facility that does not answer is waited for. The wait holds a worker that others wait for, too,
// so that it is no longer than what shows a tester how it looks.
const maxWait = 12 * time.Second

// Pass lets real time pass.
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

// reply is one answer of a facility to who locates.
type reply struct {
	from  place
	after time.Duration
	match tefca.Match // empty: nobody like that is known
	local string
}

// Locate implements tefca.Network. Facilities answer 0.2 to 6 seconds after they are asked, but for those that are slow
// or silent by their story. Answers are told as they come, by the goroutine that asks.
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

// repliesTo lists what all facilities say of a person, by time.
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

// replies are those of a facility that has the patient.
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

// accept refuses an assertion that a network would not take: without the token that others could check, of a low level,
// or one that has expired.
func (n Network) accept(who tefca.Assertion) error {
	if who.Token.Empty() || who.Level < 2 || !n.Now().Before(who.ExpiresAt) {
		return fmt.Errorf("the simulated network: %w", tefca.ErrIdentity)
	}
	return nil
}

// pass lets time pass; the error is that ctx has ended, be it before.
func (n Network) pass(ctx context.Context, d time.Duration) error {
	if err := n.Wait(ctx, d); err != nil {
		return errors.Join(tefca.ErrUnavailable, err)
	}
	if err := ctx.Err(); err != nil {
		return errors.Join(tefca.ErrUnavailable, err)
	}
	return nil
}

// taking is a time between two that looks like chance, and is the same for the same words.
func taking(least, most time.Duration, words ...string) time.Duration {
	return least + time.Duration(draw(uint64(most-least), words...)) //nolint:gosec // both are positive
}
