package sim_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"recordbridge/shared/fhir/ccda"
	"recordbridge/shared/tefca"
	"recordbridge/shared/tefca/people"
	"recordbridge/shared/words/secret"
)

// TestPatientStoriesMatchNetworkResults checks each patient's story against the facilities' matches and, for each
// match, the number of documents or the error.
func TestPatientStoriesMatchNetworkResults(t *testing.T) {
	t.Parallel()
	stories := map[string]string{
		"Several hospitals have records":                           "1 found: 4; 2 found: 3; 3 found: 2",
		"One hospital has a long record":                           "4 found: 6",
		"One facility finds several possible patients (ambiguous)": "5 found: 2; 6 ambiguous",
		"Some facilities don't respond in time":                    "7 found: 2; 8 unanswered; 20 unanswered",
		"One facility lists no documents":                          "9 found: 0; 10 found: 1",
		"Two hospitals' documents state the same facts":            "11 found: 2; 12 found: 4",
		"One document can't be retrieved":                          "13 found: 2, not found",
		"No facility finds the patient":                            "",
		"Facilities find the patient by a former address":          "3 found: 1; 16 found: 2",
		"Two facilities respond slowly":                            "14 found: 1; 17 found: 2; 18 found: 1",
		"One document is too large, and one is not XML":            "20 found: 2, too large, invalid content",
		"Facilities return errors or require a new identity check": "7 found: 0, unavailable; 14 found: 0, refused; 15 " +
			"found: 0, identity; 19 found: 2",
		"The search must not return a twin sister's records": "13 found: 1",
		"A twin's records are at another hospital":           "19 found: 1",
	}
	for _, p := range people.All() {
		want, told := stories[p.Story]
		if got := story(t, assertion(p)); !told || got != want {
			t.Errorf("%s (%s):\n%s, not\n%s", p.Person.Given, p.Story, got, want)
		}
		delete(stories, p.Story)
	}
	if len(stories) > 0 {
		t.Errorf("nobody has these stories: %q", slices.Sorted(maps.Keys(stories)))
	}
}

func story(t *testing.T, who tefca.Assertion) string {
	t.Helper()
	last, _ := located(t, t.Context(), instant(), who)
	all := make([]string, 0, len(last))
	for _, f := range inOrder(last) {
		line := number(f) + " " + string(f.Match)
		if f.Match == tefca.Found {
			documents, failed := held(t, who, f)
			whole := slices.DeleteFunc(documents, func(content []byte) bool {
				if isXML(content) {
					return false
				}
				failed = append(failed, tefca.ErrContent)
				return true
			})
			line += fmt.Sprintf(": %d%s", len(whole), reasons(failed))
		}
		all = append(all, line)
	}
	return strings.Join(all, "; ")
}

func reasons(failed []error) string {
	words := map[error]string{
		tefca.ErrNotFound: "not found", tefca.ErrTooLarge: "too large", tefca.ErrContent: "invalid content",
		tefca.ErrUnavailable: "unavailable", tefca.ErrRefused: "refused", tefca.ErrIdentity: "identity",
	}
	var text strings.Builder
	for _, err := range failed {
		for known, word := range words {
			if errors.Is(err, known) {
				text.WriteString(", " + word)
			}
		}
	}
	return text.String()
}

func TestLocateReportsAllLocalIDsInSecondResponse(t *testing.T) {
	t.Parallel()
	for given, names := range map[string]int{"Maple": 1, "Alder": 2} {
		at := map[string]string{"Maple": "2", "Alder": "12"}[given]
		last, words := located(t, t.Context(), instant(), vouched(t, given))
		said := slices.DeleteFunc(words, func(w string) bool { return !strings.HasPrefix(w, at+" ") })
		if len(said) != 2 || len(strings.Fields(said[0])) != 3 {
			t.Errorf("%s says %q", at, said)
		}
		if n := len(strings.Fields(last[at].Local.Reveal())); n != names {
			t.Errorf("%s has %d local ids at last", at, n)
		}
	}
}

func TestDocumentsOfTwoLocalIDsReferToSamePatient(t *testing.T) {
	t.Parallel()
	who := vouched(t, "Alder")
	last, _ := located(t, t.Context(), instant(), who)
	list, err := instant().Documents(t.Context(), who, last["12"])
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, d := range list {
		name, _, _ := strings.Cut(d.ID, "-")
		names[name] = true
	}
	if len(names) != 2 {
		t.Errorf("the documents stand under %v", names)
	}
	// The first response contains only one local ID, so only documents under that ID are listed.
	part := last["12"]
	name, _, _ := strings.Cut(part.Local.Reveal(), " ")
	part.Local = secret.New(name)
	if some, err := instant().Documents(t.Context(), who, part); err != nil || len(some) != 2 {
		t.Errorf("%d documents under one name: %v", len(some), err)
	}
	for _, d := range list {
		_, err := instant().Retrieve(t.Context(), who, part, d, limit)
		if own := strings.HasPrefix(d.ID, name); own != (err == nil) || !own && !errors.Is(err, tefca.ErrNotFound) {
			t.Errorf("%s under %s: %v", d.ID, name, err)
		}
	}
	documents, _ := held(t, who, last["12"])
	if _, report := converted(t, documents); report.Resources["Patient"] != 1 {
		t.Errorf("they are about %d patients", report.Resources["Patient"])
	}
}

// TestFactSharedByTwoFacilitiesIsMerged combines the records of two connections as an organisation's system would.
func TestFactSharedByTwoFacilitiesIsMerged(t *testing.T) {
	t.Parallel()
	who := vouched(t, "Alder")
	last, _ := located(t, t.Context(), instant(), who)
	here, _ := held(t, who, last["11"])
	there, _ := held(t, who, last["12"])
	atHere, _ := converted(t, here)
	atThere, _ := converted(t, there)
	all, report := converted(t, slices.Concat(here, there))
	for kind, n := range map[string]int{"Patient": 1, "Condition": 3, "AllergyIntolerance": 1, "MedicationRequest": 3} {
		shared := 0
		for id := range atHere[kind] {
			if atThere[kind][id] {
				shared++
			}
		}
		if shared != n || len(all[kind]) != n {
			t.Errorf("%d of %s are shared, and together they are %d; want %d", shared, kind, len(all[kind]), n)
		}
	}
	// Both facilities report the inpatient stay, and each also reports its own visits.
	if report.Merged == 0 || len(all["Encounter"]) != 6 || len(atHere["Encounter"]) != 2 ||
		len(atThere["Encounter"]) != 5 {
		t.Errorf("%d facts are merged; there are %d visits: %d and %d", report.Merged, len(all["Encounter"]),
			len(atHere["Encounter"]), len(atThere["Encounter"]))
	}
}

// converted converts the documents and returns the resulting resources' IDs by type.
func converted(t *testing.T, documents [][]byte) (map[string]map[string]bool, ccda.Report) {
	t.Helper()
	var set ccda.Set
	for _, d := range documents {
		if err := set.Add(d); err != nil {
			t.Fatal(err)
		}
	}
	all := map[string]map[string]bool{}
	report, err := set.Emit(func(r ccda.Resource) error {
		if all[r.Type] == nil {
			all[r.Type] = map[string]bool{}
		}
		all[r.Type][r.ID] = true
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all, report
}
