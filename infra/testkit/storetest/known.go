package storetest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/export/collect"
	"recordbridge/shared/export/known"
)

// Known tests the storage of properties that exports have discovered about endpoints. Each endpoint's properties must
// be stored separately, and reads must return the most recently saved properties.
func Known(t *testing.T, open func(testing.TB) collect.Known) {
	t.Helper()
	run(t, open, map[string]func(subject[collect.Known]){
		"what was saved last counts": func(c subject[collect.Known]) {
			const id = "e0000000-0000-4000-8000-000000000001"
			learned, _ := known.Server{}.Learn(known.Lesson{
				Release: "EHR 1", Load: known.Experience{Handled: 8}, Found: []string{"Goal"}, Empty: []string{"Flag"},
				Batch: new(true),
			}, now())
			for _, want := range []known.Server{{}, learned, {Release: "EHR 2"}} {
				if want.Release != "" {
					expect.NoError(c.t, c.store.SaveKnown(c.t.Context(), id, want, now().Add(time.Hour)))
				}
				got, err := c.store.Known(c.t.Context(), id)
				expect.NoError(c.t, err)
				if diff := cmp.Diff(want, got); diff != "" {
					c.t.Errorf("known (-want +got):\n%s", diff)
				}
			}
			if other, err := c.store.Known(c.t.Context(), "e0000000-0000-4000-8000-000000000002"); err != nil ||
				other.Release != "" {
				c.t.Errorf("another endpoint: %+v, %v", other, err)
			}
		},
	})
}
