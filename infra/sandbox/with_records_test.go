package sandbox_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// attachmentURL returns the content URL of the record's first document. It fails the test unless reading and searching
// the document return the same URL.
func (p *portal) attachmentURL(access string) string {
	p.t.Helper()
	type document struct {
		Content []struct{ Attachment struct{ URL string } }
	}
	var searched, read document
	page := p.searchset(p.read(access, "DocumentReference?_count=1"))
	alone := p.get(page.Entry[0].FullURL, "Authorization", "Bearer "+access)
	if err := errors.Join(json.Unmarshal(page.Entry[0].Resource, &searched),
		json.Unmarshal(alone.body, &read)); err != nil ||
		len(read.Content) != 1 || !cmp.Equal(searched, read) {
		p.t.Fatalf("%v: found %+v and read %+v", err, searched, read)
	}

	return read.Content[0].Attachment.URL
}

func TestAttachmentsAreServedAtSeparateURLsWhenSwitchIsSet(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	plain := p.connect("alder-maple").Access
	id := strings.TrimPrefix(p.attachmentURL(plain), "Binary/")
	want := p.read(plain, "Binary/"+id, "Accept", "text/plain")
	there := p.with(t, "attachment-urls")
	access := there.connect("alder-maple").Access
	address := there.attachmentURL(access)
	if address != there.fhir+"/attachments/"+id {
		t.Fatalf("address = %q, want it below %s", address, there.fhir)
	}
	got := there.get(address, "Authorization", "Bearer "+access, "Accept", "application/fhir+json")
	if got.status != http.StatusOK || got.header.Get("Content-Type") != "text/plain" ||
		string(got.body) != string(want.body) {
		t.Errorf("got %d %q and %d bytes, want the note of %d", got.status, got.header.Get("Content-Type"), len(got.body),
			len(want.body))
	}
	wantOutcome(t, there.get(address), http.StatusUnauthorized, "login")
	wantOutcome(t, there.read(access, "attachments/none"), http.StatusNotFound, "not-found")
	noBinary := there.connect("alder-maple", "scope", "launch/patient patient/DocumentReference.rs").Access
	wantOutcome(t, there.get(address, "Authorization", "Bearer "+noBinary), http.StatusForbidden, "forbidden")
	wantOutcome(t, p.read(plain, "attachments/"+id), http.StatusNotFound, "not-supported")
}

func TestAttachmentSwitchesBreakAttachmentDownloads(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	foreign := p.with(t, "attachment-foreign")
	if address := foreign.attachmentURL(foreign.connect("alder-maple").Access); !strings.HasPrefix(address,
		"https://foreign.example/attachments/alder-maple-binary-") {
		t.Errorf("address = %q, want a foreign one", address)
	}
	missing := p.with(t, "attachment-missing")
	access := missing.connect("alder-maple").Access
	address := missing.attachmentURL(access)
	wantOutcome(t, missing.get(address, "Authorization", "Bearer "+access), http.StatusNotFound, "not-found")
	wantOutcome(t, missing.get(address), http.StatusUnauthorized, "login")

	drops := p.with(t, "attachment-drops")
	access = drops.connect("alder-maple").Access
	request := p.request(http.MethodGet, drops.attachmentURL(access), nil)
	request.Header.Set("Authorization", "Bearer "+access)
	response, err := p.client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	got, err := io.ReadAll(response.Body)
	if half := response.ContentLength / 2; !errors.Is(err, io.ErrUnexpectedEOF) || half == 0 || int64(len(got)) != half {
		t.Errorf("%d of %d bytes, then %v", len(got), response.ContentLength, err)
	}
}

// sink is an http.ResponseWriter that discards the response and counts its bytes.
type sink struct {
	header  http.Header
	status  int
	bytes   int64
	largest int // size of the largest single write, in bytes
}

func (s *sink) Header() http.Header    { return s.header }
func (s *sink) WriteHeader(status int) { s.status = status }
func (s *sink) Write(data []byte) (int, error) {
	s.bytes += int64(len(data))
	s.largest = max(s.largest, len(data))

	return len(data), nil
}

// count requests a path below the portal's FHIR base URL in-process, and discards the response body.
func (p *portal) count(access, path string) *sink {
	p.t.Helper()
	request := p.request(http.MethodGet, p.fhir+"/"+path, nil)
	request.Header.Set("Authorization", "Bearer "+access)
	got := &sink{header: http.Header{}}
	handler, _ := p.client.Transport.(inProcess)
	handler.ServeHTTP(got, request)

	return got
}

func TestLargeResponsesAreStreamed(t *testing.T) {
	t.Parallel()
	const mebibyte, most = 1 << 20, 1 << 20
	p := newInProcess(t)
	binary := recordOf(t, "alder-maple")["Binary"][0]
	for spec, c := range map[string]struct {
		path     string
		at, size int64 // minimum and maximum size in bytes
	}{
		"attachment-large:64": {"attachments/" + binary, 64 * mebibyte, 64 * mebibyte},
		"page-large:64":       {"Observation?_count=26", 64 * mebibyte, 66 * mebibyte},
		"gzip-bomb":           {"Observation", 900_000, 2 * mebibyte},
	} {
		there := p.with(t, spec)
		got := there.count(there.connect("alder-maple").Access, c.path)
		if got.status != http.StatusOK || got.bytes < c.at || got.bytes > c.size || got.largest > most {
			t.Errorf("%s: %d, %d bytes, at most %d at once; want 200, %d to %d, at most %d at once",
				spec, got.status, got.bytes, got.largest, c.at, c.size, most)
		}
		if refused := there.count("made-up", c.path); refused.status != http.StatusUnauthorized || refused.bytes > 1000 {
			t.Errorf("%s: %d and %d bytes without a token", spec, refused.status, refused.bytes)
		}
	}
}

func TestLargePageSwitchIgnoresSmallCount(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	there := p.with(t, "page-large:2")
	access := there.connect("alder-maple").Access
	for search, isLarge := range map[string]bool{
		"Observation": true, "Observation?_count=26": true, "Observation?_count=25": false, "Observation?_count=0": false,
		"Observation?_count=100&page=ZnJvbTox": false,
	} {
		a := there.read(access, search)
		if large := len(a.body) > 2<<20; large != isLarge || !json.Valid(a.body) {
			t.Errorf("%s: %d bytes, valid JSON %v", search, len(a.body), json.Valid(a.body))
		}
	}
}

func TestGzipBombSwitchCompressesLargeBundle(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	there := p.with(t, "gzip-bomb")
	request := p.request(http.MethodGet, there.fhir+"/Observation", nil)
	request.Header.Set("Authorization", "Bearer "+there.connect("alder-maple").Access)
	request.Header.Set("Accept-Encoding", "identity")
	response, err := p.client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err != nil || response.Header.Get("Content-Encoding") != "gzip" {
		t.Fatalf("%v, Content-Encoding %q", err, response.Header.Get("Content-Encoding"))
	}
	// All gzip members except the first and last are identical, so decompressing one of them is sufficient.
	head, rest := member(t, raw)
	middle, behind := member(t, rest)
	packed := rest[:len(rest)-len(behind)]
	count := 0
	for after, is := bytes.CutPrefix(rest, packed); is; after, is = bytes.CutPrefix(rest, packed) {
		rest = after
		count++
	}
	tail, none := member(t, rest)
	if size := count * len(middle); size != 1<<30 || len(none) > 0 || len(raw) > 2<<20 {
		t.Errorf("%d bytes unpack to a string of %d bytes; %d are left over", len(raw), size, len(none))
	}
	if whole := slices.Concat(head, middle, tail); !json.Valid(whole) ||
		!strings.HasPrefix(string(whole), `{"resourceType":"Bundle"`) {
		t.Errorf("it is no Bundle: %q…%q", head, tail)
	}
}

// member decompresses the first of several concatenated gzip members. behind contains the remaining ones, still
// compressed.
func member(t *testing.T, raw []byte) (plain, behind []byte) {
	t.Helper()
	source := bytes.NewReader(raw)
	unpacked, err := gzip.NewReader(source)
	if err != nil {
		t.Fatal(err)
	}
	unpacked.Multistream(false)
	if plain, err = io.ReadAll(unpacked); err != nil {
		t.Fatal(err)
	}

	return plain, raw[len(raw)-source.Len():]
}

func TestNextLinkPointsToSamePageWhenSwitchIsSet(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	there, access, _, bundle := p.firstPage("next-loop", "Observation?_count=3")
	next := nextLink(bundle)
	again := there.get(next, "Authorization", "Bearer "+access).json(t)
	if next == "" || nextLink(again) != next {
		t.Errorf("next = %q, and there %q", next, nextLink(again))
	}
	if _, _, _, bundle := p.firstPage("next-loop", "Patient"); nextLink(bundle) != "" {
		t.Errorf("the only page has a next link: %s", nextLink(bundle))
	}
}

func TestDuplicateEntriesSwitchRepeatsEntries(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	there, _, a, _ := p.firstPage("duplicate-entries", "Observation?_count=3")
	page := there.searchset(a)
	if len(page.Entry) != 6 || page.Entry[0].FullURL != page.Entry[1].FullURL ||
		page.Entry[1].FullURL == page.Entry[2].FullURL {
		t.Errorf("%d entries: %v", len(page.Entry), there.entriesOf(page))
	}
}

func TestEntrySwitchesAddInvalidEntries(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	there, access, a, _ := p.firstPage("invalid-entry", "Observation?_count=3")
	for _, page := range []searchset{
		there.searchset(a),
		there.searchset(there.read(access, "Observation?_count=3&page=ZnJvbToz")),
	} {
		if len(page.Entry) != 4 || strings.Contains(string(page.Entry[3].Resource), "resourceType") {
			t.Errorf("entries: %v", there.entriesOf(page))
		}
	}
	if _, _, a, _ = p.firstPage("deep-json", "Observation?_count=3"); strings.Count(string(a.body), "[") < 100_000 ||
		strings.Count(string(a.body), "[") != strings.Count(string(a.body), "]") ||
		!strings.Contains(string(a.body), "sandbox-deep") {
		t.Error("deep-json: the page is not deep")
	}
	if _, _, a, _ = p.firstPage("invalid-utf8", "Observation?_count=3"); utf8.Valid(a.body) || !json.Valid(a.body) {
		t.Error("invalid-utf8: want JSON that is not UTF-8")
	}
	there, access, a, _ = p.firstPage("other-patient", "Observation?_count=3")
	if page := there.searchset(a); len(page.Entry) != 4 ||
		!strings.Contains(string(page.Entry[3].Resource), "Patient/sandbox-somebody-else") {
		t.Errorf("other-patient: entries %v", there.entriesOf(page))
	}
	for _, search := range []string{"Observation?_count=3&page=ZnJvbToz", "Goal?_count=3"} {
		if a := there.read(access, search); strings.Contains(string(a.body), "somebody-else") {
			t.Errorf("other-patient: %s holds another patient's", search)
		}
	}
}

func TestVersionSwitchSelectsOlderFHIRVersion(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	for version, want := range map[string][3]string{
		"stu3": {"CapabilityStatement", "3.0.1", "MedicationRequest"}, "dstu2": {"Conformance", "1.0.2", "MedicationOrder"},
	} {
		there := p.with(t, "version:"+version)
		statement, listed := there.capability(), ""
		for _, r := range statement.Rest[0].Resource {
			if strings.HasPrefix(r.Type, "MedicationRequest") || strings.HasPrefix(r.Type, "MedicationOrder") {
				listed = r.Type + " " + strings.Join(r.Include, ",")
			}
		}
		if got := [3]string{statement.ResourceType, statement.FHIRVersion, listed}; got != [3]string{
			want[0], want[1],
			want[2] + " " + want[2] + ":medication",
		} {
			t.Errorf("%s: %v", version, got)
		}
		got := there.connect("willow-ash", "scope", "launch/patient patient/"+want[2]+".rs")
		a := there.read(got.Access, want[2]+"?patient="+got.Patient+"&_include="+want[2]+":medication")
		page := there.searchset(a)
		if len(page.Entry) == 0 || !strings.HasPrefix(page.Entry[0].FullURL, there.fhir+"/"+want[2]+"/") ||
			!strings.Contains(string(page.Entry[0].Resource), `"resourceType":"`+want[2]+`"`) ||
			!strings.HasPrefix(page.link("self"), there.fhir+"/"+want[2]+"?_count=50&_include=") {
			t.Fatalf("%s: %.300s", version, a.body)
		}
		read := there.get(page.Entry[0].FullURL, "Authorization", "Bearer "+got.Access)
		if string(read.body) != string(page.Entry[0].Resource) {
			t.Errorf("%s: read %.200s", version, read.body)
		}
	}
	linked := newIncludePortal(t).with(t, "version:dstu2")
	if page := linked.searchset(linked.read(linked.connect("p").Access,
		"Provenance?target=MedicationOrder/r1")); page.Total != 1 ||
		!strings.Contains(string(page.Entry[0].Resource), `"MedicationOrder/r1"`) ||
		strings.Contains(string(page.Entry[0].Resource), "MedicationRequest") {
		t.Errorf("references: %+v", page)
	}
	old := p.with(t, "version:dstu2")
	wantOutcome(t, old.read(old.connect("willow-ash").Access, "MedicationRequest"), http.StatusNotFound, "not-supported")
}

func TestCapabilityStatementIgnoresFaultSwitches(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newInProcess(t)
		plain := string(p.get(p.fhir + "/metadata").body)
		const spec = "attachment-urls,page-large:1,next-loop,duplicate-entries,invalid-entry,gzip-bomb,deep-json," +
			"invalid-utf8,other-patient"
		if got := string(p.get(p.with(t, spec).fhir + "/metadata").body); strings.ReplaceAll(got, "/with/"+spec,
			"") != plain {
			t.Error("the statement differs")
		}
	})
}

func TestIDListSwitchIgnoresSomeIDs(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	page := p.searchset(p.read(p.connect("alder-maple").Access, "Practitioner"))
	ids := make([]string, 0, len(page.Entry))
	for _, entry := range page.Entry {
		ids = append(ids, entry.FullURL[strings.LastIndexByte(entry.FullURL, '/')+1:])
	}
	for spec, want := range map[string]int{"id-list:ignored": len(ids), "id-list:half": 1} {
		there := p.with(t, spec)
		got := there.searchset(there.read(there.connect("alder-maple").Access, "Practitioner?_id="+ids[0]+","+ids[1]))
		if got.Total != want || len(ids) < 3 {
			t.Errorf("%s: %d of %d found, want %d", spec, got.Total, len(ids), want)
		}
	}
}
