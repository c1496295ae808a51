package e2e_test

import (
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"recordbridge/infra/testkit/built"
	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/adapters/blob"
	"recordbridge/shared/manage/operator"
)

// page requests a path below the base URL as a browser would. header lists additional headers as name-value pairs.
func (o browsing) page(at string, header ...string) answer {
	o.t.Helper()
	given := http.Header{}
	for i := 0; i+1 < len(header); i += 2 {
		given.Set(header[i], header[i+1])
	}
	return o.send(http.MethodGet, at, given, nil)
}

// booted is the initial data embedded in a page.
type booted struct {
	Shell    string `json:"shell"`
	BaseURL  string `json:"base_url"`
	Mode     string `json:"api_mode"`
	PublicID string `json:"public_id"`
	Org      *struct{ Name string }
	Error    *struct{ Error string }
	Query    map[string]string
}

func boot(o *outside, of answer) booted {
	o.t.Helper()
	found := regexp.MustCompile(`(?s)type="application/json"[^>]*>(.*?)</script>`).FindSubmatch(of.raw)
	if len(found) != 2 {
		o.t.Fatalf("no page that boots: %d %s", of.status, of.raw)
	}
	var boot booted
	expect.NoError(o.t, json.Unmarshal(found[1], &boot))
	return boot
}

// keepReleased stores another release's files at the given paths, as a deployment does.
func (s *stack) keepReleased(paths ...string) {
	s.t.Helper()
	bucket := blob.Bucket{Client: s3.NewFromConfig(s.cloud.Config("test")), Name: s.template.Outputs["WidgetBucket"]}
	for _, at := range paths {
		for _, form := range []string{"", ".br", ".gz"} {
			expect.NoError(s.t, bucket.Put(s.t.Context(), strings.TrimPrefix(at, "/")+form, "", []byte("of another release")))
		}
	}
}

// runPages requests the widget's pages as a browser would, and then paths that must not be served.
func runPages(s *stack) {
	s.t.Helper()
	runHostedPage(s.outside)
	public := "?public_id=" + s.seeded.Organisations[0].PublicID
	frame := s.patient.page("/widget/embed"+public, "Accept-Language", "es")
	if boot := boot(s.outside, frame); frame.status != http.StatusOK || boot.Shell != "frame" || boot.Org == nil ||
		boot.BaseURL != s.seeded.BaseURL || boot.Mode != "test" {
		s.t.Errorf("the frame is %d %+v", frame.status, boot)
	}
	for at, want := range map[string]int{
		"/widget/embed?public_id=public_test_00000000-0000-4000-8000-000000000000": 400, "/widget/connect": 400, "/demo": 200,
		"/dashboard": 200, "/demo?lang=en&lang=es": 400, "/docs": 302, "/docs/reference/api.html": 200,
		"/docs/gone/page.html": 404, "/docs/..%2Fui%2Fmanifest.json": 404, "/docs/manifest.json": 404,
		"/widget/assets/..%2Fmanifest.json": 404, "/widget/assets/embed-1a2b3c.js.br": 404, "/sdk/4/%2e%2e": 404,
		"/sdk/..%2F..%2Fpages/embed.en.html": 404,
	} {
		got := s.patient.page(at)
		if got.status != want || strings.Contains(string(got.raw), s.seeded.Organisations[0].Name) {
			s.t.Errorf("%s answered %d %s", at, got.status, got.raw)
		}
	}
	healthy := s.patient.page("/health")
	if want := `{"status":"ok","version":"0.1.0","commit":"1a2b3c4d5e6f"}`; healthy.status != http.StatusOK ||
		strings.TrimSpace(string(healthy.raw)) != want {
		s.t.Errorf("the health is %d %s, want %s", healthy.status, healthy.raw, want)
	}
	packed := s.patient.page("/widget/assets/embed-1a2b3c.js", "Accept-Encoding", "br")
	if string(packed.raw) != "\xffbr of embed.js" || packed.header.Get("Content-Encoding") != "br" {
		s.t.Errorf("the script is %q, %v", packed.raw, packed.header)
	}
	others := []string{"/widget/assets/embed-AB12CD34.js", "/sdk/4.0.7/svc-widget.js"}
	s.keepReleased(others...)
	for _, at := range others {
		if got := s.patient.page(at, "Accept-Encoding", "br"); got.status != http.StatusOK ||
			string(got.raw) != "of another release" {
			s.t.Errorf("%s, of another release, answered %d %s", at, got.status, got.raw)
		}
	}
	for _, at := range []string{
		"/widget/assets/embed-1a2b3c.js", "/sdk/4/svc-widget.js",
		"/sdk/" + built.Version + "/svc-widget.js", "/sdk/manifest.json", "/record-view.js", "/docs/index.html",
		"/docs/assets/app.1a2b.js",
	} {
		whole := s.patient.page(at, "Accept-Encoding", "identity")
		again := s.patient.page(at, "Accept-Encoding", "identity", "If-None-Match", whole.header.Get("ETag"))
		if whole.status != http.StatusOK || len(whole.raw) == 0 || again.status != http.StatusNotModified ||
			len(again.raw) != 0 {
			s.t.Errorf("%s answered %d, then %d", at, whole.status, again.status)
		}
	}
	for _, at := range []string{
		"/widget/assets/embed-1a2b3c.js", "/sdk/4/svc-widget.js", "/sdk/manifest.json", "/record-view.js", "/demo",
		"/dashboard", "/health", "/docs", "/docs/index.html",
	} {
		if got := s.send(http.MethodPost, at, http.Header{}, nil); got.status != http.StatusMethodNotAllowed {
			s.t.Errorf("POST %s answered %d", at, got.status)
		}
	}
}

// TestUnknownAssetReturns404 checks that a request for a missing file returns 404. S3 itself returns 403 to callers
// that may not list the bucket.
func TestUnknownAssetReturns404(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, options{})
		s.expectDenials = true
		for _, at := range []string{"/widget/assets/embed-EF56GH78.js", "/sdk/4.0.8/svc-widget.js"} {
			if got := s.patient.page(at); got.status != http.StatusNotFound || got.Error != "svc_not_found" {
				t.Errorf("%s answered %d %s", at, got.status, got.raw)
			}
		}
	})
}

// runHostedPage opens the hosted page without an institution, as an application may. The patient selects an
// institution, connects, and returns to the application through the hosted page.
func runHostedPage(o *outside) {
	o.t.Helper()
	address, err := url.Parse(o.patient.connectURL())
	expect.NoError(o.t, err)
	query := address.Query()
	endpoint := query.Get("endpoint_id")
	query.Del("endpoint_id")
	address.RawQuery = query.Encode()
	b := o.patient.browser()
	page := b.get(address).location()
	if page == nil || !strings.HasSuffix(page.Path, "/widget/connect") || len(b.cookies) != 0 {
		o.t.Fatalf("without an institution the browser goes to %v with %v", page, b.cookies)
	}
	at := strings.TrimPrefix(page.String(), o.seeded.BaseURL)
	shown := o.patient.page(at)
	if shown.status == http.StatusServiceUnavailable {
		o.t.Skip("the stack was built without pages")
	}
	boot := boot(o, shown)
	if boot.Shell != "page" || boot.Org == nil || boot.Query["redirect_uri"] != query.Get("redirect_uri") ||
		boot.Query["external_state"] != "state-9" {
		o.t.Fatalf("the page is %d %+v", shown.status, boot)
	}
	picked := url.Values{"public_id": {boot.PublicID}, "endpoint_id": {endpoint}}
	for name, value := range boot.Query {
		picked.Set(name, value)
	}
	_, last := b.open(o.seeded.BaseURL+"/bridge/connect?"+picked.Encode(), crashPersona, "approve")
	if last == nil || last.Query().Get("connection_status") != "authorized" ||
		last.Query().Get("external_state") != "state-9" {
		o.t.Errorf("the patient came back with %v", last)
	}
}

func TestHostedPageConnectsChosenInstitutionFromOutside(t *testing.T) {
	t.Parallel()
	fromOutside(t, func(t *testing.T, o *outside) {
		t.Helper()
		runHostedPage(o)
	})
}

// TestWidgetElementMatchesManifestFromOutside checks that each version's file matches the manifest's integrity value.
// The major version's URL must serve the file of the newest release.
func TestWidgetElementMatchesManifestFromOutside(t *testing.T) {
	t.Parallel()
	fromOutside(t, func(t *testing.T, o *outside) {
		t.Helper()
		listed := o.patient.page("/sdk/manifest.json")
		if listed.status == http.StatusServiceUnavailable {
			t.Skip("the stack was built without pages")
		}
		var manifest struct {
			Files map[string]struct{ Path, Integrity string }
		}
		expect.NoError(t, json.Unmarshal(listed.raw, &manifest))
		element, ok := manifest.Files["svc-widget.js"]
		if !ok {
			t.Fatalf("the manifest is %s", listed.raw)
		}
		pinned := o.patient.page("/sdk/"+element.Path, "Accept-Encoding", "identity")
		major, _, _ := strings.Cut(element.Path, ".")
		floating := o.patient.page("/sdk/"+major+"/svc-widget.js", "Accept-Encoding", "identity")
		sum := sha512.Sum384(pinned.raw)
		if "sha384-"+base64.StdEncoding.EncodeToString(sum[:]) != element.Integrity ||
			string(floating.raw) != string(pinned.raw) {
			t.Errorf("%s is not as its integrity says, or the major version is another", element.Path)
		}
	})
}

func hashOf(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// TestAttemptWithClientChosenIDBelongsToCreator checks that an attempt whose ID and token were chosen by the caller can
// be used only with that token. An older version of the widget element chooses both itself, because its window creates
// the attempt.
func TestAttemptWithClientChosenIDBelongsToCreator(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, options{})
		const id, token = "3a1d5c90-2b7e-4c1f-8a52-7d0e9f6b4c21", "pN3kVw0yq2xRZc8tHj5uLb1sFa7mEd4oGi9rTv6yKQ0"
		own := map[string]string{
			"endpoint_id": s.seeded.Sandbox.EndpointID, "attempt_id": id, "external_state": "state-9",
			"token_hash": hashOf(token),
		}
		made := s.patient.makeAttempt(own)
		if made.ID != id || made.Token != "" {
			t.Errorf("made %+v", made)
		}
		if again := s.patient.makeAttempt(own); again.ID != id || again.Start == made.Start {
			t.Errorf("whoever lost the answer has %+v", again)
		} else {
			made = again
		}
		made.Token = token
		isTaken := func(name string, asked map[string]string) {
			got := s.call(http.MethodPost, "/bridge/attempts?public_id="+s.seeded.Organisations[0].PublicID, "", "", asked)
			if got.status != http.StatusConflict || got.Error != "svc_invalid_request" || got.Data != nil {
				t.Errorf("%s: %d %s", name, got.status, got.raw)
			}
		}
		isTaken("another's token", map[string]string{
			"endpoint_id": s.seeded.Sandbox.EndpointID, "attempt_id": id,
			"token_hash": hashOf("thief"),
		})
		s.patient.openWindow(made)
		isTaken("its own, after the browser has left", own)
		if got := s.patient.watchAttempt(made); got.Status != "done" || got.Result.ExternalState != "state-9" {
			t.Errorf("the attempt is %+v", got)
		}
		stranger := made
		stranger.Token = "thief"
		if got := s.patient.watchAttempt(stranger).Status; got != "" {
			t.Errorf("the thief reads %q", got)
		}
	})
}

// TestFrameAllowsOnlyRegisteredOrigins checks that only registered origins and the service's playground can frame the
// page. The service's own origin can call the API without registration.
func TestFrameAllowsOnlyRegisteredOrigins(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, options{})
		own := s.seeded.Organisations[0].PublicID
		_, err := s.operator.Credentials.Change(t.Context(), own,
			operator.CredentialChange{AddOrigins: []string{"https://app.example"}})
		expect.NoError(t, err)
		frame := s.patient.page("/widget/embed?public_id=" + own)
		if policy := frame.header.Get("Content-Security-Policy"); !strings.HasSuffix(policy,
			"; frame-ancestors 'self' https://app.example") {
			t.Errorf("the policy is %q", policy)
		}
		ours, err := url.Parse(s.seeded.BaseURL)
		expect.NoError(t, err)
		got := s.send(http.MethodPost, "/bridge/attempts?public_id="+own,
			http.Header{"Origin": {ours.Scheme + "://" + ours.Host}},
			map[string]string{"endpoint_id": s.seeded.Sandbox.EndpointID})
		if got.status != http.StatusOK {
			t.Errorf("our own page's call answered %d %s", got.status, got.raw)
		}
	})
}
