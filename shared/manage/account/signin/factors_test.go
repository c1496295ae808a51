package signin_test

import (
	"encoding/base32"
	"errors"
	"testing"
	"time"

	"recordbridge/infra/testkit/expect"
	"recordbridge/infra/testkit/passkeytest"
	"recordbridge/shared/manage/account/signin"
	"recordbridge/shared/manage/account/totp"
	"recordbridge/shared/words/fault"
)

// generator adds an authenticator app to an account and returns the app's secret and the new session.
func (h *house) generator(e signin.SignedIn) ([]byte, signin.SignedIn) {
	h.t.Helper()
	offer, err := h.OfferTOTP(h.t.Context(), e.Session)
	expect.NoError(h.t, err)
	key, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(offer.Secret.Reveal())
	expect.NoError(h.t, err)
	entered, err := h.ConfirmTOTP(h.t.Context(), signin.Browser{Session: e.Token, Device: e.Device}, e.Session,
		h.shows(key))
	expect.NoError(h.t, err)
	return key, entered
}

// shows returns the code that the authenticator app currently displays.
func (h *house) shows(key []byte) string { return totp.Code(key, totp.Step(h.now)) }

func TestAddingSecondFactorEndsEarlierSessions(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	elsewhere := h.enter(ada, signin.Browser{})
	h.wait(time.Minute)
	here := h.enter(ada, signin.Browser{})
	key, goesOn := h.generator(here)
	if h.isIn(elsewhere.Token) || h.isIn(here.Token) || !h.isIn(goesOn.Token) || goesOn.Session.Pending {
		t.Error("a session without the second factor goes on, or the one that has set it up does not")
	}
	h.wait(time.Minute)
	mails := len(h.post.sent)
	pending := h.enter(ada, signin.Browser{})
	if !pending.Session.Pending || !pending.Device.Empty() || len(h.post.sent) != mails+1 {
		t.Errorf("a code by e-mail alone begins %+v", pending.Session)
	}
	h.wait(14 * time.Minute)
	full, err := h.ByTOTP(t.Context(), signin.Browser{Session: pending.Token}, pending.Session, h.shows(key))
	expect.NoError(t, err)
	if full.Session.Pending || full.Token.Equal(pending.Token) || h.isIn(pending.Token) || !h.isIn(full.Token) {
		t.Error("the proof begins no session of its own")
	}
	h.wait(time.Minute)
	late := h.enter(ada, signin.Browser{})
	h.wait(15 * time.Minute)
	if h.isIn(late.Token) {
		t.Error("a session waits for its second factor longer than 15 minutes")
	}
}

func TestTOTPCodeIsSingleUseWithLimitedAttempts(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	key, _ := h.generator(h.enter(ada, signin.Browser{}))
	h.wait(time.Minute)
	pending := h.enter(ada, signin.Browser{})
	browser, code := signin.Browser{Session: pending.Token}, h.shows(key)
	if _, err := h.ByTOTP(t.Context(), browser, pending.Session, code); err != nil {
		t.Fatal(err)
	}
	if _, err := h.ByTOTP(t.Context(), browser, pending.Session, code); !errors.Is(err, fault.Invalid) {
		t.Errorf("the same code again: %v", err)
	}
	h.wait(time.Minute)
	limited := false
	for range 12 {
		_, err := h.ByTOTP(t.Context(), browser, pending.Session, "000000")
		limited = limited || errors.Is(err, fault.Limited)
	}
	if !limited {
		t.Error("codes may be guessed without an end")
	}
	if _, err := h.ByTOTP(t.Context(), browser, pending.Session, h.shows(key)); !errors.Is(err, fault.Limited) {
		t.Errorf("the right one among guesses: %v", err)
	}
	h.wait(time.Hour)
	if _, err := h.ByTOTP(t.Context(), browser, pending.Session, h.shows(key)); err != nil {
		t.Errorf("an hour later: %v", err)
	}
}

func TestTOTPTakesEffectAfterConfirmation(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	e := h.enter(ada, signin.Browser{})
	if _, err := h.ConfirmTOTP(t.Context(), signin.Browser{}, e.Session, "000000"); !errors.Is(err, fault.Invalid) {
		t.Errorf("without an offer: %v", err)
	}
	_, err := h.OfferTOTP(t.Context(), e.Session)
	expect.NoError(t, err)
	if _, err = h.ConfirmTOTP(t.Context(), signin.Browser{}, e.Session, "000000"); !errors.Is(err, fault.Invalid) ||
		!h.isIn(e.Token) {
		t.Errorf("by a wrong code: %v", err)
	}
	h.wait(time.Minute)
	again := h.enter(ada, signin.Browser{})
	if again.Session.Pending {
		t.Error("an offer alone asks for a second factor")
	}
	_, with := h.generator(again)
	removed, err := h.RemoveTOTP(t.Context(), signin.Browser{}, with.Session)
	expect.NoError(t, err)
	if h.isIn(with.Token) || !h.isIn(removed.Token) {
		t.Error("a session from before the removal goes on")
	}
	if _, err = h.RemoveTOTP(t.Context(), signin.Browser{}, removed.Session); !errors.Is(err, fault.NotFound) {
		t.Errorf("removing it again: %v", err)
	}
}

// passkey adds a passkey to an account and returns the passkey and the new session.
func (h *house) passkey(e signin.SignedIn) (*passkeytest.Key, signin.SignedIn) {
	h.t.Helper()
	key := passkeytest.New(h.t, origin, host)
	begun, err := h.RegisterPasskey(h.t.Context(), e.Session)
	expect.NoError(h.t, err)
	entered, err := h.AddPasskey(h.t.Context(), signin.Browser{Session: e.Token, Device: e.Device}, e.Session, "Telephone",
		key.Create(h.t, begun.Options))
	expect.NoError(h.t, err)
	return key, entered
}

func (h *house) asked() []byte {
	h.t.Helper()
	begun, err := h.AskPasskey(h.t.Context())
	expect.NoError(h.t, err)
	return begun.Options
}

func TestPasskeySatisfiesBothFactors(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	before := h.enter(ada, signin.Browser{})
	key, goesOn := h.passkey(before)
	if h.isIn(before.Token) || !h.isIn(goesOn.Token) {
		t.Error("a session from before the passkey goes on")
	}
	answer := key.Get(t, h.asked()) // Like a synced passkey, the key has no signature counter.
	entered, err := h.ByPasskey(t.Context(), signin.Browser{}, answer)
	expect.NoError(t, err)
	if entered.Session.Pending || entered.Session.AccountID != before.Session.AccountID {
		t.Errorf("entered as %+v", entered.Session)
	}
	if _, err = h.ByPasskey(t.Context(), signin.Browser{}, answer); !errors.Is(err, fault.Invalid) {
		t.Errorf("the same answer again: %v", err)
	}
	h.wait(time.Minute)
	if pending := h.enter(ada, signin.Browser{}); !pending.Session.Pending {
		t.Error("an account with a passkey lets in by e-mail alone")
	}
}

func TestPasskeyRejectsForgedResponse(t *testing.T) {
	t.Parallel()
	for name, lie := range map[string]func(*house, *passkeytest.Key) []byte{
		"a page of another site": func(h *house, k *passkeytest.Key) []byte {
			k.Origin = "https://evil.example"
			return k.Get(h.t, h.asked())
		},
		"a neighbouring page": func(h *house, k *passkeytest.Key) []byte {
			k.Origin = "https://evil.recordbridge.example"
			return k.Get(h.t, h.asked())
		},
		"another host's passkey": func(h *house, k *passkeytest.Key) []byte {
			k.Host = "recordbridge.example"
			return k.Get(h.t, h.asked())
		},
		"nobody was asked who is there": func(h *house, k *passkeytest.Key) []byte {
			k.Unverified = true
			return k.Get(h.t, h.asked())
		},
		"the counter went back": func(h *house, k *passkeytest.Key) []byte {
			k.Counter = 9
			if _, err := h.ByPasskey(h.t.Context(), signin.Browser{}, k.Get(h.t, h.asked())); err != nil {
				h.t.Fatal(err)
			}
			k.Counter = 8
			return k.Get(h.t, h.asked())
		},
		"too late": func(h *house, k *passkeytest.Key) []byte {
			answer := k.Get(h.t, h.asked())
			h.wait(5 * time.Minute)
			return answer
		},
		"a challenge of its own": func(h *house, k *passkeytest.Key) []byte {
			return k.Get(h.t, []byte(`{"challenge":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}`))
		},
		"the challenge of a registration": func(h *house, k *passkeytest.Key) []byte {
			begun, err := h.RegisterPasskey(h.t.Context(), h.enter(bob, signin.Browser{}).Session)
			expect.NoError(h.t, err)
			return k.Get(h.t, begun.Options)
		},
		"no answer": func(*house, *passkeytest.Key) []byte { return []byte(`{}`) },
		"no JSON":   func(*house, *passkeytest.Key) []byte { return []byte(`"`) },
		"another key's": func(h *house, _ *passkeytest.Key) []byte {
			other := passkeytest.New(h.t, origin, host)
			begun, err := h.RegisterPasskey(h.t.Context(), h.enter(bob, signin.Browser{}).Session)
			expect.NoError(h.t, err)
			other.Create(h.t, begun.Options)
			return other.Get(h.t, h.asked())
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			key, _ := h.passkey(h.enter(ada, signin.Browser{}))
			if _, err := h.ByPasskey(t.Context(), signin.Browser{}, lie(h, key)); !errors.Is(err, fault.Invalid) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestPasskeyCanBeAddedByRequesterAndRemoved(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	e, other := h.enter(ada, signin.Browser{}), h.enter(bob, signin.Browser{})
	begun, err := h.RegisterPasskey(t.Context(), e.Session)
	expect.NoError(t, err)
	stolen := passkeytest.New(t, origin, host).Create(t, begun.Options)
	if _, err = h.AddPasskey(t.Context(), signin.Browser{}, other.Session, "Mine", stolen); !errors.Is(err,
		fault.Invalid) {
		t.Errorf("another account ends a registration: %v", err)
	}
	if _, err = h.AddPasskey(t.Context(), signin.Browser{}, e.Session, " ", stolen); !errors.Is(err, fault.Invalid) {
		t.Errorf("without a name: %v", err)
	}
	key, with := h.passkey(e)
	removed, err := h.RemovePasskey(t.Context(), signin.Browser{}, with.Session, key.ID())
	expect.NoError(t, err)
	if h.isIn(with.Token) || !h.isIn(removed.Token) {
		t.Error("a session from before the removal goes on")
	}
	if _, err = h.ByPasskey(t.Context(), signin.Browser{}, key.Get(t, h.asked())); !errors.Is(err, fault.Invalid) {
		t.Errorf("a removed passkey: %v", err)
	}
	if _, err = h.RemovePasskey(t.Context(), signin.Browser{}, removed.Session, key.ID()); !errors.Is(err,
		fault.NotFound) {
		t.Errorf("removing it again: %v", err)
	}
}
