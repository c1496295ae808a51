package verification_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/infra/local/aws/ddb"
	"recordbridge/infra/test/tables"
	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/manage/verification"
	"recordbridge/shared/platform/maillimit"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

const address = "Ada.Maple@example.com"

var (
	alder = org.Tenant{Mode: org.Test, OrgID: "0a000000-0000-4000-8000-00000000000a"}
	birch = org.Tenant{Mode: org.Test, OrgID: "0b000000-0000-4000-8000-00000000000b"}
)

type sentMail struct {
	to                  []string
	subject, text, html string
}

var sixDigits = regexp.MustCompile(`\b[0-9]{6}\b`)

func (m sentMail) code() string { return sixDigits.FindString(m.text) }

// post records sent emails and can simulate failures.
type post struct {
	mu   sync.Mutex
	sent []sentMail
	err  error
}

func (p *post) Send(_ context.Context, to []string, subject, text, html string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sent = append(p.sent, sentMail{to, subject, text, html})
	return p.err
}

// office combines the package's types with the tables declared in template.yaml.
type office struct {
	t       *testing.T
	tables  tables.Tables
	post    *post
	sender  verification.Sender
	checker verification.Checker
	proofs  verification.Proofs
	network string
}

func newOffice(t *testing.T) *office {
	t.Helper()
	made := tables.New(t)
	rows := store.Flow{DB: made.DB, Table: made.Name("FlowTable")}
	keys, err := secret.ParseKeyring(secret.New(`{"current":"1","1":"` + strings.Repeat("k", 43) + `"}`))
	expect.NoError(t, err)
	o := &office{t: t, tables: made, post: &post{}}
	o.sender = verification.Sender{
		Store: rows, Mailer: o.post, Keys: keys, Random: rand.Reader, NewID: ids.Random,
		Now: time.Now, PerHour: 5,
	}
	o.sender.Limits = maillimit.Limiter{Buckets: rows, Keys: keys, Now: time.Now}
	o.checker = verification.Checker{Store: rows, Keys: keys, Random: rand.Reader, Now: time.Now}
	o.proofs = verification.Proofs{Store: rows, Keys: keys, Now: time.Now}
	return o
}

func (o *office) ask(of org.Tenant, email string) (verification.Sent, error) {
	return o.sender.Send(o.t.Context(), verification.Request{
		Tenant: of, Organisation: "Alder App", Email: email,
		Network: o.network,
	})
}

// send emails a code. It returns the values that the page receives and the code from the email.
func (o *office) send(email string) (sent verification.Sent, code string) {
	o.t.Helper()
	sent, err := o.ask(alder, email)
	expect.NoError(o.t, err)
	return sent, o.post.sent[len(o.post.sent)-1].code()
}

func (o *office) check(of org.Tenant, id, code string) (verification.Verified, error) {
	return o.checker.Check(o.t.Context(), of, id, code)
}

func (o *office) prove(of org.Tenant, token secret.Text, email string) error {
	o.t.Helper()
	a, err := verification.ParseAddress(email)
	expect.NoError(o.t, err)
	return o.proofs.Check(o.t.Context(), of, token, a)
}

// other returns the six-digit code that is n greater than code, wrapping after 999999.
func other(code string, n int) string {
	var number int
	_, _ = fmt.Sscanf(code, "%d", &number)
	return fmt.Sprintf("%06d", (number+n)%1_000_000)
}

func wantKind(t *testing.T, what string, err error, kind fault.Kind) {
	t.Helper()
	if !errors.Is(err, kind) || strings.Contains(fmt.Sprint(err), "example.com") {
		t.Errorf("%s: got %v, want %v", what, err, kind)
	}
}

func TestCorrectCodeVerifiesAddress(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newOffice(t)
		began := time.Now()
		sent, code := o.send(" " + address + "\n")
		if got := o.post.sent[0].to; len(got) != 1 || got[0] != address {
			t.Errorf("the code went to %q", got)
		}
		if !sent.ExpiresAt.Equal(began.Add(5*time.Minute)) || !sent.ResendAfter.Equal(began.Add(30*time.Second)) {
			t.Errorf("sent %+v at %v", sent, began)
		}
		verified, err := o.check(alder, strings.ToUpper(sent.ID), code[:3]+" "+code[3:])
		expect.NoError(t, err)
		if len(verified.Token.Reveal()) != 43 || !verified.ExpiresAt.Equal(began.Add(time.Hour)) {
			t.Errorf("a token of %d characters until %v", len(verified.Token.Reveal()), verified.ExpiresAt)
		}
		expect.NoError(t, o.prove(alder, verified.Token, address))
		expect.NoError(t, o.prove(alder, verified.Token, "ada.maple@EXAMPLE.com"))
		wantKind(t, "another address", o.prove(alder, verified.Token, "b"+address), fault.Invalid)
		wantKind(t, "what is behind a plus is another address", o.prove(alder, verified.Token, "Ada.Maple+x@example.com"),
			fault.Invalid)
		wantKind(t, "another organisation", o.prove(birch, verified.Token, address), fault.Invalid)
		wantKind(t, "the other mode", o.prove(org.Tenant{Mode: org.Live, OrgID: alder.OrgID}, verified.Token, address),
			fault.Invalid)
		wantKind(t, "another token", o.prove(alder, secret.New(strings.Repeat("x", 43)), address), fault.Invalid)
		<-time.After(time.Hour - time.Microsecond)
		expect.NoError(t, o.prove(alder, verified.Token, address))
		<-time.After(time.Microsecond)
		wantKind(t, "after an hour", o.prove(alder, verified.Token, address), fault.Invalid)
	})
}

func TestCodeIsSingleUseAndBoundToTenant(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newOffice(t)
		sent, code := o.send(address)
		for name, of := range map[string]org.Tenant{
			"another organisation": birch,
			"the other mode":       {Mode: org.Live, OrgID: alder.OrgID},
		} {
			_, err := o.check(of, sent.ID, code)
			wantKind(t, name, err, fault.NotFound)
		}
		_, err := o.check(alder, sent.ID, code)
		expect.NoError(t, err)
		_, err = o.check(alder, sent.ID, code)
		wantKind(t, "a second time", err, fault.NotFound)
		for _, id := range []string{"", "x", sent.ID + "#", ids.Random()} {
			_, err = o.check(alder, id, code)
			wantKind(t, "an unknown id", err, fault.NotFound)
		}
		<-time.After(time.Minute)
		sent, code = o.send(address)
		<-time.After(5 * time.Minute)
		_, err = o.check(alder, sent.ID, code)
		wantKind(t, "after five minutes", err, fault.NotFound)
	})
}

func TestFiveWrongCodesRequireNewCode(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newOffice(t)
		sent, code := o.send(address)
		for _, typed := range []string{"", "12345", "1234567", "12345a", "１２３４５６", "-12345"} {
			_, err := o.check(alder, sent.ID, typed)
			wantKind(t, "what is no code", err, fault.Invalid) // malformed input does not count as an attempt
		}
		for n := 1; n <= 4; n++ {
			_, err := o.check(alder, sent.ID, other(code, n))
			wantKind(t, fmt.Sprintf("try %d", n), err, fault.Invalid)
		}
		_, err := o.check(alder, sent.ID, other(code, 5))
		wantKind(t, "the fifth try", err, fault.NotFound)
		_, err = o.check(alder, sent.ID, code)
		wantKind(t, "the right code after it", err, fault.NotFound)
	})
}

// TestConcurrentGuessesAreCounted checks that every concurrent guess is counted. If several callers submit the correct
// code at once, only one of them gets a token.
func TestConcurrentGuessesAreCounted(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	sent, code := o.send(address)
	var guess atomic.Int32
	left := succeeding(40, func() error {
		_, err := o.check(alder, sent.ID, other(code, int(guess.Add(1))))
		if errors.Is(err, fault.Invalid) {
			return nil
		}
		return err
	})
	if left != 4 { // after the fifth wrong guess, a new code is required
		t.Errorf("%d wrong codes were compared and may be followed by others, want 4", left)
	}
	_, err := o.check(alder, sent.ID, code)
	wantKind(t, "the right code after them", err, fault.NotFound)

	sent, code = o.send("b" + address)
	if won := succeeding(5, func() error { _, err := o.check(alder, sent.ID, code); return err }); won != 1 {
		t.Errorf("the right code worked %d times", won)
	}
}

// succeeding makes n concurrent calls and returns how many succeeded.
func succeeding(n int, call func() error) int {
	var won atomic.Int32
	var group sync.WaitGroup
	for range n {
		group.Go(func() {
			if call() == nil {
				won.Add(1)
			}
		})
	}
	group.Wait()
	return int(won.Load())
}

func TestConcurrentCodeRequestsAreCounted(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	if won := succeeding(10, func() error { _, err := o.ask(alder, address); return err }); won != 1 ||
		len(o.post.sent) != 1 {
		t.Errorf("%d calls got a code, %d mails", won, len(o.post.sent))
	}
}

func TestSendReportsEmailFailure(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newOffice(t)
		o.post.err = errors.New("trouble with " + "SES")
		_, err := o.ask(alder, address)
		wantKind(t, "SES fails", err, fault.Unavailable)
		if got := fault.Of(err); !strings.Contains(got.Public, "could not be sent") || got.RetryAfter != 30*time.Second {
			t.Errorf("told %+v", got)
		}
		<-time.After(30 * time.Second)
		o.post.err = fault.BadRequest("No.")
		_, err = o.ask(alder, address)
		wantKind(t, "an address that SES refuses", err, fault.Invalid)
		if got := fault.Of(err); got.Field != "email" || !strings.Contains(got.Public, "Check it for typos") {
			t.Errorf("told %+v", got)
		}
		o.sender.Mailer = nil
		_, err = o.ask(alder, "b"+address)
		wantKind(t, "a stack without mail", err, fault.Unavailable)
	})
}

// TestStoredRowsContainNoPersonalData checks that the table does not contain email addresses, codes or tokens. Without
// the key, stored values can't be compared with guesses.
func TestStoredRowsContainNoPersonalData(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.network = "198.51.100.7"
	sent, code := o.send(address)
	_, second := o.send("b" + address)
	verified, err := o.check(alder, sent.ID, code)
	expect.NoError(t, err)
	page, err := o.tables.Cloud.DynamoDB().Browse(ddb.Position{Table: o.tables.Name("FlowTable"), Limit: 100})
	expect.NoError(t, err)
	text, err := json.Marshal(page.Rows)
	expect.NoError(t, err)
	rows := string(text)
	for _, told := range []string{
		"maple", "Maple", "example.com", o.network, `"` + second + `"`,
		verified.Token.Reveal(),
	} {
		if strings.Contains(rows, told) {
			t.Errorf("%q stands in the table", told)
		}
	}
	if !strings.Contains(rows, "EMAILTOKEN#") || !strings.Contains(rows, "MAILBOX#") {
		t.Fatalf("the rows are %s", rows)
	}
}
