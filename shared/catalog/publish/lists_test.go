package publish_test

import (
	"bytes"
	"context"
	"slices"
	"testing"

	"recordbridge/infra/testkit/expect"
	"recordbridge/infra/testkit/memory"
	"recordbridge/shared/catalog"
	"recordbridge/shared/catalog/intake"
	"recordbridge/shared/catalog/listing"
	"recordbridge/shared/catalog/publish"
)

type ownRows []catalog.Endpoint

func (r ownRows) Endpoints(context.Context) ([]string, error) {
	all := make([]string, 0, len(r))
	for _, e := range r {
		all = append(all, e.ID)
	}
	return all, nil
}

func (r ownRows) Endpoint(_ context.Context, id string) (catalog.Endpoint, error) {
	return r[slices.IndexFunc(r, func(e catalog.Endpoint) bool { return e.ID == id })], nil
}

// TestListsExcludesOtherMode checks that live credentials never see a sandbox, and test credentials never see a
// hospital.
func TestListsExcludesOtherMode(t *testing.T) {
	t.Parallel()
	rows := newWorld(t).ledger
	var files memory.Files
	for _, mode := range []string{"test", "live"} {
		var packed bytes.Buffer
		expect.NoError(t, listing.Write(&packed, slices.Values([]listing.Listing{{Key: mode, Name: mode}})))
		files.Put("sources/"+mode, packed.Bytes())
		_, err := rows.SaveSource(t.Context(), intake.Row{
			Source: intake.Source{ID: mode, Mode: mode}, State: intake.State{Accepted: &intake.Version{Key: "sources/" + mode}},
		})
		expect.NoError(t, err)
	}
	own := ownRows{{ID: server(0), Name: "test", Mode: "test"}, {ID: server(1), Name: "live", Mode: "live"}}
	for _, mode := range []string{"test", "live"} {
		lists, err := publish.Accepted{Sources: rows, Objects: &files, Own: own}.Lists(t.Context(), mode)
		expect.NoError(t, err)
		if len(lists) != 2 {
			t.Errorf("%s is made of %d lists", mode, len(lists))
		}
		for _, list := range lists {
			if len(list.Listings) != 1 || list.Listings[0].Name != mode {
				t.Errorf("%s has of %s %+v", mode, list.Source, list.Listings)
			}
		}
	}
}
