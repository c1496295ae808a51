package fhir_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"recordbridge/shared/fhir"
)

func outcome(tb testing.TB, code, diagnostics string) []byte {
	tb.Helper()
	body, err := json.Marshal(map[string]any{
		"resourceType": "OperationOutcome",
		"issue":        []any{map[string]any{"severity": "error", "code": code, "diagnostics": diagnostics}},
	})
	if err != nil {
		tb.Fatal(err)
	}
	return body
}

func TestParseRefusalRecognisesKnownMessages(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		who, code, diagnostics string
		want                   fhir.Refusal
	}{
		{"HAPI", "processing", "HAPI-2001: Resource Practitioner/17.a is not known", fhir.Missing},
		{"sandbox", "processing", "HAPI-2001: Resource Practitioner is not known", fhir.Missing},
		{"HAPI without its number", "processing", "Resource Location/1 is not known", fhir.Missing},

		{
			"eClinicalWorks", "processing",
			"This server does not know how to handle GET operation[CarePlan] with parameters [patient,_count]", fhir.NoCount,
		},
		{"a parameter that is not known", "invalid", "Unknown search parameter: _count", fhir.NoCount},
		{"a parameter that is unsupported", "not-supported", "Unsupported parameter '_count'", fhir.NoCount},
		{"a parameter that is refused", "forbidden", "The parameter _count is not supported by this server.", fhir.NoCount},
		{"a value that is too large", "value", "Invalid value for _count", fhir.NoCount},

		{
			"athenahealth, no intent", "forbidden",
			"The parameter combination is not valid. Supported: [patient, intent], [patient, intent, status], [_id].",
			fhir.NeedsMore,
		},
		{
			"athenahealth, no practice", "forbidden",
			"The parameter combination is not valid. Supported: [ah-practice, patient], [ah-practice, _id].", fhir.NeedsMore,
		},
		{
			"a combination that names _count", "forbidden", "Invalid parameter combination, use [patient, _count]",
			fhir.NeedsMore,
		},
		{"Epic", "business-rule", "A required element is missing: category (required).", fhir.NeedsMore},
		{"Epic, by code alone", "required", "", fhir.NeedsMore},
		{"a rule by code alone", "business-rule", "", fhir.NeedsMore},
		{"NextGen", "not-found", "CarePlan needs a category.", fhir.NeedsMore},
		{"NextGen, Observation", "invalid", "Observation needs code or category", fhir.NeedsMore},
		{"Oracle", "required", "Appointment requires a date.", fhir.NeedsMore},
		{"Oracle, Patient", "required", "Patient can be found only by _id.", fhir.NeedsMore},
		{"a search that must have", "invalid", "Search must have at least one of category and code.", fhir.NeedsMore},
		{"one of several", "invalid", "Give at least one of: category, code", fhir.NeedsMore},
		{
			"eClinicalWorks once _count is gone", "processing",
			"This server does not know how to handle GET operation[CarePlan] with parameters [patient]", fhir.NeedsMore,
		},

		{"Epic, a category", "suppressed", "The category is not authorised for this client.", fhir.Denied},
		{"NextGen, the patient's choice", "forbidden", "Read access to 'Goal' is denied by user", fhir.Denied},
		{"sandbox, scope", "forbidden", "The granted scopes do not allow this.", fhir.Denied},
		{"sandbox, login", "login", "The access token is missing, expired or revoked.", fhir.Denied},
		{"by code alone", "security", "", fhir.Denied},
		{"by text alone", "processing", "Insufficient scope", fhir.Denied},
		{"an OAuth error as text", "processing", "insufficient_scope", fhir.Denied},
		{"the American word", "processing", "The client is not authorized to see this.", fhir.Denied},
		{"a scope that is required", "processing", "The scope patient/Goal.read is required.", fhir.Denied},
		{"a login that is required", "login", "Authentication required", fhir.Denied},

		{"NextGen, Provenance", "not-supported", "Provenance is not implemented.", fhir.Unsupported},
		{"sandbox, type", "not-supported", "This server does not serve that resource type.", fhir.Unsupported},
		{"sandbox, search", "not-supported", "This type can only be read by ID.", fhir.Unsupported},
		{"Oracle, read", "not-supported", "Patient can be found only by _id.", fhir.Unsupported},
		{"DrChrono", "exception", "FHIR API Unexpected Error", fhir.Unsupported},
		{
			"HAPI, type", "processing", "HAPI-0302: Unknown resource type 'Goal' - Server knows how to handle: [Patient]",
			fhir.Unsupported,
		},

		{"a session that ended", "not-found", "The search session has expired.", fhir.Unexplained},
		{"a record that is not there", "not-found", "This resource is not in this patient's record.", fhir.Unexplained},
		{"too many requests", "throttled", "Too many requests.", fhir.Unexplained},
		{"a server that is down", "transient", "The sandbox is configured to fail.", fhir.Unexplained},
		{"a word that only looks like scope", "processing", "The colonoscopes are busy.", fhir.Unexplained},
		{"a parameter that only looks like _count", "invalid", "Unknown search parameter: patient_count", fhir.Unexplained},
		{"nothing", "", "", fhir.Unexplained},
	} {
		body := outcome(t, c.code, c.diagnostics)
		if got := fhir.ParseRefusal(body); got != c.want {
			t.Errorf("%s: ParseRefusal(%s) = %q, want %q", c.who, body, got, c.want)
		}
		body = outcome(t, strings.ToUpper(c.code), strings.ToUpper(c.diagnostics))
		if got := fhir.ParseRefusal(body); got != c.want {
			t.Errorf("%s in capitals: ParseRefusal(%s) = %q, want %q", c.who, body, got, c.want)
		}
	}
}

func TestParseRefusalReadsEveryIssueAndDetail(t *testing.T) {
	t.Parallel()
	for issues, want := range map[string]fhir.Refusal{
		`[{"details":{"text":"Access is denied"}}]`:                           fhir.Denied,
		`[{"details":{"coding":[{"code":"x"},{"code":"HAPI-2001"}]}}]`:        fhir.Missing,
		`[{"details":{"coding":[{"code":"Suppressed"}]}}]`:                    fhir.Denied,
		`[{"code":"informational"},{"code":"suppressed"}]`:                    fhir.Denied,
		`[{"code":"suppressed"},{"code":"required"}]`:                         fhir.NeedsMore,
		`[{"code":"not-supported"},{"code":"forbidden"}]`:                     fhir.Denied,
		`[{"code":7,"details":"x"},{"code":"suppressed","details":["y"]}]`:    fhir.Denied,
		`[null,{"code":"required","diagnostics":null}]`:                       fhir.NeedsMore,
		`[{"diagnostics":"Unknown: x"},{"diagnostics":"Use _count=5"}]`:       fhir.Unexplained,
		`[{"diagnostics":"Unknown parameter x. Supported: [_count]"}]`:        fhir.Unexplained,
		`[{"code":"invalid","details":{"text":"scope"},"diagnostics":"bad"}]`: fhir.Denied,
	} {
		for _, body := range []string{
			`{"resourceType":"OperationOutcome","issue":` + issues + `}`,
			`{"issue":` + issues + `,"resourceType":"OperationOutcome"}`,
		} {
			if got := fhir.ParseRefusal([]byte(body)); got != want {
				t.Errorf("ParseRefusal(%s) = %q, want %q", body, got, want)
			}
		}
	}
}

func TestParseRefusalIgnoresOtherDocuments(t *testing.T) {
	t.Parallel()
	outcome := `{"resourceType":"OperationOutcome","issue":[{"code":"forbidden"}]}`
	if got := fhir.ParseRefusal([]byte(outcome + strings.Repeat(" ", 64<<10-len(outcome)))); got != fhir.Denied {
		t.Errorf("64 KiB: got %q, want %q", got, fhir.Denied)
	}
	for name, body := range map[string]string{
		"nothing":              "",
		"a web page":           "<!doctype html><title>Forbidden</title><p>Access denied</p>",
		"an OAuth error":       `{"error":"insufficient_scope","error_description":"access denied"}`,
		"another resource":     `{"resourceType":"Basic","issue":[{"code":"forbidden"}]}`,
		"a list":               "[" + outcome + "]",
		"null":                 "null",
		"a string":             `"access denied"`,
		"issues as a text":     `{"resourceType":"OperationOutcome","issue":"access denied"}`,
		"no issues":            `{"resourceType":"OperationOutcome"}`,
		"a cut outcome":        outcome[:len(outcome)-1],
		"text behind":          outcome + "denied",
		"more than 64 KiB":     outcome + strings.Repeat(" ", 64<<10),
		"deep nesting":         strings.Repeat(`{"issue":[`, 6000),
		"deep nesting, closed": strings.Repeat(`[`, 30_000) + strings.Repeat(`]`, 30_000),
	} {
		if got := fhir.ParseRefusal([]byte(body)); got != fhir.Unexplained {
			t.Errorf("%s: got %q, want no explanation", name, got)
		}
	}
}

func FuzzParseRefusalIgnoresInvalidJSON(f *testing.F) {
	for _, seed := range []string{
		"", "<html>", "null", `{"resourceType":"OperationOutcome","issue":[{"code":"forbidden","details":{"coding":[{}]}}]}`,
		`{"resourceType":"OperationOutcome","issue":[{"diagnostics":"unknown _count \ud800 \u0000"}]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Add(outcome(f, "processing", "HAPI-2001: Resource Basic/1 is not known"))
	known := []fhir.Refusal{fhir.NeedsMore, fhir.NoCount, fhir.Denied, fhir.Unsupported, fhir.Missing}
	f.Fuzz(func(t *testing.T, body []byte) {
		before := bytes.Clone(body)
		got := fhir.ParseRefusal(body)
		if got != fhir.Unexplained && (!slices.Contains(known, got) || !json.Valid(body)) {
			t.Errorf("ParseRefusal(%q) = %q", body, got)
		}
		if !bytes.Equal(before, body) {
			t.Errorf("ParseRefusal changed %q to %q", before, body)
		}
	})
}
