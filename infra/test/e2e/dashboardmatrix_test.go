package e2e_test

import (
	"encoding/base64"
	"strings"

	"go.yaml.in/yaml/v3"

	"recordbridge/docs"
	"recordbridge/shared/words/org"
)

// unknownID is a well-formed ID that no row contains.
const unknownID = "00000000-0000-4000-8000-000000000000"

// dashboardRequests returns a request for each dashboard operation, as the dashboard's page would send it. None of the
// requests changes data that another request needs. leaving is the user who signs out.
func (s staff) dashboardRequests(as, leaving *person) map[string]request {
	const proof = `{"email":"new@alder.example","verification_id":"` + unknownID + `","code":"000000"}`
	client := base64.RawURLEncoding.EncodeToString([]byte(`{"challenge":"x"}`))
	answer := `{"clientDataJSON":"` + client + `"}`
	organisation := "/dashboard/organisations/" + s.seeded.Organisations[0].ID
	all := map[string]request{
		"POST /dashboard/session/codes":           {body: `{"email":"new@alder.example"}`},
		"POST /dashboard/session":                 {body: proof},
		"GET /dashboard/session":                  {},
		"DELETE /dashboard/session":               {},
		"POST /dashboard/session/passkey/options": {},
		"POST /dashboard/session/passkey": {body: `{"response":{"response":` +
			answer + `}}`},
		"POST /dashboard/session/totp":             {body: `{"code":"000000"}`},
		"POST /dashboard/session/recovery-code":    {body: `{"code":"0000-0000-0000-0000"}`},
		"DELETE /dashboard/sessions":               {},
		"POST /dashboard/account/totp":             {},
		"PUT /dashboard/account/totp":              {body: `{"code":"000000"}`},
		"DELETE /dashboard/account/totp":           {},
		"POST /dashboard/account/passkeys/options": {},
		"POST /dashboard/account/passkeys": {body: `{"name":"n","response":{"response":` +
			answer + `}}`},
		"DELETE /dashboard/account/passkeys/{passkeyId}":              {},
		"POST /dashboard/account/recovery-codes":                      {},
		"POST /dashboard/account/email":                               {body: `{"email":"new@alder.example"}`},
		"PUT /dashboard/account/email":                                {body: proof},
		"POST /dashboard/account/email/restore":                       {body: `{"token":"` + unknownID + `.x"}`},
		"GET /dashboard/organisations/{orgId}/members":                {},
		"PATCH /dashboard/organisations/{orgId}/members/{accountId}":  {body: `{"role":"viewer"}`},
		"DELETE /dashboard/organisations/{orgId}/members/{accountId}": {},
		"GET /dashboard/organisations/{orgId}/invitations":            {},
		"POST /dashboard/organisations/{orgId}/invitations": {body: `{"email":"new@birch.example",` +
			`"role":"viewer"}`},
		"DELETE /dashboard/organisations/{orgId}/invitations/{invitationId}": {},
		"POST /dashboard/invitations": {body: `{"token":"` +
			strings.Repeat("A", 86) + `"}`},
	}
	for operation, hasBody := range dashboardBodies() {
		if _, known := all[operation]; !known && hasBody {
			all[operation] = request{body: `{}`}
		} else if !known {
			all[operation] = request{}
		}
	}
	places := strings.NewReplacer("/dashboard/organisations/{orgId}", organisation, "{mode}", string(org.Test),
		"{accountId}", unknownID, "{invitationId}", unknownID, "{passkeyId}", "k",
		"{publicId}", unknownID, "{keyId}", unknownID, "{webhookId}", unknownID, "{inquiryId}", unknownID, "{deliveryId}",
		unknownID, "{connectionId}", unknownID, "{taskId}", unknownID)
	for operation, r := range all {
		method, path, _ := strings.Cut(operation, " ")
		r.method, r.path, r.as = method, places.Replace(path), as
		if operation == "DELETE /dashboard/session" || operation == "DELETE /dashboard/sessions" {
			r.as = leaving
		}
		all[operation] = r
	}
	return all
}

// dashboardBodies maps each documented dashboard operation to whether it has a request body. The map is empty if the
// document can't be read.
func dashboardBodies() map[string]bool {
	var api struct {
		Paths map[string]map[string]yaml.Node
	}
	if yaml.Unmarshal(docs.OpenAPI(), &api) != nil {
		return nil
	}
	all := map[string]bool{}
	for path, item := range api.Paths {
		for method, o := range item {
			var described struct {
				RequestBody yaml.Node `yaml:"requestBody"`
			}
			if strings.HasPrefix(path, "/dashboard/") && o.Decode(&described) == nil {
				all[strings.ToUpper(method)+" "+path] = !described.RequestBody.IsZero()
			}
		}
	}
	return all
}
