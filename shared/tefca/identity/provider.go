package identity

import (
	"net/url"
	"slices"
	"strings"

	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

const (
	maxName    = 100
	maxAddress = 2 << 10
	maxMaxAge  = 3600 // seconds
)

// Check rejects a configuration that can't work or that would trust too many tokens. It returns a fault.Invalid that
// names the invalid member.
func (p Provider) Check() error {
	for _, member := range []struct {
		name string
		good bool
	}{
		{"id", isName(p.ID)},
		{"name", p.Name != "" && len(p.Name) <= maxName},
		{"mode", p.Mode == org.Test || p.Mode == org.Live},
		{"issuer", p.hasIssuer()},
		{"client_id", p.ClientID != ""},
		{"audiences", len(p.Audiences) > 0 && !slices.Contains(p.Audiences, "")},
		{"scope", slices.Contains(strings.Fields(p.Scope), "openid")},
		{"max_age", p.MaxAge >= 0 && p.MaxAge <= maxMaxAge},
		{"assurance", !slices.Contains(p.Assurance.ACR, "") && !slices.Contains(p.Assurance.Frameworks, "")},
	} {
		if !member.good {
			return fault.BadRequest("An identity provider's configuration is not valid.").About(member.name)
		}
	}
	return nil
}

// hasIssuer reports whether the issuer is valid (OpenID Connect Core 1.0 section 2, "iss"). The issuer is an https URL
// with a host and an optional path. Test mode also allows http. The outbound client's guard decides whether the service
// may connect to the URL.
func (p Provider) hasIssuer() bool {
	address, ok := parse(p.Issuer)
	return ok && address.RawQuery == "" && !strings.HasSuffix(p.Issuer, "?") &&
		(address.Scheme == "https" || address.Scheme == "http" && p.Mode == org.Test)
}

// Endpoint reports whether a URL from the issuer's metadata is acceptable. The URL must use https unless the issuer
// itself uses http.
func (p Provider) Endpoint(text string) bool {
	address, ok := parse(text)
	return ok && (address.Scheme == "https" || address.Scheme == "http" && strings.HasPrefix(p.Issuer, "http://"))
}

// parse parses an absolute URL that all parsers interpret in the same way.
func parse(text string) (*url.URL, bool) {
	address, err := url.Parse(text)
	if err != nil || len(text) > maxAddress {
		return nil, false
	}
	plain := address.Host != "" && address.User == nil && address.Opaque == "" && !strings.Contains(text, "#")
	return address, plain
}

// isName reports whether text can be used unescaped in URLs, rows and log lines.
func isName(text string) bool {
	return text != "" && len(text) <= maxName && strings.Trim(text, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}
