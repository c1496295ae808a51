package clientauth_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/vaulttest"
	"recordbridge/shared/catalog"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// use returns a ClientUse for a request to the token endpoint.
func use(authID string) catalog.ClientUse {
	return catalog.ClientUse{AuthID: authID, ClientID: client, TokenEndpoint: endpoint, Address: endpoint}
}

// authenticate returns the form values and headers that Authenticate adds to a request.
func (d *fixture) authenticate(t *testing.T, who org.Tenant, authID string) (url.Values, http.Header) {
	t.Helper()
	form, header := url.Values{}, http.Header{}
	if err := d.Authenticate(t.Context(), who, use(authID), form, header); err != nil {
		t.Fatal(err)
	}
	return form, header
}

// refuses checks that Authenticate fails and leaves the request unchanged. The error must be internal and contain the
// given text, but no secret.
func (d *fixture) refuses(t *testing.T, authID, says string) {
	t.Helper()
	form, header := url.Values{"grant_type": {"refresh_token"}, "client_id": {"before"}}, http.Header{}
	err := d.Authenticate(t.Context(), tenant, use(authID), form, header)
	if err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "hush") {
		t.Errorf("%s: got error %v, want one with %s", authID, err, says)
	}
	if kind := fault.Of(err).Kind; kind != fault.Internal {
		t.Errorf("%s: a fault of kind %s", authID, kind)
	}
	if len(form) != 2 || form.Get("client_id") != "before" || len(header) != 0 {
		t.Errorf("%s: the request was changed: %v %v", authID, form, header)
	}
}

func TestAuthenticateSendsOnlyClientIDForPublicClient(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	form, header := d.authenticate(t, tenant, "")
	if diff := cmp.Diff(url.Values{"client_id": {client}}, form); diff != "" || len(header) != 0 || d.rows.reads != 0 {
		t.Errorf("header %v, %d reads, form (-want +got):\n%s", header, d.rows.reads, diff)
	}
}

func TestAuthenticateSendsFormSecretUnchanged(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.withSecret(tenant, "post", catalog.AuthSecretPost, hush)
	form, header := d.authenticate(t, tenant, "post")
	if diff := cmp.Diff(url.Values{"client_id": {client}, "client_secret": {hush}}, form); diff != "" || len(header) != 0 {
		t.Errorf("header %v, form (-want +got):\n%s", header, diff)
	}
}

func TestAuthenticateFormEncodesBasicCredentials(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ id, secret, want string }{
		"plain":          {"client-1_a.b~c", "Secret9", "client-1_a.b~c:Secret9"},
		"colon":          {"a:b", "c:d", "a%3Ab:c%3Ad"},
		"percent":        {"a%2Fb", "100%", "a%252Fb:100%25"},
		"plus and space": {"a+b c", "+ ", "a%2Bb+c:%2B+"},
		"not ASCII":      {"ä", "päss€", "%C3%A4:p%C3%A4ss%E2%82%AC"},
		"form syntax":    {"a=b&c", "d/e?f#g", "a%3Db%26c:d%2Fe%3Ff%23g"},
		"line end":       {"a", "b\r\nX-Other: 1", "a:b%0D%0AX-Other%3A+1"},
	} {
		d := newFixture(t)
		d.withSecret(tenant, "basic", catalog.AuthSecretBasic, c.secret)
		form, header := url.Values{"client_id": {c.id}, "grant_type": {"refresh_token"}}, http.Header{}
		if err := d.Authenticate(t.Context(), tenant,
			catalog.ClientUse{AuthID: "basic", ClientID: c.id, TokenEndpoint: endpoint, Address: endpoint}, form,
			header); err != nil {
			t.Fatal(err)
		}
		want := http.Header{"Authorization": {"Basic " + base64.StdEncoding.EncodeToString([]byte(c.want))}}
		if diff := cmp.Diff([]any{url.Values{"grant_type": {"refresh_token"}}, want}, []any{form, header}); diff != "" {
			t.Errorf("%s: form and header (-want +got):\n%s", name, diff)
		}
		id, secret, _ := (&http.Request{Header: header}).BasicAuth()
		decodedID, idErr := url.QueryUnescape(id)
		decodedSecret, secretErr := url.QueryUnescape(secret)
		if decodedID != c.id || decodedSecret != c.secret || idErr != nil || secretErr != nil {
			t.Errorf("%s: a server reads %q and %q", name, decodedID, decodedSecret)
		}
	}
}

func TestAuthenticatePrefersTenantClientOverSharedClient(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.withSecret(org.Tenant{}, "both", catalog.AuthSecretPost, "everybody's")
	d.withSecret(tenant, "both", catalog.AuthSecretPost, "own")
	for who, want := range map[org.Tenant]string{
		tenant: "own", other: "everybody's",
		{Mode: org.Test, OrgID: tenant.OrgID}: "everybody's",
	} {
		for range 2 { // reads first from the store, then from the cache
			if form, _ := d.authenticate(t, who, "both"); form.Get("client_secret") != want {
				t.Errorf("%v: got %q, want %q", who, form.Get("client_secret"), want)
			}
		}
	}
	d.withSecret(other, "other's", catalog.AuthSecretPost, "hush")
	d.refuses(t, "other's", "does not exist")
}

func TestAuthenticateErrorOmitsSecret(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	moved := catalog.ClientAuth{ID: "moved", Method: catalog.AuthSecretBasic, Origins: origins()}
	moved.Secret = sealFor(other, moved, "hush")
	d.rows.add(tenant, moved)
	d.rows.add(tenant, catalog.ClientAuth{
		ID: "damaged", Method: catalog.AuthSecretBasic, Origins: origins(),
		Secret: []byte("hush"),
	})
	d.withSecret(tenant, "empty", catalog.AuthSecretBasic, "")
	d.withSecret(tenant, "empty in the form", catalog.AuthSecretPost, "")
	d.withSecret(tenant, "unknown method", "client_secret_jwt", "hush")
	d.withSecret(tenant, "no method", "", "hush")
	for id, says := range map[string]string{
		"moved": "client secret", "damaged": "client secret", "empty": "empty", "empty in the form": "empty",
		"unknown method": "method", "no method": "method", "nowhere": "does not exist",
	} {
		d.refuses(t, id, says)
	}
	d.rows.err = errors.New("the table is away")
	d.refuses(t, "unread", "the table is away")
	d.rows.err = nil
	d.withSecret(tenant, "unread", catalog.AuthSecretPost, hush)
	if form, _ := d.authenticate(t, tenant, "unread"); form.Get("client_secret") != hush {
		t.Error("a failure of the store was kept")
	}
	failing := newFixture(t, "rsa1")
	failing.vault.Fail("rsa1", true)
	failing.rows.add(tenant, catalog.ClientAuth{ID: "key", Method: catalog.AuthPrivateKey, Algorithm: "RS384"})
	failing.refuses(t, "key", vaulttest.ErrAway.Error())
	failing.vault.Fail("rsa1", false)
	failing.authenticate(t, tenant, "key")
}

func TestRegistryCachesClientForOneMinute(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.withSecret(tenant, "a", catalog.AuthSecretPost, "old")
	got := func() string {
		form, _ := d.authenticate(t, tenant, "a")
		return form.Get("client_secret")
	}
	got()
	d.withSecret(tenant, "a", catalog.AuthSecretPost, "new")
	d.at = start.Add(time.Minute - time.Nanosecond)
	if secret := got(); secret != "old" || d.rows.reads != 1 {
		t.Errorf("within a minute: got %q after %d reads", secret, d.rows.reads)
	}
	d.at = start.Add(time.Minute)
	if secret := got(); secret != "new" || d.rows.reads != 2 {
		t.Errorf("after a minute: got %q after %d reads", secret, d.rows.reads)
	}
}

func TestRegistryLimitsCacheSize(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	ask := func(i int) { d.authenticate(t, tenant, strconv.Itoa(i)) }
	for i := range 257 {
		d.withSecret(tenant, strconv.Itoa(i), catalog.AuthSecretPost, hush)
	}
	for i := range 256 {
		ask(i)
	}
	ask(0)
	if d.rows.reads != 256 {
		t.Errorf("%d reads of 256 clients", d.rows.reads)
	}
	ask(256)
	ask(0)
	if d.rows.reads != 258 {
		t.Errorf("%d reads, want 258: what is kept is not bounded", d.rows.reads)
	}
}

func TestRegistryOmitsSecretsWhenPrinted(t *testing.T) {
	t.Parallel()
	d := newFixture(t, "rsa1")
	d.withSecret(tenant, "basic", catalog.AuthSecretBasic, hush)
	_, header := d.authenticate(t, tenant, "basic")
	assertion := d.assert(t, "RS384", "")
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
		printed := fmt.Sprintf(verb+verb, d.Registry, d.rows.clients)
		for _, hidden := range []string{
			hush, url.QueryEscape(hush),
			strings.TrimPrefix(header.Get("Authorization"), "Basic "), assertion.signed,
		} {
			if strings.Contains(printed, hidden) {
				t.Errorf("%s shows %q", verb, hidden)
			}
		}
	}
}

// TestAuthenticateWithholdsSecretFromOtherOrigins checks that a secret is sent only to URLs with an allowed origin.
func TestAuthenticateWithholdsSecretFromOtherOrigins(t *testing.T) {
	t.Parallel()
	const here = "https://ehr.example"
	for name, c := range map[string]struct {
		origins []string
		address string
		shown   bool
	}{
		"its origin":          {[]string{here}, here + "/token", true},
		"one of several":      {[]string{"https://a.example", here}, "https://EHR.example:443/introspect?x=1", true},
		"none":                {nil, here + "/token", false},
		"another host":        {[]string{here}, "https://ehr.example.evil.example/token", false},
		"another port":        {[]string{here}, "https://ehr.example:8443/token", false},
		"another scheme":      {[]string{here}, "http://ehr.example/token", false},
		"its name as a user":  {[]string{here}, "https://ehr.example@evil.example/token", false},
		"no address":          {[]string{here}, "", false},
		"no address, no host": {[]string{""}, "/token", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newFixture(t, "ec1")
			for _, method := range []catalog.AuthMethod{
				catalog.AuthSecretBasic, catalog.AuthSecretPost,
				catalog.AuthPrivateKey,
			} {
				a := catalog.ClientAuth{ID: string(method), Method: method, Origins: c.origins}
				if method == catalog.AuthPrivateKey {
					a.Algorithm = "ES384"
				}
				a.Secret = sealFor(tenant, a, hush)
				d.rows.add(tenant, a)
				asked := use(a.ID)
				asked.Address = c.address
				form, header := url.Values{}, http.Header{}
				err := d.Authenticate(t.Context(), tenant, asked, form, header)
				unheld := method == catalog.AuthPrivateKey && len(c.origins) == 0
				if shown := err == nil; shown != (c.shown || unheld) {
					t.Errorf("%s: got %v, want it shown: %t", method, err, c.shown)
				}
				if err != nil && (len(form)+len(header) != 0 || fault.Of(err).Kind != fault.Internal ||
					!strings.Contains(err.Error(), "ctl client list")) {
					t.Errorf("%s: got %v and %v %v", method, err, form, header)
				}
			}
		})
	}
}

// TestAuthenticateSendsUnencodedBasicWhenServerDoesNotDecode covers servers that don't decode the form-encoded secret
// of RFC 6749 section 2.3.1.
func TestAuthenticateSendsUnencodedBasicWhenServerDoesNotDecode(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.withSecret(tenant, "basic", catalog.AuthSecretBasic, "a+/=&:%20b")
	asked, header := use("basic"), http.Header{}
	asked.RawBasic = true
	if err := d.Authenticate(t.Context(), tenant, asked, url.Values{}, header); err != nil {
		t.Fatal(err)
	}
	id, sent, _ := (&http.Request{Header: header}).BasicAuth()
	if id != client || sent != "a+/=&:%20b" {
		t.Errorf("sent %q and %q", id, sent)
	}
}
