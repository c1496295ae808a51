package members_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/manage/account"
	"recordbridge/shared/manage/account/members"
	"recordbridge/shared/manage/verification"
	"recordbridge/shared/words/fault"
)

func (h *house) lock(email string) {
	h.t.Helper()
	a, err := h.accounts.Account(h.t.Context(), h.people[email])
	expect.NoError(h.t, err)
	a.TOTP.Sealed = []byte("sealed")
	expect.NoError(h.t, h.accounts.SaveAccount(h.t.Context(), a))
}

// recoveries returns the recovery entries of the organisation's audit log.
func (h *house) recoveries() []string {
	h.t.Helper()
	rows, _, err := h.log.List(h.t.Context(), h.orgID, 0, 100)
	expect.NoError(h.t, err)
	var found []string
	for _, row := range slices.Backward(rows) {
		if strings.HasPrefix(row.Action, "account.recovery") {
			found = append(found, row.Actor+" "+row.Action+" "+row.Target)
		}
	}
	return found
}

func TestRecoverRequiresLockedOutOwner(t *testing.T) {
	t.Parallel()
	h, told, by := newHouse(t), &recipients{}, members.Operator("operator ada.ops")
	h.join(bob, account.Admin)
	h.Mailer = told
	begin := func(email, reason string) error {
		_, err := h.Recover(t.Context(), by, h.orgID, email, reason)
		return err
	}
	if err := begin(ada, "seen in person"); !errors.Is(err, fault.Conflict) {
		t.Errorf("an account without a second factor: %v", err)
	}
	h.lock(ada)
	h.lock(bob)
	for name, e := range map[string]struct {
		email, reason string
		want          error
	}{
		"no reason":       {ada, " ", fault.Invalid},
		"a long reason":   {ada, strings.Repeat("x", 201), fault.Invalid},
		"an address":      {ada, "mail of ada@alder.example", fault.Invalid},
		"a control":       {ada, "a\nb", fault.Invalid},
		"no owner":        {bob, "seen in person", fault.NotFound},
		"nobody's member": {eve, "seen in person", fault.NotFound},
	} {
		if err := begin(e.email, e.reason); !errors.Is(err, e.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(told.all) > 0 || len(h.recoveries()) > 0 {
		t.Errorf("told %q, audited %q", told.all, h.recoveries())
	}
	expect.NoError(t, begin(strings.ToUpper(ada), "seen in person"))
	if err := begin(ada, "again"); !errors.Is(err, fault.Conflict) {
		t.Errorf("twice: %v", err)
	}
	r, err := h.accounts.Recovery(t.Context(), h.people[ada])
	expect.NoError(t, err)
	if r.IsDue(h.now.Add(72*time.Hour-time.Second)) || !r.IsDue(h.now.Add(72*time.Hour)) {
		t.Errorf("it applies at %s", r.AppliesAt)
	}
	slices.Sort(told.all)
	if want := []string{ada, bob}; !slices.Equal(told.all, want) { // Ada's email address is also a notice address.
		t.Errorf("told %q, want %q", told.all, want)
	}
	if want := []string{"operator ada.ops account.recovery_begun " + h.people[ada] +
		" seen in person"}; !slices.Equal(h.recoveries(), want) {
		t.Errorf("audited %q, want %q", h.recoveries(), want)
	}
}

func TestRecoverDiscardsRecoveryWhenEmailFails(t *testing.T) {
	t.Parallel()
	h, by := newHouse(t), members.Operator("operator ada.ops")
	h.lock(ada)
	begin := func() error {
		_, err := h.Recover(t.Context(), by, h.orgID, ada, "seen in person")
		return err
	}
	working := h.Mailer
	for name, mailer := range map[string]verification.Mailer{
		"no mailer":           nil,
		"a mailer that fails": &recipients{err: errors.New("no mail today")},
	} {
		h.Mailer = mailer
		if err := begin(); !errors.Is(err, fault.Unavailable) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := h.accounts.Recovery(t.Context(), h.people[ada]); !errors.Is(err, fault.NotFound) {
			t.Errorf("%s: a recovery is stored: %v", name, err)
		}
	}
	h.Mailer = working
	expect.NoError(t, begin())
}

func TestStopRecoveryRequiresOwner(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.join(bob, account.Owner)
	h.lock(ada)
	stop := func(by members.By, accountID string) error {
		return h.StopRecovery(t.Context(), by, h.orgID, accountID)
	}
	if err := stop(h.by(bob), h.people[ada]); !errors.Is(err, fault.NotFound) {
		t.Errorf("none is under way: %v", err)
	}
	_, err := h.Recover(t.Context(), members.Operator("operator"), h.orgID, ada, "seen in person")
	expect.NoError(t, err)
	admin := h.by(bob)
	admin.Role = account.Admin
	if err = stop(admin, h.people[ada]); !errors.Is(err, fault.Forbidden) {
		t.Errorf("an admin: %v", err)
	}
	if err = stop(h.by(bob), h.people[eve]); !errors.Is(err, fault.NotFound) {
		t.Errorf("an account of another organisation: %v", err)
	}
	all, err := h.List(t.Context(), h.orgID)
	expect.NoError(t, err)
	if i := slices.IndexFunc(all,
		func(m members.Member) bool { return m.Email == ada }); !all[i].RecoversAt.Equal(h.now.Add(account.RecoveryWait)) {
		t.Errorf("the list says %s", all[i].RecoversAt)
	}
	expect.NoError(t, stop(h.by(bob), h.people[ada]))
	r, err := h.accounts.Recovery(t.Context(), h.people[ada])
	if err != nil || r.IsOpen() || r.IsDue(h.now.Add(1000*time.Hour)) {
		t.Errorf("stopped it is %+v: %v", r, err)
	}
	if got := h.recoveries(); len(got) != 2 ||
		got[1] != account.Actor(h.people[bob])+" account.recovery_stopped "+h.people[ada] {
		t.Errorf("audited %q", got)
	}
	if _, err = h.Recover(t.Context(), members.Operator("operator"), h.orgID, ada, "once more"); err != nil {
		t.Errorf("another one after that: %v", err)
	}
}
