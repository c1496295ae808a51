package e2e_test

// Each test below sends the same requests as one of the API clients listed in docs/reference/compatibility.md.

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"recordbridge/infra/local/aws/ses"
	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/manage/inquiry"
	"recordbridge/shared/manage/operator"
)

// TestDownloadLinkIgnoresForeignAuthorizationFromOutside checks that download URLs work for clients that send their own
// token, as in a published quick start, and for clients whose HTTP library resends the Authorization header.
func TestDownloadLinkIgnoresForeignAuthorizationFromOutside(t *testing.T) {
	t.Parallel()
	fromOutside(t, func(t *testing.T, o *outside) {
		t.Helper()
		o.org.startExport(o.patient.connect(crashPersona, "approve").Get("org_connection_id"))
		o.webhooks.awaitEvents("patient.ehi_export_success", 1)
		link := o.webhooks.exportEvent().DownloadLinks[0].URL
		path := strings.TrimPrefix(link, o.seeded.BaseURL)
		bare, _, _ := strings.Cut(path, "?")
		wrong := "Basic " + base64.StdEncoding.EncodeToString(
			[]byte(o.seeded.Organisations[0].PublicID+":private_test_wrong"))
		for name, header := range map[string]string{
			"bearer": "Bearer token-of-a-customer", "wrong key": wrong,
			"malformed": "Basic !!!!", "empty": "",
		} {
			got := o.send(http.MethodGet, path, http.Header{"Authorization": {header}}, nil)
			if got.status != http.StatusFound || got.header.Get("Location") == "" {
				t.Errorf("%s: the link answered %d %s, want a redirect", name, got.status, got.raw)
			}
			if got := o.send(http.MethodGet, bare, http.Header{"Authorization": {header}},
				nil); got.status != http.StatusUnauthorized {
				t.Errorf("%s: the path without its token answered %d, want 401", name, got.status)
			}
		}
	})
}

// operatorsAddress is the value of the SupportMail parameter in these tests' stacks.
const operatorsAddress = "support@recordbridge.example"

// TestTeamSupportTicketReachesOperatorAndOrganisation posts the four fields of POST /support/request
// (docs/openapi.yaml) and checks that both the organisation and the operator are notified.
func TestTeamSupportTicketReachesOperatorAndOrganisation(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, options{})
		ticket := map[string]string{
			"email": "dev@alder.example", "name": "Rowan Dale", "subject": "Webhook deliveries",
			"body": "Our receiver gets nothing.",
		}
		if got := s.patient.form("/support/request", ticket); got.status != http.StatusOK ||
			strings.TrimSpace(string(got.raw)) != `{"success":true}` {
			t.Fatalf("the request answered %d %s", got.status, got.raw)
		}
		s.clock.advance(2)
		if told := s.webhooks.events("patient.request_support"); len(told) != 1 {
			t.Errorf("%d events, want one for the organisation", len(told))
		}
		mails := slices.DeleteFunc(s.cloud.SES().Sent(), func(m ses.Mail) bool { return m.To[0] != operatorsAddress })
		if len(mails) != 1 || !strings.Contains(mails[0].Text, s.seeded.Organisations[0].ID) {
			t.Fatalf("the operator got %+v", mails)
		}
		for _, text := range ticket {
			if strings.Contains(mails[0].Subject+mails[0].Text+mails[0].HTML, text) {
				t.Errorf("the operator's e-mail repeats %q", text)
			}
		}
		queue, err := s.operator.Inquiries.Queue(t.Context(), operator.InquiryQuery{Status: inquiry.Open})
		expect.NoError(t, err)
		if len(queue.Inquiries) != 1 || !strings.Contains(mails[0].Text, queue.Inquiries[0].ID) ||
			queue.Inquiries[0].Subject != ticket["subject"] {
			t.Errorf("the queue is %+v", queue)
		}
	})
}

func TestCatalogReturnsFacilityByTEFCADirectoryID(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, options{})
		for directoryID := range s.vault.connect(twoHospitals, "patient-7") {
			path := "/bridge/catalog?public_id=" + s.seeded.Organisations[0].PublicID + "&tefca_directory_id=" + directoryID
			var found struct{ Name string }
			got := s.call(http.MethodGet, path, "", "", nil)
			if got.status != http.StatusOK || json.Unmarshal(got.Data, &found) != nil || found.Name == "" {
				t.Errorf("%s: %d %s", directoryID, got.status, got.raw)
			}
		}
	})
}
