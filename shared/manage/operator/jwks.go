package operator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// KeySet is a JSON Web Key Set of public keys (RFC 7517, section 5).
type KeySet struct {
	Keys []map[string]json.RawMessage `json:"keys"`
}

// ClientKeys reads Recordbridge's public client keys from a running service.
type ClientKeys struct {
	baseURL string
	get     func(ctx context.Context, address string) ([]byte, error)
}

// NewClientKeys returns a ClientKeys for the service at baseURL. The get function fetches a document of at most 64 KiB
// and does not follow redirects.
func NewClientKeys(baseURL string, get func(ctx context.Context, address string) ([]byte, error)) ClientKeys {
	return ClientKeys{baseURL: baseURL, get: get}
}

// PublicKeys returns the running service's public client keys, or only the RSA keys if onlyRSA is set. It returns an
// error if the set is empty or a key contains a private member.
func (o ClientKeys) PublicKeys(ctx context.Context, onlyRSA bool) (KeySet, error) {
	address, err := keysAddress(o.baseURL, onlyRSA)
	if err != nil {
		return KeySet{}, err
	}
	body, err := o.get(ctx, address)
	if err != nil {
		return KeySet{}, fmt.Errorf("the service's public keys at %s: %w", address, err)
	}
	var set KeySet
	if json.Unmarshal(body, &set) != nil || len(set.Keys) == 0 {
		return KeySet{},
			fmt.Errorf("%s returned no key; does the stack have client keys (parameter ClientKeys)?", address)
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
		return "", errors.New("the outputs have no BaseUrl, which must be an https URL (http only on this machine)")
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

// checkPublic requires a public RSA or EC key with a kid, because health systems select keys by kid. It rejects keys
// with private members (RFC 7518, sections 6.2.2, 6.3.2 and 6.4). Its errors name members but never reveal their
// values.
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
		return errors.New("a key has a different type from the requested one")
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
