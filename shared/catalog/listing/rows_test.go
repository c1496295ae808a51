package listing_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/catalog/listing"
)

// said formats the relevant fields of listings, one listing per line.
func said(found []listing.Listing) string {
	lines := make([]string, 0, len(found))
	for _, l := range found {
		zip := ""
		if len(l.Locations) > 0 {
			zip = l.Locations[0].PostalCode
		}
		e := l.Portals[0].Endpoints[0]
		lines = append(lines, strings.TrimSpace(
			fmt.Sprintf("%s %s %s%s %s", l.Name, e.Address, strings.Join(l.NPIs, ","), zip, e.FHIRVersion)))
	}
	return strings.Join(lines, "\n")
}

func packed(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = io.WriteString(w, text)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestReadAcceptsEveryLanternFormat(t *testing.T) {
	t.Parallel()
	const want = "Elm Clinic https://a.example/r4 123456789397999 4.0.1\nOak Clinic https://b.example/r4"
	for name, c := range map[string]struct {
		format listing.Format
		list   string
	}{
		"lines": {
			listing.LanternNDJSON,
			`{"list":"V","name":"Elm Clinic","url":"https://a.example/r4","npi":"1234567893","zip":"97999",` +
				`"fhir_version":"4.0.1"}` + "\r\n\n" +
				`{"list":"V","name":"Oak Clinic","url":"https://b.example/r4","npi":"","zip":""}`,
		},
		"an array": {
			listing.LanternJSON,
			`[{"api_information_source_name":"Elm Clinic","url":"https://a.example/r4","npi_id":1234567893,"zip_code":"97999",
			"capability_fhir_version":"4.0.1"},
			{"organization_name":"Oak Clinic","url":"https://b.example/r4","npi_id":null}]`,
		},
		"its repository's": {
			listing.LanternJSON,
			`{"Endpoints":[{"URL":"https://a.example/r4","OrganizationName":"Elm Clinic","NPIID":"1234567893",
			"OrganizationZipCode":"97999","fhir_version":"4.0.1"},
			{"URL":"https://b.example/r4","OrganizationName":"Oak Clinic","NPIID":"","OrganizationZipCode":""}]}`,
		},
		"its export": {
			listing.LanternCSV,
			"\ufeffurl,api_information_source_name,certified_api_developer_name,fhir_version,npi,zip\n" +
				"https://a.example/r4,Elm Clinic,Vendor,4.0.1,1234567893,97999\n" +
				"\"https://b.example/r4\",\"Oak Clinic\",Vendor,No " +
				"Cap Stat,,\n",
		},
		"its export by server": {
			listing.LanternCSV,
			"endpoint_names,url,vendor_name,npi,zip,fhir_version\nElm " +
				"Clinic,https://a.example/r4,V,1234567893,97999,4.0.1\n;Oak Clinic; ,https://b.example/r4,V\n",
		},
		"the rows we have": {
			listing.LanternCSV,
			"list,name,url,npi,zip,fhir_version\nV,Elm Clinic,https://a.example/r4,1234567893,97999,4.0.1\nV,Oak " +
				"Clinic,https://b.example/r4,,,\n",
		},
	} {
		for _, list := range []string{c.list, packed(t, c.list)} {
			found, report := mustRead(t, c.format, list)
			if got := said(found); got != want || report.Entries != 2 || len(report.Problems) > 0 {
				t.Errorf("%s: %s\n%s", name, got, problems(report))
			}
			again, _ := mustRead(t, c.format, list)
			if !cmp.Equal(found, again) || found[0].Key == found[1].Key {
				t.Errorf("%s: keys %q and %q, then %q", name, found[0].Key, found[1].Key, again[0].Key)
			}
		}
	}
}

func TestReadLanternCreatesListingPerName(t *testing.T) {
	t.Parallel()
	found, _ := mustRead(t, listing.LanternCSV, "url,endpoint_names\nhttps://a.example/r4,Elm Clinic;Oak Clinic\n")
	if got := said(found); got != "Elm Clinic https://a.example/r4\nOak Clinic https://a.example/r4" {
		t.Error(got)
	}
}

func TestReadLanternReportsBadRowsAndKeepsOthers(t *testing.T) {
	t.Parallel()
	row := func(name, url, more string) string { return `{"name":"` + name + `","url":"` + url + `"` + more + `}` }
	for name, c := range map[string]struct {
		format     listing.Format
		list, want string
	}{
		"no JSON": {
			listing.LanternNDJSON, "oops\n" + row("Elm", "https://a.example", ""),
			"not_format 1 true line 1",
		},
		"a page in between": {
			listing.LanternNDJSON, "<p>\n" + row("Elm", "https://a.example", ""),
			"not_format 1 true line 1",
		},
		"a list for a row": {
			listing.LanternNDJSON, "[]\n" + row("Elm", "https://a.example", ""),
			"bad_type 1 false line 1\nbad_type 1 true line 1",
		},
		"a member twice": {
			listing.LanternNDJSON,
			row("Oak", "https://b.example", `,"URL":"https://c.example"`) + "\n" + row("Elm", "https://a.example", ""),
			"two_values 1 true line 1",
		},
		"10,000 members": {
			listing.LanternNDJSON,
			row("Oak", "https://b.example", manyMembers()) + "\n" + row("Elm", "https://a.example", ""),
			"too_many 1 true line 1",
		},
		"a list for a zip": {
			listing.LanternNDJSON, row("Elm", "https://a.example", `,"zip":["97999"]`),
			"bad_type 1 false line 1",
		},
		"a line of 2 MB": {
			listing.LanternNDJSON, strings.Repeat("x", 2<<20) + "\n" + row("Elm", "https://a.example", ""),
			"too_large 1 true line 1",
		},
		"the same twice": {
			listing.LanternNDJSON,
			row("Elm", "https://a.example", "") + "\n" + row("Elm", "https://a.example", ""), "duplicate_key 1 true ",
		},
		"no address": {
			listing.LanternJSON,
			"[" + row("Oak", "fhir/r4", "") + "," + row("Elm", "https://a.example", "") + "]", "bad_address 1 true entry 1",
		},
		"no name": {
			listing.LanternJSON,
			"[" + row("", "https://b.example", "") + "," + row("Elm", "https://a.example", "") + "]", "no_name 1 true entry 1",
		},
		"no UTF-8": {
			listing.LanternCSV, "name,url\nO\xe9k,https://b.example\nElm,https://a.example\n",
			"bad_text 1 true line 2",
		},
		"a bare quote": {
			listing.LanternCSV, "name,url\nO\"k,https://b.example\nElm,https://a.example\n",
			"not_format 1 true line 2",
		},
		"too many columns": {
			listing.LanternCSV, "name,url\nOak,https://b.example,x\nElm,https://a.example\n",
			"not_format 1 true line 2",
		},
		"nine digits": {
			listing.LanternCSV, "name,url,npi\nElm,https://a.example,123456789\n",
			"bad_number 1 false line 2",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found, report := mustRead(t, c.format, c.list)
			if got := problems(report); !strings.HasPrefix(got, c.want) ||
				strings.Count(got, "\n") != strings.Count(c.want, "\n") || len(found) != 1 || found[0].Name != "Elm" {
				t.Errorf("%q, %+v", got, found)
			}
			if isRepeated := c.want == "duplicate_key 1 true "; isRepeated && report.Unreadable() != 0 {
				t.Errorf("what only repeats another counts as unreadable: %+v", report)
			}
		})
	}
}

func manyMembers() string {
	var text strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&text, `,"m%d":1`, i)
	}
	return text.String()
}

func TestReadCSVRejectsMissingColumnsAndEndlessRow(t *testing.T) {
	t.Parallel()
	for list, want := range map[string]string{
		"a,b\n1,2\n": "list: not_format in line 1",
		"name,url\nElm,https://a.example\n\"" + strings.Repeat("x", 2<<20): "list: too_large in line 3",
	} {
		if _, _, err := read(t, listing.LanternCSV, list); err == nil || err.Error() != want {
			t.Errorf("%.20q: %v", list, err)
		}
	}
}

// endless is a reader that generates an endless list.
type endless struct{ head, again string }

func (e *endless) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		if e.head == "" {
			e.head = e.again
		}
		c := copy(p[n:], e.head)
		e.head = e.head[c:]
		n += c
	}
	return n, nil
}

func TestReadRejectsEndlessListInBoundedMemory(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("much of one thing, in one goroutine")
	}
	for name, c := range map[string]struct {
		format listing.Format
		list   endless
		want   listing.Reason
	}{
		"of one text": {
			listing.Brands,
			endless{`{"resourceType":"Bundle","entry":[{"a":"`, "xxxxxxxxxxxxxxxx"},
			listing.TooLarge,
		},
		"of entries":   {listing.Brands, endless{`{"resourceType":"Bundle","entry":[1`, ",1"}, listing.TooMany},
		"of one quote": {listing.LanternCSV, endless{"name,url\n", `"x`}, listing.TooLarge},
		"of YAML":      {listing.YAML, endless{"brands:\n", "  # x\n"}, listing.TooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := listing.Read(t.Context(), c.format, &c.list, func(listing.Listing) error { return nil })
			if failure, ok := errors.AsType[*listing.Refused](err); !ok || failure.Reason != c.want {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
}

var errStop = errors.New("stop")

func TestReadStopsWhenContextOrCallbackFails(t *testing.T) {
	t.Parallel()
	list := `[{"name":"Elm","url":"https://a.example"}]`
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := listing.Read(ctx, listing.LanternJSON, strings.NewReader(list), nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := listing.Read(t.Context(), listing.LanternJSON, strings.NewReader(list),
		func(listing.Listing) error { return errStop }); !errors.Is(err, errStop) {
		t.Error(err)
	}
	if _, err := listing.Read(t.Context(), "xml", strings.NewReader(list), nil); err == nil {
		t.Error("a format that is none was read")
	}
}

func TestStoredRoundTripsListings(t *testing.T) {
	t.Parallel()
	found, _ := mustRead(t, listing.Brands, bundle(harborR4, harborBrand))
	var one, two bytes.Buffer
	if err := errors.Join(listing.Write(&one, slices.Values(found)),
		listing.Write(&two, slices.Values(found))); err != nil || !bytes.Equal(one.Bytes(), two.Bytes()) {
		t.Fatal("the same listings are not the same bytes", err)
	}
	var back []listing.Listing
	err := listing.Stored(&one, func(l listing.Listing) error {
		back = append(back, l)
		return nil
	})
	if diff := cmp.Diff(found, back); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if err := listing.Stored(bytes.NewReader(two.Bytes()[:two.Len()/2]),
		func(listing.Listing) error { return nil }); err == nil {
		t.Error("half an object was read as whole")
	}
}
