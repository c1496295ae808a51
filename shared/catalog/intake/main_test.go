package intake_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"recordbridge/shared/catalog/intake"
	"recordbridge/shared/catalog/listing"
	"recordbridge/shared/words/fault"
)

// world simulates the lists' servers, the rows and the bucket.
type world struct {
	now time.Time

	body    string
	known   intake.Known // validators of the response
	failure error        // error returned by the server
	asked   []intake.Known

	rows    map[string]intake.Row
	saved   int
	objects map[string][]byte
	put     int
	stuck   error // error returned by every deletion
	clash   bool  // whether another writer changes the row first
}

func newWorld(source intake.Source) *world {
	w := &world{
		now: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC), rows: map[string]intake.Row{},
		objects: map[string][]byte{},
	}
	w.rows[source.ID] = intake.Row{Source: source, Rev: 1}
	return w
}

func (w *world) Fetch(_ context.Context, _ string, known intake.Known) (intake.Answer, error) {
	w.asked = append(w.asked, known)
	if w.failure != nil {
		return intake.Answer{}, w.failure
	}
	if w.known.ETag != "" && known.ETag == w.known.ETag {
		return intake.Answer{IsUnchanged: true}, nil
	}
	return intake.Answer{Body: io.NopCloser(strings.NewReader(w.body)), Known: w.known}, nil
}

func (w *world) Sources(context.Context) ([]intake.Row, error) { return nil, nil }

func (w *world) Source(_ context.Context, id string) (intake.Row, error) { return w.rows[id], nil }

func (w *world) SaveSource(_ context.Context, row intake.Row) (intake.Row, error) {
	if w.clash || w.rows[row.Source.ID].Rev != row.Rev {
		return row, fault.Stale()
	}
	row.Rev++
	w.saved++
	w.rows[row.Source.ID] = row
	return row, nil
}

func (w *world) Put(_ context.Context, key, _ string, body []byte) error {
	w.put++
	w.objects[key] = body
	return nil
}

func (w *world) Delete(_ context.Context, key string) error {
	if w.stuck != nil {
		return w.stuck
	}
	delete(w.objects, key)
	return nil
}

func (w *world) Open(_ context.Context, key string) (io.ReadCloser, error) {
	body, ok := w.objects[key]
	if !ok {
		return nil, fault.Missing("There is no such object.")
	}
	return io.NopCloser(bytes.NewReader(body)), nil
}

func (w *world) intake() intake.Intake {
	return intake.Intake{
		Lists: w, Rows: w, Objects: w, Now: func() time.Time { return w.now },
		Random: func() float64 { return 0.5 },
	}
}

func (w *world) refresh(t *testing.T) (intake.State, intake.Outcome) {
	t.Helper()
	for id := range w.rows {
		row, outcome, err := w.intake().Refresh(t.Context(), w.rows[id])
		if err != nil {
			t.Fatal(err)
		}
		return row.State, outcome
	}
	t.Fatal("no source")
	return intake.State{}, ""
}

func (w *world) names(t *testing.T, version *intake.Version) string {
	t.Helper()
	if version == nil {
		return "nothing"
	}
	var names []string
	err := listing.Stored(bytes.NewReader(w.objects[version.Key]), func(l listing.Listing) error {
		names = append(names, l.Name)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(names, " ")
}

func source() intake.Source {
	return intake.Source{
		ID: "vendor", Name: "A vendor", Mode: "live", URL: "https://lists.example/r4",
		Format: listing.LanternNDJSON, Every: 24 * time.Hour,
	}
}

// rows returns a list of numbered clinics.
func rows(from, to int) string {
	var text strings.Builder
	for i := from; i < to; i++ {
		fmt.Fprintf(&text, "{\"name\":\"Clinic%d\",\"url\":\"https://fhir.example/%d\"}\n", i, i)
	}
	return text.String()
}
