package signin_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/manage/account"
	"recordbridge/shared/manage/account/signin"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/secret"
)

func TestByCodeSignsInAddressOwner(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	first := h.enter(ada, signin.Browser{})
	if !h.isIn(first.Token) || first.Session.Pending || first.Device.Empty() {
		t.Errorf("entered as %+v", first.Session)
	}
	mail := h.post.last(ada)
	if len(h.post.sent) != 1 || !strings.Contains(mail.text, "is signing in to the dashboard of Recordbridge") ||
		strings.Contains(mail.text+mail.html, "://") {
		t.Errorf("%d mails, the last says %s", len(h.post.sent), mail.text)
	}
	h.wait(time.Hour)
	again := h.enter("Ada@ALDER.example", signin.Browser{Session: first.Token, Device: first.Device})
	if again.Session.AccountID != first.Session.AccountID {
		t.Error("another spelling of the address is another account")
	}
	if h.isIn(first.Token) || !h.isIn(again.Token) {
		t.Error("the session from before goes on, or the new one does not")
	}
}

func TestSignInReplacesPlantedSessionToken(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	planted := secret.New(strings.Repeat("A", 43))
	entered := h.enter(ada, signin.Browser{Session: planted, Device: planted})
	if entered.Token.Equal(planted) || h.isIn(planted) {
		t.Error("the browser goes on with what it had")
	}
}

func TestByCodeRejectsCodeSentToAnotherAddress(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.enter(bob, signin.Browser{})
	sent, err := h.SendCode(t.Context(), ada, signin.Browser{})
	expect.NoError(t, err)
	code := h.post.code()
	if _, err = h.ByCode(t.Context(), signin.Browser{}, bob, sent.ID, code); !errors.Is(err, fault.Invalid) {
		t.Errorf("with another's address: %v", err)
	}
	if _, err = h.ByCode(t.Context(), signin.Browser{}, ada, sent.ID, code); !errors.Is(err, fault.NotFound) {
		t.Errorf("after that: %v, want a code that is used up", err)
	}
}

func TestCodeAllowsFiveAttemptsAndIsSingleUse(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	sent, err := h.SendCode(t.Context(), ada, signin.Browser{})
	expect.NoError(t, err)
	right := h.post.code()
	wrong := "000000"
	if right == wrong {
		wrong = "000001"
	}
	for range 5 {
		if _, err = h.ByCode(t.Context(), signin.Browser{}, ada, sent.ID, wrong); err == nil {
			t.Fatal("a wrong code lets in")
		}
	}
	if _, err = h.ByCode(t.Context(), signin.Browser{}, ada, sent.ID, right); !errors.Is(err, fault.NotFound) {
		t.Errorf("the right one after five wrong ones: %v", err)
	}
	h.wait(time.Minute)
	entered := h.enter(ada, signin.Browser{})
	if _, err = h.ByCode(t.Context(), signin.Browser{Session: entered.Token}, ada, sent.ID, h.post.code()); err == nil {
		t.Error("a code works twice")
	}
}

// TestAttackersCannotLockOutOwner checks that strangers who exhaust the hourly limit on codes for the owner's address
// don't affect the owner's known browser.
func TestAttackersCannotLockOutOwner(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	known := h.enter(ada, signin.Browser{})
	stranger := signin.Browser{Device: h.enter(bob, signin.Browser{}).Device}
	limited := false
	for range 6 {
		h.wait(time.Minute)
		_, err := h.SendCode(t.Context(), ada, stranger)
		limited = errors.Is(err, fault.Limited)
	}
	if !limited {
		t.Fatal("strangers may send as many as they like")
	}
	h.wait(time.Minute)
	h.enter(ada, signin.Browser{Device: known.Device})
}

func TestSignInDoesNotRevealWhetherAccountExists(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.enter(ada, signin.Browser{})
	h.wait(time.Minute)
	one, err := h.SendCode(t.Context(), ada, signin.Browser{})
	expect.NoError(t, err)
	other, err := h.SendCode(t.Context(), "nobody@alder.example", signin.Browser{})
	expect.NoError(t, err)
	if one.ExpiresAt != other.ExpiresAt || one.ResendAfter != other.ResendAfter || len(one.ID) != len(other.ID) {
		t.Errorf("answers %+v and %+v", one, other)
	}
	if first, second := h.post.last(ada), h.post.last("nobody@alder.example"); first.subject != second.subject ||
		len(first.text) != len(second.text) {
		t.Errorf("mails %q and %q", first.text, second.text)
	}
}

func TestSignInRejectsFreeMailAddress(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	if _, err := h.SendCode(t.Context(), "ada@gmail.com", signin.Browser{}); !errors.Is(err, fault.Invalid) ||
		len(h.post.sent) != 0 {
		t.Errorf("sending: %v, %d mails", err, len(h.post.sent))
	}
	if _, err := h.ByCode(t.Context(), signin.Browser{}, "ada@mail.gmail.com", "id", "123456"); !errors.Is(err,
		fault.Invalid) {
		t.Errorf("signing in: %v", err)
	}
}

func TestConcurrentSignInsCreateOneAccount(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	type ticket struct{ id, code string }
	tickets := make([]ticket, 0, 3)
	for range 3 {
		sent, err := h.SendCode(t.Context(), ada, signin.Browser{})
		expect.NoError(t, err)
		tickets = append(tickets, ticket{sent.ID, h.post.code()})
		h.wait(time.Minute)
	}
	var (
		group sync.WaitGroup
		mu    sync.Mutex
		ids   = map[string]bool{}
	)
	for _, ticket := range tickets {
		group.Go(func() {
			entered, err := h.ByCode(t.Context(), signin.Browser{}, ada, ticket.id, ticket.code)
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			ids[entered.Session.AccountID] = true
		})
	}
	group.Wait()
	if len(ids) != 1 {
		t.Errorf("%d accounts were made", len(ids))
	}
}

func TestSignInNotifiesOwnerOfNewBrowser(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	known := h.enter(ada, signin.Browser{})
	h.wait(time.Hour)
	h.enter(ada, signin.Browser{Device: known.Device})
	if n := len(h.post.sent); n != 2 {
		t.Fatalf("%d mails after two sign-ins in one browser, want their codes", n)
	}
	h.wait(time.Hour)
	other := h.enter(ada, signin.Browser{Device: secret.New("stolen from nowhere")})
	mail := h.post.last(ada)
	if !strings.Contains(mail.subject, "new browser") || !strings.Contains(mail.html, dashboard+"#/account") {
		t.Errorf("the last mail is %q: %s", mail.subject, mail.text)
	}
	if strings.Contains(mail.text, other.Token.Reveal()) {
		t.Error("the mail has the session's token")
	}
	h.post.err = errors.New("SES is down")
	h.wait(time.Hour)
	h.post.err = nil
	sent, err := h.SendCode(t.Context(), ada, signin.Browser{})
	expect.NoError(t, err)
	code := h.post.code()
	h.post.err = errors.New("SES is down")
	if _, err := h.ByCode(t.Context(), signin.Browser{}, ada, sent.ID, code); err != nil {
		t.Errorf("a mail that does not go keeps its owner out: %v", err)
	}
}

func TestSignOutEverywhereEndsAllSessions(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	here := h.enter(ada, signin.Browser{})
	h.wait(time.Minute)
	there := h.enter(ada, signin.Browser{})
	expect.NoError(t, h.SignOut(t.Context(), here.Session))
	expect.NoError(t, h.SignOut(t.Context(), here.Session))
	if h.isIn(here.Token) || !h.isIn(there.Token) {
		t.Error("signing out ends another session, or not its own")
	}
	h.wait(time.Minute)
	again := h.enter(ada, signin.Browser{})
	expect.NoError(t, h.SignOutEverywhere(t.Context(), there.Session))
	if h.isIn(there.Token) || h.isIn(again.Token) {
		t.Error("a session goes on")
	}
	a, _, err := h.Account(t.Context(), there.Session)
	expect.NoError(t, err)
	if a.Email != ada || account.Fold(a.Email) != ada {
		t.Errorf("the account is %+v", a)
	}
}
