package e2e_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/infra/ctl/wiring"
	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/manage/account"
)

// runStoppedRecovery covers an account recovery that an operator starts and the owner cancels.
func (s staff) runStoppedRecovery(owner *person) {
	s.t.Helper()
	_, err := s.operator.Members.Recover(s.t.Context(), s.owner(), owner.email, "seen in person")
	expect.NoError(s.t, err)
	at := "/dashboard/organisations/" + s.owner().OrgID + "/members"
	var shown struct {
		Members []struct {
			Recovers string `json:"recovers_at"`
		} `json:"members"`
	}
	owner.do(http.MethodGet, at, nil, &shown)
	if len(shown.Members) != 1 || shown.Members[0].Recovers == "" {
		s.t.Errorf("the members are %+v", shown)
	}
	owner.do(http.MethodDelete, at+"/"+owner.id+"/recovery", nil, nil)
	if status := owner.ask(http.MethodDelete, at+"/"+owner.id+"/recovery", nil, nil); status != http.StatusNotFound {
		s.t.Errorf("stopping it twice: %d", status)
	}
}

// TestSoleOwnerCanRecoverAccountAfterThreeDays covers a sole owner who loses the second factor and whose account an
// operator recovers.
func TestSoleOwnerCanRecoverAccountAfterThreeDays(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, options{})
		owner := s.staff.newOwner()
		owner.newPasskey()
		made, err := s.operator.Members.Recover(t.Context(), s.owner(), owner.email, "called the number of the contract")
		expect.NoError(t, err)
		if !made.AppliesAt.Equal(time.Now().Add(72 * time.Hour)) {
			t.Errorf("it applies at %s", made.AppliesAt)
		}
		told := s.cloud.SES().Sent()
		if last := told[len(told)-1]; !strings.Contains(last.Text, "stop it by signing in") {
			t.Errorf("the newest mail is %q", last.Text)
		}
		needs72 := func() (needed string) {
			owner.signIn()
			var shown struct{ Needs string }
			owner.do(http.MethodGet, "/dashboard/session", nil, &shown)
			return shown.Needs
		}
		if needed := needs72(); needed != "second_factor" {
			t.Errorf("at once a code by e-mail needs %q", needed)
		}
		<-time.After(71 * time.Hour)
		if needed := needs72(); needed != "second_factor" {
			t.Errorf("an hour before its time a code by e-mail needs %q", needed)
		}
		<-time.After(time.Hour)
		if needed := needs72(); needed != "" {
			t.Errorf("after three days a code by e-mail needs %q", needed)
		}
		var shown struct {
			Account struct {
				Passkeys []any
				Codes    int `json:"recovery_codes_left"`
			}
		}
		owner.do(http.MethodGet, "/dashboard/session", nil, &shown)
		if len(shown.Account.Passkeys) != 0 || shown.Account.Codes != 0 {
			t.Errorf("the account keeps %+v", shown)
		}
		log := wiring.AuditLog(s.cloud.Config("reader"), map[string]string{"AuditTable": "test-AuditTable"})
		rows, _, err := log.List(t.Context(), s.owner().OrgID, 0, 100)
		expect.NoError(t, err)
		var actions []string
		for _, row := range slices.Backward(rows) {
			if strings.HasPrefix(row.Action, "account.recover") {
				actions = append(actions, row.Actor+" "+row.Action)
			}
		}
		if want := 2; len(actions) != want || !strings.HasSuffix(actions[0], "account.recovery_begun") ||
			actions[1] != account.Actor(owner.id)+" account.recovered" {
			t.Errorf("audited %q", actions)
		}
	})
}
