package signin_test

import (
	"encoding/base32"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/manage/account/signin"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/secret"
)

const moved = "ada@birch.example"

func (h *house) move(e signin.SignedIn, to string) (signin.SignedIn, error) {
	h.t.Helper()
	sent, err := h.RequestAddressChange(h.t.Context(), signin.Browser{}, e.Session, to)
	if err != nil {
		return signin.SignedIn{}, err
	}
	return h.ChangeAddress(h.t.Context(), signin.Browser{Session: e.Token}, e.Session, to, sent.ID, h.post.code())
}

var restoreLink = regexp.MustCompile(`#/restore/(\S+)`)

// link returns the token with which the holder of the former address can revert a change.
func (h *house) link(address string) secret.Text {
	h.t.Helper()
	found := restoreLink.FindStringSubmatch(h.post.last(address).text)
	if len(found) != 2 {
		h.t.Fatalf("the last mail to %s has no link", address)
	}
	return secret.New(found[1])
}

func TestChangeAddressRequiresProof(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	e := h.enter(ada, signin.Browser{})
	other := h.enter(bob, signin.Browser{})
	sent, err := h.RequestAddressChange(t.Context(), signin.Browser{}, e.Session, moved)
	expect.NoError(t, err)
	code := h.post.code()
	if _, err = h.ChangeAddress(t.Context(), signin.Browser{}, other.Session, moved, sent.ID, code); err == nil {
		t.Error("another account uses the code")
	}
	if _, err = h.ByCode(t.Context(), signin.Browser{}, moved, sent.ID, code); err == nil {
		t.Error("the code signs in")
	}
	if _, err = h.ChangeAddress(t.Context(), signin.Browser{}, e.Session, "eve@birch.example", sent.ID,
		code); !errors.Is(err, fault.Invalid) {
		t.Errorf("for another address: %v", err)
	}
	h.wait(time.Minute)
	elsewhere := h.enter(ada, signin.Browser{})
	after, err := h.move(e, moved)
	expect.NoError(t, err)
	if h.isIn(e.Token) || h.isIn(elsewhere.Token) || !h.isIn(after.Token) {
		t.Error("a session from before the change goes on")
	}
	h.wait(time.Minute)
	if again := h.enter(moved, signin.Browser{}); again.Session.AccountID != e.Session.AccountID {
		t.Error("the new address leads to another account")
	}
}

// TestRestoreAddressRevertsAccountTakeover checks that the former address can revert an intruder's change for 72 hours.
func TestRestoreAddressRevertsAccountTakeover(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	stolen := h.enter(ada, signin.Browser{})
	thief, err := h.move(stolen, "eve@birch.example")
	expect.NoError(t, err)
	told := h.post.last(ada)
	if !strings.Contains(told.text, "eve@birch.example") || !strings.Contains(told.html, dashboard+"#/restore/") {
		t.Errorf("the former address is told: %s", told.text)
	}
	if _, err = h.move(thief, "eve@cedar.example"); !errors.Is(err, fault.Conflict) {
		t.Errorf("a second change, which would make the link worthless: %v", err)
	}
	key, thief := h.passkey(thief)
	_, thief = h.generator(thief)
	h.wait(time.Minute)
	sent, err := h.SendCode(t.Context(), ada, signin.Browser{})
	expect.NoError(t, err)
	if _, err = h.ByCode(t.Context(), signin.Browser{}, ada, sent.ID, h.post.code()); !errors.Is(err, fault.Conflict) {
		t.Errorf("the former address makes another account: %v", err)
	}
	link := secret.New(restoreLink.FindStringSubmatch(told.text)[1])
	id, _, _ := strings.Cut(link.Reveal(), ".")
	for _, guess := range []string{"", ".", id, id + ".", id + "." + strings.Repeat("A", 43), "x." + link.Reveal()} {
		if err = h.RestoreAddress(t.Context(), secret.New(guess)); !errors.Is(err, fault.NotFound) {
			t.Errorf("by %q: %v", guess, err)
		}
	}
	h.wait(72*time.Hour - 10*time.Minute)
	expect.NoError(t, h.RestoreAddress(t.Context(), link))
	if h.isIn(thief.Token) {
		t.Error("the thief is in still")
	}
	if _, err = h.ByPasskey(t.Context(), signin.Browser{}, key.Get(t, h.asked())); !errors.Is(err, fault.Invalid) {
		t.Errorf("the thief's passkey: %v", err)
	}
	if err := h.RestoreAddress(t.Context(), link); !errors.Is(err, fault.NotFound) {
		t.Errorf("the link again: %v", err)
	}
	h.wait(time.Minute)
	back := h.enter(ada, signin.Browser{})
	if back.Session.AccountID != stolen.Session.AccountID || back.Session.Pending {
		t.Errorf("the owner has %+v", back.Session)
	}
	if other := h.enter("eve@birch.example", signin.Browser{}); other.Session.AccountID == stolen.Session.AccountID {
		t.Error("the thief's address leads to the account still")
	}
}

// TestRestoreAddressRevokesAttackerAccessImmediately checks that the link works immediately and ends everything that
// the intruder started.
func TestRestoreAddressRevokesAttackerAccessImmediately(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	thief, err := h.move(h.enter(ada, signin.Browser{}), "eve@birch.example")
	expect.NoError(t, err)
	offer, err := h.OfferTOTP(t.Context(), thief.Session)
	expect.NoError(t, err)
	expect.NoError(t, h.RestoreAddress(t.Context(), h.link(ada)))
	if h.isIn(thief.Token) {
		t.Error("the thief is in still")
	}
	h.wait(time.Minute)
	back := h.enter(ada, signin.Browser{})
	key, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(offer.Secret.Reveal())
	expect.NoError(t, err)
	if _, err := h.ConfirmTOTP(t.Context(), signin.Browser{}, back.Session, h.shows(key)); !errors.Is(err, fault.Invalid) {
		t.Errorf("the generator that the thief was offered: %v", err)
	}
}

func TestRestoreLinkAndFormerAddressExpire(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	e := h.enter(ada, signin.Browser{})
	_, err := h.move(e, moved)
	expect.NoError(t, err)
	link := h.link(ada)
	h.wait(72 * time.Hour)
	if err := h.RestoreAddress(t.Context(), link); !errors.Is(err, fault.NotFound) {
		t.Errorf("after 72 hours: %v", err)
	}
	if other := h.enter(ada, signin.Browser{}); other.Session.AccountID == e.Session.AccountID {
		t.Error("the former address leads to the account still")
	}
}

func TestChangeAddressRejectsAddressInUse(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	e := h.enter(ada, signin.Browser{})
	h.enter(bob, signin.Browser{})
	h.wait(time.Minute)
	if _, err := h.move(e, bob); !errors.Is(err, fault.Conflict) {
		t.Errorf("got %v", err)
	}
	if !h.isIn(e.Token) {
		t.Error("the session has ended")
	}
	_, err := h.RequestAddressChange(t.Context(), signin.Browser{}, e.Session, "ada@gmail.com")
	if !errors.Is(err, fault.Invalid) {
		t.Errorf("at a domain of everybody's: %v", err)
	}
}

func TestChangeAddressFailsWhenFormerAddressCannotBeNotified(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	e := h.enter(ada, signin.Browser{})
	sent, err := h.RequestAddressChange(t.Context(), signin.Browser{}, e.Session, moved)
	expect.NoError(t, err)
	code := h.post.code()
	h.post.err = errors.New("SES is down")
	if _, err := h.ChangeAddress(t.Context(), signin.Browser{}, e.Session, moved, sent.ID, code); !errors.Is(err,
		fault.Unavailable) {
		t.Errorf("got %v", err)
	}
	h.post.err = nil
	h.wait(time.Minute)
	if other := h.enter(moved, signin.Browser{}); other.Session.AccountID == e.Session.AccountID {
		t.Error("the address has changed")
	}
}
