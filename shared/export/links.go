package export

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"time"

	"recordbridge/shared/webhook"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

// Links creates and verifies signed download URLs for exports. A URL grants access to a single file of a single tenant,
// without an API key, until the file expires (docs/develop/threats-network.md, Download links).
type Links struct {
	Keys    secret.Keyring
	BaseURL string // public base URL of the API, ending in /v1; used only to mint links
}

// ticket is the payload of a download token.
type ticket struct {
	Mode    org.Mode `json:"m"`
	OrgID   string   `json:"o"`
	TaskID  string   `json:"t"`
	File    string   `json:"f"`
	Expires int64    `json:"e"` // expiry time in Unix seconds
}

// Stored returns the links to all files of a task, in the form stored with an event. A stored link contains the key
// version and the expiry instead of the token. SignLink replaces the key version and the expiry with the token, always
// producing the same URL.
func (l Links) Stored(task Task) []webhook.DownloadLink {
	links := make([]webhook.DownloadLink, 0, len(task.Files))
	for _, f := range task.Files {
		links = append(links, webhook.DownloadLink{
			URL: l.stored(task, f.Name), ExportType: string(f.Format), ContentType: f.ContentType,
		})
	}
	return links
}

// StoredManifest is like Stored, but for the task's manifest. It returns nil if the task has no manifest.
func (l Links) StoredManifest(task Task) *webhook.ManifestLink {
	if task.Manifest.Key == "" {
		return nil
	}
	return &webhook.ManifestLink{URL: l.stored(task, ManifestName), Signature: task.Manifest.Signature}
}

// Manifest creates a link to a task's manifest. It returns nil if the task has no manifest.
func (l Links) Manifest(task Task) (*webhook.ManifestLink, error) {
	link := l.StoredManifest(task)
	if link == nil {
		return nil, nil
	}
	var err error
	link.URL, err = l.SignLink(task.Tenant, link.URL)
	return link, err
}

// List creates links to all files of a task.
func (l Links) List(task Task) ([]webhook.DownloadLink, error) {
	links := l.Stored(task)
	for i := range links {
		var err error
		if links[i].URL, err = l.SignLink(task.Tenant, links[i].URL); err != nil {
			return nil, err
		}
	}
	return links, nil
}

// SignLink implements webhook.LinkSigner. The token is valid only for the given tenant, regardless of the URL's
// content. If the link's key version is retired, the token has no signature, and verifying the token returns
// fault.Gone. If the key version is not known yet, SignLink returns fault.Unavailable.
func (l Links) SignLink(tenant org.Tenant, address string) (string, error) {
	path, stub, _ := strings.Cut(address, tokenParameter)
	version, expires, ok := parseStub(stub)
	parts := strings.Split(path, "/") // …/<task>/download/<file>
	if !ok || len(parts) < 3 {
		return address, nil
	}
	name, err := url.PathUnescape(parts[len(parts)-1])
	if err != nil {
		return "", fault.Of(err)
	}
	plain, err := json.Marshal(ticket{
		Mode: tenant.Mode, OrgID: tenant.OrgID, TaskID: parts[len(parts)-3], File: name,
		Expires: expires,
	})
	if err != nil {
		return "", fault.Of(err)
	}
	body := base64.RawURLEncoding.EncodeToString(plain)
	mark, ok := l.Keys.SignAs(version, []byte(body))
	if !ok && !l.Keys.IsRetired(version) {
		return "", fault.New(fault.Unavailable, fault.CodeUnavailable,
			"The download links can't be created right now. Please try again.")
	}
	return path + tokenParameter + strconv.Itoa(version) + "." + body + "." +
		base64.RawURLEncoding.EncodeToString(mark.Sum), nil
}

// tokenParameter precedes the token in a link's URL.
const tokenParameter = "?token="

// parseStub parses the text that replaces the token in a stored link, accepting only the canonical form.
func parseStub(stub string) (version int, expires int64, ok bool) {
	first, second, _ := strings.Cut(stub, ".")
	version, err := strconv.Atoi(first)
	if err != nil {
		return 0, 0, false
	}
	expires, err = strconv.ParseInt(second, 10, 64)
	return version, expires, err == nil && stub == strconv.Itoa(version)+"."+strconv.FormatInt(expires, 10)
}

// Tenant verifies the token for a task's file and returns the tenant. It returns fault.Unauthenticated if the token is
// forged, belongs to another file, or was signed with an unknown key. It returns fault.Gone if the token is genuine but
// has expired or was signed with a retired key.
func (l Links) Tenant(token, taskID, fileName string, now time.Time) (org.Tenant, error) {
	refused := fault.New(fault.Unauthenticated, fault.CodeUnauthorizedClient, "The download link is not valid.")
	version, rest, _ := strings.Cut(token, ".")
	body, sum, ok := strings.Cut(rest, ".")
	number, err := strconv.Atoi(version)
	if !ok || err != nil || strconv.Itoa(number) != version { // only the canonical form is valid
		return org.Tenant{}, refused
	}
	gone := fault.New(fault.Gone, fault.CodeExportExpired,
		"The files of this export have been deleted. Request a new export.")
	if l.Keys.IsRetired(number) {
		return org.Tenant{}, gone
	}
	mac, err := base64.RawURLEncoding.Strict().DecodeString(sum)
	if err != nil || !l.Keys.Check([]byte(body), secret.Mark{Version: number, Sum: mac}) {
		return org.Tenant{}, refused
	}
	plain, err := base64.RawURLEncoding.DecodeString(body)
	if err != nil {
		return org.Tenant{}, refused
	}
	var said ticket
	if json.Unmarshal(plain, &said) != nil || said.TaskID != taskID || said.File != fileName {
		return org.Tenant{}, refused
	}
	if now.Unix() >= said.Expires {
		return org.Tenant{}, gone
	}
	return org.Tenant{Mode: said.Mode, OrgID: said.OrgID}, nil
}

// stored returns the stored form of the link to one of a task's files.
func (l Links) stored(task Task, name string) string {
	return l.BaseURL + "/bridge/fhir/ehi-export/" + task.ID + "/download/" + url.PathEscape(name) + tokenParameter +
		strconv.Itoa(l.Keys.Current()) + "." + strconv.FormatInt(task.FilesUntil.Unix(), 10)
}
