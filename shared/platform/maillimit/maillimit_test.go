package maillimit_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/infra/local/aws/ddb"
	"recordbridge/infra/test/tables"
	"recordbridge/infra/testkit/expect"
	"recordbridge/infra/testkit/memory"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/platform/maillimit"
	"recordbridge/shared/platform/ratelimit"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/secret"
)

const victim = "victim@cedar.example"

func purposes() []maillimit.Purpose {
	return []maillimit.Purpose{
		maillimit.Invitation, maillimit.Notice, maillimit.Answer, maillimit.NoticeAddress, maillimit.AccountAddress,
		maillimit.Account,
		maillimit.PatientCode, maillimit.ApprovedCode, maillimit.SupportTicket,
	}
}

func newLimiter(t *testing.T, buckets maillimit.Buckets) maillimit.Limiter {
	t.Helper()
	keys, err := secret.ParseKeyring(secret.New(`{"current":"1","1":"` + strings.Repeat("k", 43) + `"}`))
	expect.NoError(t, err)
	return maillimit.Limiter{Buckets: buckets, Keys: keys, Now: time.Now}
}

// admitted counts n emails against the limits and returns the number of emails allowed.
func admitted(t *testing.T, l maillimit.Limiter, n int, mail func(n int) maillimit.Mail) (sent int) {
	t.Helper()
	for i := range n {
		err := l.Take(t.Context(), mail(i))
		switch {
		case err == nil:
			sent++
		case !errors.Is(err, fault.Limited) || fault.Of(err).RetryAfter <= 0:
			t.Fatal(err)
		}
	}
	return sent
}

// TestTakeEnforcesPerPurposeLimits compares each purpose's limits with docs/adr/0042-mail-is-not-a-relay.md. Zero means
// unlimited.
func TestTakeEnforcesPerPurposeLimits(t *testing.T) {
	t.Parallel()
	for purpose, want := range map[maillimit.Purpose]struct{ sender, share, mailbox int }{
		maillimit.Invitation:     {50, 3, 15},
		maillimit.Notice:         {500, 50, 500},
		maillimit.Answer:         {100, 10, 50},
		maillimit.NoticeAddress:  {20, 3, 15},
		maillimit.AccountAddress: {20, 3, 15},
		maillimit.Account:        {0, 0, 50},
		maillimit.PatientCode:    {200, 10, 50},
		maillimit.ApprovedCode:   {10_000, 0, 120},
		maillimit.SupportTicket:  {20, 20, 200},
		"unknown":                {1, 1, 1},
	} {
		t.Run(string(purpose), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				many := max(600, want.sender+1)
				from := func(sender string) maillimit.From { return maillimit.From{Account: sender, Organisation: ""} }
				l := newLimiter(t, &memory.Buckets{})
				if got := admitted(t, l, many, func(i int) maillimit.Mail {
					return maillimit.Mail{Purpose: purpose, From: from("eve"), To: fmt.Sprintf("v%d@cedar.example", i)}
				}); want.sender > 0 && got != want.sender || want.sender == 0 && got != many {
					t.Errorf("one sender to many mailboxes: %d, want %d", got, want.sender)
				}
				l = newLimiter(t, &memory.Buckets{})
				share := min(want.share, want.mailbox)
				if share == 0 {
					share = want.mailbox
				}
				one := func(int) maillimit.Mail {
					return maillimit.Mail{Purpose: purpose, From: from("eve"), To: victim}
				}
				if got := admitted(t, l, many, one); got != share {
					t.Errorf("one sender to one mailbox: %d, want %d", got, share)
				}
				l = newLimiter(t, &memory.Buckets{})
				if got := admitted(t, l, many, func(i int) maillimit.Mail {
					return maillimit.Mail{Purpose: purpose, From: from(fmt.Sprint("eve", i)), To: victim}
				}); got != want.mailbox {
					t.Errorf("many senders to one mailbox: %d, want %d", got, want.mailbox)
				}
				<-time.After(24 * time.Hour)
				if got := admitted(t, l, many, func(i int) maillimit.Mail {
					return maillimit.Mail{Purpose: purpose, From: from(fmt.Sprint("mallory", i)), To: victim}
				}); got != want.mailbox {
					t.Errorf("a day later: %d, want %d", got, want.mailbox)
				}
			})
		})
	}
}

func TestTakeCountsAccountAndOrganisation(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, &memory.Buckets{})
		if got := admitted(t, l, 100, func(i int) maillimit.Mail {
			return maillimit.Mail{
				Purpose: maillimit.Invitation,
				From:    maillimit.From{Account: fmt.Sprint("member", i), Organisation: "birch"}, To: victim,
			}
		}); got != 3 {
			t.Errorf("many members of one organisation: %d, want 3", got)
		}
		l = newLimiter(t, &memory.Buckets{})
		if got := admitted(t, l, 100, func(i int) maillimit.Mail {
			return maillimit.Mail{
				Purpose: maillimit.Invitation,
				From:    maillimit.From{Account: "eve", Organisation: fmt.Sprint("birch", i)}, To: victim,
			}
		}); got != 3 {
			t.Errorf("one member of many organisations: %d, want 3", got)
		}
		l = newLimiter(t, &memory.Buckets{})
		if got := admitted(t, l, 100, func(int) maillimit.Mail {
			return maillimit.Mail{
				Purpose: maillimit.Invitation,
				From:    maillimit.From{Account: "eve", Organisation: "eve"}, To: victim,
			}
		}); got != 3 {
			t.Errorf("a founder in its own organisation: %d, want 3", got)
		}
	})
}

func TestTakeCountsPurposesSeparately(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, &memory.Buckets{})
		for _, purpose := range purposes() {
			mail := maillimit.Mail{Purpose: purpose, From: maillimit.From{Account: "eve", Organisation: "birch"}, To: victim}
			if got := admitted(t, l, 1000, func(int) maillimit.Mail { return mail }); got < 3 {
				t.Errorf("%s: %d e-mails after those of the other purposes", purpose, got)
			}
		}
	})
}

// TestTakeAllowsLegitimateSenderDuringAttack checks that a legitimate sender within its share loses no emails, however
// an attacker distributes emails over addresses and time.
func TestTakeAllowsLegitimateSenderDuringAttack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for seed := range uint64(20) {
			l, random := newLimiter(t, &memory.Buckets{}), rand.New(rand.NewPCG(seed, 42))
			hostile := func(int) maillimit.Mail {
				return maillimit.Mail{
					Purpose: purposes()[random.IntN(len(purposes()))],
					From:    maillimit.From{Account: "eve", Organisation: strconv.Itoa(random.IntN(20))},
					To:      fmt.Sprintf("Victim+%d@cedar.example", random.IntN(1000)),
				}
			}
			for range 3 {
				admitted(t, l, 500, hostile)
				<-time.After(time.Duration(random.IntN(12)) * time.Hour)
			}
			for _, purpose := range []maillimit.Purpose{
				maillimit.Invitation, maillimit.Notice, maillimit.Answer,
				maillimit.NoticeAddress, maillimit.PatientCode,
			} {
				honest := maillimit.Mail{Purpose: purpose, From: maillimit.From{Account: "ada", Organisation: "alder"}, To: victim}
				if got := admitted(t, l, 3, func(int) maillimit.Mail { return honest }); got != 3 {
					t.Errorf("seed %d, %s: %d of 3 honest e-mails were sent", seed, purpose, got)
				}
			}
		}
	})
}

func TestTakeStoresKeyedHashes(t *testing.T) {
	t.Parallel()
	made := tables.New(t)
	l := newLimiter(t, store.Flow{DB: made.DB, Table: made.Name("FlowTable")})
	expect.NoError(t,
		l.Take(t.Context(), maillimit.Mail{
			Purpose: maillimit.Invitation,
			From:    maillimit.From{Account: "eve", Organisation: "birch"}, To: victim,
		}))
	page, err := made.Cloud.DynamoDB().Browse(ddb.Position{Table: made.Name("FlowTable"), Limit: 100})
	expect.NoError(t, err)
	for _, row := range page.Rows {
		if text := fmt.Sprintf("%s", row.Item); strings.Contains(text, "victim") || strings.Contains(text, "eve") ||
			!strings.Contains(text, "RL#mail-") {
			t.Errorf("stored %s", text)
		}
	}
	if len(page.Rows) != 5 {
		t.Errorf("%d rows, want two senders', two shares and the mailbox's", len(page.Rows))
	}
}

func TestTakeEnforcesLimitWithConcurrentCallers(t *testing.T) {
	t.Parallel()
	made := tables.New(t)
	l := newLimiter(t, store.Flow{DB: made.DB, Table: made.Name("FlowTable")})
	now := time.Now()
	l.Now = func() time.Time { return now } // a caller whose clock lags behind another's may be refused the last slot
	var sent atomic.Int64
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			mail := maillimit.Mail{
				Purpose: maillimit.Invitation,
				From:    maillimit.From{Account: "eve", Organisation: "birch"}, To: victim,
			}
			if err := l.Take(t.Context(), mail); err == nil {
				sent.Add(1)
			} else if !errors.Is(err, fault.Limited) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if sent.Load() != 3 {
		t.Errorf("%d were sent, want 3", sent.Load())
	}
}

// broken is a table with operations that always fail.
type broken struct{}

func (broken) Take(context.Context, string, ratelimit.Limit, time.Time) (ratelimit.Decision, error) {
	return ratelimit.Decision{}, errors.New("no answer")
}

func TestTakeReturnsErrorWhenStoreFails(t *testing.T) {
	t.Parallel()
	err := newLimiter(t, broken{}).Take(t.Context(),
		maillimit.Mail{Purpose: maillimit.Invitation, From: maillimit.From{Account: "eve", Organisation: ""}, To: victim})
	if err == nil || errors.Is(err, fault.Limited) || strings.Contains(err.Error(), "cedar") {
		t.Errorf("got %v", err)
	}
}

func TestMailboxNormalisesEquivalentAddresses(t *testing.T) {
	t.Parallel()
	for _, spelling := range []string{
		"victim@cedar.example", "Victim@Cedar.Example", "victim+1@cedar.example",
		"VICTIM+a+b@cedar.example",
	} {
		if got := maillimit.Mailbox(spelling); got != victim {
			t.Errorf("%s: %s", spelling, got)
		}
	}
	for _, other := range []string{"victim@birch.example", "victim1@cedar.example", "cedar.example", ""} {
		if maillimit.Mailbox(other) == victim {
			t.Errorf("%q is taken for %s", other, victim)
		}
	}
}
