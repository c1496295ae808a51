package e2e_test

// The clients of docs/compatibility.md that call the API: each test sends what such a client sends.

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"
)

// A published quick start sends its own token to the download URL, and HTTP libraries resend whatever header they have.
func TestDownloadLinkWorksWithForeignAuthorizationFromOutside(t *testing.T) {
	t.Parallel()
	fromOutside(t, func(t *testing.T, o *outside) {
		t.Helper()
		o.startExport(o.connect(crashPersona, "approve").Get("org_connection_id"))
		o.awaitEvents("patient.ehi_export_success", 1)
		link := o.exportEvent().DownloadLinks[0].URL
		path := strings.TrimPrefix(link, o.seeded.BaseURL)
		bare, _, _ := strings.Cut(path, "?")
		wrong := "Basic " + base64.StdEncoding.EncodeToString([]byte(o.seeded.Organisations[0].PublicID+":private_test_wrong"))
		for name, header := range map[string]string{"bearer": "Bearer token-of-a-customer", "wrong key": wrong, "malformed": "Basic !!!!", "empty": ""} {
			got := o.send(http.MethodGet, path, http.Header{"Authorization": {header}}, nil)
			if got.status != http.StatusFound || got.header.Get("Location") == "" {
				t.Errorf("%s: the link answered %d %s, want a redirect", name, got.status, got.raw)
			}
			if got := o.send(http.MethodGet, bare, http.Header{"Authorization": {header}}, nil); got.status != http.StatusUnauthorized {
				t.Errorf("%s: the path without its token answered %d, want 401", name, got.status)
			}
		}
	})
}
