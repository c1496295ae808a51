package logx

import (
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"

	"recordbridge/shared/words/fault"
)

const redacted = "[redacted]"

// Patterns that match secrets inside longer texts, such as the URL in a net/url.Error's message.
var (
	queryPattern      = regexp.MustCompile(`\?[^\s"'<>]+`)
	credentialPattern = regexp.MustCompile(`(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{6,}`)
	keyPattern        = regexp.MustCompile(`\b(private_(?:test|live)_|whsec_|whsk_)[A-Za-z0-9+/=_-]+`)
	jwtPattern        = regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_.-]+`)
	emailPattern      = regexp.MustCompile(`[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[A-Za-z]{2,}`)
)

// redact is the ReplaceAttr function of every logger. Values are hidden by attribute or group name, and secrets within
// text are replaced. A value with its own JSON encoding is suppressed unless it is marked safe to log. A KMS key's name
// is not hidden.
func redact(groups []string, attr slog.Attr) slog.Attr {
	if name, ok := attr.Value.Any().(fault.KeyName); ok {
		return slog.String(attr.Key, string(name))
	}
	if sensitive(attr.Key) || slices.ContainsFunc(groups, sensitive) {
		return slog.String(attr.Key, redacted)
	}
	switch attr.Value.Kind() {
	case slog.KindString:
		return slog.String(attr.Key, clean(attr.Value.String()))
	case slog.KindAny:
		return slog.Any(attr.Key, cleanAny(attr.Value.Any()))
	case slog.KindBool, slog.KindDuration, slog.KindFloat64, slog.KindGroup, slog.KindInt64, slog.KindLogValuer,
		slog.KindTime, slog.KindUint64:
	}
	return attr
}

func cleanAny(value any) any {
	switch value := value.(type) {
	case nil, slog.Level, *slog.Source:
		return value
	case error:
		return clean(value.Error())
	case interface{ IsSafeToLog() }:
		return value
	}
	return fmt.Sprintf("[not logged: %T]", value)
}

// clean hides query strings, credentials, keys, JSON web tokens and email addresses within a text. Most strings are
// IDs, which contain none of the characters that the patterns require. Checking for those characters first is cheaper
// than matching the patterns.
func clean(text string) string {
	if strings.Contains(text, "?") {
		text = queryPattern.ReplaceAllString(text, "?"+redacted)
	}
	if strings.ContainsAny(text, "\t\n\f\r ") {
		text = credentialPattern.ReplaceAllString(text, "$1 "+redacted)
	}
	if strings.Contains(text, "_") {
		text = keyPattern.ReplaceAllString(text, "$1"+redacted)
	}
	if strings.Contains(text, "eyJ") {
		text = jwtPattern.ReplaceAllString(text, redacted)
	}
	if strings.Contains(text, "@") {
		text = emailPattern.ReplaceAllString(text, redacted)
	}
	return text
}

// sensitive reports whether values with the given name must never be logged.
func sensitive(name string) bool {
	name = strings.ReplaceAll(strings.ToLower(name), "-", "_")
	switch name {
	case "code", "state", "body", "key", "name", "query", "verifier", "assertion", "signature", "phone", "birth_date",
		"external_id", "external_state", "patient", "patient_id", "client_address":
		return true
	}
	for _, part := range []string{
		"token", "secret", "password", "authorization", "cookie", "email", "e_mail",
		"verifier",
	} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return strings.HasSuffix(name, "_key") || strings.HasSuffix(name, "_name")
}
