package dashboardorg_test

import (
	"fmt"
	"testing"

	"recordbridge/infra/test/managed"
	"recordbridge/infra/testkit/membertest"
	"recordbridge/shared/words/org"
)

func TestChangeOrganisationRejectsOutdatedVersion(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"branding":         `{"accent":"#0000%02x"}`,
		"notice addresses": `{"emails":["n%d@alder.example.org"]}`,
		"corner radius":    `{"radius":%d,"purpose":"We plan your care."}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := managed.New(t)
			saved := membertest.CheckVersions(t, "organisation", oneRoute, onePath, handler(s), func(n int) string {
				return fmt.Sprintf(body, n)
			})
			if got := s.Audited(t, membertest.OrgA); len(got) != saved {
				t.Errorf("%d edits were saved, but audited %q", saved, got)
			}
		})
	}
}

func TestOrganisationVersionIgnoresOperatorsChanges(t *testing.T) {
	t.Parallel()
	s := managed.New(t)
	live := managed.Tenant(membertest.OrgA, org.Live)
	before, err := s.Operator.Organisations.Show(t.Context(), live)
	if err != nil {
		t.Fatal(err)
	}
	if err = s.Operator.Suspensions.Suspend(t.Context(), live); err != nil {
		t.Fatal(err)
	}
	after, err := s.Operator.Organisations.Show(t.Context(), live)
	if err != nil || after.Version() != before.Version() || after.Rev == before.Rev {
		t.Errorf("the version is %s in revision %d, and was %s in revision %d: %v", after.Version(), after.Rev,
			before.Version(), before.Rev, err)
	}
}
