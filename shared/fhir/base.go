package fhir

import (
	"errors"
	"net/url"
	"strings"
)

// Base is the address of a FHIR server. A bearer token may be sent to addresses under it and to nothing else
// (fhir.md section 2.4).
type Base struct {
	scheme string // http or https
	host   string // lower case, without the scheme's default port
	path   string // escaped, without a trailing slash; empty at the root
}

var errBase = errors.New("fhir: not an absolute http or https address without user information, query and fragment")

// ParseBase reads a FHIR base URL. A trailing slash is dropped.
func ParseBase(text string) (Base, error) {
	address, err := url.Parse(text)
	if err != nil || !isWeb(address) || address.RawQuery != "" || address.ForceQuery || strings.Contains(text, "#") {
		return Base{}, errBase
	}
	base := Base{
		scheme: address.Scheme,
		host:   hostOf(address),
		path:   strings.TrimRight(address.EscapedPath(), "/"),
	}
	if !isPlainPath(base.path) {
		return Base{}, errBase
	}
	return base, nil
}

// String returns the address, without a trailing slash.
func (b Base) String() string { return b.scheme + "://" + b.host + b.path }

// Join returns the address of the path elements under the base, each of them escaped.
func (b Base) Join(elements ...string) string {
	var address strings.Builder
	address.WriteString(b.String())
	for _, element := range elements {
		address.WriteString("/" + url.PathEscape(element))
	}
	return address.String()
}

// Resolve returns the address that a link of this server means. Relative links are resolved against the base. A
// link to another host is moved to the base when its path is under the base's path, because proxies leak internal
// names and schemes into links (fhir.md section 2.4). ok is false for every other link: it must not be followed.
func (b Base) Resolve(link string) (address string, ok bool) {
	target, ok := b.parse(link)
	if !ok {
		return "", false
	}
	sameHost := strings.EqualFold(target.Hostname(), (&url.URL{Host: b.host}).Hostname())
	// At the root every path is under the base's path, so that only the host can tell a leaked name from a stranger.
	if b.path == "" && !sameHost {
		return "", false
	}
	address = b.scheme + "://" + b.host + target.EscapedPath()
	if target.RawQuery != "" {
		address += "?" + target.RawQuery
	}
	return address, true
}

// relative returns the path of an absolute address below the base; ok is false when it is another server's.
func (b Base) relative(address string) (path string, ok bool) {
	target, ok := b.parse(address)
	if !ok || target.Scheme != b.scheme || hostOf(target) != b.host || target.RawQuery != "" {
		return "", false
	}
	return strings.TrimPrefix(target.EscapedPath(), b.path+"/"), true
}

// parse resolves a link against the base; ok is false when its path is not under the base's path.
func (b Base) parse(link string) (target *url.URL, ok bool) {
	root, err := url.Parse(b.String() + "/")
	if err != nil {
		return nil, false
	}
	target, err = root.Parse(link)
	if err != nil || !isWeb(target) {
		return nil, false
	}
	path := target.EscapedPath()
	under := path == b.path || strings.HasPrefix(path, b.path+"/")
	return target, under && isPlainPath(path)
}

// isWeb reports whether an address is absolute http or https with a host and without user information.
func isWeb(address *url.URL) bool {
	return (address.Scheme == "http" || address.Scheme == "https") && address.Hostname() != "" &&
		address.User == nil && address.Opaque == ""
}

// hostOf returns host and port for comparison.
func hostOf(address *url.URL) string {
	host := strings.ToLower(address.Host)
	port := map[string]string{"http": ":80", "https": ":443"}[address.Scheme]
	return strings.TrimSuffix(strings.TrimSuffix(host, port), ":")
}

// isPlainPath reports whether an escaped path means to every server what it says: without dot segments and without
// escapes that some servers read as separators or dots.
func isPlainPath(path string) bool {
	for segment := range strings.SplitSeq(path, "/") {
		if segment == "." || segment == ".." {
			return false
		}
	}
	lower := strings.ToLower(path)
	for _, trick := range [...]string{"%2e", "%2f", "%5c", "\\", "%00", "//"} {
		if strings.Contains(lower, trick) {
			return false
		}
	}
	return true
}
