package ihe_test

import (
	"testing"
	"time"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/tefca/ihe"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/secret"
)

func TestSameIDComparesByValue(t *testing.T) {
	t.Parallel()
	const small, large = "6f9619ff-8b86-4d01-b42d-00c04fc964ff", "6F9619FF-8B86-4D01-B42D-00C04FC964FF"
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"2.16.840.1", "urn:oid:2.16.840.1", true},
		{"2.16.840.1", "URN:OID:2.16.840.1", true},
		{" 2.16.840.1\n", "2.16.840.1", true},
		{"2.16.840.1^AB", "urn:oid:2.16.840.1^AB", true},
		{small, "urn:uuid:" + large, true},
		{"urn:uuid:" + small, "URN:UUID:" + small, true},
		{"doc-1", "doc-1", true},
		{"2.16.840.1", "2.16.840.10", false},
		{"2.16.840.1", "2.16.840.01", false},
		{"2.16.840.1^AB", "2.16.840.1^ab", false},
		{"2.16.840.1^", "2.16.840.1", false},
		{"2.16.840.1", "2.16.840.1^1", false},
		{"urn:oid:doc-1", "doc-1", false},
		{"DOC-1", "doc-1", false},
		{small, small[1:], false},
		{"urn:oid:", "urn:uuid:", false},
		{"", "", false},
	} {
		if ihe.SameID(c.a, c.b) != c.same || ihe.SameID(c.b, c.a) != c.same {
			t.Errorf("%q and %q: same is %t", c.a, c.b, !c.same)
		}
	}
}

// TestPatientIDIsComparedByIDAndAuthority compares various IDs with ID 1 of authority 2.999.2. Different IDs must never
// compare as equal, whatever additional components they have.
func TestPatientIDIsComparedByIDAndAuthority(t *testing.T) {
	t.Parallel()
	for cx, want := range map[string]string{
		"1^^^&2.999.2&ISO":                     "same",
		"1^^^&2.999.2":                         "same",
		"1^^^&2.999.2&iso":                     "same",
		"1^^^&urn:oid:2.999.2&ISO":             "same",
		"1^^^Example Hospital&2.999.2&ISO":     "same",
		"1^^^&2.999.2&ISO^PI":                  "same",
		"1^^^&2.999.2&ISO^^^20200101":          "same",
		"1^4^M10^EXAMPLE&2.999.2&ISO^MR^OTHER": "same",

		// Different IDs from the same authority.
		"2^^^&2.999.2&ISO":       "other",
		"2^^^&2.999.2&ISO^PI":    "other",
		"11^^^&2.999.2&ISO":      "other",
		"01^^^&2.999.2&ISO":      "other",
		"1 ^^^&2.999.2&ISO":      "other",
		"2^1^^&2.999.2&ISO":      "other",
		"1 ASTER^^^&2.999.2&ISO": "other",
		// The same ID from different authorities.
		"1^^^&2.999.3&ISO":           "other",
		"1^^^&2.999.2.1&ISO":         "other",
		"1^^^&2.999&ISO^PI":          "other",
		"1^^^2.999.2&2.999.3&ISO":    "other",
		"1^^^&2.999.3&ISO^^2.999.2":  "other",
		"1^^^&2.999.3&ISO^&2.999.2&": "other",

		// Ambiguous or malformed patient IDs.
		"":                                   "unreadable",
		"1":                                  "unreadable",
		"1^^^":                               "unreadable",
		"1^^^2.999.2":                        "unreadable",
		"1^^^&&ISO":                          "unreadable",
		"1^^^&2.999.2&DNS":                   "unreadable",
		"1^^^&2.999.2&ISO&2.999.3":           "unreadable",
		"1^^^&2.999.2&ISO~2^^^&2.999.2&ISO":  "unreadable",
		"2^^^&2.999.2&ISO~1^^^&2.999.2&ISO":  "unreadable",
		"1^^^&2.999.2^PI~2^^^&2.999.2&ISO":   "unreadable",
		`1^^^2\S\&2.999.2&ISO`:               "unreadable",
		`1\S\\S\\S\\T\2.999.2\T\ISO`:         "unreadable",
		`1\S\2^^^&2.999.2&ISO`:               "unreadable",
		`1^^^&2.999.3\T\2.999.2&ISO`:         "unreadable",
		"1&2^^^&2.999.2&ISO":                 "unreadable",
		"1'^^^&2.999.2&ISO":                  "unreadable",
		"^^^&2.999.2&ISO":                    "unreadable",
		"'1^^^&2.999.2&ISO'":                 "unreadable",
		"1^^^&2.999.2&ISO^^^^^^^1":           "unreadable",
		"1\u202e^^^&2.999.2&ISO":             "unreadable",
		"2^^^&2.999.3&ISO|1^^^&2.999.2&ISO":  "unreadable",
		"1^^^&2.999.2&ISO\n2^^^&2.999.2&ISO": "unreadable",
	} {
		if got := ihe.PatientOne(cx); got != want {
			t.Errorf("%q: %s, want %s", cx, got, want)
		}
	}
}

// TestIsWithinUsesMostSpecificConfiguredCommunity checks that the records of different communities are kept separate.
func TestIsWithinUsesMostSpecificConfiguredCommunity(t *testing.T) {
	t.Parallel()
	const gateway, asked, beside = "urn:oid:2.999.10", "urn:oid:2.999.10.1", "urn:oid:2.999.10.1.5"
	n, _ := network(t, leads(gateway, "https://gateway.example", ihe.Community{Home: asked, Name: "A"},
		ihe.Community{Home: beside, Name: "B"}))
	own := configured(leads(gateway, "https://gateway.example"))
	own.Home = "urn:oid:2.999.10.3" // The service's own ID is below the gateway's in the OID tree.
	below, err := ihe.New(own, ihe.Identity{Certificate: keys().certificate, Key: secret.New(keys().key)},
		ihe.Deps{Now: time.Now, NewID: ids.Random})
	expect.NoError(t, err)
	if below.IsWithin("urn:oid:2.999.10.3.1", gateway) || !below.IsWithin("urn:oid:2.999.10.4", gateway) {
		t.Error("what is below us is taken for the gateway's")
	}
	for entry, owner := range map[string]string{
		"2.999.10.1": asked, "URN:OID:2.999.10.1": asked, "urn:oid:2.999.10.1.7": asked, "urn:oid:2.999.10.1.50.2": asked,
		"urn:oid:2.999.10.1.5": beside, "urn:oid:2.999.10.1.5.1": beside,
		"urn:oid:2.999.10": gateway, "urn:oid:2.999.10.2": gateway, "urn:oid:2.999.10.11": gateway,
		"urn:oid:2.999": "", "urn:oid:2.999.1": "", "urn:oid:2.999.1.1": "", "urn:oid:2.999.11": "", "": "", "x": "",
		"urn:oid:": "",
	} {
		for _, community := range []string{gateway, asked, beside} {
			if got := n.IsWithin(entry, community); got != (owner == community) {
				t.Errorf("%q is within %s: %t", entry, community, got)
			}
		}
	}
}

func TestMomentParsesHL7AndISO8601Times(t *testing.T) {
	t.Parallel()
	at := time.Date(2024, 1, 2, 3, 4, 5, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"20240102030405": at, "20240102030405.000": at, "20240102030405Z": at, "20240101220405-0500": at,
		"20240101220405.0000-0500": at,
		"2024-01-02T03:04:05Z":     at, "2024-01-02T03:04:05.000Z": at, "2024-01-01T22:04:05-05:00": at,
		"2024-01-01T22:04:05-0500": at,
		"2024-01-02T03:04:05":      at, "202401020304": at.Add(-5 * time.Second),
		"2024-01-02T03:04Z": at.Add(-5 * time.Second),
		"20240102":          at.Truncate(24 * time.Hour), "2024-01-02": at.Truncate(24 * time.Hour),
		"": {}, "2024": {}, "20241302": {}, "2024-1-2": {}, "yesterday": {},
	} {
		if got := ihe.Moment(text); !got.Equal(want) {
			t.Errorf("%q is %s", text, got)
		}
	}
}
