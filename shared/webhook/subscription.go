package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"recordbridge/shared/fault"
	"recordbridge/shared/ids"
	"recordbridge/shared/org"
	"recordbridge/shared/secret"
)

// SecretPurpose stands in the encryption context of sealed webhook secrets.
const SecretPurpose = "webhook-secret"

// Subscription is one webhook of an organisation in one mode.
type Subscription struct {
	ID        string // UUID
	Tenant    org.Tenant
	URL       string
	Types     []Type
	Secrets   []SealedSecret // newest first; an older one still signs until it expires
	Disabled  bool
	CreatedAt time.Time
	Rev       int64
}

// SealedSecret is a signing secret, sealed under the key for webhook secrets and bound to its subscription.
type SealedSecret struct {
	Sealed    []byte
	ExpiresAt time.Time // zero for the current one
}

// Wants reports whether the subscription receives events of t now.
func (s Subscription) Wants(t Type) bool { return !s.Disabled && slices.Contains(s.Types, t) }

// SecretBinding is what a sealed secret of the subscription is bound to.
func (s Subscription) SecretBinding() string { return "webhook|" + s.Tenant.Key() + "|" + s.ID }

// CheckURL says whether a webhook may be registered in mode: https, or http to a loopback address in test mode
// (decisions section 6). Whether the address may be reached is decided when it is dialled.
func CheckURL(mode org.Mode, text string) error {
	target, err := url.Parse(text)
	if err != nil || target.Hostname() == "" || target.User != nil || target.Fragment != "" {
		return fault.BadRequest("A webhook URL must be absolute, without user information and fragment.")
	}
	host := target.Hostname()
	loopback := host == "localhost" || host == "127.0.0.1" || host == "::1"
	if target.Scheme != "https" && (target.Scheme != "http" || mode != org.Test || !loopback) {
		return fault.BadRequest("A webhook URL must use https; http only for a loopback address in test mode.")
	}
	return nil
}

const (
	secretPrefix = "whsec_"
	secretBytes  = 32
)

// NewSecret makes a signing secret: "whsec_" and 32 random bytes in padded standard base64 (Standard Webhooks 1.0).
func NewSecret(random io.Reader) (secret.Text, error) {
	key := make([]byte, secretBytes)
	if _, err := io.ReadFull(random, key); err != nil {
		return secret.Text{}, fmt.Errorf("random bytes for a webhook secret: %w", err)
	}
	return secret.New(secretPrefix + base64.StdEncoding.EncodeToString(key)), nil
}

// sign returns the value of the webhook-signature header: one v1 entry per secret, separated by spaces (Standard
// Webhooks 1.0, "Signature scheme").
func sign(secrets []secret.Text, eventID string, at time.Time, body []byte) (string, error) {
	entries := make([]string, 0, len(secrets))
	for _, text := range secrets {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(text.Reveal(), secretPrefix))
		if err != nil || len(key) == 0 {
			return "", fault.New(fault.Internal, fault.CodeServerError, "A webhook secret is damaged.")
		}
		mac := hmac.New(sha256.New, key)
		fmt.Fprintf(mac, "%s.%d.", eventID, at.Unix())
		mac.Write(body)
		entries = append(entries, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	}
	return strings.Join(entries, " "), nil
}

// headers are the headers of one attempt.
func headers(secrets []secret.Text, event Event, at time.Time) (map[string]string, error) {
	if len(secrets) == 0 {
		return nil, fault.New(fault.Internal, fault.CodeServerError, "A webhook has no secret to sign with.")
	}
	signature, err := sign(secrets, event.ID, at, event.Body)
	if err != nil {
		return nil, err
	}
	return map[string]string{
		"Content-Type":      "application/json",
		"User-Agent":        "Recordbridge-Webhooks/1.0",
		"Webhook-Id":        event.ID,
		"Webhook-Timestamp": strconv.FormatInt(at.Unix(), 10),
		"Webhook-Signature": signature,
	}, nil
}

// deliveryID is the same for the same event and subscription, so a fan-out done twice makes the same rows.
func deliveryID(event Event, s Subscription) string { return ids.Derive("delivery", event.ID, s.ID) }
