package recordbridge_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"

	recordbridge "recordbridge/infra/sdk/go"
)

const manifestType = "recordbridge-manifest+jws"

// header returns the protected header of a valid signature with changes. A nil value removes a member.
func header(changes map[string]any) map[string]any {
	members := map[string]any{"alg": "ES384", "kid": "k1", "typ": manifestType}
	maps.Copy(members, changes)
	maps.DeleteFunc(members, func(_ string, value any) bool { return value == nil })
	return members
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func keySetOf(t *testing.T, key *ecdsa.PrivateKey) []byte {
	t.Helper()
	return encode(t, jose.JSONWebKeySet{Keys: []jose.JSONWebKey{
		{Key: key.Public(), KeyID: "k1", Algorithm: "ES384", Use: "sig"},
	}})
}

// sign returns a detached signature, which is correct even if no service would sign such a header.
func sign(t *testing.T, key *ecdsa.PrivateKey, header map[string]any, content []byte) string {
	t.Helper()
	protected := base64.RawURLEncoding.EncodeToString(encode(t, header))
	digest := sha512.Sum384([]byte(protected + "." + base64.RawURLEncoding.EncodeToString(content)))
	r, s, err := ecdsa.Sign(rand.Reader, key, digest[:])
	if err != nil {
		t.Fatal(err)
	}
	signature := slices.Concat(r.FillBytes(make([]byte, 48)), s.FillBytes(make([]byte, 48)))
	return protected + ".." + base64.RawURLEncoding.EncodeToString(signature)
}

func encode(t *testing.T, value any) []byte {
	t.Helper()
	content, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// manifestOf returns the manifest of the file text with changes.
func manifestOf(t *testing.T, changes map[string]any) []byte {
	t.Helper()
	digest := sha256.Sum256([]byte(text))
	members := map[string]any{
		"version": 1, "task_id": "t", "mode": "test", "finished_at": "2026-01-01T00:00:00Z",
		"server": map[string]any{"fhir_base": "https://fhir.example.com"},
		"files": []map[string]any{{
			"name": "t.jsonl", "content_type": "application/fhir+ndjson", "bytes": len(text),
			"sha256": hex.EncodeToString(digest[:]), "resources": 3,
		}},
		"counts": map[string]int{"Patient": 3}, "complete": false, "missing": map[string]string{"Claim": "refused"},
	}
	maps.Copy(members, changes)
	return encode(t, members)
}

func TestVerifyManifestReturnsSignedManifest(t *testing.T) {
	t.Parallel()
	key, content := newKey(t), manifestOf(t, nil)
	manifest, err := recordbridge.VerifyManifest(content, sign(t, key, header(nil), content)+"\n", keySetOf(t, key))
	if err != nil {
		t.Fatal(err)
	}
	if manifest.TaskID != "t" || manifest.FinishedAt.Year() != 2026 || manifest.Files[0].Resources != 3 ||
		manifest.Server.FHIRBase != "https://fhir.example.com" || manifest.Missing["Claim"] != "refused" {
		t.Errorf("manifest %+v", manifest)
	}
}

func TestVerifyManifestRejectsForgery(t *testing.T) {
	t.Parallel()
	key, attacker, content := newKey(t), newKey(t), manifestOf(t, nil)
	valid, jwk := sign(t, key, header(nil), content), jose.JSONWebKey{Key: attacker.Public()}
	protected, value, _ := strings.Cut(valid, "..")
	signatures := map[string]string{
		"other key":          sign(t, attacker, header(nil), content),
		"other bytes":        sign(t, key, header(nil), append(content, '\n')),
		"unknown kid":        sign(t, key, header(map[string]any{"kid": "k2"}), content),
		"no kid":             sign(t, key, header(map[string]any{"kid": nil}), content),
		"other type":         sign(t, key, header(map[string]any{"typ": "JWT"}), content),
		"no type":            sign(t, key, header(map[string]any{"typ": nil}), content),
		"other algorithm":    sign(t, key, header(map[string]any{"alg": "ES256"}), content),
		"key in header":      sign(t, attacker, header(map[string]any{"jwk": jwk}), content),
		"URL in header":      sign(t, key, header(map[string]any{"jku": "https://example.com/keys"}), content),
		"critical member":    sign(t, key, header(map[string]any{"crit": []string{"exp"}, "exp": 1}), content),
		"unencoded content":  sign(t, key, header(map[string]any{"crit": []string{"b64"}, "b64": false}), content),
		"attached content":   protected + "." + base64.RawURLEncoding.EncodeToString(content) + "." + value,
		"no signature":       protected + "..",
		"no header":          ".." + value,
		"nothing":            "",
		"algorithm none":     unsigned(t, "none", nil, content),
		"public key as HMAC": unsigned(t, "HS384", keySetOf(t, key), content),
	}
	for name, signature := range signatures {
		if _, err := recordbridge.VerifyManifest(content, signature, keySetOf(t, key)); !errors.Is(
			err, recordbridge.ErrInvalidManifest) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	for name, keySet := range map[string]string{"empty key set": `{"keys":[]}`, "malformed key set": `<html>`} {
		if _, err := recordbridge.VerifyManifest(content, valid, []byte(keySet)); !errors.Is(
			err, recordbridge.ErrInvalidManifest) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// unsigned returns a signature with an algorithm that needs no private key.
func unsigned(t *testing.T, algorithm string, secret, content []byte) string {
	t.Helper()
	protected := base64.RawURLEncoding.EncodeToString(encode(t, header(map[string]any{"alg": algorithm})))
	if secret == nil {
		return protected + ".."
	}
	mac := hmac.New(sha512.New384, secret)
	mac.Write([]byte(protected + "." + base64.RawURLEncoding.EncodeToString(content)))
	return protected + ".." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

func TestVerifyManifestRejectsSignedContentThatItCannotRead(t *testing.T) {
	t.Parallel()
	key := newKey(t)
	for name, content := range map[string][]byte{
		"not JSON":      []byte("x"),
		"later version": manifestOf(t, map[string]any{"version": 2}),
		"no digest":     manifestOf(t, map[string]any{"files": []map[string]any{{"name": "t.jsonl"}}}),
	} {
		_, err := recordbridge.VerifyManifest(content, sign(t, key, header(nil), content), keySetOf(t, key))
		if !errors.Is(err, recordbridge.ErrInvalidManifest) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// export is a server with one export.
type export struct {
	manifest  []byte
	signature string
	keySet    []byte
	file      string
	links     []string
}

func newExport(t *testing.T) *export {
	t.Helper()
	key, content := newKey(t), manifestOf(t, nil)
	return &export{
		manifest: content, signature: sign(t, key, header(nil), content), keySet: keySetOf(t, key), file: text,
		links: []string{"jsonl"},
	}
}

func (e *export) serve(t *testing.T) *recordbridge.Client {
	t.Helper()
	var base string
	base = serve(t, func(w http.ResponseWriter, r *http.Request, _ int) {
		if _, _, keyed := r.BasicAuth(); keyed != strings.HasPrefix(r.URL.Path, "/bridge/") {
			t.Errorf("%s: request with a key pair: %t", r.URL.Path, keyed)
		}
		switch r.URL.Path {
		case "/.well-known/manifest-jwks.json":
			_, _ = w.Write(e.keySet)
		case "/manifest.json":
			_, _ = w.Write(e.manifest)
		case "/t.jsonl":
			_, _ = io.WriteString(w, e.file)
		default:
			result := map[string]any{"task_id": "t", "status": "success"}
			if e.signature != "" {
				result["manifest"] = map[string]any{"url": base + "/manifest.json", "signature": e.signature}
			}
			var links, files []map[string]any
			for _, kind := range e.links {
				links = append(links, map[string]any{"url": base + "/t." + kind, "export_type": kind})
				files = append(files, map[string]any{"file_name": "t." + kind, "export_type": kind, "sha256": "unsigned"})
			}
			result["download_links"], result["files"] = links, files
			respond(w, http.StatusOK, success(result))
		}
	})
	client, _ := clientOf(t, base)
	return client
}

func TestClientReturnsVerifiedManifest(t *testing.T) {
	t.Parallel()
	manifest, err := newExport(t).serve(t).Manifest(t.Context(), "t")
	if err != nil || manifest.Counts["Patient"] != 3 || manifest.Complete {
		t.Errorf("manifest %+v, error %v", manifest, err)
	}
}

func TestVerifiedFilesAreDownloadedAgainstManifest(t *testing.T) {
	t.Parallel()
	client := newExport(t).serve(t)
	files, err := client.VerifiedFiles(t.Context(), "t")
	if err != nil || len(files) != 1 {
		t.Fatalf("files %v, error %v", files, err)
	}
	if found, err := ids(t, client, files[0], nil); err != nil || len(found) != 3 {
		t.Errorf("resources %v, error %v", found, err)
	}
}

func TestResourcesReturnErrorWhenFileDiffersFromManifest(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*export, *recordbridge.File){
		"altered file":   func(e *export, _ *recordbridge.File) { e.file = strings.Replace(text, "2", "4", 1) },
		"truncated file": func(e *export, _ *recordbridge.File) { e.file = text[:102] },
		"longer file":    func(e *export, _ *recordbridge.File) { e.file = text + text },
		"other size":     func(_ *export, file *recordbridge.File) { file.Bytes++ },
		"other count":    func(_ *export, file *recordbridge.File) { file.Resources++ },
	} {
		e := newExport(t)
		client := e.serve(t)
		files, err := client.VerifiedFiles(t.Context(), "t")
		if err != nil {
			t.Fatal(err)
		}
		change(e, &files[0])
		if _, err := ids(t, client, files[0], nil); !errors.Is(err, recordbridge.ErrFileMismatch) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func TestVerifiedFilesReturnErrorWhenManifestDoesNotFitExport(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*export){
		"no manifest":      func(e *export) { e.signature = "" },
		"altered manifest": func(e *export) { e.manifest = append(e.manifest, '\n') },
		"huge manifest":    func(e *export) { e.manifest = make([]byte, 1<<20+1) },
		"other keys":       func(e *export) { e.keySet = keySetOf(t, newKey(t)) },
		"missing link":     func(e *export) { e.links = nil },
		"unlisted link":    func(e *export) { e.links = append(e.links, "jsonl_gz") },
		"other export": func(e *export) {
			key := newKey(t)
			e.manifest, e.keySet = manifestOf(t, map[string]any{"task_id": "u"}), keySetOf(t, key)
			e.signature = sign(t, key, header(nil), e.manifest)
		},
	} {
		e := newExport(t)
		change(e)
		if _, err := e.serve(t).VerifiedFiles(t.Context(), "t"); !errors.Is(err, recordbridge.ErrInvalidManifest) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
