package ihe_test

import (
	"embed"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/tefca"
	"recordbridge/shared/tefca/ihe"
)

// answers contains handwritten responses in forms that gateways use but the profiles do not define. Each response also
// contains records that conform to the profiles.
//
//go:embed testdata/answers
var answers embed.FS

func answerOf(t *testing.T, name string) []byte {
	t.Helper()
	content, err := answers.ReadFile("testdata/answers/" + name)
	expect.NoError(t, err)
	return content
}

// TestDocumentsSkipsFaultyEntry checks lists of three documents, the second of which deviates from the profile.
func TestDocumentsSkipsFaultyEntry(t *testing.T) {
	t.Parallel()
	first, second, third := "2.999.7.1", "2.999.7.2", "2.999.7.3"
	whole := []string{first, second, third}
	for name, want := range map[string]struct {
		documents []string
		reason    error  // reason that an entry is missing; nil if no entry is missing
		attribute string // name of the faulty attribute
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

// TestRetrieveAcceptsDifferentlySpelledIDs checks responses whose IDs are formatted differently from those in the list.
func TestRetrieveAcceptsDifferentlySpelledIDs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ media, repository, document string }{
		"document-ids-with-scheme.xml": {soap, "2.999.8", "2.999.7.2^SUMMARY"},
		"document-package-without-type.mime": {
			`multipart/related; start="<root@example>"; boundary=b`, "urn:oid:2.999.8",
			"6f9619ff-8b86-4d01-b42d-00c04fc96400",
		},
	} {
		content := answerOf(t, name)
		for _, repository := range []string{c.repository, ""} { // Lists may omit the repository.
			if data, err := ihe.RetrievedAs(c.media, content, message, home, repository, c.document,
				100); string(data) != "content" || err != nil {
				t.Errorf("%s, repository %q: %q, %v", name, repository, data, err)
			}
		}
		for what, of := range map[string][3]string{
			"another community":  {"urn:oid:2.999.3", c.repository, c.document},
			"another repository": {home, "2.999.9", c.document},
			"another document":   {home, c.repository, c.document + "1"},
			"another extension":  {home, c.repository, "2.999.7.2^summary"},
		} {
			if data, err := ihe.RetrievedAs(c.media, content, message, of[0], of[1], of[2], 100); data != nil ||
				!errors.Is(err, tefca.ErrContent) {
				t.Errorf("%s, %s: %q, %v", name, what, data, err)
			}
		}
	}
}

func TestDiscoverySkipsFaultyRecord(t *testing.T) {
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
	if len(facilities) != 2 || matches[home] != tefca.Found || matches[other] != tefca.Unanswered || len(doubts) != 1 ||
		!errors.Is(doubts[other], tefca.ErrContent) {
		t.Errorf("told %v, doubts %v", matches, doubts)
	}
}

// TestLocateReportsUnansweredWhenRecordIsUnreadable checks a community that returns a readable and an unreadable
// record, either of which could be the person's. An unreadable record of an unknown community is attributed to its
// gateway.
func TestLocateReportsUnansweredWhenRecordIsUnreadable(t *testing.T) {
	t.Parallel()
	const other = "urn:oid:2.999.3"
	from := leads(home, "https://gateway.example", ihe.Community{Home: other, Name: "Other"})
	n, _ := network(t, from)
	good := subject("2.999.2", "1", "2.999.2") + subject("2.999.3", "1", "2.999.3")
	for name, c := range map[string]struct {
		record string
		want   map[string]tefca.Match
		doubt  string // community whose record was rejected
	}{
		"beside its own": {
			subject("", "2", "2.999.3"),
			map[string]tefca.Match{home: tefca.Found, other: tefca.Unanswered},
			other,
		},
		"beside the gateway's": {
			subject("", "2", "2.999.2"),
			map[string]tefca.Match{home: tefca.Unanswered, other: tefca.Found},
			home,
		},
		"of an unknown community": {
			subject("", "2", "2.999.666"),
			map[string]tefca.Match{home: tefca.Found, other: tefca.Found},
			home,
		},
		"of no community": {
			subject("", "2", "x"),
			map[string]tefca.Match{home: tefca.Found, other: tefca.Found},
			home,
		},
	} {
		facilities, doubts, err := n.Heard(soap, []byte(envelope(message, answered(message, "AA", "OK", good+c.record))),
			message, from, maple(t))
		matches := map[string]tefca.Match{}
		for _, f := range facilities {
			matches[f.ID] = f.Match
		}
		if err != nil || !maps.Equal(matches, c.want) || len(facilities) != 2 || len(doubts) != 1 ||
			!errors.Is(doubts[c.doubt], tefca.ErrContent) {
			t.Errorf("%s: told %v, doubts %v, %v", name, matches, doubts, err)
		}
	}
}

// TestDocumentsCountsFaultyEntriesByAttribute checks lists of one valid entry and several entries with one faulty
// attribute each.
func TestDocumentsCountsFaultyEntriesByAttribute(t *testing.T) {
	t.Parallel()
	odd := listedEntry("6")
	for name, c := range map[string]struct {
		old, new, attribute string
		reason              error
	}{
		"no home":           {`home="urn:oid:2.999.2"`, ``, "homeCommunityId", tefca.ErrContent},
		"another community": {`home="urn:oid:2.999.2"`, `home="urn:oid:2.999.21"`, "homeCommunityId", tefca.ErrContent},
		"another type":      {`7edca82f`, `00000000`, "objectType", tefca.ErrContent},
		"another patient": {
			`"1^^^&amp;2.999.2&amp;ISO"`, `"2^^^&amp;2.999.2&amp;ISO^PI"`, "patientId",
			tefca.ErrOtherPerson,
		},
		"another authority":  {`"1^^^&amp;2.999.2&amp;ISO"`, `"1^^^&amp;2.999.3&amp;ISO"`, "patientId", tefca.ErrOtherPerson},
		"an escaped patient": {`"1^^^&amp;2.999.2&amp;ISO"`, `"1\S\2^^^&amp;2.999.2&amp;ISO"`, "patientId", tefca.ErrContent},
		"no patient":         {`58a6f841`, `00000000`, "patientId", tefca.ErrContent},
		"two patients": {
			`</ExtrinsicObject>`,
			`<ExternalIdentifier identificationScheme="urn:uuid:58a6f841-87b3-4a3e-92fd-a8ffeff98427" value="6"/>` +
				`</ExtrinsicObject>`, "patientId", tefca.ErrContent,
		},
		"an empty id": {`value="6"`, `value=""`, "uniqueId", tefca.ErrContent},
		"two repositories": {
			`</ExtrinsicObject>`,
			`<Slot name="repositoryUniqueId"><ValueList><Value>9</Value></ValueList></Slot></ExtrinsicObject>`,
			"repositoryUniqueId", tefca.ErrContent,
		},
		"another place": {`value="6"`, `value="urn:oid:2.999.5"`, "uniqueId", tefca.ErrContent},
	} {
		entry := strings.ReplaceAll(odd, c.old, c.new)
		if name == "another place" {
			entry = strings.ReplaceAll(entry, "2.999.8", "2.999.9")
		}
		documents, err := ihe.Listed([]byte(listing(listedEntry("2.999.5")+entry)), message, home)
		incomplete, ok := errors.AsType[*tefca.ListError](err)
		if !ok || len(documents) != 1 || !slices.Equal(incomplete.Lost,
			[]tefca.Loss{{Err: c.reason, Attribute: c.attribute, Count: 1}}) {
			t.Errorf("%s: %d documents, %+v", name, len(documents), err)
		}
	}
	same := strings.NewReplacer(`value="6"`, `value="URN:OID:2.999.5"`, "2.999.8", "urn:oid:2.999.8").Replace(odd)
	if documents, err := ihe.Listed([]byte(listing(listedEntry("2.999.5")+same)), message,
		home); len(documents) != 1 || err != nil {
		t.Errorf("one entry in two spellings: %d documents, %v", len(documents), err)
	}
}
