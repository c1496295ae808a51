package callback_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"recordbridge/infra/testkit/expect"
	"recordbridge/infra/testkit/keyedtest"
	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/connect/binding"
	"recordbridge/shared/connect/flow"
	"recordbridge/shared/words/fault"
)

// wantCalmPage checks that the page shown in a widget's window loads no external resources and deletes the cookie. The
// page's only script notifies the widget and hides the portal's response. closes specifies whether the window must
// close itself.
func wantCalmPage(t *testing.T, w *httptest.ResponseRecorder, language, closing string, closes bool) {
	t.Helper()
	page := w.Body.String()
	script := expect.OwnPolicy(t, w.Header().Get("Content-Security-Policy"), page)
	if w.Header().Get("Location") != "" || w.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("headers %v", w.Header())
	}
	for _, part := range []string{`<html lang="` + language + `">`, "width=device-width", "<h1>", closing} {
		if !strings.Contains(page, part) {
			t.Errorf("the page lacks %q", part)
		}
	}
	for _, part := range []string{
		`window.opener.postMessage({ svc: "nudge" }, window.location.origin);`,
		`history.replaceState(null, "", window.location.pathname);`,
	} {
		if !strings.Contains(script, part) {
			t.Errorf("the script lacks %q:\n%s", part, script)
		}
	}
	if strings.Contains(page, "{{") || strings.Contains(script, "window.close(); }, 1500)") != closes {
		t.Errorf("closes is not %v:\n%s", closes, script)
	}
	wantEndedCookie(t, w)
}

func TestCallbackShowsResultPageInWindow(t *testing.T) {
	t.Parallel()
	c := completer{done: flow.Completed{InWidget: true, Result: url.Values{"org_connection_id": {"c1"}}}}
	w := c.visit(t, httpapi.Limiter{}, http.MethodGet, "?state=s1&code=c", "binding")
	if page := w.Body.String(); w.Code != http.StatusOK || !strings.Contains(page, "You are connected") ||
		strings.Contains(page, "c1") {
		t.Errorf("got %d %s", w.Code, page)
	}
	wantCalmPage(t, w, "en", "Return to the application", true)
}

func TestCallbackShowsErrorInWindow(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err   error
		shown string
	}{
		"a refusal":       {fault.New(fault.Upstream, "access_denied", "The patient declined."), "The patient declined."},
		"markup":          {fault.BadRequest("<script>alert(1)</script>"), "&lt;script&gt;alert(1)&lt;/script&gt;"},
		"our own failure": {errTrouble, "Something went wrong on our side."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			flows := completer{done: flow.Completed{InWidget: true, ExternalState: "visit&9"}, err: c.err}
			w := flows.visit(t, httpapi.Limiter{}, http.MethodGet, "?state=s1&error=any&error_description=evil", "binding")
			page := w.Body.String()
			if w.Code != http.StatusOK || !strings.Contains(page, c.shown) || !strings.Contains(page, keyedtest.RequestID) {
				t.Errorf("got %d %s", w.Code, page)
			}
			if strings.Contains(page, "evil") || strings.Contains(page, "10.0.0.7") ||
				strings.Contains(page, "You are connected") {
				t.Errorf("the page says what it must not:\n%s", page)
			}
			if len(flows.requests) != 1 || flows.requests[0] != keyedtest.RequestID {
				t.Errorf("the attempt got the request ids %q, the page %s", flows.requests, keyedtest.RequestID)
			}
			wantCalmPage(t, w, "en", "Close this window", false)
		})
	}
}

func TestCallbackWindowUsesPatientLanguage(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err     error
		closing string
	}{
		"¡Listo! Ya está conectado": {nil, "Vuelva a la aplicación"},
		"No se pudo conectar":       {fault.BadRequest("No."), "Cierre esta ventana"},
	} {
		flows := completer{done: flow.Completed{InWidget: true}, err: c.err}
		w := flows.visitIn(t, "es-MX,es;q=0.9,en;q=0.8", httpapi.Limiter{}, http.MethodGet, "?state=s1&code=c", "binding")
		if !strings.Contains(w.Body.String(), "<title>"+name+"</title>") {
			t.Errorf("got %s", w.Body)
		}
		wantCalmPage(t, w, "es", c.closing, c.err == nil)
	}
	var c completer
	w := c.visitIn(t, "es", httpapi.Limiter{}, http.MethodGet, "?state=s1", "binding")
	if !strings.Contains(w.Body.String(), "Le llevamos de vuelta") {
		t.Errorf("got %s", w.Body)
	}
}

// TestCallbackWindowUsesAttemptBranding checks that every final page shows the organisation's branding in the widget's
// language, regardless of the browser's language.
func TestCallbackWindowUsesAttemptBranding(t *testing.T) {
	t.Parallel()
	cancelled := binding.Cancellation().Shown.Because(errTrouble)
	cancelled.Cause = binding.Cancelled
	for name, c := range map[string]struct {
		err      error
		language string
		shown    []string
	}{
		"connected": {nil, "es", []string{"Vuelva a Alder &lt;Clinic&gt;."}},
		"failed":    {fault.BadRequest("No."), "es", []string{"vuelva a Alder &lt;Clinic&gt; e", "No."}},
		"cancelled": {
			cancelled, "es", []string{"Inicio de sesión cancelado", "No se compartió ningún registro."},
		},
		"cancelled, in English": {cancelled, "en", []string{"You stopped this sign-in", "No records were shared."}},
	} {
		look := binding.Look{
			Language: c.language, Organisation: "Alder <Clinic>", Logo: "https://cdn.example/logo.png", Accent: "#0a7d33",
		}
		flows := completer{done: flow.Completed{InWidget: true, Look: look}, err: c.err}
		w := flows.visitIn(t, "fr,en;q=0.1", httpapi.Limiter{}, http.MethodGet, "?state=s1&code=c", "binding")
		shown := []string{`src="https://cdn.example/logo.png"`, "<bdi>Alder &lt;Clinic&gt;</bdi>", "--accent: #0a7d33"}
		for _, part := range append(shown, c.shown...) {
			if !strings.Contains(w.Body.String(), part) {
				t.Errorf("%s: the page lacks %q:\n%s", name, part, w.Body)
			}
		}
		if w.Code != http.StatusOK || strings.Contains(w.Body.String(), "The patient cancelled") {
			t.Errorf("%s: %d", name, w.Code)
		}
		wantCalmPage(t, w, c.language, "<h1>", c.err == nil)
	}
}
