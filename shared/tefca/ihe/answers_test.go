package ihe_test

import (
	"embed"
	"errors"
	"slices"
	"testing"
	"time"

	"recordbridge/shared/tefca"
	"recordbridge/shared/tefca/ihe"
	"recordbridge/shared/testkit/expect"
)

// answers are written by hand, in forms that gateways use and that the profiles do not have, each with records that follow the profiles.
//
//go:embed testdata/answers
var answers embed.FS

func answerOf(t *testing.T, name string) []byte {
	t.Helper()
	content, err := answers.ReadFile("testdata/answers/" + name)
	expect.NoError(t, err)
	return content
}

// TestListLosesAtMostTheEntryAtFault: each list has three documents, of which the second departs from the profile.
func TestListLosesAtMostTheEntryAtFault(t *testing.T) {
	t.Parallel()
	first, second, third := "2.999.7.1", "2.999.7.2", "2.999.7.3"
	whole := []string{first, second, third}
	for name, want := range map[string]struct {
		documents []string
		reason    error  // of the loss; nil if nothing is lost
		attribute string // at fault
	}{
		"list-home-of-subcommunity.xml":        {whole, nil, ""},
		"list-home-without-scheme.xml":         {whole, nil, ""},
		"list-home-of-another-community.xml":   {[]string{first, third}, tefca.ErrContent, "homeCommunityId"},
		"list-patient-with-authority-name.xml": {whole, nil, ""},
		"list-patient-with-type.xml":           {whole, nil, ""},
		"list-another-patient.xml":             {[]string{first, third}, tefca.ErrOtherPerson, "patientId"},
		"list-without-repository.xml":          {whole, nil, ""},
		"list-two-unique-ids.xml":              {[]string{first, third}, tefca.ErrContent, "uniqueId"},
		"list-iso-time-bare-relation.xml":      {whole, nil, ""},
	} {
		listed, err := ihe.Listed(answerOf(t, name), message, home)
		ids := make([]string, 0, len(listed))
		for _, d := range listed {
			ids = append(ids, d.ID)
			if !d.Made.Equal(time.Date(2024, 1, 2, 3, 4, 5, 0, time.UTC)) || d.Size != 2048 || d.Locator.Empty() {
				t.Errorf("%s: listed %+v", name, d)
			}
		}
		var lost []tefca.Loss
		if incomplete, ok := errors.AsType[*tefca.ListError](err); ok {
			lost = incomplete.Lost
		}
		var wanted []tefca.Loss
		if want.reason != nil {
			wanted = []tefca.Loss{{Err: want.reason, Attribute: want.attribute, Count: 1}}
		}
		if !slices.Equal(ids, want.documents) || !slices.Equal(lost, wanted) || (err == nil) != (wanted == nil) {
			t.Errorf("%s: documents %v, lost %v, %v", name, ids, lost, err)
		}
	}
}

// TestDocumentIsReadWhenItsIDsAreSpeltOtherwise than in the list.
func TestDocumentIsReadWhenItsIDsAreSpeltOtherwise(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ media, repository, document string }{
		"document-ids-with-scheme.xml":       {soap, "2.999.8", "2.999.7.2^SUMMARY"},
		"document-package-without-type.mime": {`multipart/related; start="<root@example>"; boundary=b`, "urn:oid:2.999.8", "6f9619ff-8b86-4d01-b42d-00c04fc96400"},
	} {
		content := answerOf(t, name)
		for _, repository := range []string{c.repository, ""} { // the list may have named none
			if data, err := ihe.RetrievedAs(c.media, content, message, home, repository, c.document, 100); string(data) != "content" || err != nil {
				t.Errorf("%s, repository %q: %q, %v", name, repository, data, err)
			}
		}
		for what, of := range map[string][3]string{
			"another community":  {"urn:oid:2.999.3", c.repository, c.document},
			"another repository": {home, "2.999.9", c.document},
			"another document":   {home, c.repository, c.document + "1"},
			"another extension":  {home, c.repository, "2.999.7.2^summary"},
		} {
			if data, err := ihe.RetrievedAs(c.media, content, message, of[0], of[1], of[2], 100); data != nil || !errors.Is(err, tefca.ErrContent) {
				t.Errorf("%s, %s: %q, %v", name, what, data, err)
			}
		}
	}
}

func TestDiscoveryLosesAtMostTheRecordAtFault(t *testing.T) {
	t.Parallel()
	const other = "urn:oid:2.999.3"
	from := leads(home, "https://gateway.example", ihe.Community{Home: other, Name: "Other"})
	n, _ := network(t, from)
	facilities, doubts, err := n.Heard(soap, answerOf(t, "discovery-unreadable-record.xml"), message, from, maple(t))
	expect.NoError(t, err)
	matches := map[string]tefca.Match{}
	for _, f := range facilities {
		matches[f.ID] = f.Match
	}
	if len(facilities) != 2 || matches[home] != tefca.Found || matches[other] != tefca.Unanswered || len(doubts) != 1 || !errors.Is(doubts[other], tefca.ErrContent) {
		t.Errorf("told %v, doubts %v", matches, doubts)
	}
}
