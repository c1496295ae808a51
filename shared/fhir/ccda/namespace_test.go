package ccda_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"recordbridge/shared/fhir/ccda"
	"recordbridge/shared/testkit/expect"
)

// TestSetNamespaceChangesIDsAndReferencesAlone converts documents of two patients: resources without a namespace and
// within one have to be the same but for their ids.
func TestSetNamespaceChangesIDsAndReferencesAlone(t *testing.T) {
	t.Parallel()
	plain, ids := inNamespace(t, "")
	taken := slices.Clone(ids)
	for _, namespace := range []string{"urn:oid:2.999.1.11", "urn:oid:2.999.1.12"} {
		apart, own := inNamespace(t, namespace)
		if again, _ := inNamespace(t, namespace); again != apart {
			t.Errorf("%s: a second conversion differs", namespace)
		}
		if len(ids) < 200 || len(own) != len(ids) {
			t.Fatalf("%s: %d resources, and %d without a namespace", namespace, len(own), len(ids))
		}
		back := make([]string, 0, 2*len(own))
		for i, id := range own {
			if slices.Contains(taken, id) || slices.Contains(own[:i], id) {
				t.Errorf("%s: %s is the id of another resource", namespace, id)
			}
			back = append(back, id, ids[i])
		}
		if strings.NewReplacer(back...).Replace(apart) != plain {
			t.Errorf("%s: more than the ids differs", namespace)
		}
		taken = append(taken, own...)
	}
}

// inNamespace converts our documents, and gives the resources with their ids in order.
func inNamespace(t *testing.T, namespace string) (resources string, ids []string) {
	t.Helper()
	set := ccda.Set{Namespace: namespace}
	for _, name := range []string{"alder.xml", "birch.xml", "cypress.xml"} {
		document, err := os.ReadFile(filepath.Join("testdata", name))
		expect.NoError(t, err)
		expect.NoError(t, set.Add(document))
	}
	var all strings.Builder
	_, err := set.Emit(func(r ccda.Resource) error {
		all.Write(r.JSON)
		all.WriteByte('\n')
		ids = append(ids, r.ID)
		return nil
	})
	expect.NoError(t, err)
	return all.String(), ids
}
