package persona_test

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/sandbox/persona"
)

const smallBundle = `{"resourceType":"Bundle","type":"transaction","entry":[
 {"fullUrl":"urn:uuid:o","resource":{"resourceType":"Observation","id":"o","valueQuantity":{"value":1.00},
   "subject":{"reference":"urn:uuid:p"},
   "identifier":[{"system":"urn:ietf:rfc:3986","value":"urn:uuid:p"}],
   "contained":[{"resourceType":"Coverage","id":"c","beneficiary":{"reference":"urn:uuid:p"},
    "payor":[{"reference":"#c"}]}],
   "extension":[{"url":"urn:uuid:other","valueReference":{"reference":"urn:uuid:p"}}],
   "text":{"div":"<div>a & b</div>"}}},
 {"fullUrl":"urn:uuid:p","resource":{"resourceType":"Patient","name":[{"given":["Test","Q"],"family":"Leaf"}]}},
 {"fullUrl":"urn:uuid:d","resource":{"resourceType":"DocumentReference","id":"d","subject":{"reference":"urn:uuid:p"},
   "content":[{"attachment":{"url":"urn:uuid:b"}}]}},
 {"fullUrl":"urn:uuid:b","resource":{"resourceType":"Binary","id":"b","contentType":"text/plain","data":"aGk="}}
]}`

func writeBundle(t *testing.T, folder, name, content string) {
	t.Helper()
	data := []byte(content)
	if strings.HasSuffix(name, ".gz") {
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		if _, err := w.Write(data); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		data = packed.Bytes()
	}
	if err := os.WriteFile(filepath.Join(folder, name), data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestLoadDirReadsBundles(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	writeBundle(t, folder, "b.json.gz", smallBundle)
	writeBundle(t, folder, "a.json",
		`{"resourceType":"Bundle","entry":[{"resource":{"resourceType":"Patient","id":"lone"}}]}`)
	writeBundle(t, folder, "readme.txt", "not a bundle")
	people, err := persona.LoadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	if len(people) != 2 || people[0].ID != "lone" || people[0].Name != "lone" {
		t.Fatalf("personas = %+v, want lone and p", people)
	}
	p := people[1]
	if p.ID != "p" || p.PatientID != "p" || p.Name != "Test Q Leaf" || p.Resources != 4 {
		t.Errorf("persona = %+v", p)
	}
	if diff := cmp.Diff([]string{"Binary", "DocumentReference", "Observation", "Patient"}, p.Types); diff != "" {
		t.Errorf("types (-want +got):\n%s", diff)
	}
	bodies := map[string]string{}
	for _, r := range load(t, p) {
		bodies[r.Type] = string(r.Body)
	}
	want := map[string]string{
		"Patient": `{"id":"p","name":[{"family":"Leaf","given":["Test","Q"]}],"resourceType":"Patient"}`,
		"Observation": `{"contained":[{"beneficiary":{"reference":"Patient/p"},` +
			`"id":"c","payor":[{"reference":"#c"}],"resourceType":"Coverage"}],` +
			`"extension":[{"url":"urn:uuid:other","valueReference":{"reference":"Patient/p"}}],"id":"o",` +
			`"identifier":[{"system":"urn:ietf:rfc:3986","value":"urn:uuid:p"}],"resourceType":"Observation",` +
			`"subject":{"reference":"Patient/p"},"text":{"div":"<div>a & b</div>"},"valueQuantity":{"value":1.00}}`,
		"DocumentReference": `{"content":[{"attachment":{"url":"Binary/b"}}],"id":"d",` +
			`"resourceType":"DocumentReference","subject":{"reference":"Patient/p"}}`,
		"Binary": `{"contentType":"text/plain","data":"aGk=","id":"b","resourceType":"Binary"}`,
	}
	if diff := cmp.Diff(want, bodies); diff != "" {
		t.Errorf("bodies (-want +got):\n%s", diff)
	}
}

func TestLoadDirErrorNamesFile(t *testing.T) {
	t.Parallel()
	patient := `{"resource":{"resourceType":"Patient","id":"p"}}`
	for name, content := range map[string]string{
		"not JSON":     `{`,
		"not a Bundle": `{"resourceType":"Patient","id":"p"}`,
		"no Patient":   `{"resourceType":"Bundle"}`,
		"two Patients": `{"resourceType":"Bundle","entry":[` + patient +
			`,{"resource":{"resourceType":"Patient","id":"q"}}]}`,
		"same id twice":      `{"resourceType":"Bundle","entry":[` + patient + `,` + patient + `]}`,
		"no id":              `{"resourceType":"Bundle","entry":[` + patient + `,{"resource":{"resourceType":"Goal"}}]}`,
		"no type":            `{"resourceType":"Bundle","entry":[` + patient + `,{"resource":{"id":"x"}}]}`,
		"entry without body": `{"resourceType":"Bundle","entry":[` + patient + `,{"fullUrl":"urn:uuid:1"}]}`,
		"dangling urn": `{"resourceType":"Bundle","entry":[` + patient +
			`,{"resource":{"resourceType":"Goal","id":"g","subject":{"reference":"urn:uuid:x"}}}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			writeBundle(t, folder, "bad.json", content)
			if _, err := persona.LoadDir(folder); err == nil || !strings.Contains(err.Error(), "bad.json") {
				t.Errorf("error = %v, want one that names bad.json", err)
			}
		})
	}
}

func TestLoadDirFailsWithoutBundles(t *testing.T) {
	t.Parallel()
	twins := t.TempDir()
	writeBundle(t, twins, "a.json", smallBundle)
	writeBundle(t, twins, "b.json", smallBundle)
	broken := t.TempDir()
	if err := os.WriteFile(filepath.Join(broken, "x.json.gz"), []byte("not gzip"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, folder := range map[string]string{
		"absent": filepath.Join(twins, "absent"), "empty": t.TempDir(), "same patient twice": twins, "not gzip": broken,
	} {
		if _, err := persona.LoadDir(folder); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
