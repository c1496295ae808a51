package signin_test

import (
	"errors"
	"fmt"
	"strconv"
	"testing"
	"time"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/manage/account/signin"
	"recordbridge/shared/platform/maillimit"
	"recordbridge/shared/words/fault"
)

const victim = "victim@cedar.example"

// TestRequestAddressChangeIsLimitedAcrossAccounts checks the limits shared by all accounts. Codes for new addresses
// have no other limits, because those codes are stored per account.
func TestRequestAddressChangeIsLimitedAcrossAccounts(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	sent := 0
	for n := range 8 {
		e := h.enter(fmt.Sprintf("eve%d@birch.example", n), signin.Browser{})
		perAccount := 0
		for range 5 {
			h.wait(31 * time.Second)
			_, err := h.RequestAddressChange(t.Context(), signin.Browser{Network: strconv.Itoa(n)}, e.Session, victim)
			if err != nil && !errors.Is(err, fault.Limited) {
				t.Fatal(err)
			}
			if err == nil {
				perAccount++
				sent++
			}
		}
		if n == 0 && perAccount != 3 {
			t.Errorf("one account has %d codes sent, want 3", perAccount)
		}
	}
	if sent != 15 {
		t.Errorf("eight accounts have %d codes sent, want 15", sent)
	}
	h.enter(victim, signin.Browser{}) // Sign-in codes have a separate limit.
}

// TestSecurityEmailsAreLimitedPerMailbox checks that, once the limit is reached, sign-ins succeed but changes of
// address fail, because the former address must be notified.
func TestSecurityEmailsAreLimitedPerMailbox(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	e := h.enter(ada, signin.Browser{})
	for range 50 {
		expect.NoError(t, h.deps.Limits.Take(t.Context(),
			maillimit.Mail{Purpose: maillimit.Account, From: maillimit.From{Account: "", Organisation: ""}, To: ada}))
	}
	h.wait(time.Minute)
	before := len(h.post.sent)
	h.enter(ada, signin.Browser{})
	if sent := len(h.post.sent) - before; sent != 1 {
		t.Errorf("%d e-mails were sent for a sign-in in a new browser, want its code alone", sent)
	}
	if _, err := h.move(e, moved); !errors.Is(err, fault.Limited) {
		t.Errorf("the address was changed: %v", err)
	}
	h.wait(time.Hour)
	before = len(h.post.sent)
	h.enter(ada, signin.Browser{})
	if sent := len(h.post.sent) - before; sent != 2 {
		t.Errorf("%d e-mails were sent an hour later, want the code and the notice", sent)
	}
}
