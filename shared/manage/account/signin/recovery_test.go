package signin_test

import (
	"errors"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/manage/account/signin"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/secret"
)

// locked adds an authenticator app to an account. It returns the recovery codes and a session that is waiting for the
// second factor.
func (h *house) locked(email string) (codes []secret.Text, pending signin.SignedIn) {
	h.t.Helper()
	_, with := h.generator(h.enter(email, signin.Browser{}))
	h.wait(time.Minute)
	return with.RecoveryCodes, h.enter(email, signin.Browser{})
}

func (h *house) recover(pending signin.SignedIn, code string) (signin.SignedIn, error) {
	return h.ByRecoveryCode(h.t.Context(), signin.Browser{Session: pending.Token}, pending.Session, code)
}

func (h *house) left(e signin.SignedIn) int {
	h.t.Helper()
	a, _, err := h.Account(h.t.Context(), e.Session)
	expect.NoError(h.t, err)
	left, err := h.RecoveryCodesLeft(h.t.Context(), a)
	expect.NoError(h.t, err)
	return left
}

func TestAddingFirstSecondFactorCreatesRecoveryCodes(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	alone := h.enter(ada, signin.Browser{})
	if left := h.left(alone); left != 0 {
		t.Errorf("%d codes without a second factor", left)
	}
	if _, err := h.MakeRecoveryCodes(t.Context(), alone.Session); !errors.Is(err, fault.Conflict) {
		t.Errorf("codes without a second factor: %v", err)
	}
	_, first := h.passkey(alone)
	form, seen := regexp.MustCompile(`^([0-9A-HJKMNP-TV-Z]{4}-){3}[0-9A-HJKMNP-TV-Z]{4}$`), map[string]bool{}
	for _, code := range first.RecoveryCodes {
		seen[code.Reveal()] = true
		if !form.MatchString(code.Reveal()) {
			t.Errorf("the code %q", code.Reveal())
		}
	}
	if len(seen) != 10 || h.left(first) != 10 {
		t.Errorf("%d different codes, %d left", len(seen), h.left(first))
	}
	h.wait(time.Minute)
	_, second := h.generator(first)
	if len(second.RecoveryCodes) != 0 || h.left(second) != 10 {
		t.Errorf("the second factor after the first brings %d codes, %d are left", len(second.RecoveryCodes), h.left(second))
	}
}

func TestRecoveryCodeIsSingleUse(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	codes, pending := h.locked(ada)
	spelled := " " + strings.ToLower(strings.NewReplacer("-", " ", "0", "o", "1", "l").Replace(codes[3].Reveal())) + " "
	entered, err := h.recover(pending, spelled)
	expect.NoError(t, err)
	if entered.Session.Pending || !h.isIn(entered.Token) || h.isIn(pending.Token) || h.left(entered) != 9 {
		t.Errorf("entered as %+v, %d codes left", entered.Session, h.left(entered))
	}
	if mail := h.post.last(ada); !strings.Contains(mail.subject, "new browser") {
		t.Errorf("the newest mail is %q", mail.subject)
	}
	if told := h.post.sent[len(h.post.sent)-2]; told.to != ada || !strings.Contains(told.text, "Recovery codes left: 9") {
		t.Errorf("the account got %q", told.text)
	}
	h.wait(time.Minute)
	again := h.enter(ada, signin.Browser{})
	if _, err = h.recover(again, codes[3].Reveal()); !errors.Is(err, fault.Invalid) || h.left(entered) != 9 {
		t.Errorf("the same code again: %v", err)
	}
	if _, err = h.recover(again, codes[4].Reveal()); err != nil {
		t.Errorf("another code: %v", err)
	}
}

func TestRecoveryCodeIsSingleUseUnderConcurrency(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	codes, pending := h.locked(ada)
	var group sync.WaitGroup
	failures := make([]error, 4)
	for i, code := range []int{0, 0, 0, 1} {
		group.Go(func() { _, failures[i] = h.recover(pending, codes[code].Reveal()) })
	}
	group.Wait()
	won := 0
	for _, err := range failures[:3] {
		if err == nil {
			won++
		} else if !errors.Is(err, fault.Invalid) {
			t.Errorf("a request that lost: %v", err)
		}
	}
	if won != 1 || failures[3] != nil {
		t.Errorf("%d of three requests with one code got in; the one with another code: %v", won, failures[3])
	}
}

func TestRecoveryCodeAttemptsAreLimited(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	codes, pending := h.locked(ada)
	for i := range 10 {
		if _, err := h.recover(pending, "0000-0000-0000-0000"); !errors.Is(err, fault.Invalid) {
			t.Errorf("guess %d: %v", i, err)
		}
	}
	if _, err := h.recover(pending, codes[0].Reveal()); !errors.Is(err, fault.Limited) {
		t.Errorf("the right code after ten guesses: %v", err)
	}
	h.wait(time.Hour)
	if _, err := h.recover(pending, codes[0].Reveal()); err != nil {
		t.Errorf("an hour later: %v", err)
	}
}

// TestRecoveryCodeIsBoundToItsAccount checks that a recovery code does not work for another account.
func TestRecoveryCodeIsBoundToItsAccount(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	codes, pending := h.locked(ada)
	others, _ := h.locked(bob)
	if _, err := h.recover(pending, others[0].Reveal()); !errors.Is(err, fault.Invalid) {
		t.Errorf("another account's code: %v", err)
	}
	if _, err := h.recover(pending, ""); !errors.Is(err, fault.Invalid) {
		t.Errorf("no code: %v", err)
	}
	entered, err := h.recover(pending, codes[0].Reveal())
	expect.NoError(t, err)
	h.wait(20 * time.Minute)
	if _, err = h.recover(entered, codes[1].Reveal()); !errors.Is(err, fault.Invalid) || h.left(entered) != 9 {
		t.Errorf("a code that renews a complete session's proof: %v", err)
	}
}

func TestNewRecoveryCodesReplaceOldOnes(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	codes, pending := h.locked(ada)
	made, err := h.MakeRecoveryCodes(t.Context(), pending.Session)
	expect.NoError(t, err)
	if mail := h.post.last(ada); len(made) != 10 || !strings.Contains(mail.subject, "new recovery codes") ||
		strings.Contains(mail.text, made[0].Reveal()) {
		t.Errorf("%d codes; the account got %q", len(made), mail.text)
	}
	if _, err = h.recover(pending, codes[0].Reveal()); !errors.Is(err, fault.Invalid) {
		t.Errorf("an old code: %v", err)
	}
	if _, err = h.recover(pending, made[0].Reveal()); err != nil {
		t.Errorf("a new code: %v", err)
	}
}

func TestAddingFactorReplacesRecoveryCodesOfRemovedFactor(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	_, with := h.generator(h.enter(ada, signin.Browser{}))
	old := with.RecoveryCodes
	without, err := h.RemoveTOTP(t.Context(), signin.Browser{Session: with.Token}, with.Session)
	expect.NoError(t, err)
	h.wait(time.Minute)
	_, again := h.generator(without)
	pending := h.enter(ada, signin.Browser{})
	if _, err = h.recover(pending, old[0].Reveal()); !errors.Is(err, fault.Invalid) || len(again.RecoveryCodes) != 10 {
		t.Errorf("a code of the factor before: %v; %d new ones", err, len(again.RecoveryCodes))
	}
}

// TestRestoreAddressRemovesRecoveryCodesCreatedSinceChange checks that an intruder's recovery codes stop working.
func TestRestoreAddressRemovesRecoveryCodesCreatedSinceChange(t *testing.T) {
	t.Parallel()
	for name, remakes := range map[string]bool{"codes from before": false, "codes made since": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			_, e := h.generator(h.enter(ada, signin.Browser{}))
			h.wait(time.Minute)
			asked, err := h.RequestAddressChange(t.Context(), signin.Browser{}, e.Session, moved)
			expect.NoError(t, err)
			changed, err := h.ChangeAddress(t.Context(), signin.Browser{Session: e.Token}, e.Session, moved, asked.ID,
				h.post.code())
			expect.NoError(t, err)
			link, want := h.link(ada), 10
			if remakes {
				_, err = h.MakeRecoveryCodes(t.Context(), changed.Session)
				expect.NoError(t, err)
				want = 0
			}
			expect.NoError(t, h.RestoreAddress(t.Context(), link))
			if left := h.left(changed); left != want {
				t.Errorf("%d codes are left, want %d", left, want)
			}
		})
	}
}

func TestRecoveryCodesMatchPublishedScannerExpression(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../../SECURITY.md")
	expect.NoError(t, err)
	_, row, _ := strings.Cut(string(text), "| recovery code | `")
	expression, _, _ := strings.Cut(row, "`")
	h := newHouse(t)
	codes, _ := h.locked(ada)
	for _, code := range codes {
		if expression == "" || !regexp.MustCompile("^"+expression+"$").MatchString(code.Reveal()) {
			t.Errorf("SECURITY.md: %q does not find %s", expression, code.Reveal())
		}
	}
}

func TestRecoveryCodesAreStoredAsKeyedHashes(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	codes, pending := h.locked(ada)
	held, err := h.deps.Accounts.RecoveryCodes(t.Context(), pending.Session.AccountID)
	expect.NoError(t, err)
	for _, mark := range held.Marks {
		if len(mark.Sum) != 32 || mark.Version != 1 {
			t.Errorf("stored as %+v", mark)
		}
		for _, code := range codes {
			if strings.Contains(string(mark.Sum), strings.ReplaceAll(code.Reveal(), "-", "")) {
				t.Error("a code is stored as it is")
			}
		}
	}
	if len(held.Marks) != 10 {
		t.Errorf("%d hashes are stored", len(held.Marks))
	}
}
