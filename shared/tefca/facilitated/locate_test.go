package facilitated_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/shared/tefca"
	"recordbridge/shared/words/logx"
)

func TestLocateFindsFacilityThatKnowsPatient(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "", "no-patient")
		told := w.located(t, t.Context(), identityProvider().assertion(t, maple(t)))
		for _, name := range []string{"Facility 1", "Facility 2"} { // Facility 2 names no patient in token responses
			f := told[name]
			if f.Match != tefca.Found || f.Access != tefca.FHIR || f.Local.Reveal() != "patient-tefca-p01" ||
				f.City != "Madison" {
				t.Errorf("%s: %+v, locally %q", name, f, f.Local.Reveal())
			}
		}
	})
}

func TestLocateOmitsFacilityWhenPatientIsUnknown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "no-patient")
		w.wire.instead["/fhir/Patient"] = answering(`{"resourceType":"Bundle","type":"searchset","total":0}`)
		if told := w.located(t, t.Context(), identityProvider().assertion(t, maple(t))); len(told) != 0 {
			t.Errorf("a token that opens nobody: told of %v", told)
		}
	})
}

// TestLocateReportsAndLogsRejectedIdentity covers error responses that could mean either an unknown person or an
// untrusted service.
func TestLocateReportsAndLogsRejectedIdentity(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		stranger := maple(t)
		stranger.BirthDate = "1984-03-13" // The date of birth is off by one day.
		for name, test := range map[string]struct {
			instead http.HandlerFunc // nil for the sandbox, which has no patient with this date of birth
			status  int
		}{
			"as the sandbox says it": {nil, http.StatusBadRequest},
			"without a description":  {refusing(http.StatusUnauthorized, `{"error":"invalid_grant"}`), http.StatusUnauthorized},
			"with one": {refusing(http.StatusBadRequest,
				`{"error":"invalid_grant","error_description":"No match for Maple Aster"}`), http.StatusBadRequest},
			"of a server in trouble": {
				refusing(http.StatusServiceUnavailable, `{"error":"invalid_grant"}`),
				http.StatusServiceUnavailable,
			},
		} {
			w := newWorld(t, "")
			if test.instead != nil {
				w.wire.instead["/udap/token"] = test.instead
			}
			var lines bytes.Buffer
			ctx, unit := logx.Begin(t.Context())
			told := w.located(t, ctx, identityProvider().assertion(t, stranger))
			unit.Emit(ctx, logx.New(&lines), "unit")
			if told["Facility 1"].Match != tefca.Unanswered {
				t.Errorf("%s: told of %v", name, told)
			}
			want := fmt.Sprintf(`"class":"invalid_grant","upstream_status":%d,"directory_id":%q`, test.status, w.places[0].ID)
			if !strings.Contains(lines.String(), want) || strings.Contains(lines.String(), "Aster") {
				t.Errorf("%s: logged\n%s", name, lines.String())
			}
		}
	})
}

func refusing(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

func answering(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/fhir+json")
		_, _ = w.Write([]byte(body))
	}
}

// TestLocateLogsFacilityThatReturnsWrongPatient checks the log, because TEFCA requires the service to inform the
// facility of the error.
func TestLocateLogsFacilityThatReturnsWrongPatient(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "udap:other-patient")
		var lines bytes.Buffer
		ctx, unit := logx.Begin(t.Context())
		told := w.located(t, ctx, identityProvider().assertion(t, maple(t)))
		unit.Emit(ctx, logx.New(&lines), "unit")
		if told["Facility 1"].Match != tefca.Unanswered || !strings.Contains(lines.String(), `"class":"other_person"`) {
			t.Errorf("told of %v, logged\n%s", told, lines.String())
		}
	})
}

func TestLocateReportsSeveralPatientsAsAmbiguous(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const one = `{"resource":{"resourceType":"Patient","id":"a"}}`
		for name, body := range map[string]string{
			"two": `{"resourceType":"Bundle","type":"searchset","entry":[` + one +
				`,{"resource":{"resourceType":"Patient","id":"b"}}]}`,
			"one of many": `{"resourceType":"Bundle","type":"searchset","total":3,"entry":[` + one + `]}`,
			"and more": `{"resourceType":"Bundle","type":"searchset","link":[{"relation":"next","url":"?page=2"}],"entry":[` +
				one + `]}`,
		} {
			w := newWorld(t, "no-patient")
			w.wire.instead["/fhir/Patient"] = answering(body)
			if told := w.located(t, t.Context(), identityProvider().assertion(t,
				maple(t))); told["Facility 1"].Match != tefca.Ambiguous {
				t.Errorf("%s: %+v", name, told)
			}
		}
	})
}

func TestLocateReportsUnresponsiveFacilityAsUnanswered(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bad := []string{
			"udap:unsigned", "udap:slow", "udap:refuses", "udap:redirect", "udap:other-patient", "expires-in:text,deny:Patient",
			"udap:other-authority",
		}
		w := newWorld(t, slices.Concat(bad, []string{""})...)
		began := time.Now()
		told := w.located(t, t.Context(), identityProvider().assertion(t, maple(t)))
		for i, switches := range bad {
			if f := told[fmt.Sprintf("Facility %d", i+1)]; f.Match != tefca.Unanswered || !f.Local.Empty() {
				t.Errorf("%s: %+v", switches, f)
			}
		}
		if told[fmt.Sprintf("Facility %d", len(bad)+1)].Match != tefca.Found {
			t.Error("the last facility answers, and is not found")
		}
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("a slow facility was waited for %v", took)
		}
	})
}

func TestLocateStopsWhenContextIsDoneOrCallbackFails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		portals := slices.Repeat([]string{"udap:slow"}, 20)
		w := newWorld(t, portals...)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		if told := w.located(t, ctx, identityProvider().assertion(t, maple(t))); len(told) != 20 ||
			time.Since(began) > time.Second {
			t.Errorf("told of %d facilities after %v", len(told), time.Since(began))
		}
		enough, calls := errors.New("enough"), 0
		began = time.Now()
		err := newWorld(t, slices.Concat([]string{""}, portals)...).Locate(t.Context(),
			identityProvider().assertion(t, maple(t)), func(tefca.Facility) error {
				calls++
				return enough
			})
		if !errors.Is(err, enough) || calls != 1 || time.Since(began) > time.Second {
			t.Errorf("%v after %d calls and %v", err, calls, time.Since(began))
		}
	})
}

func TestLocateRejectsExpiredAssertion(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "")
		who := identityProvider().assertion(t, maple(t))
		<-time.After(15 * time.Minute)
		err := w.Locate(t.Context(), who, func(tefca.Facility) error { return nil })
		_, opening := w.Open(t.Context(), who, w.facility(0))
		if !errors.Is(err, tefca.ErrIdentity) || !errors.Is(opening, tefca.ErrIdentity) || len(w.wire.asked) != 0 {
			t.Errorf("%v, %v, %d requests", err, opening, len(w.wire.asked))
		}
	})
}

func TestDocumentsReturnsEmptyList(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "")
		_, listed := w.Documents(t.Context(), tefca.Assertion{}, w.facility(0))
		_, retrieved := w.Retrieve(t.Context(), tefca.Assertion{}, w.facility(0), tefca.Document{}, 1)
		if !errors.Is(listed, tefca.ErrRefused) || !errors.Is(retrieved, tefca.ErrRefused) {
			t.Errorf("%v, %v", listed, retrieved)
		}
	})
}

func TestLocateRequestsOnlyPatientScope(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "")
		var scopes []string
		handler := w.wire.handler
		w.wire.instead["/udap/token"] = func(out http.ResponseWriter, r *http.Request) {
			_ = r.ParseForm()
			scopes = append(scopes, r.PostForm.Get("scope"))
			handler.ServeHTTP(out, r)
		}
		who := identityProvider().assertion(t, maple(t))
		told := w.located(t, t.Context(), who)
		if _, err := w.Open(t.Context(), who, told["Facility 1"]); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(scopes, []string{"patient/Patient.read", "patient/*.read"}) {
			t.Errorf("asked for %q", scopes)
		}
	})
}
