package template_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEveryRouteOfTheProjectsTemplateHasItsFunction(t *testing.T) {
	t.Parallel()
	got := map[string]string{}
	for _, f := range loadMain(t, asOnALaptop()).Functions {
		for _, r := range f.Routes {
			got[r.Method+" "+r.Path] = f.Folder
		}
	}
	want := map[string]string{
		"ANY /bridge/connect":                                                               "connect",
		"ANY /bridge/reconnect":                                                             "reconnect",
		"ANY /bridge/attempts":                                                              "createattempt",
		"ANY /bridge/attempts/{attemptId}":                                                  "getattempt",
		"ANY /.well-known/jwks.json":                                                        "jwks",
		"DELETE /bridge/org_connection/{orgConnectionId}":                                   "deleteconnection",
		"ANY /bridge/callback":                                                              "callback",
		"ANY /bridge/tefca/identity":                                                        "identity",
		"ANY /bridge/tefca/identity/start":                                                  "identity",
		"ANY /bridge/tefca/identity/callback/{provider}":                                    "identitycallback",
		"ANY /bridge/tefca/records/{attemptId}":                                             "locaterecords",
		"ANY /bridge/tefca/records/{attemptId}/authorization":                               "authorizevault",
		"ANY /bridge/vault_connection/revoke":                                               "revokevault",
		"ANY /bridge/callback/{registration}":                                               "callback",
		"ANY /bridge/fhir/ehi-export":                                                       "createexport",
		"ANY /bridge/events":                                                                "listevents",
		"ANY /bridge/fhir/ehi-export/{taskId}":                                              "getexport",
		"ANY /bridge/fhir/ehi-export/{taskId}/download/{fileName}":                          "downloadexport",
		"ANY /bridge/fhir/ehi-export/{taskId}/files":                                        "deleteexportfiles",
		"ANY /bridge/org_connection/{orgConnectionId}":                                      "getconnection",
		"ANY /bridge/org":                                                                   "getorg",
		"ANY /bridge/email/codes":                                                           "sendcode",
		"ANY /bridge/email/verification":                                                    "verifyemail",
		"ANY /support/healthsystem":                                                         "requesthealthsystem",
		"ANY /support/request":                                                              "requestsupport",
		"ANY /dashboard/session/codes":                                                      "dashboardsession",
		"ANY /dashboard/session":                                                            "dashboardsession",
		"ANY /dashboard/session/passkey/options":                                            "dashboardsession",
		"ANY /dashboard/session/passkey":                                                    "dashboardsession",
		"ANY /dashboard/session/totp":                                                       "dashboardsession",
		"ANY /dashboard/session/recovery-code":                                              "dashboardsession",
		"ANY /dashboard/sessions":                                                           "dashboardsession",
		"ANY /dashboard/account/totp":                                                       "dashboardsession",
		"ANY /dashboard/account/passkeys/options":                                           "dashboardsession",
		"ANY /dashboard/account/passkeys":                                                   "dashboardsession",
		"ANY /dashboard/account/passkeys/{passkeyId}":                                       "dashboardsession",
		"ANY /dashboard/account/recovery-codes":                                             "dashboardsession",
		"ANY /dashboard/account/email":                                                      "dashboardsession",
		"ANY /dashboard/account/email/restore":                                              "dashboardsession",
		"ANY /dashboard/organisations/{orgId}/members":                                      "dashboardmembers",
		"ANY /dashboard/organisations/{orgId}/members/{accountId}":                          "dashboardmembers",
		"ANY /dashboard/organisations/{orgId}/members/{accountId}/recovery":                 "dashboardmembers",
		"ANY /dashboard/organisations/{orgId}/invitations":                                  "dashboardmembers",
		"ANY /dashboard/organisations/{orgId}/invitations/{invitationId}":                   "dashboardmembers",
		"ANY /dashboard/organisations/{orgId}/live-access":                                  "dashboardorg",
		"ANY /dashboard/invitations":                                                        "dashboardmembers",
		"ANY /dashboard/organisations/{orgId}/{mode}/credentials":                           "dashboardcredentials",
		"ANY /dashboard/organisations/{orgId}/{mode}/credentials/{publicId}":                "dashboardcredentials",
		"ANY /dashboard/organisations/{orgId}/{mode}/credentials/{publicId}/keys":           "dashboardcredentials",
		"ANY /dashboard/organisations/{orgId}/{mode}/credentials/{publicId}/keys/{keyId}":   "dashboardcredentials",
		"ANY /dashboard/organisations/{orgId}/{mode}/webhooks":                              "dashboardwebhooks",
		"ANY /dashboard/organisations/{orgId}/{mode}/webhooks/{webhookId}":                  "dashboardwebhooks",
		"ANY /dashboard/organisations/{orgId}/{mode}/webhooks/{webhookId}/secret/reveal":    "dashboardwebhooks",
		"ANY /dashboard/organisations/{orgId}/{mode}/webhooks/{webhookId}/secret/rotate":    "dashboardwebhooks",
		"ANY /dashboard/organisations/{orgId}/{mode}/webhooks/{webhookId}/signing-key":      "dashboardwebhooks",
		"ANY /dashboard/organisations/{orgId}/{mode}/webhooks/{webhookId}/disable":          "dashboardwebhooks",
		"ANY /dashboard/organisations/{orgId}/{mode}/webhooks/{webhookId}/enable":           "dashboardwebhooks",
		"ANY /dashboard/organisations/{orgId}/{mode}/webhooks/{webhookId}/simulate":         "dashboardwebhooks",
		"ANY /dashboard/organisations/{orgId}/{mode}/webhooks/{webhookId}/replay":           "dashboardwebhooks",
		"ANY /dashboard/organisations/{orgId}/{mode}/webhook-types":                         "dashboardwebhooks",
		"ANY /dashboard/organisations/{orgId}/{mode}/deliveries":                            "dashboarddeliveries",
		"ANY /dashboard/organisations/{orgId}/{mode}/deliveries/{deliveryId}":               "dashboarddeliveries",
		"ANY /dashboard/organisations/{orgId}/{mode}/deliveries/{deliveryId}/replay":        "dashboarddeliveries",
		"ANY /dashboard/organisations/{orgId}/{mode}/connections":                           "dashboardconnections",
		"ANY /dashboard/organisations/{orgId}/{mode}/connections/{connectionId}":            "dashboardconnections",
		"ANY /dashboard/organisations/{orgId}/{mode}/connections/{connectionId}/disconnect": "dashboardconnections",
		"ANY /dashboard/organisations/{orgId}/{mode}/exports":                               "dashboardexports",
		"ANY /dashboard/organisations/{orgId}/{mode}/exports/{taskId}":                      "dashboardexports",
		"ANY /dashboard/organisations":                                                      "dashboardorg",
		"ANY /dashboard/organisations/{orgId}":                                              "dashboardorg",
		"ANY /dashboard/organisations/{orgId}/{mode}/overview":                              "dashboardorg",
		"ANY /dashboard/organisations/{orgId}/deletion":                                     "dashboardorg",
		"ANY /dashboard/organisations/{orgId}/audit":                                        "dashboardorg",
		"ANY /dashboard/organisations/{orgId}/emails":                                       "dashboardorg",
		"ANY /dashboard/organisations/{orgId}/audit/export":                                 "dashboardorg",
		"ANY /dashboard/organisations/{orgId}/{mode}/connections/{connectionId}/erase":      "dashboardconnections",
		"ANY /dashboard/organisations/{orgId}/{mode}/connections/{connectionId}/erasure":    "dashboardconnections",
		"ANY /dashboard/organisations/{orgId}/{mode}/usage":                                 "dashboardorg",
		"ANY /dashboard/organisations/{orgId}/{mode}/inquiries":                             "dashboardorg",
		"ANY /dashboard/organisations/{orgId}/{mode}/inquiries/{inquiryId}":                 "dashboardorg",
		"ANY /dashboard/organisations/{orgId}/{mode}/inquiries/{inquiryId}/answers":         "dashboardorg",
		"ANY /bridge/catalog/search":                                                        "searchcatalog",
		"ANY /bridge/catalog":                                                               "getcatalog",
		"ANY /bridge/catalog/export":                                                        "exportcatalog",
		"ANY /demo":                                                                         "web",
		"ANY /dashboard":                                                                    "web",
		"ANY /sdk/manifest.json":                                                            "web",
		"ANY /sdk/{version}/{file}":                                                         "web",
		"ANY /widget/assets/{file}":                                                         "web",
		"ANY /widget/connect":                                                               "web",
		"ANY /widget/embed":                                                                 "web",
		"ANY /sandbox/{proxy+}":                                                             "sandboxehr",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("routes (-want +got):\n%s", diff)
	}
}
