package smart_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"recordbridge/shared/export/source"
	"recordbridge/shared/fhir"
	"recordbridge/shared/fhir/plan"
)

// politeReader returns a reader of the server at base, using the given profile.
func politeReader(t *testing.T, base string, profile plan.Profile) source.Server {
	t.Helper()
	return readerOf(t, doer(), base, profile, bearer)
}

func outcome(code, text string) string {
	return fmt.Sprintf(`{"resourceType":"OperationOutcome","issue":[{"severity":"error","code":%q,"diagnostics":%q}]}`,
		code, text)
}

func TestReaderReportsReasonForRejection(t *testing.T) {
	t.Parallel()
	needs, noCount := outcome("required", "maple"), outcome("invalid", "unknown parameter _count")
	missing, suppressed := outcome("processing", "HAPI-2001: maple"), outcome("suppressed", "maple")
	anyOf, some := plan.Denial{Status: 403}, plan.Denial{Status: 403, Body: "maple leaf"}
	for name, test := range map[string]struct {
		status  int
		body    string
		denials []plan.Denial
		want    fhir.Refusal
	}{
		"no body":                  {403, "", nil, fhir.Unexplained},
		"a web page":               {403, "<html>maple</html>", nil, fhir.Unexplained},
		"needs more":               {400, needs, nil, fhir.NeedsMore},
		"after a byte order mark":  {400, "\ufeff" + needs, nil, fhir.NeedsMore},
		"no _count":                {400, noCount, nil, fhir.NoCount},
		"missing":                  {500, missing, nil, fhir.Missing},
		"denied by the body":       {400, suppressed, nil, fhir.Denied},
		"denied whatever the body": {403, "<html>maple</html>", []plan.Denial{anyOf}, fhir.Denied},
		"denied without a body":    {403, "", []plan.Denial{anyOf}, fhir.Denied},
		"denied by a part":         {403, "<html>maple leaf</html>", []plan.Denial{some}, fhir.Denied},
		"another part":             {403, "<html>maple</html>", []plan.Denial{some}, fhir.Unexplained},
		"another status": {
			404, "<html>maple leaf</html>",
			[]plan.Denial{some, anyOf},
			fhir.Unexplained,
		},
		"the second denial":           {403, "", []plan.Denial{some, anyOf}, fhir.Denied},
		"needs more, whatever denies": {403, needs, []plan.Denial{anyOf}, fhir.NeedsMore},
		"no _count, whatever denies":  {403, noCount, []plan.Denial{anyOf}, fhir.NoCount},
		"missing, whatever denies":    {403, missing, []plan.Denial{anyOf}, fhir.Missing},
		"unsupported, but denied":     {403, outcome("not-supported", ""), []plan.Denial{anyOf}, fhir.Denied},
		"needs more, but a part denies": {
			403, outcome("required", "maple leaf"),
			[]plan.Denial{anyOf, some},
			fhir.Denied,
		},
		"a part beyond what is read": {
			403, strings.Repeat(" ", 64<<10) + "maple leaf",
			[]plan.Denial{some},
			fhir.Unexplained,
		},
		"a part within what is read": {
			403, "maple leaf" + strings.Repeat(" ", 1<<20),
			[]plan.Denial{some},
			fhir.Denied,
		},
		"an outcome of more than what is read": {
			400, strings.TrimSuffix(needs, "}") + strings.Repeat(" ", 64<<10) + "}",
			nil, fhir.Unexplained,
		},
		"not modified, though denials say so":   {304, "", []plan.Denial{{Status: 304}}, fhir.Unexplained},
		"an expired token, where 401 is denial": {401, "<html>maple</html>", []plan.Denial{{Status: 401}}, fhir.Denied},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEHR(t, map[string]http.HandlerFunc{"": reply(test.status, test.body)})
			r := politeReader(t, e.URL, plan.Profile{Denials: test.denials})
			_, err := r.Read(t.Context(), "Patient", "1", fhir.MaxPage)
			_, fileErr := r.Attachment(t.Context(), "Binary/1", 100)
			for _, err := range []error{err, fileErr} {
				class := map[int]fhir.Class{
					304: fhir.Rejected, 400: fhir.Rejected, 401: fhir.Unauthorized, 403: fhir.Forbidden, 404: fhir.NotFound,
					500: fhir.ServerFault,
				}[test.status]
				failure := wantFailure(t, err, class)
				if failure.Refusal != test.want || failure.Status != test.status {
					t.Errorf("got refusal %q with status %d, want %q", failure.Refusal, failure.Status, test.want)
				}
				if strings.Contains(fmt.Sprintf("%+v", failure), "maple") {
					t.Errorf("the error keeps the body: %+v", failure)
				}
			}
		})
	}
}

func TestReaderLimitsDecompressionOfErrorResponse(t *testing.T) {
	t.Parallel()
	e := newEHR(t, map[string]http.HandlerFunc{"": bomb(http.StatusForbidden, 8)})
	_, err := reader(t, e.URL).Read(t.Context(), "Patient", "1", fhir.MaxPage)
	if failure := wantFailure(t, err, fhir.Forbidden); failure.Refusal != fhir.Unexplained {
		t.Errorf("got %+v", failure)
	}
}

const answeredAt = "Sat, 21 Nov 2026 12:00:00 GMT" // 1795262400

func TestReaderParsesRateLimits(t *testing.T) {
	t.Parallel()
	known := func(limit, remaining int, reset time.Duration) fhir.Rate {
		return fhir.Rate{Limit: limit, Remaining: remaining, Reset: reset, Known: true}
	}
	for name, test := range map[string]struct {
		headers string // values of the draft's Limit, Remaining and Reset headers, then of their X- variants
		date    string
		want    fhir.Rate
	}{
		"none":                          {" | | | | | ", answeredAt, fhir.Rate{}},
		"the draft":                     {"100|7|30| | | ", answeredAt, known(100, 7, 30*time.Second)},
		"the draft, with its policies":  {"100, 100;w=60|7|30| | | ", answeredAt, known(100, 7, 30*time.Second)},
		"a policy at once":              {"100;w=60|7|30| | | ", answeredAt, known(100, 7, 30*time.Second)},
		"with X-":                       {" | | |50|0|5", answeredAt, known(50, 0, 5*time.Second)},
		"both":                          {"100|7|30|50|0|5", answeredAt, known(100, 7, 30*time.Second)},
		"the draft is malformed":        {"many|7|30|50|0|5", answeredAt, known(50, 0, 5*time.Second)},
		"no reset":                      {" | | |50|1| ", answeredAt, known(50, 1, 0)},
		"a Unix time":                   {" | | |50|1|1795262460", answeredAt, known(50, 1, time.Minute)},
		"a Unix time that has passed":   {" | | |50|1|1795262399", answeredAt, known(50, 1, 0)},
		"a Unix time far away":          {" | | |50|1|1895262399", answeredAt, known(50, 1, 24*time.Hour)},
		"a Unix time in milliseconds":   {" | | |50|1|1795262460000", answeredAt, known(50, 1, 24*time.Hour)},
		"a Unix time, but no Date":      {" | | |50|1|1795262460", "today", fhir.Rate{}},
		"a reset in many years":         {" | | |50|1|999999999", answeredAt, known(50, 1, 24*time.Hour)},
		"a malformed reset":             {" | | |50|1|soon", answeredAt, fhir.Rate{}},
		"a reset beyond all numbers":    {" | | |50|1|99999999999999999999", answeredAt, fhir.Rate{}},
		"a negative reset":              {" | | |50|1|-1", answeredAt, fhir.Rate{}},
		"negative numbers":              {" | | |-50|-1|5", answeredAt, fhir.Rate{}},
		"a limit of nothing":            {" | | |0|0|5", answeredAt, fhir.Rate{}},
		"only what remains":             {" | | | |1|5", answeredAt, fhir.Rate{}},
		"only the limit":                {" | | |50| |5", answeredAt, fhir.Rate{}},
		"a fraction":                    {" | | |50|1.5|5", answeredAt, fhir.Rate{}},
		"half of each, which are apart": {"100| |30| |1| ", answeredAt, fhir.Rate{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			values := strings.Split(test.headers, "|")
			headers := append(make([]string, 0, 14), "Date", test.date)
			for i, header := range []string{
				"RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset",
				"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset",
			} {
				headers = append(headers, header, strings.TrimSpace(values[i]))
			}
			e := newEHR(t, map[string]http.HandlerFunc{"": reply(http.StatusOK, "{}", headers...)})
			r := reader(t, e.URL)
			metadata, failed := r.Metadata(t.Context())
			read, readErr := r.Read(t.Context(), "Patient", "1", fhir.MaxPage)
			searched, searchErr := r.Search(t.Context(), "Basic", nil, fhir.MaxPage)
			page, pageErr := r.Page(t.Context(), "Basic?page=2", fhir.MaxPage)
			for _, err := range []error{failed, readErr, searchErr, pageErr} {
				if err != nil {
					t.Fatal(err)
				}
			}
			for _, got := range []fhir.Rate{metadata.Rate, read.Rate, searched.Rate, page.Rate} {
				if got != test.want {
					t.Errorf("got %+v, want %+v", got, test.want)
				}
			}
		})
	}
}

func TestReaderParsesEveryRetryAfterFormat(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		status  int
		headers []string
		want    time.Duration
	}{
		"Retry-After":               {429, []string{"Retry-After", "7", "RateLimit-Reset", "30"}, 7 * time.Second},
		"Retry-After of nothing":    {429, []string{"Retry-After", "0", "RateLimit-Reset", "30"}, 0},
		"the draft":                 {429, []string{"RateLimit-Reset", "30", "X-RateLimit-Reset", "5"}, 30 * time.Second},
		"with X-":                   {503, []string{"X-RateLimit-Reset", "5"}, 5 * time.Second},
		"the draft is malformed":    {503, []string{"RateLimit-Reset", "soon", "X-RateLimit-Reset", "5"}, 5 * time.Second},
		"a Unix time":               {429, []string{"Date", answeredAt, "X-RateLimit-Reset", "1795262460"}, time.Minute},
		"a Unix time, but no Date":  {429, []string{"Date", "today", "X-RateLimit-Reset", "1795262460"}, 0},
		"far away":                  {429, []string{"X-RateLimit-Reset", "999999999"}, 24 * time.Hour},
		"no server that is busy":    {500, []string{"X-RateLimit-Reset", "5"}, 0},
		"nothing of what is wanted": {429, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEHR(t, map[string]http.HandlerFunc{"": reply(test.status, "", test.headers...)})
			_, err := reader(t, e.URL).Read(t.Context(), "Patient", "1", fhir.MaxPage)
			class := map[int]fhir.Class{429: fhir.Limited, 500: fhir.ServerFault, 503: fhir.ServerFault}[test.status]
			if failure := wantFailure(t, err, class); failure.RetryAfter != test.want {
				t.Errorf("%s to wait, want %s", failure.RetryAfter, test.want)
			}
		})
	}
}
