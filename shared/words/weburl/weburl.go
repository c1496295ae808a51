// Package weburl parses the http and https URLs that come from organisations, published lists and patients. It also
// detects URLs that point to the service itself (docs/adr/0040-no-address-of-ours.md). The package rejects URLs that Go
// and browsers (WHATWG URL Standard) might interpret differently.
package weburl

import (
	"errors"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// maxLength is the maximum length of a URL in bytes. Browsers and servers don't reliably accept longer URLs.
const maxLength = 8 << 10

// ErrOwn is returned by Parse for a URL that points to this service. No error returned by Parse quotes the URL.
var ErrOwn = errors.New("the URL leads to this service")

var errForm = errors.New("not an absolute http or https URL that every parser reads alike")

// URL is an absolute http or https URL that all parsers interpret in the same way. A URL contains only ASCII
// characters. The host is in lower case without a trailing dot, and internationalised names are A-labels (UTS 46). A
// URL doesn't contain a default port or user information. Path, query and fragment are unchanged except that non-ASCII
// characters are percent-encoded.
type URL struct {
	scheme string
	host   string // without brackets for IPv6 addresses
	port   string // empty if the port is the scheme's default
	rest   string // path, query and fragment
}

// String returns the URL's canonical spelling.
func (u URL) String() string { return u.Origin() + u.rest }

// Origin returns the URL's origin, serialised as in browsers (RFC 6454 section 6.2).
func (u URL) Origin() string {
	host := u.host
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if u.port != "" {
		host += ":" + u.port
	}
	return u.scheme + "://" + host
}

// IsSecure reports whether the scheme is https.
func (u URL) IsSecure() bool { return u.scheme == "https" }

// HasFragment reports whether the URL contains a fragment. An empty fragment also counts as a fragment.
func (u URL) HasFragment() bool { return strings.Contains(u.rest, "#") }

// Host returns the host without its port. An IPv6 address doesn't have brackets.
func (u URL) Host() string { return u.host }

// IsLocalhost reports whether the URL names the local machine. It accepts only the spellings for which test mode allows
// http.
func (u URL) IsLocalhost() bool {
	return u.host == "localhost" || u.host == "127.0.0.1" || u.host == "::1"
}

// isLoopback reports whether browsers resolve the host to the local machine. Browsers treat localhost, its subdomains,
// loopback addresses and unspecified addresses as the local machine.
func (u URL) isLoopback() bool {
	if address, err := netip.ParseAddr(u.host); err == nil {
		return address.IsLoopback() || address.IsUnspecified()
	}
	return u.host == "localhost" || strings.HasSuffix(u.host, ".localhost")
}

// effectivePort returns the port that clients connect to.
func (u URL) effectivePort() string {
	switch {
	case u.port != "":
		return u.port
	case u.scheme == "http":
		return "80"
	}
	return "443"
}

func parse(text string) (URL, error) {
	if len(text) > maxLength || !utf8.ValidString(text) || strings.ContainsFunc(text, isUnsafe) {
		return URL{}, errForm
	}
	scheme, after, _ := strings.Cut(text, "://")
	u := URL{scheme: strings.ToLower(scheme)}
	if u.scheme != "https" && u.scheme != "http" {
		return URL{}, errForm
	}
	authority := after
	if end := strings.IndexAny(after, "/?#"); end >= 0 {
		authority, u.rest = after[:end], encoded(after[end:])
	}
	host, port, ok := splitPort(authority)
	if !ok {
		return URL{}, errForm
	}
	if u.host, ok = normalHost(host); !ok {
		return URL{}, errForm
	}
	if u.port = port; u.scheme == "https" && port == "443" || u.scheme == "http" && port == "80" {
		u.port = ""
	}
	// net/url must also accept the URL; otherwise, using the URL would fail.
	if read, err := url.Parse(u.String()); err != nil || read.Hostname() != u.host || read.Port() != u.port ||
		read.User != nil {
		return URL{}, errForm
	}
	return u, nil
}

// isUnsafe reports whether browsers drop the character, convert it to another character, or treat it as the end of a
// URL.
func isUnsafe(r rune) bool {
	return r <= ' ' || r >= 0x7f && r <= 0xa0 || r == utf8.RuneError || strings.ContainsRune(`\"<>`, r)
}

// encoded percent-encodes non-ASCII characters as browsers do for UTF-8 documents.
func encoded(rest string) string {
	var text strings.Builder
	for i := range len(rest) {
		if c := rest[i]; c < utf8.RuneSelf {
			text.WriteByte(c)
		} else {
			text.WriteString("%" + strings.ToUpper(strconv.FormatUint(uint64(c), 16)))
		}
	}
	return text.String()
}

// splitPort splits an authority into host and port. The port is empty or a decimal number without leading zeros.
func splitPort(authority string) (host, port string, ok bool) {
	host = authority
	if at := strings.LastIndexByte(authority, ':'); at > strings.LastIndexByte(authority, ']') {
		host, port = authority[:at], authority[at+1:]
		if number, err := strconv.ParseUint(port, 10, 16); err != nil || number == 0 ||
			strconv.FormatUint(number, 10) != port {
			return "", "", false
		}
	}
	return host, port, true
}

// normalHost returns a host's canonical form: an IP address as formatted by netip, or a domain name as lower-case
// A-labels. An IPv4 address must consist of four decimal numbers, because parsers disagree about the other forms that
// inet_aton accepts.
func normalHost(given string) (string, bool) {
	if opened, found := strings.CutPrefix(given, "["); found {
		inside, closed := strings.CutSuffix(opened, "]")
		address, err := netip.ParseAddr(inside)
		if !closed || err != nil || !address.Is6() || address.Is4In6() || address.Zone() != "" {
			return "", false
		}
		return address.String(), true
	}
	ascii, err := profile().ToASCII(given)
	if err != nil || !IsPlainHost(ascii) || strings.Contains(ascii, ":") {
		return "", false
	}
	if _, err := netip.ParseAddr(ascii); err == nil {
		return ascii, ascii == given
	}
	return strings.TrimSuffix(ascii, "."), true
}

// profile returns a profile that maps host names as browsers do (WHATWG URL Standard, "domain to ASCII"). The profile
// also checks the names' lengths.
func profile() *idna.Profile {
	return idna.New(
		idna.MapForLookup(), idna.Transitional(false), idna.StrictDomainName(false), idna.CheckHyphens(false),
		idna.BidiRule(), idna.VerifyDNSLength(true),
	)
}

// IsPlainHost reports whether all clients interpret host in the same way. A plain host is an IP address without a zone,
// or an ASCII name that does not end in a number. Libraries disagree on whether 0x7f000001, 2130706433 and 127.1 are
// IPv4 addresses (WHATWG URL Standard, "ends in a number checker").
func IsPlainHost(host string) bool {
	if address, err := netip.ParseAddr(host); err == nil {
		return address.Zone() == ""
	}
	name := strings.TrimSuffix(host, ".")
	last := strings.ToLower(name[strings.LastIndexByte(name, '.')+1:])
	if last == "" || strings.Trim(last, "0123456789") == "" || strings.HasPrefix(last, "0x") {
		return false
	}
	for i := range len(name) {
		c := name[i]
		plain := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		if !plain && c != '-' && c != '.' && c != '_' {
			return false
		}
	}
	return true
}
