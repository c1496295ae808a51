package oidc_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"

	"recordbridge/shared/catalog"
	"recordbridge/shared/tefca/identity/oidc"
	"recordbridge/shared/words/org"
)

type object = map[string]any

// provider is an in-process identity provider with configurable responses. It records requests.
type provider struct {
	mu        sync.Mutex
	at        time.Time
	discovery object
	status    map[string]int    // HTTP status by path; 200 by default
	body      map[string]string // response body by path; replaces the default response
	keys      []jose.JSONWebKey
	asked     []string
	forms     map[string]url.Values
	headers   map[string]http.Header
	proof     error
}

func newProvider() *provider {
	return &provider{
		at: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), status: map[string]int{}, body: map[string]string{},
		keys: []jose.JSONWebKey{{Key: key("a").Public(), KeyID: "a"}}, forms: map[string]url.Values{},
		headers: map[string]http.Header{},
		discovery: object{
			"issuer": issuer, "authorization_endpoint": "https://id.example/authorize?theme=calm&scope=theirs",
			"token_endpoint": "https://token.example/token", "jwks_uri": "https://id.example/jwks",
		},
	}
}

var keyPairs = sync.OnceValue(func() map[string]*ecdsa.PrivateKey {
	made := map[string]*ecdsa.PrivateKey{}
	for _, id := range []string{"a", "b"} {
		pair, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			panic(err)
		}
		made[id] = pair
	}
	return made
})

func key(id string) *ecdsa.PrivateKey { return keyPairs()[id] }

func (p *provider) Do(request *http.Request) (*http.Response, error) {
	if err := request.Context().Err(); err != nil {
		return nil, err
	}
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	path := request.URL.Path
	p.asked = append(p.asked, request.Method+" "+path)
	p.headers[path] = request.Header.Clone()
	if p.forms[path], err = url.ParseQuery(string(body)); err != nil {
		return nil, err
	}
	status, told := p.status[path], p.body[path]
	if status < 0 {
		return nil, errors.New("no answer")
	}
	if told == "" {
		told = p.usual(path)
	}
	w := httptest.NewRecorder()
	w.WriteHeader(max(status, http.StatusOK))
	_, _ = w.WriteString(told)
	return w.Result(), nil
}

func (p *provider) Authenticate(_ context.Context, tenant org.Tenant, use catalog.ClientUse, form url.Values,
	header http.Header,
) error {
	form.Del("client_id") // HTTP Basic authentication also omits the client_id parameter.
	form.Set("client_assertion", fmt.Sprintf("%s of %s for %s at %s, %v", use.AuthID, use.ClientID, use.TokenEndpoint,
		use.Address, tenant))
	header.Set("Authorization", "Basic proof")
	return p.proof
}

func (p *provider) usual(path string) string {
	var answer any
	switch path {
	case address:
		answer = p.discovery
	case "/jwks":
		answer = jose.JSONWebKeySet{Keys: p.keys}
	case "/par":
		answer = object{"request_uri": pushed, "expires_in": 60}
	case "/token":
		answer = object{"token_type": "Bearer", "access_token": "access", "id_token": p.signed("a", nil)}
	}
	raw, err := json.Marshal(answer)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

func (p *provider) signed(by string, changes object) string {
	claims := object{
		"iss": issuer, "sub": "s", "aud": "client-1", "nonce": nonce, "iat": p.at.Unix(), "exp": p.at.Add(time.Minute).Unix(),
		"auth_time":                p.at.Unix(),
		"identity_assurance_level": 2, "given_name": "Maple", "family_name": "Aster", "birthdate": "1984-03-12",
		"address": object{"region": "WI"},
	}
	maps.Copy(claims, changes)
	payload, err := json.Marshal(claims)
	if err != nil {
		panic(err)
	}
	signer, err := jose.NewSigner(jose.SigningKey{
		Algorithm: jose.ES256,
		Key:       jose.JSONWebKey{Key: key(by), KeyID: by},
	}, nil)
	if err != nil {
		panic(err)
	}
	made, err := signer.Sign(payload)
	if err != nil {
		panic(err)
	}
	text, err := made.CompactSerialize()
	if err != nil {
		panic(err)
	}
	return text
}

func (p *provider) party() oidc.RelyingParty {
	return oidc.NewRelyingParty(p, p, func() time.Time { p.mu.Lock(); defer p.mu.Unlock(); return p.at })
}

func (p *provider) pass(d time.Duration) { p.mu.Lock(); p.at = p.at.Add(d); p.mu.Unlock() }

func (p *provider) times(what string) int {
	n := 0
	for _, one := range p.asked {
		if one == what {
			n++
		}
	}
	return n
}
