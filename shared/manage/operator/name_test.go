package operator_test

import (
	"errors"
	"slices"
	"testing"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/manage/operator"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

func TestOrganisationNameIsValidatedOnCreationAndChange(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	tenant := r.organisation(t)
	for _, name := range []string{"", "Alder.example Clinic", "Alder\r\nClinic", "Alder\u202e", "ada@alder.example"} {
		if _, err := r.operator.Organisations.Create(t.Context(),
			org.Organisation{Name: name, Plan: org.Free}); !errors.Is(err, fault.Invalid) {
			t.Errorf("%q was taken on creation: %v", name, err)
		}
		if _, err := r.operator.Organisations.Change(t.Context(), tenant,
			operator.OrganisationChange{Name: &name}); !errors.Is(err, fault.Invalid) {
			t.Errorf("%q was taken on change: %v", name, err)
		}
	}
	name := "  St. Mary's "
	changed, err := r.operator.Organisations.Change(t.Context(), tenant, operator.OrganisationChange{Name: &name})
	if err != nil || changed.Name != "St. Mary's" {
		t.Errorf("changed to %q (%v)", changed.Name, err)
	}
}

func TestNoticeAddressesSetByOperatorAreVerified(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	emails := []string{"ops@alder.example"}
	made, err := r.operator.Organisations.Create(t.Context(),
		org.Organisation{Name: "Alder", Plan: org.Free, Emails: emails})
	if err != nil || !slices.Equal(made.VerifiedEmails, emails) {
		t.Errorf("created with %q verified (%v)", made.VerifiedEmails, err)
	}
	emails = []string{"ops@alder.example", "new@alder.example"}
	expect.NoError(t, r.operator.Organisations.SetEmails(t.Context(), made.Tenants()[0], emails))
	if stored, err := r.operator.Organisations.Show(t.Context(), made.Tenants()[0]); err != nil ||
		!slices.Equal(stored.VerifiedEmails, emails) {
		t.Errorf("set to %q verified (%v)", stored.VerifiedEmails, err)
	}
}
