package people_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"recordbridge/shared/tefca/people"
)

// TestGuideListsEverySyntheticPatient checks that the table in docs/guide/tefca.md matches the synthetic patients.
func TestGuideListsEverySyntheticPatient(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../docs/guide/tefca.md")
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	table.WriteString("| Email | Test case |\n|---|---|\n")
	for _, p := range people.All() {
		fmt.Fprintf(&table, "| `%s` | %s |\n", p.Person.Email, p.Story)
	}
	_, section, found := strings.Cut(string(text), "\n## Patients\n")
	section, _, _ = strings.Cut(section, "\n## ")
	if _, rows, begins := strings.Cut(section, "| Email "); !found || !begins ||
		strings.TrimSpace("| Email "+rows) != strings.TrimSpace(table.String()) {
		t.Errorf("the table of patients is not\n%s", table.String())
	}
}

func TestNamedFindsPatientByEmail(t *testing.T) {
	t.Parallel()
	subjects, stories := map[string]bool{}, map[string]bool{}
	for _, p := range people.All() {
		for _, spelt := range []string{p.Person.Email, strings.ToUpper(p.Person.Email)} {
			if got, ok := people.Named(spelt); !ok || got.Subject != p.Subject {
				t.Errorf("%s is %q", spelt, got.Subject)
			}
		}
		if _, err := time.Parse(time.DateOnly, p.Person.BirthDate); err != nil || subjects[p.Subject] || stories[p.Story] ||
			len(p.Person.Addresses) == 0 {
			t.Errorf("%+v", p)
		}
		if !strings.HasSuffix(p.Person.Email, "@tefca.example") {
			t.Errorf("%s may be somebody's", p.Person.Email)
		}
		subjects[p.Subject], stories[p.Story] = true, true
	}
	for _, nobody := range []string{"", "maple.aster@tefca.example.com", "maple.aster", "nobody@tefca.example"} {
		if p, ok := people.Named(nobody); ok {
			t.Errorf("%q is %s", nobody, p.Subject)
		}
	}
}
