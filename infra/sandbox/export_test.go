package sandbox_test

import (
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/sandbox"
	"recordbridge/infra/sandbox/persona"
)

// syntheaFolder holds public synthetic patients; tests that use it skip where it is absent.
const syntheaFolder = "../../../shared/data/synthea"

var listedReference = regexp.MustCompile(
	`"(?:reference|url)":"((?:Practitioner|Organization|Location|Medication|Binary)/[^"]+)"`)

// export collects a record as an exporter does: every type with a patient or subject parameter in the
// CapabilityStatement, and the five kinds of resource that those refer to. It returns how often each was seen.
func (p *portal) export(got tokens) map[string]int {
	p.t.Helper()
	seen := map[string]int{}
	var pending []string
	collect := func(body []byte) {
		var head struct{ ResourceType, ID string }
		if err := json.Unmarshal(body, &head); err != nil {
			p.t.Fatal(err)
		}
		seen[head.ResourceType+"/"+head.ID]++
		for _, match := range listedReference.FindAllSubmatch(body, -1) {
			pending = append(pending, string(match[1]))
		}
	}
	collect(p.read(got.Access, "Patient/"+got.Patient).body)
	for _, r := range p.capability().Rest[0].Resource {
		for _, param := range r.SearchParam {
			if param.Name != "patient" && param.Name != "subject" {
				continue
			}
			for _, page := range p.pages(got.Access, r.Type+"?_count=100&"+param.Name+"=Patient/"+got.Patient) {
				for _, e := range page.Entry {
					collect(e.Resource)
				}
			}

			break
		}
	}
	for len(pending) > 0 {
		next := pending[0]
		pending = pending[1:]
		if seen[next] > 0 {
			continue
		}
		a := p.read(got.Access, next)
		if a.status != http.StatusOK {
			p.t.Fatalf("%s: %d", next, a.status)
		}
		collect(a.body)
	}

	return seen
}

func TestAnExportOfEachSyntheaPatientHasEveryResourceOnce(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes half a minute under the race detector")
	}
	files, err := filepath.Glob(filepath.Join(syntheaFolder, "*.json.gz"))
	if err != nil || len(files) == 0 {
		t.Skipf("no Synthea bundles in %s (%v)", syntheaFolder, err)
	}
	people, err := persona.LoadDir(syntheaFolder)
	if err != nil {
		t.Fatal(err)
	}
	p := newPortal(t, func(d *sandbox.Deps) { d.Personas = append(d.Personas, people...) })
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			mine := p.in(t)
			want, patient := bundleContents(t, file)
			at := slices.IndexFunc(people, func(one persona.Persona) bool { return one.PatientID == patient })
			if at < 0 || people[at].Resources != len(want) {
				t.Fatalf("persona of %s: %+v, want one with %d resources", patient, people, len(want))
			}
			if diff := cmp.Diff(want, mine.export(mine.connect(patient))); diff != "" {
				t.Errorf("resources and how often (-want +got):\n%s", diff)
			}
		})
	}
}

// bundleContents reads a bundle without the loader: its resources, each expected once, and the Patient's id.
func bundleContents(t *testing.T, file string) (want map[string]int, patient string) {
	t.Helper()
	packed, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	unpacked, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	var bundle struct {
		Entry []struct {
			Resource struct{ ResourceType, ID string }
		}
	}
	if err := json.NewDecoder(unpacked).Decode(&bundle); err != nil {
		t.Fatal(err)
	}
	want = map[string]int{}
	for _, e := range bundle.Entry {
		want[e.Resource.ResourceType+"/"+e.Resource.ID] = 1
		if e.Resource.ResourceType == "Patient" {
			patient = e.Resource.ID
		}
	}

	return want, patient
}

func TestAnExportOfEachPersonaHasEveryResourceOnce(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	for _, person := range persona.Builtin() {
		t.Run(person.ID, func(t *testing.T) {
			t.Parallel()
			mine := p.in(t)
			want := map[string]int{}
			for resourceType, ids := range recordOf(t, person.ID) {
				for _, id := range ids {
					want[resourceType+"/"+id] = 1
				}
			}
			if diff := cmp.Diff(want, mine.export(mine.connect(person.ID))); diff != "" {
				t.Errorf("resources and how often (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEveryReferenceInTheSyntheaRecordsResolves(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes half a minute under the race detector")
	}
	people, err := persona.LoadDir(syntheaFolder)
	if err != nil {
		t.Skipf("no Synthea bundles: %v", err)
	}
	for _, person := range people {
		resources, err := person.Load()
		if err != nil {
			t.Fatal(err)
		}
		held := map[string]bool{}
		for _, r := range resources {
			held[r.Type+"/"+r.ID] = true
		}
		for _, r := range resources {
			for _, rest := range strings.Split(string(r.Body), `"reference":"`)[1:] {
				target, _, _ := strings.Cut(rest, `"`)
				if !strings.HasPrefix(target, "#") && !held[target] {
					t.Errorf("%s/%s refers to %s, which is not in the record", r.Type, r.ID, target)
				}
			}
		}
	}
}

func TestABinaryIsFHIRUnlessItsOwnTypeIsAskedFor(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	token := p.connect("linden-moss").Access
	id := recordOf(t, "linden-moss")["Binary"][0]
	resource := p.read(token, "Binary/"+id)
	body := resource.json(t)
	data, err := base64.StdEncoding.DecodeString(body["data"].(string))
	if err != nil || len(data) < 1_000_000 || body["contentType"] != "text/plain" {
		t.Fatalf("resource: %v, %d bytes of %v", err, len(data), body["contentType"])
	}
	for accept, wantRaw := range map[string]bool{
		"":                        false,
		"*/*":                     false,
		"application/fhir+json":   false,
		"application/json":        false,
		"text/plain":              true,
		"text/*;q=0.5, image/png": true,
		"image/png":               false,
		"text/plain, application/fhir+json;q=0.9": false,
	} {
		a := p.read(token, "Binary/"+id, "Accept", accept)
		isRaw := a.header.Get("Content-Type") == "text/plain" && string(a.body) == string(data)
		isFHIR := a.header.Get("Content-Type") == "application/fhir+json; charset=utf-8" &&
			string(a.body) == string(resource.body)
		if a.status != http.StatusOK || isRaw != wantRaw || isFHIR == wantRaw {
			t.Errorf("Accept %q: %d %s, want raw %v", accept, a.status, a.header.Get("Content-Type"), wantRaw)
		}
	}
}

func writeFile(t *testing.T, folder, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
