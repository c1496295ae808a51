package serve

import (
	"encoding/json"
	"net/url"
	"time"

	"recordbridge/shared/catalog/ledger"
	"recordbridge/shared/catalog/snapshot"
	"recordbridge/shared/words/cursor"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// linkLife is the lifetime of a file's URL (docs/reference/deviations.md, "Catalogue").
const linkLife = 60 * time.Minute

// ExportPath is the path at which clients request a catalogue's files. The signed URLs of the files also use
// ExportPath.
const ExportPath = "/bridge/catalog/export"

// Links creates and verifies the signed URLs for a version's files. A signed URL grants access to one file without an
// API key.
type Links struct {
	Sealer  cursor.Sealer
	BaseURL string // public URL of the API, ending in /v1; required only to create URLs
}

// ticket is the content of the token in a signed URL.
type ticket struct {
	Mode    org.Mode       `json:"m"`
	Version ledger.Version `json:"v"`
	Expires int64          `json:"e"` // expiry in Unix seconds
}

// FileNames returns the names of the files available to organisations.
func FileNames() []string { return []string{snapshot.Brands, snapshot.Portals, snapshot.Endpoints} }

// List returns newly signed URLs for a version's files, keyed by file name.
func (l Links) List(mode org.Mode, v ledger.Version, now time.Time) (map[string]string, error) {
	document, err := json.Marshal(ticket{Mode: mode, Version: v, Expires: now.Add(linkLife).Unix()})
	if err != nil {
		return nil, fault.Of(err)
	}
	addresses := map[string]string{}
	for _, name := range FileNames() {
		token, err := l.Sealer.Seal(org.Tenant{}, linkUse(name), string(document))
		if err != nil {
			return nil, err
		}
		addresses[name] = l.BaseURL + ExportPath + "?" + url.Values{"file": {name}, "token": {token}}.Encode()
	}
	return addresses, nil
}

// Key verifies the token for a file and returns the key of its object. It returns fault.Unauthenticated if the token is
// invalid or belongs to another file, and fault.Gone if it has expired.
func (l Links) Key(token, name string, now time.Time) (string, error) {
	refused := fault.New(fault.Unauthenticated, fault.CodeUnauthorizedClient, "The download link is not valid.")
	document, err := l.Sealer.Open(org.Tenant{}, linkUse(name), token)
	var said ticket
	if err != nil || json.Unmarshal([]byte(document), &said) != nil {
		return "", refused.Because(err)
	}
	if now.Unix() >= said.Expires {
		return "", fault.New(fault.Gone, fault.CodeExportExpired, "The download link has expired. Request new links.")
	}
	return snapshot.Key(string(said.Mode), said.Version, name), nil
}

func linkUse(name string) string { return "catalog file " + name }
