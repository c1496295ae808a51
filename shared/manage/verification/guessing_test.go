package verification_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/infra/local/aws/ddb"
	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/manage/verification"
	"recordbridge/shared/words/fault"
)

// TestSendLimitsMailboxToFiveCodesPerHour checks that a caller can't increase the chance of guessing a code by
// requesting many codes. The limit also applies to different spellings of the address and to requests from several
// networks.
func TestSendLimitsMailboxToFiveCodesPerHour(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newOffice(t)
		o.send(address)
		_, err := o.ask(alder, address)
		wantWait(t, "a second code at once", err, 30*time.Second)
		_, err = o.ask(birch, address)
		expect.NoError(t, err) // each organisation has its own limit
		for _, spelling := range []string{"ada.maple@example.com", "Ada.Maple+1@example.com", "ADA.MAPLE+2@Example.Com"} {
			<-time.After(30 * time.Second)
			o.send(spelling)
		}
		<-time.After(30 * time.Second)
		_, err = o.ask(alder, address)
		wantWait(t, "a fifth code of one network", err, time.Hour-120*time.Second)
		o.network = "198.51.100.7"
		o.send(address)
		<-time.After(30 * time.Second)
		o.network = "198.51.100.8"
		_, err = o.ask(alder, "ada.maple+3@example.com")
		wantWait(t, "a sixth code", err, time.Hour-150*time.Second)
		<-time.After(fault.Of(err).RetryAfter - time.Microsecond)
		_, err = o.ask(alder, address)
		wantWait(t, "too soon", err, time.Microsecond)
		<-time.After(time.Microsecond)
		o.send(address)
		if want := 7; len(o.post.sent) != want {
			t.Errorf("%d mails, want %d", len(o.post.sent), want)
		}
	})
}

func wantWait(t *testing.T, what string, err error, want time.Duration) {
	t.Helper()
	wantKind(t, what, err, fault.Limited)
	if got := fault.Of(err).RetryAfter; got != want {
		t.Errorf("%s asks to wait %v, want %v", what, got, want)
	}
}

// TestSubsequentDailyCodesAllowSingleAttempt checks that a patient can receive ten codes a day from one network. After
// ten codes to a mailbox within a day, each further code allows only one attempt.
func TestSubsequentDailyCodesAllowSingleAttempt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newOffice(t)
		began := time.Now()
		for range 10 {
			if got := o.tries(o.send(address)); got != 5 {
				t.Fatalf("a code has %d tries", got)
			}
			<-time.After(time.Hour)
		}
		_, err := o.ask(alder, address)
		wantWait(t, "an eleventh code", err, time.Until(began.Add(24*time.Hour)))
		o.network = "198.51.100.7"
		if got := o.tries(o.send(address)); got != 1 {
			t.Errorf("an eleventh code has %d tries", got)
		}
		<-time.After(time.Minute)
		sent, code := o.send(address)
		_, err = o.check(alder, sent.ID, code)
		expect.NoError(t, err)
		<-time.After(time.Until(began.Add(24 * time.Hour)))
		o.network = ""
		if got := o.tries(o.send(address)); got != 1 { // eleven codes were sent within the last 24 hours
			t.Errorf("the next code of the first network has %d tries", got)
		}
		<-time.After(3 * time.Hour)
		if got := o.tries(o.send(address)); got != 5 {
			t.Errorf("when others are a day old, a code has %d tries", got)
		}
	})
}

// tries guesses a code until no attempts remain, and returns the number of guesses.
func (o *office) tries(sent verification.Sent, code string) int {
	o.t.Helper()
	for n := 1; ; n++ {
		_, err := o.check(alder, sent.ID, other(code, n))
		if errors.Is(err, fault.NotFound) {
			return n
		}
		wantKind(o.t, fmt.Sprintf("guess %d", n), err, fault.Invalid)
	}
}

// TestAttackerCannotLockOutPatient checks that an attacker who makes every permitted guess from one network for a day
// can't lock out a patient. The patient requests a code every three hours and enters it correctly.
func TestAttackerCannotLockOutPatient(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newOffice(t)
		guesses := 0
		for began, next := time.Now(),
			time.Now().Add(3*time.Hour); time.Since(began) < 24*time.Hour; <-time.After(30 * time.Second) {
			o.network = "198.51.100.7"
			guesses += o.guess()
			if time.Now().Before(next) {
				continue
			}
			<-time.After(30 * time.Second) // the attacker may have just requested a code
			o.network, next = "203.0.113.1", next.Add(3*time.Hour)
			sent, code := o.send(address)
			_, err := o.check(alder, sent.ID, code)
			expect.NoError(t, err)
		}
		if guesses < 40 || guesses > 50 { // limits from docs/develop/threats-accounts.md, "Guessing codes"
			t.Errorf("%d guesses in a day", guesses)
		}
	})
}

// TestDailyCodeGuessesAreLimited checks the number of guesses that an attacker gets per day by using a new network for
// every code.
func TestDailyCodeGuessesAreLimited(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newOffice(t)
		guesses, networks := 0, 0
		for began := time.Now(); time.Since(began) < 24*time.Hour; <-time.After(30 * time.Second) {
			o.network = strconv.Itoa(networks)
			networks++
			guesses += o.guess()
		}
		if want := 10*5 + 110; guesses != want { // limit from docs/develop/threats-accounts.md
			t.Errorf("%d guesses in a day, want %d", guesses, want)
		}
	})
}

// TestSendHistoryIsStoredForOneDay checks that a mailbox's send history is stored for at least a day. Waiting for less
// than a day therefore can't reset the daily limits.
func TestSendHistoryIsStoredForOneDay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newOffice(t)
		o.send(address)
		page, err := o.tables.Cloud.DynamoDB().Browse(ddb.Position{Table: o.tables.Name("FlowTable"), Limit: 10})
		expect.NoError(t, err)
		text, err := json.Marshal(page.Rows)
		expect.NoError(t, err)
		if want := fmt.Sprintf(`"ttl":{"N":"%d"}`,
			time.Now().Add(25*time.Hour).Unix()); !strings.Contains(string(text), want) {
			t.Errorf("no %s in %s", want, text)
		}
	})
}

// guess requests a code, uses all of its attempts, and returns the number of guesses.
func (o *office) guess() int {
	o.t.Helper()
	sent, err := o.ask(alder, address)
	if err != nil {
		wantKind(o.t, "a code", err, fault.Limited)
		return 0
	}
	return o.tries(sent, o.post.sent[len(o.post.sent)-1].code())
}
