package operator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

const (
	// keysPatience bounds the request for the service's public keys.
	keysPatience = 20 * time.Second
	// maxKeys bounds their document in bytes. Four RSA keys are below 2 KiB.
	maxKeys = 64 << 10
)

// KeySet is a JWKS (RFC 7517, section 5) of public keys.
type KeySet struct {
	Keys []map[string]json.RawMessage `json:"keys"`
}

// PublicKeys asks the running service for the public keys of its client, all or only the RSA ones, as they are pasted
// into a registration. It returns nothing but a set of at least one key in which no private part is found.
func (o *Operator) PublicKeys(ctx context.Context, onlyRSA bool) (KeySet, error) {
	address, err := keysAddress(o.baseURL, onlyRSA)
	if err != nil {
		return KeySet{}, err
	}
	body, err := fetch(ctx, address)
	if err != nil {
		return KeySet{}, fmt.Errorf("the service's public keys at %s: %w", address, err)
	}
	var set KeySet
	if json.Unmarshal(body, &set) != nil || len(set.Keys) == 0 {
		return KeySet{}, fmt.Errorf("%s answered with no key; does the stack have client keys (parameter ClientKeys)?", address)
	}
	for _, key := range set.Keys {
		if err := checkPublic(key, onlyRSA); err != nil {
			return KeySet{}, fmt.Errorf("%s: %w", address, err)
		}
	}
	return set, nil
}

func keysAddress(baseURL string, onlyRSA bool) (string, error) {
	base, err := url.Parse(baseURL)
	if err != nil || base.Host == "" || (base.Scheme != "https" && !loopback(base)) {
		return "", errors.New("the outputs hold no BaseUrl of the service, an https address (http only on this machine)")
	}
	at := base.JoinPath(".well-known/jwks.json")
	if onlyRSA {
		at.RawQuery = "kty=RSA"
	}
	return at.String(), nil
}

func loopback(u *url.URL) bool {
	return u.Scheme == "http" && slices.Contains([]string{"localhost", "127.0.0.1", "::1"}, u.Hostname())
}

// fetch follows no redirect: what is registered at health systems comes from the address that they would ask themselves.
func fetch(ctx context.Context, address string) ([]byte, error) {
	client := http.Client{Timeout: keysPatience, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, err
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("status %d", response.StatusCode)
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxKeys+1))
	if err != nil {
		return nil, err
	}
	if len(body) > maxKeys {
		return nil, fmt.Errorf("more than %d bytes", maxKeys)
	}
	return body, nil
}

// checkPublic wants a public RSA or EC key with a kid, by which health systems choose, and none of the members that hold
// private parts (RFC 7518, sections 6.2.2, 6.3.2 and 6.4). Its errors name members and never their values.
func checkPublic(key map[string]json.RawMessage, onlyRSA bool) error {
	for _, name := range []string{"d", "p", "q", "dp", "dq", "qi", "oth", "k"} {
		if _, found := key[name]; found {
			return fmt.Errorf("a key has the private member %q: do not register it, and replace the key", name)
		}
	}
	needed := map[string][]string{"RSA": {"n", "e"}, "EC": {"crv", "x", "y"}}
	kind := textOf(key["kty"])
	members, known := needed[kind]
	if !known || (onlyRSA && kind != "RSA") {
		return errors.New("a key is of another type than was asked for")
	}
	for _, name := range append(members, "kid") {
		if strings.TrimSpace(textOf(key[name])) == "" {
			return fmt.Errorf("a key of type %s has no %q", kind, name)
		}
	}
	return nil
}

func textOf(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return ""
	}
	return text
}
