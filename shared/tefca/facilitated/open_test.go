package facilitated_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/shared/tefca"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/secret"
)

func TestOpenReturnsTokensForPatient(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "expires-in:text")
		who := identityProvider().assertion(t, maple(t))
		told := w.located(t, t.Context(), who)
		set, err := w.Open(t.Context(), who, told["Facility 1"])
		base := w.places[0].FHIRBase
		if err != nil || set.AccessToken.Empty() || !set.RefreshToken.Empty() ||
			set.PatientID.Reveal() != "patient-tefca-p01" {
			t.Fatalf("%+v, %v", set, err)
		}
		if set.Scope != "patient/*.read" || set.FHIRBase != base ||
			set.TokenEndpoint != strings.TrimSuffix(base, "/fhir")+"/udap/token" ||
			set.ClientID == "" || !set.ExpiresAt.Equal(time.Now().Add(time.Hour)) {
			t.Errorf("%+v", set)
		}
		if w.wire.count("/udap/register") != 1 || w.wire.count("/.well-known/udap") != 1 {
			t.Error("the facility's metadata and our registration are not remembered")
		}
		<-time.After(time.Hour + time.Minute)
		if _, err = w.Open(t.Context(), identityProvider().assertion(t, maple(t)), told["Facility 1"]); err != nil ||
			w.wire.count("/.well-known/udap") != 2 {
			t.Errorf("%v; what a facility has said of itself is believed for ever", err)
		}
	})
}

func TestAccessTokenIsSentOnlyToFHIRBaseURL(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "", "no-patient")
		led := func(out http.ResponseWriter, r *http.Request) {
			http.Redirect(out, r, "https://a.evil.example/fhir/Patient", http.StatusTemporaryRedirect)
		}
		who := identityProvider().assertion(t, maple(t))
		if told := w.located(t, t.Context(), who); len(told) != 2 {
			t.Fatalf("told of %v", told)
		}
		w.wire.instead["/fhir/Patient"], w.wire.instead["/fhir/Patient/patient-tefca-p01"] = led, led
		for i := range w.places {
			if _, err := w.Open(t.Context(), who, w.facility(i)); err == nil {
				t.Error("the Patient was read at another server")
			}
		}
		bearer, shown := w.wire.hosts()
		for _, address := range append(bearer, shown...) {
			if address != host && !strings.HasPrefix(address, host+"/sandbox/with/") {
				t.Errorf("%s was shown a token", address)
			}
		}
		if len(bearer) == 0 || len(shown) == 0 {
			t.Error("nothing was asked")
		}
	})
}

func TestOpenRejectsDifferentPatient(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		who := identityProvider().assertion(t, maple(t))
		w := newWorld(t, "udap:other-patient", "", "udap:other-patient,no-patient", "")
		located := w.facility(1)
		located.Local = secret.New("patient-tefca-p02") // the patient that Locate found
		strange := w.facility(1)
		strange.ID = "urn:oid:2.999.7.99"
		for name, at := range map[string]tefca.Facility{
			"a facility that takes one for another": w.facility(0), "and does not say so": w.facility(2),
			"who is not the one that was found": located,
		} {
			if set, err := w.Open(t.Context(), who, at); !errors.Is(err, tefca.ErrOtherPerson) || !set.AccessToken.Empty() {
				t.Errorf("%s: %v", name, err)
			}
		}
		if _, err := w.Open(t.Context(), who, strange); !errors.Is(err, tefca.ErrRefused) {
			t.Errorf("a facility of no network: %v", err)
		}
		for name, body := range map[string]string{
			"another birth date": `{"resourceType":"Patient","id":"patient-tefca-p01","birthDate":"1984-03-13",` +
				`"name":[{"family":"Aster","given":["Maple"]}]}`,
			"another name": `{"resourceType":"Patient","id":"patient-tefca-p01","birthDate":"1984-03-12",` +
				`"name":[{"family":"Birch","given":["Sorrel"]}]}`,
			"a brother": `{"resourceType":"Patient","id":"patient-tefca-p01","birthDate":"1984-03-12",` +
				`"gender":"male","name":[{"family":"Aster","given":["Maple"]}]}`,
			"only the year": `{"resourceType":"Patient","id":"patient-tefca-p01","birthDate":"1984",` +
				`"name":[{"family":"Aster","given":["Maple"]}]}`,
			"no name": `{"resourceType":"Patient","id":"patient-tefca-p01","birthDate":"1984-03-12"}`,
			"another id": `{"resourceType":"Patient","id":"patient-tefca-p02","birthDate":"1984-03-12",` +
				`"name":[{"family":"Aster","given":["Maple"]}]}`,
			"no Patient": `{"resourceType":"Person","id":"patient-tefca-p01","birthDate":"1984-03-12"}`,
		} {
			w.wire.instead["/fhir/Patient/patient-tefca-p01"] = answering(body)
			if _, err := w.Open(t.Context(), who, w.facility(3)); !errors.Is(err, tefca.ErrContent) {
				t.Errorf("%s: %v", name, err)
			}
		}
		for name, body := range map[string]string{
			"other letters": `{"resourceType":"Patient","id":"patient-tefca-p01","birthDate":"1984-03-12",` +
				`"name":[{"family":"ASTER","given":["Máple","X"]}]}`,
			"two names": `{"resourceType":"Patient","id":"patient-tefca-p01","birthDate":"1984-03-12",` +
				`"name":[{"family":"Birch"},{"family":"Aster","given":["Maple"]}]}`,
		} {
			w.wire.instead["/fhir/Patient/patient-tefca-p01"] = answering(body)
			if _, err := w.Open(t.Context(), who, w.facility(3)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

func TestNetworkReregistersWhenClientIsUnknown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "")
		who := identityProvider().assertion(t, maple(t))
		if _, err := w.Open(t.Context(), who, w.facility(0)); err != nil {
			t.Fatal(err)
		}
		handler, refusals := w.wire.handler, 1
		w.wire.instead["/udap/token"] = func(out http.ResponseWriter, r *http.Request) {
			if refusals--; refusals < 0 {
				handler.ServeHTTP(out, r)
				return
			}
			out.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(out, `{"error":"invalid_client"}`)
		}
		<-time.After(time.Second)
		if _, err := w.Open(t.Context(), who, w.facility(0)); err != nil || w.wire.count("/udap/register") != 2 {
			t.Errorf("%v after %d registrations", err, w.wire.count("/udap/register"))
		}
		refusals = 100
		if _, err := w.Open(t.Context(), who, w.facility(0)); !errors.Is(err, tefca.ErrRefused) ||
			w.wire.count("/udap/register") != 3 {
			t.Errorf("%v after %d registrations", err, w.wire.count("/udap/register"))
		}
	})
}

// TestOpenFailsOnUntrustedMetadata checks that the service sends no identity to a server that hasn't proven that it
// belongs to the facility.
func TestOpenFailsOnUntrustedMetadata(t *testing.T) {
	t.Parallel()
	for switches, c := range map[string]struct {
		want  error
		shown bool
	}{
		"udap:unsigned":            {tefca.ErrContent, false},
		"udap:other-authority":     {tefca.ErrContent, false},
		"udap:wrong-san":           {tefca.ErrContent, false},
		"udap:expired-certificate": {tefca.ErrContent, false},
		"udap:expired-metadata":    {tefca.ErrContent, false},
		"udap:other-issuer":        {tefca.ErrContent, false},
		"udap:other-endpoints":     {tefca.ErrContent, false},
		"udap:redirect":            {tefca.ErrContent, true},
		"udap:refuses":             {tefca.ErrRefused, true},
		"udap:slow":                {tefca.ErrUnavailable, true},
		"scopes:v1":                {nil, true},
		"access:5s":                {nil, true},
	} {
		t.Run(switches, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, switches)
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				_, err := w.Open(ctx, identityProvider().assertion(t, maple(t)), w.facility(0))
				_, shown := w.wire.hosts()
				if !errors.Is(err, c.want) || (len(shown) > 0) != c.shown {
					t.Errorf("%v, identity shown to %v", err, shown)
				}
				if slices.ContainsFunc(shown, func(h string) bool { return h != host }) {
					t.Errorf("identity shown to %v", shown)
				}
			})
		})
	}
}

func TestErrorsAndLogsOmitPersonalData(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		who := identityProvider().assertion(t, maple(t))
		w := newWorld(t, "udap:slow", "udap:other-patient", "udap:redirect", "udap:refuses", "udap:wrong-san", "",
			"no-patient")
		secretive := func(out http.ResponseWriter, r *http.Request) {
			_ = r.ParseForm()
			out.WriteHeader(http.StatusBadRequest)
			_ = json.NewEncoder(out).Encode(map[string]any{
				"error": who.Token.Reveal(), "error_description": "Aster Maple 1984-03-12 " + r.PostForm.Encode(),
			})
		}
		var lines bytes.Buffer
		logged := slog.New(slog.NewJSONHandler(&lines, nil))
		ctx, event := logx.Begin(t.Context())
		_ = w.Locate(ctx, who, func(tefca.Facility) error { return nil })
		errs := make([]error, 0, len(w.places))
		for i := range w.places {
			if i > 4 {
				w.wire.instead["/udap/token"] = secretive
			}
			inTime, cancel := context.WithTimeout(ctx, time.Second)
			_, err := w.Open(inTime, who, w.facility(i))
			cancel()
			errs = append(errs, err)
			logx.Fail(ctx, err)
		}
		event.Emit(ctx, logged, "done")
		text := lines.String() + fmt.Sprintf("%+v", errors.Join(errs...))
		for _, word := range []string{
			"Aster", "Maple", "1984", "sentinel-subject", who.Token.Reveal(), "patient-tefca",
			"client_assertion", "Example Street",
		} {
			if strings.Contains(text, word) {
				t.Errorf("%q is told: %s", word, text)
			}
		}
		if !strings.Contains(text, "certificate_subject") || len(errs) != 7 {
			t.Errorf("an operator is not told what is wrong: %s", text)
		}
	})
}
