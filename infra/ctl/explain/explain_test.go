package explain_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"recordbridge/docs"
	"recordbridge/infra/ctl/explain"
)

const (
	ownerID = "7d0ed2f0-53e5-4ba3-9a2f-bd2b1c0d2a11"
	otherID = "c3a5b1de-7a6c-4a51-8f0b-0c8f6f0f9d22"
	taskID  = "97332a1d4b71447eb16c3c82afcaef08"
)

func tableOf(t *testing.T) explain.Table {
	t.Helper()
	table, err := explain.NewTable(docs.Failures())
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func fieldsOf(name, result string, more ...string) map[string]string {
	all := map[string]string{"msg": name, "result": result, "org_id": ownerID, "mode": "live"}
	for i := 0; i < len(more); i += 2 {
		all[more[i]] = more[i+1]
	}
	return all
}

func TestExplainChoosesBestMatchingRow(t *testing.T) {
	t.Parallel()
	const none = "no row in docs/operate/failures.md matches this failure: "
	attempt := func(result string, more ...string) map[string]string {
		all := fieldsOf("webhookworker.attempt", result, "step", "notify", "host", "app.example", "class", "http_status",
			"subscription_id", otherID,
			"event_id", otherID, "event_type", "x", "delivery_id", otherID)
		for i := 0; i < len(more); i += 2 {
			all[more[i]] = more[i+1]
		}
		return all
	}
	for name, test := range map[string]struct {
		line map[string]string
		want string
	}{
		"another status and attempt": {attempt("failed", "upstream_status", "500", "attempt", "4", "delivery_status",
			"scheduled"), "webhook: receiver down"},
		"the last attempt": {attempt("failed", "upstream_status", "500", "attempt", "10", "delivery_status",
			"exhausted"), "webhook: receiver down"},
		"disabled for 120 hours": {
			attempt("failed", "upstream_status", "503", "attempt", "8", "delivery_status", "held", "disabled", "failing"),
			"webhook: disabled",
		},
		"another class": {attempt("failed", "class", "tls"), none + "webhookworker.attempt, result failed, step notify"},
		"another name": {
			fieldsOf("connect.message", "failed", "step", "discovery", "class", "tls"),
			none + "connect.message, result failed, step discovery",
		},
		"what went on later has failed now": {
			fieldsOf("refreshworker.message", "failed", "reason", "token_refresh_failure", "row", "TOKENS", "operation", "open"),
			none + "refreshworker.message, result failed, row TOKENS",
		},
		"a refusal that is held": {
			fieldsOf("refreshworker.message", "put_off", "refresh", "refusal_held", "step", "token", "class", "invalid_grant",
				"upstream_status", "400"),
			none + "refreshworker.message, result put_off, step token",
		},
		"a refused request that is none of the organisation's": {
			fieldsOf("http.request", "failed", "error", "svc_invalid_request", "field", "state", "step", "callback", "class",
				"issuer_mismatch"),
			none + "http.request, result failed, step callback",
		},
		"another parameter": {fieldsOf("http.request", "failed", "error", "svc_invalid_request", "field",
			"since"), "request: refused"},
		"a moved portal like any other": {fieldsOf("http.request", "failed", "error", "svc_unavailable", "step", "discovery",
			"class", "portal_moved", "event", "portal_moved"), "discovery: unapproved servers"},
		"a failure and nothing else": {
			map[string]string{"msg": "http.request", "result": "failed"},
			none + "http.request, result failed",
		},
	} {
		if got := tableOf(t).Explain(explain.Line{Fields: test.line}).What; got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// TestExplainChoosesFirstRowWhenScoresAreEqual uses a table made for this test. Other tests cover the rows of
// docs/operate/failures.md.
func TestExplainChoosesFirstRowWhenScoresAreEqual(t *testing.T) {
	t.Parallel()
	table, err := explain.NewTable("| Failure | Line | Fields | What to do |\n|---|---|---|---|\n" +
		"| least | `x` | `step=token` `setbacks=9` | a |\n| first | `x` | `step=token` `setbacks=2` | b |\n| second | `x` " +
		"| `step=token` `setbacks=2` | c |\n" +
		"\n| Word | Means |\n|---|---|\n| `y` | z |\n")
	if err != nil {
		t.Fatal(err)
	}
	for told, want := range map[string]string{"2": "first", "9": "least", "5": "least"} {
		if got := table.Explain(explain.Line{Fields: fieldsOf("x", "failed", "step", "token", "setbacks",
			told)}).What; got != want {
			t.Errorf("%s setbacks: %q, want %q", told, got, want)
		}
	}
}

func TestReadLineParsesAllLogFormats(t *testing.T) {
	t.Parallel()
	const line = `{"level":"INFO","msg":"http.request","result":"failed","upstream_status":503,` +
		`"limiter_failed":false,"host":"","cause":"[redacted]","answer":{"class":"x"},"list":["x"],"nothing":null}`
	want := map[string]string{
		"level": "INFO", "msg": "http.request", "result": "failed", "upstream_status": "503",
		"limiter_failed": "false",
	}
	for text, function := range map[string]string{
		line:                               "",
		"ConnectFunction | " + line + "\n": "ConnectFunction",
		"2026-11-22T16:00:00.123000+00:00 2026/11/22/[$LATEST]0123456789abcdef " + line: "",
		"\t" + line + " and a tail": "",
	} {
		got, err := explain.ReadLine(text)
		if err != nil || got.Function != function || !maps.Equal(got.Fields, want) {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "Ready.", "START RequestId: 1 Version: $LATEST"} {
		if got, err := explain.ReadLine(text); err != nil || len(got.Fields) > 0 || got.Failed() {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{`{"msg":"http.request"`, "a {word} of prose", line[:40]} {
		if _, err := explain.ReadLine(text); err == nil || strings.Contains(err.Error(), "http") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestLineFailedReportsFailures(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		`{"msg":"x","result":"failed"}`: true, `{"msg":"x","result":"partial"}`: true, `{"msg":"x","result":"put_off"}`: true,
		`{"msg":"x","outcome":"retry"}`: true, `{"msg":"x","outcome":"poison"}`: true, `{"msg":"x","unsent_to":"q"}`: true,
		`{"msg":"x","event":"portal_moved"}`: true, `{"msg":"x","limiter_failed":true}`: true,
		`{"msg":"start.failed","level":"ERROR"}`:          true,
		`{"msg":"x","result":"success","outcome":"done"}`: false, `{"msg":"x","limiter_failed":false}`: false,
		`{"result":"failed"}`: false,
	} {
		if line, err := explain.ReadLine(text); err != nil || line.Failed() != want {
			t.Errorf("%s: %t, %v", text, line.Failed(), err)
		}
	}
}

func TestExplainCommandsReferToLineSubject(t *testing.T) {
	t.Parallel()
	const tenant = " -org " + ownerID + " -mode live"
	atEndpoint := func(result string, more ...string) map[string]string {
		return fieldsOf("exportworker.message", result,
			append([]string{"endpoint_id", otherID, "connection_id", otherID, "task_id", taskID}, more...)...)
	}
	own := []string{"ctl connection show" + tenant + " -id " + otherID, "ctl export show" + tenant + " -id " + taskID}
	test, registration := "ctl endpoint test -id "+otherID+" -mode live -org "+ownerID,
		"ctl registration show -endpoint "+otherID+" -mode live -org "+ownerID
	hostile := fieldsOf("exportworker.message", "failed", "endpoint_id", otherID[:30]+"; true", "connection_id",
		"$(true)                                 ", "task_id", "-0123456789012345678901234567890123", "subscription_id", "1")
	hook := "ctl webhook "
	for name, line := range map[string]struct {
		fields map[string]string
		want   []string
	}{
		"a server's failure": {atEndpoint("failed", "step", "search", "class", "timeout"), append([]string{test}, own...)},
		"a token's": {
			atEndpoint("failed", "step", "token", "class", "timeout"),
			append([]string{test + " -token-request"}, own...),
		},
		"our client": {
			atEndpoint("failed", "step", "token", "class", "invalid_client"),
			append([]string{registration, "ctl client list", test + " -token-request"}, own...),
		},
		"what is not allowed": {
			atEndpoint("failed", "step", "patient", "class", "forbidden"),
			append([]string{registration, test}, own...),
		},
		"a moved portal": {fieldsOf("http.request", "failed", "endpoint_id", otherID, "event", "portal_moved", "step",
			"discovery"), []string{"ctl endpoint approve -id " + otherID, test}},
		"a patient's choice": {atEndpoint("failed", "step", "token", "class", "invalid_grant"), own},
		"a row of ours":      {atEndpoint("put_off", "operation", "open", "row", "TOKENS"), own},
		"a disabled webhook": {
			fieldsOf("webhookworker.held", "failed", "subscription_id", otherID, "disabled", "gone", "step", "notify"),
			[]string{
				hook + "show" + tenant + " -id " + otherID, hook + "log" + tenant + " -id " + otherID,
				hook + "enable" + tenant + " -id " + otherID,
			},
		},
		"a webhook": {
			fieldsOf("webhookworker.attempt", "failed", "subscription_id", otherID, "delivery_id", otherID, "step", "notify"),
			[]string{
				hook + "show" + tenant + " -id " + otherID, hook + "show" + tenant + " -delivery " + otherID,
				hook + "log" + tenant + " -id " + otherID,
			},
		},
		"an organisation": {
			fieldsOf("http.request", "failed", "limit", "browser"),
			[]string{"ctl organisation show -org " + ownerID},
		},
		"nobody":        {map[string]string{"msg": "http.request", "result": "failed"}, nil},
		"what is no id": {hostile, []string{"ctl organisation show -org " + ownerID}},
		"no mode": {map[string]string{
			"msg": "x", "result": "failed", "mode": "live; true", "org_id": ownerID,
			"task_id": taskID,
		}, []string{"ctl organisation show -org " + ownerID}},
	} {
		if got := tableOf(t).Explain(explain.Line{Fields: line.fields}).Commands; !slices.Equal(got, line.want) {
			t.Errorf("%s:\n%q, want\n%q", name, got, line.want)
		}
	}
}

func TestNewTableRejectsDocumentWithMissingTable(t *testing.T) {
	t.Parallel()
	words := strings.Index(docs.Failures(), "| Word |")
	for _, document := range []string{"", docs.Failures()[:words], docs.Failures()[words:]} {
		if _, err := explain.NewTable(document); err == nil {
			t.Errorf("%d bytes were taken", len(document))
		}
	}
}
