package export

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"time"

	"recordbridge/shared/fault"
	"recordbridge/shared/org"
	"recordbridge/shared/secret"
	"recordbridge/shared/webhook"
)

// Links mints and checks the signed download URLs of exports. A URL works without a key, as long as the file lives
// (decisions section 3), and for this one file of this one tenant only.
type Links struct {
	Keys    secret.Keyring
	BaseURL string // public address of the API, ending in /v1; only minting needs it
}

// ticket is what a download token says.
type ticket struct {
	Mode    org.Mode `json:"m"`
	OrgID   string   `json:"o"`
	TaskID  string   `json:"t"`
	File    string   `json:"f"`
	Expires int64    `json:"e"` // Unix seconds
}

// List mints the links of all files of a task (spec section 2.3).
func (l Links) List(task Task) ([]webhook.DownloadLink, error) {
	links := make([]webhook.DownloadLink, 0, len(task.Files))
	for _, f := range task.Files {
		address, err := l.address(task, f)
		if err != nil {
			return nil, err
		}
		links = append(links, webhook.DownloadLink{URL: address, ExportType: string(f.Format), ContentType: f.ContentType})
	}
	return links, nil
}

// Tenant checks a token for a task's file and returns whose it is. A token that is false, of another file or made with
// an unknown key answers fault.Unauthenticated, a true one past its time fault.Gone.
func (l Links) Tenant(token, taskID, fileName string, now time.Time) (org.Tenant, error) {
	refused := fault.New(fault.Unauthenticated, fault.CodeUnauthorizedClient, "The download link is not valid.")
	version, rest, _ := strings.Cut(token, ".")
	body, sum, ok := strings.Cut(rest, ".")
	number, err := strconv.Atoi(version)
	if !ok || err != nil || strconv.Itoa(number) != version { // a token has one spelling
		return org.Tenant{}, refused
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
		return org.Tenant{}, fault.New(fault.Gone, fault.CodeExportExpired, "The files of this export have been deleted. Request a new export.")
	}
	return org.Tenant{Mode: said.Mode, OrgID: said.OrgID}, nil
}

func (l Links) address(task Task, file File) (string, error) {
	plain, err := json.Marshal(ticket{
		Mode: task.Tenant.Mode, OrgID: task.Tenant.OrgID, TaskID: task.ID, File: file.Name, Expires: task.FilesUntil.Unix(),
	})
	if err != nil {
		return "", fault.Of(err)
	}
	body := base64.RawURLEncoding.EncodeToString(plain)
	mark := l.Keys.Sign([]byte(body))
	token := strconv.Itoa(mark.Version) + "." + body + "." + base64.RawURLEncoding.EncodeToString(mark.Sum)
	return l.BaseURL + "/bridge/fhir/ehi-export/" + task.ID + "/download/" + url.PathEscape(file.Name) + "?token=" + token, nil
}
