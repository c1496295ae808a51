package console

import (
	"regexp"
	"strings"
)

const hiddenText = "[hidden]"

// Patterns of text that is never shown: Recordbridge's key formats and PEM private keys.
var (
	keyForms = regexp.MustCompile(`\b(private_(?:test|live)_|whsec_|whsk_)[A-Za-z0-9+/=_-]+`)
	pemForm  = regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*(-----END [A-Z ]*PRIVATE KEY-----)?`)
)

// mask replaces the keys in text with hiddenText.
func mask(text string) string {
	return pemForm.ReplaceAllString(keyForms.ReplaceAllString(text, "${1}"+hiddenText), hiddenText)
}

func maskAll(texts []string) []string {
	masked := make([]string, len(texts))
	for i, text := range texts {
		masked[i] = mask(text)
	}
	return masked
}

// isSecret reports whether a value with this name is key material, or an encrypted or hashed form of it.
func isSecret(name string) bool {
	name = strings.ToLower(name)
	if strings.HasSuffix(name, "_endpoint") || strings.HasSuffix(name, "_at") { // "token_endpoint", for example, is a URL
		return false
	}
	for _, part := range []string{"secret", "sealed", "hash", "token", "password", "verifier", "binding", "private"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return name == "key" || strings.HasSuffix(name, "_key")
}
