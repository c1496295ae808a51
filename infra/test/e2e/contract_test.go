package e2e_test

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"

	"recordbridge/infra/test/contract"
	"recordbridge/infra/testkit/expect"
)

// API documents against which this package's tests check responses and events.
var (
	described = sync.OnceValues(func() (*contract.API, error) { return read("openapi.yaml", contract.ReadAPI) })
	announced = sync.OnceValues(func() (*contract.Events, error) { return read("asyncapi.yaml", contract.ReadEvents) })
)

func read[T any](name string, parse func([]byte) (T, error)) (T, error) {
	text, err := os.ReadFile("../../../docs/" + name)
	if err != nil {
		var none T
		return none, err
	}
	return parse(text)
}

// checkAnswer checks an API response against docs/openapi.yaml. at is the path below the API's URL.
func checkAnswer(tb testing.TB, method, at string, got contract.Answer) {
	tb.Helper()
	api, err := described()
	expect.NoError(tb, err)
	if err := api.Check(method, at, got); err != nil {
		tb.Errorf("docs/openapi.yaml: %v", err)
	}
}

// checkEvent checks a webhook delivery against docs/asyncapi.yaml.
func checkEvent(tb testing.TB, header http.Header, body []byte) {
	tb.Helper()
	events, err := announced()
	expect.NoError(tb, err)
	if err := events.Check(header, body); err != nil {
		tb.Errorf("docs/asyncapi.yaml: %v", err)
	}
}

// TestMain runs the tests and requires that a complete run covers every part of the two API documents, because an
// untested description may be wrong.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // frequent collections would free little memory, because stacks are small and short-lived
	code := m.Run()
	if beside, err := deployed(); err == nil {
		_ = os.RemoveAll(beside)
	}
	switch unseen := unseen(); {
	case usesRunningStack():
		tell(os.Stdout)
	case code == 0 && len(unseen) > 0 && isWhole():
		fmt.Fprintf(os.Stderr, "FAIL: described, but seen by no test:\n\t%s\n", strings.Join(unseen, "\n\t"))
		code = 1
	}
	os.Exit(code)
}

// isWhole reports whether the run includes every test, without filters or -short.
func isWhole() bool {
	for _, name := range []string{"test.run", "test.skip", "test.list"} {
		if flag.Lookup(name).Value.String() != "" {
			return false
		}
	}
	return !testing.Short()
}

// unseen returns the documented parts that are neither covered by tests nor exempted by neverSeen, and the exempted
// parts that are covered.
func unseen() []string {
	api, err := described()
	if err != nil {
		return []string{err.Error()}
	}
	events, err := announced()
	if err != nil {
		return []string{err.Error()}
	}
	all := slices.Concat(api.Unseen(), events.Unseen())
	excuses := neverSeen()
	needed := map[string]bool{}
	all = slices.DeleteFunc(all, func(place string) bool {
		for excuse := range excuses {
			if place == excuse || strings.HasPrefix(place, excuse+" ") {
				needed[excuse] = true
				return true
			}
		}
		return false
	})
	for excuse := range excuses {
		if !needed[excuse] {
			all = append(all, "neverSeen excuses what was seen: "+excuse)
		}
	}
	return all
}

// neverSeen returns the documented responses, events and members that no journey covers, with the reason for each.
func neverSeen() map[string]string {
	const contended = "a row that others change at the same time again and again, or a link that cannot be signed yet: " +
		"the domains' tests have those"
	const built = "the tests' build has its pages; functions/web has one without"
	const branded = "an organisation with a look, as with PATCH /dashboard/organisations/{orgId}"
	const files = "API Gateway's, where the function gives no answer: its pages have seen that, and these ask nobody " +
		"for anything"
	const read = "the response is that of GET /bridge/"
	const long = "a list of more than 500 rows: the functions' tests have one"
	excuses := map[string]string{
		"DELETE /bridge/fhir/ehi-export/{taskId}/files 503":            contended,
		"DELETE /bridge/org_connection/{orgConnectionId} 503":          contended,
		"GET /bridge/callback 503":                                     contended,
		"GET /bridge/callback/{registration} 503":                      contended,
		"GET /bridge/connect 503":                                      contended,
		"GET /bridge/events 503":                                       contended,
		"GET /bridge/fhir/ehi-export/{taskId} 503":                     contended,
		"GET /bridge/fhir/ehi-export/{taskId}/download/{fileName} 503": contended,
		"GET /bridge/reconnect 503":                                    contended,
		"GET /bridge/tefca/identity/callback/{provider} 503":           contended,
		"POST /bridge/tefca/records/{attemptId}/authorization 503":     contended,
		"POST /bridge/vault_connection/revoke 503":                     contended,
		"POST /bridge/fhir/ehi-export 503":                             contended,
		"GET /bridge/callback/{registration} 302 Location?consent_expires_at": "as with GET /bridge/callback, " +
			"which is the same function",
		"POST /bridge/catalog/search 200 data.hits.hits[]._source.portals[].removed_at": "a portal that has gone is one of " +
			"no hit",
		"POST /bridge/connect 503": contended,
		"GET /dashboard/organisations/{orgId}/{mode}/connections 200 data.searched_to": long,
		"GET /dashboard/organisations/{orgId}/{mode}/deliveries 200 data.searched_to":  long,
		"POST /bridge/catalog/search 200 data.hits.hits[]._source.portals[].choice":    "as with GET /bridge/catalog",
		"GET /bridge/catalog 200 data.choice": "portals that look alike: " +
			"shared/catalog/compose has those",
		"GET /bridge/catalog 200 data.hosts": "a portal that is one of several: " +
			"shared/catalog/compose and the widget's views have those",
		"POST /dashboard/organisations/{orgId}/live-access 200 data.decided_at": "a request is not decided yet: " +
			"the GET has it",
		"POST /dashboard/organisations/{orgId}/live-access 200 data.reason":         "as above",
		"PUT /dashboard/organisations/{orgId}/emails 200 data.accent_contrast":      branded,
		"PUT /dashboard/organisations/{orgId}/emails 200 data.accent_contrast_dark": branded,
		"PUT /dashboard/organisations/{orgId}/emails 200 data.radius":               branded,
		"GET /demo 502":                 files,
		"GET /demo 503":                 built,
		"GET /demo 504":                 files,
		"GET /sdk/manifest.json 502":    files,
		"GET /sdk/manifest.json 503":    built,
		"GET /sdk/manifest.json 504":    files,
		"GET /sdk/{version}/{file} 503": built,
		"GET /record-view.js 502":       files,
		"GET /record-view.js 503":       built,
		"GET /record-view.js 504":       files,
		"GET /docs 502":                 files,
		"GET /docs 503":                 built,
		"GET /docs 504":                 files,
		"GET /docs/{proxy} 502":         files,
		"GET /docs/{proxy} 503":         built,
		"GET /docs/{proxy} 504":         files,
		"GET /dashboard 502":            files,
		"GET /dashboard 503":            built,
		"GET /dashboard 504":            files,
		"GET /health 502":               files,
		"GET /health 504":               files,
		"GET /widget/assets/{file} 503": built,
		"GET /widget/connect 503":       built,
		"GET /widget/embed 503":         built,
	}
	for _, operation := range []string{
		"GET /dashboard/session", "POST /dashboard/session", "POST /dashboard/session/passkey",
		"POST /dashboard/session/recovery-code",
		"POST /dashboard/session/totp", "PUT /dashboard/account/email", "PUT /dashboard/account/totp",
		"DELETE /dashboard/account/totp",
		"DELETE /dashboard/account/passkeys/{passkeyId}",
	} {
		excuses[operation+" 200 data.recovery_codes"] = "only the response that sets up an account's first second factor " +
			"has them, which is a passkey here"
	}
	for _, operation := range []string{
		"POST /dashboard/organisations/{orgId}/deletion", "DELETE /dashboard/organisations/{orgId}/deletion",
		"DELETE /dashboard/organisations/{orgId}/members/{accountId}/recovery",
		"POST /dashboard/organisations/{orgId}/emails", "PUT /dashboard/organisations/{orgId}/emails",
	} {
		excuses[operation+" 409"] = contended
	}
	excuses["DELETE /bridge/attempts/{attemptId} 200 data.result.consent_expires_at"] = read + "attempts/{attemptId}"
	for _, member := range []string{
		"facilities[].outcome", "facilities[].reason", "facilities[].connection",
		"facilities[].connection.connection_status", "facilities[].connection.consent_expires_at",
		"facilities[].connection.external_id", "facilities[].connection.external_state",
		"facilities[].connection.org_connection_id", "facilities[].connection.platform_type",
		"facilities[].connection.request_id", "facilities[].connection.scope",
		"facilities[].connection.tefca_directory_id",
	} {
		excuses["DELETE /bridge/tefca/records/{attemptId} 200 data."+member] = read + "tefca/records/{attemptId}"
	}
	for operation := range dashboardBodies() {
		// This operation's 503 response must be covered, because sending an email can fail.
		if operation != "POST /dashboard/organisations/{orgId}/{mode}/inquiries/{inquiryId}/answers" {
			excuses[operation+" 503"] = contended
		}
	}
	return excuses
}
