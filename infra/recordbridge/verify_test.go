package main

import (
	"bytes"
	"compress/gzip"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"
)

const (
	ndjson = `{"resourceType":"Patient","id":"1"}
{"resourceType":"Observation","id":"2"}
{"resourceType":"Observation","id":"3"}
{"resourceType":"Invented","id":"4"}
`
	bundle = `{"resourceType":"Bundle","type":"collection","entry":[` +
		`{"fullUrl":"https://fhir.example.com/Patient/1","resource":{"resourceType":"Patient","id":"1"}},` +
		`{"resource":{"id":"2","resourceType":"Observation"}},{"resource":{"resourceType":"Observation","id":"3"}},` +
		`{"resource":{"resourceType":"Invented","id":"4"}}]}`
)

// archive is a folder in which a customer stored an export.
type archive struct {
	folder string
	key    *ecdsa.PrivateKey
	header map[string]any // changes of the signature's protected header
}

// newArchive stores a file of each format, and a manifest with changes.
func newArchive(t *testing.T, changes map[string]any) archive {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	a := archive{folder: t.TempDir(), key: key}
	files := make([]map[string]any, 0, 4)
	for _, f := range []struct{ name, contentType, content string }{
		{"t.jsonl", "application/fhir+ndjson; fhirVersion=3.0", ndjson},
		{"t.jsonl.gz", "application/gzip", compress(t, ndjson)},
		{"t.bundle.json", "application/fhir+json", bundle},
		{"t.outcome.json", "application/json", `{"task_id":"t"}`},
	} {
		a.store(t, f.name, []byte(f.content))
		digest, resources := sha256.Sum256([]byte(f.content)), 4
		if f.contentType == "application/json" {
			resources = 0
		}
		files = append(files, map[string]any{
			"name": f.name, "content_type": f.contentType, "bytes": len(f.content),
			"sha256": hex.EncodeToString(digest[:]), "resources": resources,
		})
	}
	members := map[string]any{
		"version": 1, "task_id": "t", "org_connection_id": "c", "mode": "test", "files": files,
		"server":     map[string]any{"fhir_base": "https://fhir.example.com/\x1b[2Jr4"},
		"started_at": "2026-01-01T00:00:00Z", "finished_at": "2026-01-01T00:01:00Z",
		"counts": map[string]int{"Patient": 1, "Observation": 2, "Resource": 1}, "complete": true,
	}
	maps.Copy(members, changes)
	a.sign(t, encode(t, members))
	return a
}

func (a archive) store(t *testing.T, name string, content []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(a.folder, name), content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// sign stores a manifest with its signature and keys.
func (a archive) sign(t *testing.T, content []byte) {
	t.Helper()
	options := (&jose.SignerOptions{}).WithHeader("kid", "k1").WithType(manifestType)
	for name, value := range a.header {
		options.WithHeader(jose.HeaderKey(name), value)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES384, Key: a.key}, options)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := signer.Sign(content)
	if err != nil {
		t.Fatal(err)
	}
	signature, err := signed.DetachedCompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	a.store(t, "manifest.json", content)
	a.store(t, "manifest.json.jws", []byte(signature+"\n"))
	a.store(t, "keys.json", a.keySet(t))
}

func (a archive) keySet(t *testing.T) []byte {
	t.Helper()
	return encode(t, jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: a.key.Public(), KeyID: "k1"}}})
}

// verify runs the command without a network, and returns its output.
func (a archive) verify(t *testing.T, flags ...string) (string, error) {
	t.Helper()
	command, out := newTool(t, newFeed(t))
	args := append([]string{"verify", "-keys", filepath.Join(a.folder, "keys.json")}, flags...)
	err := command.run(t.Context(), append(args, filepath.Join(a.folder, "manifest.json")))
	return out.String(), err
}

func encode(t *testing.T, value any) []byte {
	t.Helper()
	content, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// compress returns the text in two gzip members, as the service joins the parts of a file.
func compress(t *testing.T, text string) string {
	t.Helper()
	out := &bytes.Buffer{}
	for _, part := range []string{text[:36], text[36:]} {
		member := gzip.NewWriter(out)
		if _, err := member.Write([]byte(part)); err != nil {
			t.Fatal(err)
		}
		if err := member.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return out.String()
}

func TestVerifyAcceptsIntactExportWithKeysFromFile(t *testing.T) {
	t.Parallel()
	out, err := newArchive(t, nil).verify(t)
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, want := range []string{
		"signature is valid", "from https://fhir.example.com/[2Jr4", "ok      t.jsonl: 153 bytes, 4 resources",
		"ok      t.jsonl.gz", "ok      t.bundle.json", "ok      t.outcome.json", "2 Observation", "The record is complete.",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in %s", want, out)
		}
	}
}

func TestVerifyFetchesKeysFromService(t *testing.T) {
	t.Parallel()
	a := newArchive(t, nil)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/.well-known/manifest-jwks.json" {
			w.WriteHeader(http.StatusNotFound)
		}
		_, _ = w.Write(a.keySet(t))
	}))
	t.Cleanup(server.Close)
	for base, want := range map[string]string{server.URL + "/v1/": "", server.URL: "responded with status 404"} {
		command, _ := newTool(t, newFeed(t))
		command.getenv = func(string) string { return base }
		err := command.run(t.Context(), []string{"verify", filepath.Join(a.folder, "manifest.json")})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", base, err)
		}
	}
}

func TestVerifyReadsFilesAndSignatureFromOtherPaths(t *testing.T) {
	t.Parallel()
	a, files := newArchive(t, nil), newArchive(t, nil)
	moved := filepath.Join(files.folder, "signature")
	if err := os.Rename(filepath.Join(a.folder, "manifest.json.jws"), moved); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(a.folder, "t.jsonl")); err != nil {
		t.Fatal(err)
	}
	if out, err := a.verify(t, "-files", files.folder, "-signature", moved); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

func TestVerifyExplainsWhatIsMissing(t *testing.T) {
	t.Parallel()
	missing := map[string]string{"Claim": "refused", "Observation": "later_word"}
	out, err := newArchive(t, map[string]any{"complete": false, "missing": missing}).verify(t)
	if err != nil || !strings.Contains(out, "incomplete") || !strings.Contains(out, "Claim: the portal denies access") ||
		!strings.Contains(out, "Observation: later_word") {
		t.Errorf("%v: %s", err, out)
	}
}

func TestVerifyReportsEachFileThatDiffers(t *testing.T) {
	t.Parallel()
	a := newArchive(t, nil)
	a.store(t, "t.jsonl", []byte(strings.Replace(ndjson, "2", "5", 1)))
	a.store(t, "t.bundle.json", []byte(bundle+"\n"))
	if err := os.Remove(filepath.Join(a.folder, "t.jsonl.gz")); err != nil {
		t.Fatal(err)
	}
	out, err := a.verify(t)
	if err == nil || err.Error() != "files that are missing or differ from the manifest: 3 of 4" ||
		strings.Contains(out, "complete.") {
		t.Errorf("error %v", err)
	}
	for _, want := range []string{
		"FAILED  t.jsonl: the SHA-256 is ", "FAILED  t.jsonl.gz: the file is missing",
		"FAILED  t.bundle.json: 308 bytes, but", "ok      t.outcome.json",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in %s", want, out)
		}
	}
}

func TestVerifyReportsCountsThatDiffer(t *testing.T) {
	t.Parallel()
	out, err := newArchive(t, map[string]any{"counts": map[string]int{"Patient": 2, "Observation": 2}}).verify(t)
	if err == nil || strings.Count(out, "resources of type Patient: 1, but the manifest lists 2") != 3 {
		t.Errorf("%v: %s", err, out)
	}
}

func TestVerifyReportsNumberOfResourcesThatDiffers(t *testing.T) {
	t.Parallel()
	digest := sha256.Sum256([]byte(ndjson))
	listed := map[string]any{
		"name": "t.jsonl", "content_type": "application/json", "bytes": len(ndjson), "sha256": hex.EncodeToString(digest[:]),
	}
	for contentType, want := range map[string]string{
		"application/json": "resources: 0, but the manifest lists 5", "application/fhir+ndjson": "resources: 4, but",
		"text/plain": "unknown content type", "": "content type",
	} {
		listed["resources"], listed["content_type"] = 5, contentType
		out, err := newArchive(t, map[string]any{"files": []any{listed}}).verify(t)
		if err == nil || !strings.Contains(out, want) {
			t.Errorf("%s: %v: %s", contentType, err, out)
		}
	}
}

func TestVerifyRejectsFileNamesOutsideFolder(t *testing.T) {
	t.Parallel()
	outside := newArchive(t, nil)
	for _, name := range []string{
		"../" + filepath.Base(outside.folder) + "/t.jsonl", filepath.Join(outside.folder, "t.jsonl"), `..\t.jsonl`, "..", ".",
		"", "link",
	} {
		digest := sha256.Sum256([]byte(ndjson))
		a := newArchive(t, map[string]any{"files": []map[string]any{{
			"name": name, "content_type": "application/fhir+ndjson", "bytes": len(ndjson), "resources": 4,
			"sha256": hex.EncodeToString(digest[:]),
		}}})
		if err := os.Symlink(filepath.Join(outside.folder, "t.jsonl"), filepath.Join(a.folder, "link")); err != nil {
			t.Fatal(err)
		}
		if out, err := a.verify(t); err == nil || !strings.Contains(out, "FAILED") {
			t.Errorf("%q: %v: %s", name, err, out)
		}
	}
}

func TestVerifyRejectsForgedManifest(t *testing.T) {
	t.Parallel()
	other := newArchive(t, nil)
	content, err := os.ReadFile(filepath.Join(other.folder, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func(a archive)
		want   string
	}{
		"altered manifest": {
			func(a archive) { a.store(t, "manifest.json", append(content, '\n')) }, "one of them was changed",
		},
		"other key":    {func(a archive) { a.store(t, "keys.json", other.keySet(t)) }, "one of them was changed"},
		"empty keys":   {func(a archive) { a.store(t, "keys.json", []byte(`{"keys":[]}`)) }, `no key "k1"`},
		"no JSON keys": {func(a archive) { a.store(t, "keys.json", []byte("<html>")) }, "read the JWK Set"},
		"huge keys":    {func(a archive) { a.store(t, "keys.json", make([]byte, maxVerified+1)) }, "more than 1048576 bytes"},
		"no signature": {func(a archive) { a.store(t, "manifest.json.jws", nil) }, "signature's header"},
		"other type": {func(a archive) {
			a.header = map[string]any{"typ": "JWT"}
			a.sign(t, content)
		}, "isn't a manifest's"},
		"key in header": {func(a archive) {
			a.header = map[string]any{"jku": "https://example.com/keys"}
			a.sign(t, content)
		}, "isn't a manifest's"},
		"algorithm none": {func(a archive) {
			// The header is {"alg":"none","kid":"k1","typ":"recordbridge-manifest+jws"}.
			a.store(t, "manifest.json.jws", []byte(
				"eyJhbGciOiJub25lIiwia2lkIjoiazEiLCJ0eXAiOiJyZWNvcmRicmlkZ2UtbWFuaWZlc3QrandzIn0.."))
		}, "isn't a manifest's"},
		"later version": {func(a archive) { a.sign(t, []byte(`{"version":2}`)) }, "can't read version 2"},
		"no JSON":       {func(a archive) { a.sign(t, []byte("x")) }, "read the manifest"},
	} {
		a := newArchive(t, nil)
		c.change(a)
		out, err := a.verify(t)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(out, "t.jsonl") {
			t.Errorf("%s: got %v, want %s", name, err, c.want)
		}
	}
}
