package webhook

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"encoding/json"
	"fmt"
	"time"

	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/secret"
)

// private holds a subscription's private values other than its secrets. They are sealed together.
type private struct {
	SigningKey string            `json:"signing_key,omitempty"` // ed25519 key, "whsk_…"
	Headers    map[string]string `json:"headers,omitempty"`     // header values by canonical name
	// LogKey encrypts the responses in the delivery log (AES-256). Each subscription has its own key, so its stored
	// responses become unreadable when the subscription is removed. One data key encrypts the secrets and the private
	// values, so decrypting them takes one KMS call.
	LogKey []byte `json:"log_key,omitempty"`
}

func (s Subscription) privateBinding() string { return s.SecretBinding() + "|private" }

// open decrypts the live secrets and the other private values with a single data key.
func (s Subscription) open(ctx context.Context, opener Opener, now time.Time) (keys, error) {
	var k keys
	for _, sealed := range s.Secrets {
		if !sealed.isLive(now) {
			continue
		}
		plain, err := opener.Open(ctx, s.Tenant, s.SecretBinding(), sealed.Sealed)
		if err != nil {
			return keys{}, fmt.Errorf("open webhook secret: %w", err)
		}
		k.secrets = append(k.secrets, secret.New(string(plain)))
	}
	var err error
	k.private, err = s.openPrivate(ctx, opener)
	return k, err
}

func (s Subscription) openPrivate(ctx context.Context, opener Opener) (private, error) {
	if len(s.Private) == 0 {
		return private{}, nil
	}
	plain, err := opener.Open(ctx, s.Tenant, s.privateBinding(), s.Private)
	if err != nil {
		return private{}, fmt.Errorf("open webhook keys: %w", err)
	}
	var p private
	if err := json.Unmarshal(plain, &p); err != nil {
		return private{}, fault.New(fault.Internal, fault.CodeServerError, "A webhook's keys are damaged.")
	}
	return p, nil
}

// OpenAnswer decrypts a response body from the delivery log. The body is the Attempt.SealedBody from one of the
// delivery's attempts. OpenAnswer returns nil if the response had no body. Errors are internal.
func (s Subscription) OpenAnswer(ctx context.Context, opener Opener, deliveryID string, sealed []byte) ([]byte, error) {
	if len(sealed) == 0 {
		return nil, nil
	}
	p, err := s.openPrivate(ctx, opener)
	if err != nil {
		return nil, err
	}
	aead, err := p.logCipher()
	if err != nil {
		return nil, err
	}
	body, err := aead.Open(nil, nil, sealed, s.answerBinding(deliveryID))
	if err != nil {
		return nil, fmt.Errorf("open answer: %w", err)
	}
	return body, nil
}

// sealAnswer encrypts a response body for the delivery log. It returns nil for a subscription without a log key.
func (s Subscription) sealAnswer(p private, deliveryID string, body []byte) ([]byte, error) {
	if len(body) == 0 || len(p.LogKey) == 0 {
		return nil, nil
	}
	aead, err := p.logCipher()
	if err != nil {
		return nil, err
	}
	//nolint:gosec // G407: this AEAD makes its own random nonce
	return aead.Seal(nil, nil, body, s.answerBinding(deliveryID)), nil
}

func (p private) logCipher() (cipher.AEAD, error) {
	block, err := aes.NewCipher(p.LogKey)
	if err != nil {
		return nil, fmt.Errorf("log key: %w", err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, fmt.Errorf("log key: %w", err)
	}
	return aead, nil
}

func (s Subscription) answerBinding(deliveryID string) []byte {
	return []byte(s.SecretBinding() + "|answer|" + deliveryID)
}
