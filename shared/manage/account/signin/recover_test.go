package signin_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/manage/account"
	"recordbridge/shared/manage/account/signin"
	"recordbridge/shared/words/fault"
)

// beginRecovery stores a recovery as an operator would.
func (h *house) beginRecovery(e signin.SignedIn) {
	h.t.Helper()
	expect.NoError(h.t, h.deps.Accounts.SaveRecovery(h.t.Context(), account.Recovery{
		AccountID: e.Session.AccountID, Actor: "operator", RequestedAt: h.now, AppliesAt: h.now.Add(account.RecoveryWait),
	}))
}

func TestRecoveryRemovesSecondFactorsAfterWaitingPeriod(t *testing.T) {
	t.Parallel()
	h, log := newHouse(t), &auditRows{}
	_, with := h.generator(h.enter(ada, signin.Browser{}))
	h.wait(time.Minute)
	_, with = h.passkey(with)
	h.beginRecovery(with)
	h.deps.Accounts = memberOf{h.deps.Accounts}
	audited := signin.NewAudited(h.deps, log)
	enter := func() signin.SignedIn {
		t.Helper()
		sent, err := audited.SendCode(t.Context(), ada, signin.Browser{})
		expect.NoError(t, err)
		e, err := audited.ByCode(t.Context(), signin.Browser{}, ada, sent.ID, h.post.code())
		expect.NoError(t, err)
		return e
	}
	h.wait(account.RecoveryWait - time.Minute)
	if before := enter(); !before.Session.Pending || before.Recovery != "" {
		t.Errorf("before its time a code by e-mail begins %+v", before)
	}
	h.wait(time.Minute)
	after := enter()
	if after.Session.Pending || h.isIn(with.Token) || !h.isIn(after.Token) {
		t.Errorf("when its time has come a code by e-mail begins %+v", after.Session)
	}
	a, _, err := h.Account(t.Context(), after.Session)
	expect.NoError(t, err)
	if a.HasSecondFactor() {
		t.Errorf("the account keeps %+v %+v", a.TOTP, a.Passkeys)
	}
	row := " " + account.Actor(a.ID) + " account.recovered " + a.ID
	if want := []string{"alder" + row, "birch" + row}; !slices.Equal(log.rows, want) {
		t.Errorf("audited %q, want %q", log.rows, want)
	}
	if !slices.ContainsFunc(h.post.sent, func(m sentMail) bool {
		return m.to == ada &&
			strings.Contains(m.subject, "was recovered")
	}) {
		t.Error("the account is not told")
	}
	h.wait(time.Minute)
	_, again := h.generator(after)
	h.wait(time.Minute)
	if later := enter(); !later.Session.Pending {
		t.Errorf("a recovery applies to the next second factor as well: %+v, %+v", later, again.Session)
	}
}

func TestSignInWithSecondFactorCancelsRecovery(t *testing.T) {
	t.Parallel()
	for name, prove := range map[string]func(h *house, d signin.Audited,
		setUp func() (key []byte, codes []string)) (signin.SignedIn, error){
		"authenticator app": func(h *house, d signin.Audited, setUp func() ([]byte, []string)) (signin.SignedIn, error) {
			key, _ := setUp()
			pending := h.enter(ada, signin.Browser{})
			return d.ByTOTP(h.t.Context(), signin.Browser{Session: pending.Token}, pending.Session, h.shows(key))
		},
		"recovery code": func(h *house, d signin.Audited, setUp func() ([]byte, []string)) (signin.SignedIn, error) {
			_, codes := setUp()
			pending := h.enter(ada, signin.Browser{})
			return d.ByRecoveryCode(h.t.Context(), signin.Browser{Session: pending.Token}, pending.Session, codes[0])
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, log := newHouse(t), &auditRows{}
			deps := h.deps
			deps.Accounts = memberOf{deps.Accounts}
			entered, err := prove(h, signin.NewAudited(deps, log), func() ([]byte, []string) {
				key, with := h.generator(h.enter(ada, signin.Browser{}))
				h.beginRecovery(with)
				h.wait(time.Hour)
				codes := make([]string, 0, len(with.RecoveryCodes))
				for _, code := range with.RecoveryCodes {
					codes = append(codes, code.Reveal())
				}
				return key, codes
			})
			expect.NoError(t, err)
			if entered.Recovery != signin.Stopped ||
				!slices.ContainsFunc(log.rows, func(row string) bool { return strings.Contains(row, "account.recovery_stopped") }) {
				t.Errorf("entered as %+v, audited %q", entered, log.rows)
			}
			h.wait(account.RecoveryWait)
			if late := h.enter(ada, signin.Browser{}); !late.Session.Pending {
				t.Error("a recovery that was stopped applies")
			}
		})
	}
}

func TestPasskeySignInCancelsRecovery(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	key, with := h.passkey(h.enter(ada, signin.Browser{}))
	h.beginRecovery(with)
	h.wait(account.RecoveryWait) // The recovery is due but has not been applied yet.
	entered, err := h.ByPasskey(t.Context(), signin.Browser{}, key.Get(t, h.asked()))
	expect.NoError(t, err)
	if entered.Recovery != signin.Stopped {
		t.Errorf("entered as %+v", entered)
	}
	h.wait(time.Minute)
	if late := h.enter(ada, signin.Browser{}); !late.Session.Pending {
		t.Error("a recovery that was stopped applies")
	}
}

func TestWrongCodeDoesNotCompleteRecovery(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	_, with := h.generator(h.enter(ada, signin.Browser{}))
	h.beginRecovery(with)
	h.wait(account.RecoveryWait)
	sent, err := h.SendCode(t.Context(), ada, signin.Browser{})
	expect.NoError(t, err)
	wrong := "000000"
	if h.post.code() == wrong {
		wrong = "000001"
	}
	if _, err = h.ByCode(t.Context(), signin.Browser{}, ada, sent.ID, wrong); !errors.Is(err, fault.Invalid) {
		t.Errorf("a wrong code: %v", err)
	}
	a, err := h.deps.Accounts.Account(t.Context(), with.Session.AccountID)
	expect.NoError(t, err)
	if !a.HasSecondFactor() {
		t.Error("a wrong code removes second factors")
	}
}
