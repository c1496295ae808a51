package main

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/go-jose/go-jose/v4"

	"recordbridge/shared/export"
)

// manifestType is the type (typ) of a manifest's signature. It separates manifests from everything else that a key
// signs.
const manifestType = "recordbridge-manifest+jws"

// manifest holds the members of a manifest that the tool reads (docs/guide/manifest.md).
type manifest struct {
	Version      int    `json:"version"`
	TaskID       string `json:"task_id"`
	ConnectionID string `json:"org_connection_id"`
	Mode         string `json:"mode"`
	Server       struct {
		FHIRBase string `json:"fhir_base"`
		Network  string `json:"network"` // "tefca", if the record was located through TEFCA
	} `json:"server"`
	StartedAt  time.Time         `json:"started_at"`
	FinishedAt time.Time         `json:"finished_at"`
	Files      []manifestFile    `json:"files"`
	Counts     map[string]int    `json:"counts"`
	Complete   bool              `json:"complete"`
	Missing    map[string]string `json:"missing"`
}

// parseManifest returns the manifest if a key of the JWK Set signed it.
func parseManifest(content []byte, signature string, keySet []byte) (manifest, error) {
	if err := verifySignature(content, strings.TrimSpace(signature), keySet); err != nil {
		return manifest{}, err
	}
	var m manifest
	if err := json.Unmarshal(content, &m); err != nil {
		return manifest{}, fmt.Errorf("read the manifest: %w", err)
	}
	if m.Version != 1 {
		return manifest{}, fmt.Errorf("this program can't read version %d of manifests", m.Version)
	}
	return m, nil
}

// verifySignature verifies a JWS with detached content (RFC 7515, appendix F).
func verifySignature(content []byte, signature string, keySet []byte) error {
	kid, err := keyID(signature)
	if err != nil {
		return err
	}
	parsed, err := jose.ParseDetached(signature, content, []jose.SignatureAlgorithm{jose.ES384})
	if err != nil {
		return fmt.Errorf("read the signature: %w", err)
	}
	var set jose.JSONWebKeySet
	if err := json.Unmarshal(keySet, &set); err != nil {
		return fmt.Errorf("read the JWK Set: %w", err)
	}
	keys := set.Key(kid)
	if len(keys) != 1 {
		return fmt.Errorf("the service's JWK Set has no key %q", kid)
	}
	if err := parsed.DetachedVerify(content, keys[0]); err != nil {
		return errors.New("the signature isn't valid for the manifest: one of them was changed")
	}
	return nil
}

// keyID returns the key ID of a signature. The protected header may contain only alg, kid and typ, so it can neither
// supply a key or a URL nor change how the signature is verified.
func keyID(signature string) (string, error) {
	encoded, _, _ := strings.Cut(signature, ".")
	protected, err := base64.RawURLEncoding.DecodeString(encoded)
	if err != nil {
		return "", fmt.Errorf("decode the signature's header: %w", err)
	}
	var header map[string]any
	if err := json.Unmarshal(protected, &header); err != nil {
		return "", fmt.Errorf("read the signature's header: %w", err)
	}
	kid, _ := header["kid"].(string)
	if len(header) != 3 || header["alg"] != string(jose.ES384) || header["typ"] != manifestType || kid == "" {
		return "", errors.New("the signature isn't a manifest's: its header has other members or values")
	}
	return kid, nil
}

// origin describes the export in one line.
func (m manifest) origin() string {
	from := ""
	switch {
	case m.Server.FHIRBase != "":
		from = " from " + printable(m.Server.FHIRBase)
	case m.Server.Network != "":
		from = " through " + printable(strings.ToUpper(m.Server.Network))
	}
	return fmt.Sprintf("Export %s of connection %s (%s mode), collected%s\nbetween %s and %s:", printable(m.TaskID),
		printable(m.ConnectionID), printable(m.Mode), from, m.StartedAt.Format(time.RFC3339),
		m.FinishedAt.Format(time.RFC3339))
}

// contents lists the number of resources by type, and the missing types with the reasons.
func (m manifest) contents() string {
	var text strings.Builder
	for _, resourceType := range slices.Sorted(maps.Keys(m.Counts)) {
		fmt.Fprintf(&text, "  %7d %s\n", m.Counts[resourceType], printable(resourceType))
	}
	if m.Complete {
		return text.String() + "The record is complete.\n"
	}
	text.WriteString("The record is incomplete. Resources of these types are missing:\n")
	for _, resourceType := range slices.Sorted(maps.Keys(m.Missing)) {
		reason := m.Missing[resourceType]
		fmt.Fprintf(&text, "  %s: %s\n", printable(resourceType), printable(explain(export.LossReason(reason))))
	}
	return text.String()
}

// explain returns the explanation of a reason in docs/guide/incomplete-records.md, or the reason itself.
func explain(reason export.LossReason) string {
	switch reason { //nolint:exhaustive // unsupported and not_granted never count as missing
	case export.LossConversion:
		return "parts of the documents have no FHIR equivalent or contain invalid values"
	case export.LossNotRequested:
		return "the authorization request didn't include the type"
	case export.LossNotAdvertised:
		return "the portal doesn't advertise the type, and a search for it failed or was skipped"
	case export.LossElsewhere:
		return "the record refers to another server, which the service doesn't contact"
	case export.LossNotFound:
		return "the record refers to a resource that the portal doesn't have or doesn't let clients read"
	case export.LossRejected:
		return "the portal rejects every query without giving a reason"
	case export.LossRefused:
		return "the portal denies access"
	case export.LossLimit:
		return "the data exceeds an export's size limits"
	case export.LossForeignLink:
		return "the link to the next page points to another server"
	case export.LossTooLarge:
		return "a response or an attachment is too large"
	case export.LossUnavailable:
		return "the portal returned errors, rate-limited the requests or didn't respond"
	case export.LossContent:
		return "the response is truncated or isn't FHIR JSON"
	case export.LossOther:
		return "a document is about another person, or doesn't identify the patient"
	}
	return string(reason)
}

// printable removes control characters, which names from a server or a file system could contain.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, text)
}
