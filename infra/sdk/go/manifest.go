package recordbridge

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"

	"recordbridge/infra/sdk/go/api"
)

const (
	manifestVersion = 1
	manifestType    = "recordbridge-manifest+jws" // separates manifests from everything else that a key signs
	manifestKeys    = "/.well-known/manifest-jwks.json"
	maxManifest     = 1 << 20 // also limits the JWK Set
)

// Manifest describes an export. The service signs it.
type Manifest struct {
	Version         int             `json:"version"`
	TaskID          string          `json:"task_id"`
	OrgID           string          `json:"org_id"`
	Mode            string          `json:"mode"`
	OrgConnectionID string          `json:"org_connection_id"`
	Server          ManifestServer  `json:"server"`
	StartedAt       time.Time       `json:"started_at"`
	FinishedAt      time.Time       `json:"finished_at"`
	Options         json.RawMessage `json:"options"`
	Software        struct {
		Name    string `json:"name"`
		Release string `json:"release"`
	} `json:"software"`
	Files []ManifestFile `json:"files"`
	// Counts contains the number of resources by type.
	Counts   map[string]int `json:"counts"`
	Complete bool           `json:"complete"`
	// Missing contains the reason by resource type, if the record is incomplete.
	Missing map[string]string `json:"missing"`
}

// ManifestServer is the server from which the record was collected. Unknown members are empty.
type ManifestServer struct {
	FHIRBase    string `json:"fhir_base"`
	FHIRVersion string `json:"fhir_version"`
	Software    string `json:"software"`
	// Network is "tefca" if the record was located through TEFCA.
	Network string `json:"network"`
}

// ManifestFile is an exported file. SHA256 is in hex.
type ManifestFile struct {
	Name        string `json:"name"`
	ContentType string `json:"content_type"`
	Bytes       int64  `json:"bytes"`
	SHA256      string `json:"sha256"`
	Resources   int    `json:"resources"`
}

// VerifyManifest verifies a manifest's detached signature with a JWK Set, and returns the manifest. Pass the content as
// downloaded. The error wraps ErrInvalidManifest.
func VerifyManifest(content []byte, signature string, keySet []byte) (Manifest, error) {
	if err := verifySignature(content, signature, keySet); err != nil {
		return Manifest{}, fmt.Errorf("%w: %w", ErrInvalidManifest, err)
	}
	var manifest Manifest
	if err := json.Unmarshal(content, &manifest); err != nil {
		return Manifest{}, fmt.Errorf("%w: %w", ErrInvalidManifest, err)
	}
	if manifest.Version != manifestVersion {
		return Manifest{}, fmt.Errorf("%w: unsupported version %d", ErrInvalidManifest, manifest.Version)
	}
	for _, file := range manifest.Files {
		if len(file.SHA256) != hex.EncodedLen(sha256.Size) { // an empty digest would not be checked
			return Manifest{}, fmt.Errorf("%w: the file %q has no SHA-256", ErrInvalidManifest, file.Name)
		}
	}
	return manifest, nil
}

// verifySignature verifies a JWS with detached content (RFC 7515, appendix F).
func verifySignature(content []byte, signature string, keySet []byte) error {
	signature = strings.TrimSpace(signature)
	kid, err := keyID(signature)
	if err != nil {
		return err
	}
	parsed, err := jose.ParseDetached(signature, content, []jose.SignatureAlgorithm{jose.ES384})
	if err != nil {
		return err
	}
	var set jose.JSONWebKeySet
	if err := json.Unmarshal(keySet, &set); err != nil {
		return fmt.Errorf("read the JWK Set: %w", err)
	}
	keys := set.Key(kid)
	if len(keys) != 1 {
		return fmt.Errorf("the JWK Set has %d keys with the ID %q", len(keys), kid)
	}
	return parsed.DetachedVerify(content, keys[0])
}

// keyID returns the key ID of a signature. The protected header may contain only alg, kid and typ, so it can neither
// supply a key or a URL nor change how the signature is verified.
func keyID(signature string) (string, error) {
	encoded, _, _ := strings.Cut(signature, ".")
	protected, err := base64.RawURLEncoding.DecodeString(encoded)
	if err != nil {
		return "", fmt.Errorf("decode the protected header: %w", err)
	}
	var header map[string]any
	if err := json.Unmarshal(protected, &header); err != nil {
		return "", fmt.Errorf("read the protected header: %w", err)
	}
	kid, _ := header["kid"].(string)
	if len(header) != 3 || header["alg"] != string(jose.ES384) || header["typ"] != manifestType || kid == "" {
		return "", errors.New("the protected header isn't a manifest's")
	}
	return kid, nil
}

// Manifest downloads and verifies the manifest of a successful export. The error wraps ErrInvalidManifest if the export
// has no manifest or the manifest can't be verified.
func (c *Client) Manifest(ctx context.Context, taskID string) (Manifest, error) {
	result, err := c.GetExport(ctx, taskID)
	if err != nil {
		return Manifest{}, err
	}
	return c.manifestOf(ctx, taskID, result)
}

func (c *Client) manifestOf(ctx context.Context, taskID string, result api.TaskWithResult) (Manifest, error) {
	if result.Manifest == nil {
		return Manifest{}, fmt.Errorf("%w: the export has no manifest", ErrInvalidManifest)
	}
	content, err := c.small(ctx, result.Manifest.Url)
	if err != nil {
		return Manifest{}, err
	}
	keySet, err := c.small(ctx, c.baseURL+manifestKeys)
	if err != nil {
		return Manifest{}, err
	}
	manifest, err := VerifyManifest(content, result.Manifest.Signature, keySet)
	if err != nil {
		return Manifest{}, err
	}
	if manifest.TaskID != taskID {
		return Manifest{}, fmt.Errorf("%w: it belongs to the export %q", ErrInvalidManifest, manifest.TaskID)
	}
	return manifest, nil
}

// VerifiedFiles returns the files of a successful export as its verified manifest describes them. Download and
// Resources then return ErrFileMismatch unless a file matches the manifest. The error wraps ErrInvalidManifest if the
// export's files and the manifest's differ.
func (c *Client) VerifiedFiles(ctx context.Context, taskID string) ([]File, error) {
	result, err := c.GetExport(ctx, taskID)
	if err != nil {
		return nil, err
	}
	manifest, err := c.manifestOf(ctx, taskID, result)
	if err != nil {
		return nil, err
	}
	listed := map[string]ManifestFile{}
	for _, one := range manifest.Files {
		listed[one.Name] = one
	}
	files := filesOf(result)
	for i, file := range files {
		one, ok := listed[file.Name]
		if !ok {
			return nil, fmt.Errorf("%w: it doesn't list the file %q", ErrInvalidManifest, file.Name)
		}
		delete(listed, file.Name)
		files[i].SHA256, files[i].Bytes, files[i].Resources = one.SHA256, one.Bytes, one.Resources
	}
	for name := range listed {
		return nil, fmt.Errorf("%w: the export has no link to the file %q", ErrInvalidManifest, name)
	}
	return files, nil
}

// small downloads a file of at most maxManifest bytes.
func (c *Client) small(ctx context.Context, url string) ([]byte, error) {
	body := c.Download(ctx, File{URL: url}, nil)
	defer func() { _ = body.Close() }()
	var content bytes.Buffer
	if _, err := io.Copy(&content, io.LimitReader(body, maxManifest+1)); err != nil {
		return nil, err
	}
	if content.Len() > maxManifest {
		return nil, fmt.Errorf("%w: the download is larger than %d bytes", ErrInvalidManifest, maxManifest)
	}
	return content.Bytes(), nil
}
