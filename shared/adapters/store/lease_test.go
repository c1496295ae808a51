package store_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/export"
	"recordbridge/shared/webhook"
	"recordbridge/shared/webhook/notice"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

type holding struct {
	quiet bool // whether release returns no error even if it has no effect
	take  func(who int, at, until time.Time) error
	keep  func(who int, until time.Time) error
	leave func(who int, at time.Time) error
}

func slotHolding(t *testing.T, s stores, of org.Tenant) holding {
	t.Helper()
	return holding{
		quiet: true,
		take: func(who int, at, until time.Time) error {
			return s.endpoints.TakeSlot(t.Context(), of.OrgID, 1, strconv.Itoa(who), at, until)
		},
		leave: func(who int, _ time.Time) error {
			return s.endpoints.ReleaseSlot(t.Context(), of.OrgID, 1, strconv.Itoa(who))
		},
	}
}

func tokensHolding(t *testing.T, s stores, of org.Tenant) holding {
	t.Helper()
	s.connect(t, of)
	row := tokensOf(of)
	return holding{
		take: func(who int, at, until time.Time) error {
			read, err := s.tokens.Tokens(t.Context(), of, connID)
			expect.NoError(t, err)
			read.LeaseOwner, read.LeaseUntil = strconv.Itoa(who), until
			return s.tokens.LeaseTokens(t.Context(), read, at)
		},
		leave: func(who int, _ time.Time) error {
			row.LeaseOwner = strconv.Itoa(who)
			return s.tokens.ReleaseTokens(t.Context(), row)
		},
	}
}

func taskHolding(t *testing.T, s stores, of org.Tenant) holding {
	t.Helper()
	s.open(t, of)
	var held [2]export.Task
	for who := range held {
		held[who] = pendingTask(of)
		held[who].Generation = -1 // no claim has generation -1
	}
	return holding{
		take: func(who int, at, until time.Time) error {
			task, err := s.tasks.ClaimTask(t.Context(), of, taskID, at, until)
			if err == nil {
				held[who] = task
			}
			return err
		},
		keep:  func(who int, until time.Time) error { return s.tasks.ExtendTask(t.Context(), held[who], until) },
		leave: func(who int, at time.Time) error { return s.tasks.YieldTask(t.Context(), held[who], time.Time{}, at) },
	}
}

func deliveryHolding(t *testing.T, s stores, of org.Tenant) holding {
	t.Helper()
	leave := func(d webhook.Delivery, at time.Time) error {
		d.Status, d.NextAt, d.DueAt = webhook.Scheduled, at, at
		return s.deliveries.ParkDelivery(t.Context(), d)
	}
	expect.NoError(t, leave(s.fanOut(t, of), now))
	held := [2]webhook.Delivery{deliveryOf(of), deliveryOf(of)}
	return holding{
		take: func(who int, at, until time.Time) error {
			d, err := s.deliveries.ClaimDelivery(t.Context(), of, delivID, at, until)
			if err == nil {
				held[who] = d
			}
			return err
		},
		leave: func(who int, at time.Time) error { return leave(held[who], at) },
	}
}

func noticeHolding(t *testing.T, s stores, of org.Tenant) holding {
	t.Helper()
	expect.NoError(t, s.notices.Notify(t.Context(), noticeOf(of)))
	held := [2]notice.Notice{noticeOf(of), noticeOf(of)}
	return holding{
		take: func(who int, at, until time.Time) error {
			n, err := s.notices.ClaimNotice(t.Context(), of, noticeID, at, until)
			if err == nil {
				held[who] = n
			}
			return err
		},
		leave: func(who int, at time.Time) error { return s.notices.PostponeNotice(t.Context(), held[who], at) },
	}
}

type rule struct {
	named  bool
	holder int // current holder; -1 if there is none
	until  time.Time
	at     time.Time // current time
}

// worker returns the number of the worker to which an event belongs: 0 for A, a and x; 1 for B, b and y.
func worker(event rune) int { return strings.IndexRune("ABabxy", event) % 2 }

// after returns the model's next state and whether the event succeeds. The events A and B take the lease for a minute,
// a and b renew it, and x and y release it. The event | advances the time by a minute, and > by slightly more than a
// minute. An event that fails leaves the model unchanged.
func (r rule) after(event rune) (next rule, works bool) {
	who, next := worker(event), r
	switch event {
	case 'A', 'B':
		next.holder, next.until = who, r.at.Add(time.Minute)
		works = r.holder < 0 || r.at.After(r.until) || r.named && r.holder == who
	case 'a', 'b':
		next.until = r.at.Add(time.Minute)
		works = r.holder == who
	case 'x', 'y':
		next.holder = -1
		works = r.holder == who
	case '|':
		next.at, works = r.at.Add(time.Minute), true
	case '>':
		next.at, works = r.at.Add(time.Minute+time.Microsecond), true
	}
	if !works {
		next = r
	}
	return next, works
}

// orders returns all sequences of n events. A sequence ends at the first event that fails; other sequences cover the
// remaining events.
func (r rule) orders(events string, n int) []string {
	if n == 0 {
		return []string{""}
	}
	var all []string
	for _, one := range events {
		next, works := r.after(one)
		if !works {
			all = append(all, string(one))
			continue
		}
		for _, rest := range next.orders(events, n-1) {
			all = append(all, string(one)+rest)
		}
	}
	return all
}

// play applies events to a lease and compares each result with the model's.
func (r rule) play(t *testing.T, h holding, events string) {
	t.Helper()
	for i, event := range events {
		next, works := r.after(event)
		who, isQuiet := worker(event), false
		var err error
		switch event {
		case 'A', 'B':
			err = h.take(who, r.at, r.at.Add(time.Minute))
		case 'a', 'b':
			err = h.keep(who, r.at.Add(time.Minute))
		case 'x', 'y':
			err, isQuiet = h.leave(who, r.at), h.quiet
		}
		if !isQuiet && (works != (err == nil) || !works && !errors.Is(err, fault.Conflict)) {
			t.Fatalf("%s: event %d, %c, ends with %v; it should work: %v", events, i, event, err, works)
		}
		r = next
	}
}

func TestLeaseHasAtMostOneHolder(t *testing.T) {
	t.Parallel()
	for name, hold := range map[string]func(*testing.T, stores, org.Tenant) holding{
		"slot": slotHolding, "tokens": tokensHolding, "task": taskHolding, "delivery": deliveryHolding,
		"notice": noticeHolding,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStores(t)
			possible := "ABxy|>"
			if name == "task" {
				possible = "ABabxy|>"
			}
			isNamed := name == "slot" || name == "tokens"
			free := rule{named: isNamed, holder: -1, until: time.Time{}, at: now}
			taken, _ := free.after('A')
			for i, events := range taken.orders(possible, 3) {
				of := org.Tenant{Mode: org.Test, OrgID: fmt.Sprintf("0a000000-0000-4000-8000-%012d", i)}
				free.play(t, hold(t, s, of), "A"+events)
			}
		})
	}
}
