package webhook

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"maps"
	"strconv"
	"strings"
	"time"

	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/secret"
)

// Prefixes of encoded keys (Standard Webhooks 1.0, "Signature scheme").
const (
	secretPrefix    = "whsec_"
	signingPrefix   = "whsk_"
	publicKeyPrefix = "whpk_"
	secretBytes     = 32
)

// NewSecret returns a new signing secret. The secret consists of "whsec_" and 32 random bytes in padded standard base64
// (Standard Webhooks 1.0).
func NewSecret(random io.Reader) (secret.Text, error) {
	key := make([]byte, secretBytes)
	if _, err := io.ReadFull(random, key); err != nil {
		return secret.Text{}, fmt.Errorf("random bytes for a webhook secret: %w", err)
	}
	return secret.New(secretPrefix + base64.StdEncoding.EncodeToString(key)), nil
}

// Headers returns the headers that a webhook with the given secret and no other settings receives with an event.
func Headers(signing secret.Text, eventID string, at time.Time, body []byte) (map[string]string, error) {
	return keys{secrets: []secret.Text{signing}, private: private{}}.headers(eventID, at, body)
}

// newSigningKey returns a new ed25519 key pair in base64. The private key consists of "whsk_" and the seed; the public
// key has the prefix "whpk_".
func newSigningKey(random io.Reader) (private, public string, err error) {
	seed := make([]byte, ed25519.SeedSize)
	if _, err := io.ReadFull(random, seed); err != nil {
		return "", "", fmt.Errorf("random bytes for a signing key: %w", err)
	}
	key := ed25519.NewKeyFromSeed(seed)
	return signingPrefix + base64.StdEncoding.EncodeToString(seed),
		publicKeyPrefix + base64.StdEncoding.EncodeToString(key[ed25519.SeedSize:]), nil
}

// keys holds an attempt's signing secrets and keys, the subscription's own headers, and the key for its log.
type keys struct {
	secrets []secret.Text // live secrets, newest first
	private private
}

// sign returns the value of the webhook-signature header, whose entries are separated by spaces. The value has one v1
// entry per secret. If the subscription has an ed25519 key, the value also has one v1a entry (Standard Webhooks 1.0,
// "Signature scheme").
func (k keys) sign(eventID string, at time.Time, body []byte) (string, error) {
	content := fmt.Appendf(nil, "%s.%d.", eventID, at.Unix())
	content = append(content, body...)
	entries := make([]string, 0, len(k.secrets)+1)
	for _, text := range k.secrets {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(text.Reveal(), secretPrefix))
		if err != nil || len(key) == 0 {
			return "", fault.New(fault.Internal, fault.CodeServerError, "A webhook secret is damaged.")
		}
		mac := hmac.New(sha256.New, key)
		mac.Write(content)
		entries = append(entries, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	}
	if k.private.SigningKey != "" {
		seed, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(k.private.SigningKey, signingPrefix))
		if err != nil || len(seed) != ed25519.SeedSize {
			return "", fault.New(fault.Internal, fault.CodeServerError, "A webhook's signing key is damaged.")
		}
		signature := ed25519.Sign(ed25519.NewKeyFromSeed(seed), content)
		entries = append(entries, "v1a,"+base64.StdEncoding.EncodeToString(signature))
	}
	return strings.Join(entries, " "), nil
}

// headers returns the headers for an attempt that sends body. Standard headers override the subscription's custom
// headers.
func (k keys) headers(eventID string, at time.Time, body []byte) (map[string]string, error) {
	if len(k.secrets) == 0 {
		return nil, fault.New(fault.Internal, fault.CodeServerError, "A webhook has no secret to sign with.")
	}
	signature, err := k.sign(eventID, at, body)
	if err != nil {
		return nil, err
	}
	header := maps.Clone(k.private.Headers)
	if header == nil {
		header = map[string]string{}
	}
	maps.Copy(header, map[string]string{
		"Content-Type":      "application/json",
		"User-Agent":        "Recordbridge-Webhooks/1.0",
		"Webhook-Id":        eventID,
		"Webhook-Timestamp": strconv.FormatInt(at.Unix(), 10),
		"Webhook-Signature": signature,
	})
	return header, nil
}

// redacted is the placeholder for values in the delivery log that only the receiver may see.
const redacted = "[redacted]"

// shown returns headers in the form in which the delivery log stores them.
func (k keys) shown(header map[string]string) map[string]string {
	shown := make(map[string]string, len(header))
	for name, value := range header {
		if _, isOwn := k.private.Headers[name]; isOwn {
			value = redacted
		}
		shown[name] = value
	}
	return shown
}
