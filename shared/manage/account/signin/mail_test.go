package signin_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"recordbridge/infra/testkit/expect"
	"recordbridge/infra/testkit/mailtest"
	"recordbridge/shared/manage/account/signin"
	"recordbridge/shared/words/secret"
)

// chance matches the random parts of emails: codes and tokens in links.
var chance = regexp.MustCompile(`\b\d{6}\b|restore/[^\s"]+`)

// check compares the latest email sent to an address with a file in testdata.
func (p *post) check(t *testing.T, name, to string) {
	t.Helper()
	m := p.last(to)
	stripped := func(text string) string {
		return chance.ReplaceAllStringFunc(text, func(found string) string {
			return map[bool]string{true: "restore/TOKEN", false: "000000"}[strings.HasPrefix(found, "restore/")]
		})
	}
	mailtest.Check(t, name, stripped(m.subject), stripped(m.text), stripped(m.html))
	if code := sixDigits.FindString(m.text); code != "" && strings.Contains(m.subject, code) {
		t.Errorf("%s: the subject has the code: %s", name, m.subject)
	}
}

// TestOwnerIsNotifiedOfAccountChanges checks that each change to an account sends its owner exactly one email.
func TestOwnerIsNotifiedOfAccountChanges(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	sent, err := h.SendCode(t.Context(), ada, signin.Browser{})
	expect.NoError(t, err)
	h.post.check(t, "sign-in-code", ada)
	e, err := h.ByCode(t.Context(), signin.Browser{}, ada, sent.ID, h.post.code())
	expect.NoError(t, err)
	h.wait(time.Minute)
	h.enter(ada, signin.Browser{})
	h.post.check(t, "new-browser", ada)
	_, e = h.generator(e)
	h.post.check(t, "generator-added", ada)
	codes, err := h.MakeRecoveryCodes(t.Context(), e.Session)
	expect.NoError(t, err)
	h.post.check(t, "recovery-codes-made", ada)
	h.wait(time.Minute)
	pending := h.enter(ada, signin.Browser{})
	e, err = h.ByRecoveryCode(t.Context(), signin.Browser{Session: pending.Token, Device: e.Device}, pending.Session,
		codes[0].Reveal())
	expect.NoError(t, err)
	h.post.check(t, "recovery-code-used", ada)
	e, err = h.RemoveTOTP(t.Context(), signin.Browser{Session: e.Token, Device: e.Device}, e.Session)
	expect.NoError(t, err)
	h.post.check(t, "generator-removed", ada)
	_, e = h.passkey(e)
	h.post.check(t, "passkey-added", ada)
	a, _, err := h.Account(t.Context(), e.Session)
	expect.NoError(t, err)
	e, err = h.RemovePasskey(t.Context(), signin.Browser{Session: e.Token, Device: e.Device}, e.Session, a.Passkeys[0].ID)
	expect.NoError(t, err)
	h.post.check(t, "passkey-removed", ada)
	asked, err := h.RequestAddressChange(t.Context(), signin.Browser{}, e.Session, moved)
	expect.NoError(t, err)
	h.post.check(t, "new-address-code", moved)
	_, err = h.ChangeAddress(t.Context(), signin.Browser{Session: e.Token, Device: e.Device}, e.Session, moved, asked.ID,
		h.post.code())
	expect.NoError(t, err)
	h.post.check(t, "address-given", moved)
	link := h.link(ada)
	h.post.check(t, "address-changes", ada)
	expect.NoError(t, h.RestoreAddress(t.Context(), secret.New(link.Reveal())))
	h.post.check(t, "address-back", ada)
	told := make([]string, 0, len(h.post.sent))
	for _, m := range h.post.sent {
		told = append(told, m.to+" "+strings.TrimPrefix(m.subject, "Recordbridge: "))
	}
	// The three emails with sign-in codes have the same text.
	if want := 14; len(told) != want || len(slices.Compact(slices.Sorted(slices.Values(told)))) != want-2 {
		t.Errorf("%d mails: %q", len(told), told)
	}
}
