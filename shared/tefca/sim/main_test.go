package sim_test

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"recordbridge/shared/tefca"
	"recordbridge/shared/tefca/people"
	"recordbridge/shared/tefca/sim"
	"recordbridge/shared/words/secret"
)

// limit exceeds the size of every generated document.
const limit = 1 << 20

func start() time.Time { return time.Date(2026, 3, 2, 15, 0, 0, 0, time.UTC) }

// instant returns a network whose facilities respond immediately.
func instant() sim.Network {
	return sim.Network{Now: start, Wait: func(context.Context, time.Duration) error { return nil }}
}

// vouched returns an identity provider's assertion about the named patient.
func vouched(t *testing.T, given string) tefca.Assertion {
	t.Helper()
	for _, p := range people.All() {
		if p.Person.Given == given {
			return assertion(p)
		}
	}
	t.Fatalf("there is no %s", given)
	return tefca.Assertion{}
}

func assertion(p people.Patient) tefca.Assertion {
	return tefca.Assertion{
		Provider: "simulated", Issuer: "https://sandbox.example" + people.Issuer, Subject: p.Subject, Level: 2,
		Person: p.Person,
		Token:  secret.New("header.claims.signature"), IssuedAt: start(), ExpiresAt: start().Add(15 * time.Minute),
	}
}

// located returns the final matches by directory number. It also returns all reports in order, in words.
//
//nolint:revive // t first, as all helpers have it
func located(
	t *testing.T, ctx context.Context, n sim.Network, who tefca.Assertion,
) (last map[string]tefca.Facility, words []string) {
	t.Helper()
	last = map[string]tefca.Facility{}
	err := n.Locate(ctx, who, func(f tefca.Facility) error {
		last[number(f)] = f
		words = append(words, number(f)+" "+string(f.Match)+" "+f.Local.Reveal())
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return last, words
}

func number(f tefca.Facility) string { return strings.TrimPrefix(f.ID, "urn:oid:2.999.1.") }

// matches formats each facility's match for a person, in directory order.
func matches(t *testing.T, who tefca.Assertion) string {
	t.Helper()
	last, _ := located(t, t.Context(), instant(), who)
	all := make([]string, 0, len(last))
	for _, f := range inOrder(last) {
		all = append(all, number(f)+" "+string(f.Match))
	}
	return strings.Join(all, ", ")
}

func inOrder(last map[string]tefca.Facility) []tefca.Facility {
	return slices.SortedFunc(maps.Values(last), func(a, b tefca.Facility) int {
		return cmp.Or(cmp.Compare(len(a.ID), len(b.ID)), cmp.Compare(a.ID, b.ID))
	})
}

// held returns a facility's documents in order and the errors for documents that can't be retrieved.
func held(t *testing.T, who tefca.Assertion, at tefca.Facility) (documents [][]byte, failed []error) {
	t.Helper()
	list, err := instant().Documents(t.Context(), who, at)
	if err != nil {
		return nil, []error{err}
	}
	for _, d := range list {
		content, err := instant().Retrieve(t.Context(), who, at, d, limit)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		documents = append(documents, content)
	}
	return documents, failed
}

// TestDocumentsAreWrittenForValidators writes the documents to the directory in RECORDBRIDGE_SIMULATED, for external
// validators (.ci/ccda).
func TestDocumentsAreWrittenForValidators(t *testing.T) {
	t.Parallel()
	folder := os.Getenv("RECORDBRIDGE_SIMULATED")
	if folder == "" {
		t.Skip("RECORDBRIDGE_SIMULATED names no folder")
	}
	for _, p := range people.All() {
		last, _ := located(t, t.Context(), instant(), assertion(p))
		for _, f := range inOrder(last) {
			documents, _ := held(t, assertion(p), f)
			for i, content := range documents {
				if isXML(content) {
					name := fmt.Sprintf("%s-%s-%d.xml", p.Subject, number(f), i+1)
					if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	}
}

func isXML(content []byte) bool { return strings.HasPrefix(string(content), "<?xml") }
