package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
	"recordbridge/shared/words/weburl"
)

// Vault encrypts and decrypts a subscription's private data; kms.Sealer implements it.
type Vault interface {
	Opener
	Seal(ctx context.Context, tenant org.Tenant, boundTo string, plain []byte) ([]byte, error)
}

// Editor creates and changes subscriptions. The caller must store the result. Changing one sealed value reseals all of
// a subscription's values, so a worker needs only one data key per subscription.
type Editor struct {
	Vault  Vault
	Reach  Reach
	Own    weburl.Own // the service's own URLs, which webhooks must not use
	Random io.Reader
	Now    func() time.Time
}

// Reach reports the hosts to which a worker may send requests; safehttp.Options implements it.
type Reach interface {
	// MayReach reports whether a worker would attempt a request to target. Host names are checked only after they have
	// been resolved.
	MayReach(target *url.URL) bool
}

// Draft describes a new subscription.
type Draft struct {
	ID         string // UUID
	Tenant     org.Tenant
	URL        string
	Note       string
	Optional   []Type            // event types to receive in addition to the required types
	SigningKey bool              // whether to sign with an ed25519 key as well
	Headers    map[string]string // headers sent with every attempt; their values are secret
	Rate       int               // attempts per second; 0 for the default
}

const (
	// secretOverlap is the period for which an old secret continues to sign (docs/reference/deviations.md, Webhooks).
	secretOverlap = 24 * time.Hour
	// maxOldSecrets is the maximum number of old secrets that sign at the same time.
	maxOldSecrets = 10
	// maxRate is the maximum rate of an endpoint, in attempts per second. It exceeds the rate that any endpoint needs.
	maxRate = 1000
)

// Create creates a subscription and its signing secret and returns both. It returns fault.Invalid for an unacceptable
// draft.
func (e Editor) Create(ctx context.Context, d Draft) (Subscription, secret.Text, error) {
	address, err := e.normalURL(d.Tenant.Mode, d.URL)
	if err != nil {
		return Subscription{}, secret.Text{}, err
	}
	own, err := checkHeaders(d.Headers)
	if err != nil {
		return Subscription{}, secret.Text{}, err
	}
	if err = checkRate(d.Rate); err != nil {
		return Subscription{}, secret.Text{}, err
	}
	s := Subscription{
		ID: d.ID, Tenant: d.Tenant, URL: address, Note: d.Note, Rate: d.Rate, HeaderNames: slices.Sorted(maps.Keys(own)),
		CreatedAt: e.Now(),
	}
	s = s.WithTypes(d.Optional)
	k := keys{private: private{Headers: own}}
	if d.SigningKey {
		if k.private.SigningKey, s.PublicKey, err = newSigningKey(e.Random); err != nil {
			return Subscription{}, secret.Text{}, err
		}
	}
	fresh, err := NewSecret(e.Random)
	if err != nil {
		return Subscription{}, secret.Text{}, err
	}
	k.secrets, s.Secrets = []secret.Text{fresh}, make([]SealedSecret, 1)
	s, err = e.seal(ctx, s, k)
	return s, fresh, err
}

// Rotate adds a new signing secret to the subscription. The previous secret continues to sign for 24 hours. If atOnce
// is true, all older secrets stop signing immediately, as is necessary after a leak. Rotate returns fault.Conflict if
// the subscription has too many old secrets.
func (e Editor) Rotate(ctx context.Context, s Subscription, atOnce bool) (Subscription, secret.Text, error) {
	now := e.Now()
	k, err := s.open(ctx, e.Vault, now)
	if err != nil {
		return Subscription{}, secret.Text{}, err
	}
	fresh, err := NewSecret(e.Random)
	if err != nil {
		return Subscription{}, secret.Text{}, err
	}
	rotated := s
	rotated.Secrets = []SealedSecret{{}}
	if atOnce {
		k.secrets = nil
	}
	k.secrets = append([]secret.Text{fresh}, k.secrets...)
	for _, old := range s.Secrets {
		if atOnce || !old.isLive(now) {
			continue
		}
		if old.ExpiresAt.IsZero() {
			old.ExpiresAt = now.Add(secretOverlap)
		}
		rotated.Secrets = append(rotated.Secrets, old)
	}
	if len(rotated.Secrets) > 1+maxOldSecrets {
		return Subscription{}, secret.Text{}, fault.New(fault.Conflict, fault.CodeConflict,
			"Ten old secrets are still valid. Wait until one expires, or revoke them all now.")
	}
	rotated, err = e.seal(ctx, rotated, k)
	return rotated, fresh, err
}

// Reseal re-encrypts a subscription's values under the current key version and drops expired secrets.
func (e Editor) Reseal(ctx context.Context, s Subscription) (Subscription, error) {
	now := e.Now()
	k, err := s.open(ctx, e.Vault, now)
	if err != nil {
		return Subscription{}, err
	}
	s.Secrets = slices.DeleteFunc(slices.Clone(s.Secrets), func(old SealedSecret) bool { return !old.isLive(now) })
	return e.seal(ctx, s, k)
}

func checkRate(rate int) error {
	if rate < 0 || rate > maxRate {
		return fault.BadRequest("A webhook's rate must be from 1 to 1000 attempts per second.").About("rate")
	}
	return nil
}

// WithURL returns a subscription with a different URL. It returns fault.Invalid for an unacceptable URL.
func (e Editor) WithURL(s Subscription, address string) (Subscription, error) {
	var err error
	s.URL, err = e.normalURL(s.Tenant.Mode, address)
	return s, err
}

// normalURL returns a webhook's URL in its registered form for the given mode. The URL must use https or, in test mode,
// may use http to a loopback address (docs/reference/deviations.md, Webhooks). normalURL rejects this service's own
// URLs and URLs that the worker would refuse to dial. Resolved IP addresses are checked on delivery.
func (e Editor) normalURL(mode org.Mode, text string) (string, error) {
	u, err := e.Own.Parse(text)
	switch {
	case errors.Is(err, weburl.ErrOwn):
		return "", fault.BadRequest("A webhook URL can't lead to this service.").About("url")
	case err != nil || u.HasFragment():
		return "", fault.BadRequest("A webhook URL must be absolute, without user information or a fragment.").About("url")
	case !u.IsSecure() && (mode != org.Test || !u.IsLocalhost()):
		return "",
			fault.BadRequest("A webhook URL must use https; http only for a loopback address in test mode.").About("url")
	}
	target, err := url.Parse(u.String())
	if err != nil || !e.Reach.MayReach(target) {
		return "", fault.BadRequest("A webhook URL must lead to a public host, not a private, local or reserved one; " +
			"an IP address requires port 443.").About("url")
	}
	return u.String(), nil
}

// WithTypes returns the subscription with the required event types and the types in optional.
func (s Subscription) WithTypes(optional []Type) Subscription {
	s.Types = Required()
	for _, t := range optional {
		if !s.has(t) {
			s.Types = append(s.Types, t)
		}
	}
	return s
}

// seal encrypts a subscription's private values. s.Secrets must have an entry for each secret in k. If the subscription
// has no log key, seal creates one.
func (e Editor) seal(ctx context.Context, s Subscription, k keys) (Subscription, error) {
	if len(k.private.LogKey) == 0 {
		k.private.LogKey = make([]byte, secretBytes)
		if _, err := io.ReadFull(e.Random, k.private.LogKey); err != nil {
			return Subscription{}, fmt.Errorf("random bytes for a log key: %w", err)
		}
	}
	for i, text := range k.secrets {
		sealed, err := e.Vault.Seal(ctx, s.Tenant, s.SecretBinding(), []byte(text.Reveal()))
		if err != nil {
			return Subscription{}, fmt.Errorf("seal webhook secret: %w", err)
		}
		s.Secrets[i].Sealed = sealed
	}
	plain, err := json.Marshal(k.private)
	if err != nil {
		return Subscription{}, fmt.Errorf("encode webhook keys: %w", err)
	}
	if s.Private, err = e.Vault.Seal(ctx, s.Tenant, s.privateBinding(), plain); err != nil {
		return Subscription{}, fmt.Errorf("seal webhook keys: %w", err)
	}
	return s, nil
}

const (
	maxHeaders     = 20
	maxHeaderValue = 2 << 10
)

// checkHeaders returns a subscription's custom headers with canonical names. Any header is allowed, even Authorization,
// except those that Recordbridge sets and those that apply only to the connection (RFC 9110 section 7.6.1).
func checkHeaders(headers map[string]string) (map[string]string, error) {
	if len(headers) > maxHeaders {
		return nil, fault.BadRequest("A webhook can have at most 20 custom headers.").About("header-file")
	}
	checked := make(map[string]string, len(headers))
	for name, value := range headers {
		canonical := canonicalHeader(name)
		if _, twice := checked[canonical]; twice || canonical == "" || isReserved(strings.ToLower(name)) {
			return nil,
				fault.BadRequest("A custom header's name is not allowed or is used twice.").About("header-file")
		}
		if len(value) > maxHeaderValue || strings.ContainsFunc(value, notPrintable) || strings.TrimSpace(value) != value {
			return nil,
				fault.BadRequest("A custom header's value is too long or not printable ASCII.").About("header-file")
		}
		checked[canonical] = value
	}
	return checked, nil
}

func notPrintable(r rune) bool { return r < ' ' || r > '~' }

// canonicalHeader returns a header's name as Go sends it, such as Content-Type. It returns "" for an invalid name (RFC
// 9110 section 5.6.2).
func canonicalHeader(name string) string {
	words := strings.Split(strings.ToLower(name), "-")
	for i, word := range words {
		for _, r := range word {
			if !strings.ContainsRune("!#$%&'*+.^_`|~0123456789abcdefghijklmnopqrstuvwxyz", r) {
				return ""
			}
		}
		if word != "" {
			words[i] = strings.ToUpper(word[:1]) + word[1:]
		}
	}
	return strings.Join(words, "-")
}

func isReserved(name string) bool {
	for _, prefix := range []string{"webhook-", "content-", "proxy-"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return slices.Contains([]string{
		"host", "connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "expect", "user-agent",
		"accept-encoding", "date",
	}, name)
}
