package ihe_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	peer "recordbridge/infra/test/ihe"
	"recordbridge/shared/tefca"
	"recordbridge/shared/tefca/ihe"
	"recordbridge/shared/words/secret"
)

// ready returns a network with one gateway, the gateway's facility, and its first listed document.
func ready(t *testing.T) (*ihe.Network, *peer.Peer, tefca.Facility, tefca.Document) {
	t.Helper()
	p := gateway(t, home)
	n, _ := network(t, leads(home, p.URL))
	found := located(t, n)[home]
	documents, err := n.Documents(t.Context(), asserted(t), found)
	if err != nil {
		t.Fatal(err)
	}
	return n, p, found, documents[0]
}

func TestDocumentsRejectsInvalidResponses(t *testing.T) {
	t.Parallel()
	for _, want := range []struct {
		answers   peer.Switch
		err       error
		documents int
	}{
		{peer.Partial, tefca.ErrUnavailable, 2}, // The available documents are still returned.
		{peer.Failing, tefca.ErrUnavailable, 0},
		{peer.Denied, tefca.ErrIdentity, 0},
		{peer.Fault, tefca.ErrUnavailable, 0},
		{peer.Slow, tefca.ErrUnavailable, 0},
		{peer.Cut, tefca.ErrUnavailable, 0},
		{peer.Malformed, tefca.ErrContent, 0},
		{peer.Unrelated, tefca.ErrContent, 0},
		{peer.Foreign, tefca.ErrContent, 0},
		{peer.OtherPerson, tefca.ErrContent, 0},
		{peer.Twice, tefca.ErrContent, 2}, // If several entries have the same ID, the first one is returned.
	} {
		t.Run(string(want.answers), func(t *testing.T) {
			t.Parallel()
			n, p, found, _ := ready(t)
			if want.answers == peer.Slow {
				n.Limits(time.Second, 1)
			}
			p.Switch(peer.Query, want.answers)
			documents, err := n.Documents(t.Context(), asserted(t), found)
			if !errors.Is(err, want.err) || len(documents) != want.documents {
				t.Errorf("%d documents, %v", len(documents), err)
			}
		})
	}
}

func TestRetrieveRejectsInvalidResponses(t *testing.T) {
	t.Parallel()
	for _, want := range []struct {
		answers peer.Switch
		err     error
	}{
		{peer.Missing, tefca.ErrNotFound},
		{peer.Failing, tefca.ErrUnavailable},
		{peer.Denied, tefca.ErrIdentity},
		{peer.Fault, tefca.ErrUnavailable},
		{peer.Slow, tefca.ErrUnavailable},
		{peer.Cut, tefca.ErrUnavailable},
		{peer.Malformed, tefca.ErrContent},
		{peer.Unrelated, tefca.ErrContent},
		{peer.Foreign, tefca.ErrContent},
		{peer.OtherThing, tefca.ErrContent},
		{peer.Large, tefca.ErrTooLarge},
	} {
		t.Run(string(want.answers), func(t *testing.T) {
			t.Parallel()
			n, p, found, listed := ready(t)
			if want.answers == peer.Slow {
				n.Limits(time.Second, 1)
			}
			p.Switch(peer.Retrieve, want.answers)
			data, err := n.Retrieve(t.Context(), asserted(t), found, listed, 1000)
			if !errors.Is(err, want.err) || data != nil {
				t.Errorf("%d bytes, %v", len(data), err)
			}
		})
	}
}

func TestRetrieveLimitsDocumentSize(t *testing.T) {
	t.Parallel()
	n, p, found, listed := ready(t)
	size := int64(len(papers()[0].Content))
	for _, as := range []peer.Switch{"", peer.Inline} {
		p.Switch(peer.Retrieve, as)
		if data, err := n.Retrieve(t.Context(), asserted(t), found, listed, size); int64(len(data)) != size || err != nil {
			t.Errorf("%q at the limit: %d bytes, %v", as, len(data), err)
		}
		if data, err := n.Retrieve(t.Context(), asserted(t), found, listed, size-1); data != nil ||
			!errors.Is(err, tefca.ErrTooLarge) {
			t.Errorf("%q over the limit: %d bytes, %v", as, len(data), err)
		}
	}
	p.Switch(peer.Retrieve, peer.Large) // The message exceeds its size limit even without the document.
	if _, err := n.Retrieve(t.Context(), asserted(t), found, listed, 10); !errors.Is(err, tefca.ErrTooLarge) {
		t.Errorf("a large answer: %v", err)
	}
}

// TestRetrieveRejectsDocumentOfDifferentFacility checks that a document listed by facility A is requested only from A
// and for A's patient, even if a caller confuses documents and facilities.
func TestRetrieveRejectsDocumentOfDifferentFacility(t *testing.T) {
	t.Parallel()
	const here, there = "urn:oid:2.999.2", "urn:oid:2.999.3"
	a, b := gateway(t, here), gateway(t, there)
	n, _ := network(t, leads(here, a.URL), leads(there, b.URL))
	all := located(t, n)
	type listed struct {
		at       string
		document tefca.Document
	}
	var documents []listed
	for id, f := range all {
		found, err := n.Documents(t.Context(), asserted(t), f)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range found {
			documents = append(documents, listed{id, d})
		}
	}
	who := asserted(t)
	facility := rapid.SampledFrom([]string{here, there, "urn:oid:2.999.4"})
	rapid.Check(t, func(r *rapid.T) {
		at := all[facility.Draw(r, "local of")]
		local := at.ID
		at.ID = facility.Draw(r, "asked at")
		d := rapid.SampledFrom(documents).Draw(r, "document")
		other := rapid.SampledFrom(documents).Draw(r, "under the id of")
		d.document.ID = other.document.ID
		before := a.Seen(peer.Retrieve) + b.Seen(peer.Retrieve)
		data, err := n.Retrieve(t.Context(), who, at, d.document, 1000)
		whole := local == at.ID && d.at == at.ID && d.document.Locator.Reveal() != "" &&
			sameDocument(d.document, other.document)
		if whole != (err == nil) || whole != (len(data) > 0) {
			r.Fatalf("local of %s, asked at %s, document of %s: %d bytes, %v", local, at.ID, d.at, len(data), err)
		}
		if sent := a.Seen(peer.Retrieve) + b.Seen(peer.Retrieve) - before; !whole &&
			(sent > 0 || !errors.Is(err, tefca.ErrRefused)) {
			r.Fatalf("%d requests were sent, %v", sent, err)
		}
	})
}

// sameDocument reports whether d has the same ID and size as other.
func sameDocument(d, other tefca.Document) bool {
	return d.ID == other.ID && d.Size == other.Size
}

func TestDocumentsRejectsForgedPatientID(t *testing.T) {
	t.Parallel()
	n, p, found, _ := ready(t)
	before := p.Seen(peer.Query)
	for _, forged := range []string{
		``, `null`, `{}`, `{"home":"urn:oid:2.999.3","root":"2.999.2","extension":"1"}`,
		`{"home":"urn:oid:2.999.2","root":"2.999.2","extension":"1') or ('1"}`,
		`{"home":"urn:oid:2.999.2","root":"2.999.2","extension":"1^^^&2.999.9&ISO"}`,
		`{"home":"urn:oid:2.999.2","root":"2.999.2&ISO","extension":"1"}`,
		`{"home":"urn:oid:2.999.2","root":"2.999.2","extension":""}`,
	} {
		found.Local = secret.New(forged)
		if _, err := n.Documents(t.Context(), asserted(t), found); !errors.Is(err, tefca.ErrRefused) {
			t.Errorf("%s: %v", forged, err)
		}
	}
	if p.Seen(peer.Query) != before {
		t.Error("something was sent")
	}
}

func TestRetrieveRejectsForgedLocator(t *testing.T) {
	t.Parallel()
	n, p, found, listed := ready(t)
	good := listed.Locator.Reveal()
	for name, forged := range map[string]string{
		"nothing":           "",
		"another community": strings.Replace(good, home, "urn:oid:2.999.3", 1),
		"another patient":   strings.Replace(good, identity, "somebody", 1),
		"another document":  strings.Replace(good, "2.999.7.1", "2.999.7.2", 1),
	} {
		if forged == good {
			t.Fatalf("%s: nothing was changed", name)
		}
		listed.Locator = secret.New(forged)
		if data, err := n.Retrieve(t.Context(), asserted(t), found, listed, 1000); !errors.Is(err, tefca.ErrRefused) ||
			data != nil {
			t.Errorf("%s: %d bytes, %v", name, len(data), err)
		}
	}
	if p.Seen(peer.Retrieve) > 0 {
		t.Error("something was sent")
	}
}

func TestDocumentsFailsWhenFacilityCannotFindPatient(t *testing.T) {
	t.Parallel()
	n, _, found, _ := ready(t)
	found.Local = secret.New(`{"home":"urn:oid:2.999.2","root":"2.999.2","extension":"gone"}`)
	if documents, err := n.Documents(t.Context(), asserted(t), found); !errors.Is(err, tefca.ErrRefused) ||
		documents != nil {
		t.Errorf("%v, %v", documents, err)
	}
}
