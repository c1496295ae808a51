package operator_test

import (
	"slices"
	"testing"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/words/org"
)

func TestAuditRowContainsActor(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	made, err := r.operator.Organisations.Create(t.Context(), org.Organisation{Name: "Alder", Plan: org.Free})
	expect.NoError(t, err)
	expect.NoError(
		t, r.operator.Organisations.As("member:m1").SetEmails(t.Context(), made.Tenants()[0], []string{"a@alder.example"}),
	)
	expect.NoError(t, r.operator.Suspensions.Suspend(t.Context(), made.Tenants()[0]))
	rows, _, err := r.log.List(t.Context(), made.ID, 0, 10)
	expect.NoError(t, err)
	got := make([]string, 0, len(rows))
	for _, row := range slices.Backward(rows) {
		got = append(got, row.Actor+" "+row.Action)
	}
	if want := []string{
		"first organisation.created", "member:m1 organisation.emails_changed",
		"first organisation.suspended",
	}; !slices.Equal(got, want) {
		t.Errorf("the audit rows are %q, want %q", got, want)
	}
}
