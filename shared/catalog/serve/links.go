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

// linkLife is how long the address of a file works (docs/reference/deviations.md, "Catalogue").
const linkLife = 60 * time.Minute

// ExportPath is where the files of a catalogue are asked for, and where their addresses lead.
const ExportPath = "/bridge/catalog/export"

// Links mints and checks the signed addresses of a version's files. An address works without a key, for this one file.
type Links struct {
	Sealer  cursor.Sealer
	BaseURL string // public address of the API, ending in /v1; only minting needs it
}

// ticket is what the token of an address says.
type ticket struct {
	Mode    org.Mode       `json:"m"`
	Version ledger.Version `json:"v"`
	Expires int64          `json:"e"` // Unix seconds
}

// FileNames are the files that organisations get.
func FileNames() []string { return []string{snapshot.Brands, snapshot.Portals, snapshot.Endpoints} }

// List mints the addresses of a version's files, by name.
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

// Key is the key of the object that an address leads to. A token that is false or of another file is
// fault.Unauthenticated, one past its time fault.Gone.
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
