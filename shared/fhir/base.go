package fhir

import (
	"errors"
	"net/url"
	"strings"
)

// Base is the base URL of a FHIR server. A bearer token may be sent only to URLs under the base
// (docs/develop/threats-network.md).
//
// A server behind a gateway may use a different base URL, called its own base, in its links and references (see Learn).
// A URL under the server's own base is rewritten to the same path under the Base. Requests are never sent to the
// server's own base.
type Base struct {
	place

	own place // host is empty if the server's own base is unknown
}

// place is a server's parsed base URL.
type place struct {
	scheme string // http or https
	host   string // lower case, without the scheme's default port
	path   string // escaped, without a trailing slash; empty at the root
}

var errBase = errors.New("fhir: not an absolute http or https address without user information, query and fragment")

// ParseBase parses a FHIR base URL and drops a trailing slash.
func ParseBase(text string) (Base, error) {
	address, err := url.Parse(text)
	if err != nil || !isWeb(address) || address.RawQuery != "" || address.ForceQuery || strings.Contains(text, "#") {
		return Base{}, errBase
	}
	base := Base{place: place{
		scheme: address.Scheme,
		host:   hostOf(address),
		path:   strings.TrimRight(address.EscapedPath(), "/"),
	}}
	if !isPlainPath(base.path) {
		return Base{}, errBase
	}
	return base, nil
}

// String returns the URL, without a trailing slash.
func (p place) String() string { return p.scheme + "://" + p.host + p.path }

// Own returns the base URL that the server uses for itself, in the form that Knowing accepts. Own returns "" if the
// server is not known to use a different URL.
func (b Base) Own() string {
	if b.own.host == "" {
		return ""
	}
	return b.own.String()
}

// Knowing returns a copy of b with the server's own base set to own. Knowing ignores own if it is invalid or equal to
// b.
func (b Base) Knowing(own string) Base {
	other, err := ParseBase(own)
	if err == nil && other.place != b.place {
		b.own = other.place
	}
	return b
}

// Learn returns a copy of b with the server's own base, inferred from the first page of a search at path
// ("Observation", or "Patient/p1/$everything"). The server's own base is the part of the page's self link that precedes
// the path. If the page doesn't have a self link, the server's own base is the part of the entries' full URLs before
// "/Type/id" (FHIR R4 bundle.html#searchset, bundle.html#bundle-unique). Learn ignores full URLs if the page has a self
// link, because a server that uses the Base for itself may still return another server's entries.
func (b Base) Learn(page Bundle, path string) Base {
	self, _, _ := strings.Cut(page.Self, "?")
	if own, found := strings.CutSuffix(strings.ReplaceAll(self, "%24", "$"), "/"+path); found {
		if _, err := ParseBase(own); err == nil {
			return b.Knowing(own)
		}
	}
	if address, err := url.Parse(self); err == nil && b.has(address) {
		return b
	}
	return b.Knowing(page.EntryBase)
}

// Join appends escaped path elements to the base and returns the URL.
func (b Base) Join(elements ...string) string {
	var address strings.Builder
	address.WriteString(b.String())
	for _, element := range elements {
		address.WriteString("/" + url.PathEscape(element))
	}
	return address.String()
}

// Resolve returns the URL to request for a link from this server. Relative links are resolved against the base. A link
// under the server's own base is rewritten to the base. Because proxies leak internal names and schemes into links, a
// link to any other host is rewritten if its path is under the path of the base. For any other link, ok is false and
// callers must not follow it.
func (b Base) Resolve(link string) (address string, ok bool) {
	target, ok := b.parse(link)
	if !ok {
		return "", false
	}
	sameHost := strings.EqualFold(target.Hostname(), (&url.URL{Host: b.host}).Hostname())
	// If the base has no path, every path is under it, so only the host distinguishes a leaked internal name from a
	// different server.
	if b.path == "" && !sameHost {
		return "", false
	}
	address = b.scheme + "://" + b.host + target.EscapedPath()
	if target.RawQuery != "" {
		address += "?" + target.RawQuery
	}
	return address, true
}

// relative returns an absolute URL's path relative to the base. ok is false if the URL belongs to another server.
func (b Base) relative(address string) (path string, ok bool) {
	target, ok := b.parse(address)
	if !ok || target.Scheme != b.scheme || hostOf(target) != b.host || target.RawQuery != "" {
		return "", false
	}
	return strings.TrimPrefix(target.EscapedPath(), b.path+"/"), true
}

// parse resolves a link against the base. If the link is under the server's own base, parse rewrites it to the base. ok
// is false if the path is not under the base's path.
func (b Base) parse(link string) (target *url.URL, ok bool) {
	root, err := url.Parse(b.String() + "/")
	if err != nil {
		return nil, false
	}
	target, err = root.Parse(link)
	if err != nil || !isWeb(target) || !isPlainPath(target.EscapedPath()) {
		return nil, false
	}
	if b.isOwn(target, strings.HasPrefix(link, "/") && !strings.HasPrefix(link, "//")) {
		rest := strings.TrimPrefix(target.EscapedPath(), b.own.path)
		moved, err := url.Parse(b.String() + rest)
		if err != nil {
			return nil, false
		}
		moved.RawQuery = target.RawQuery
		target = moved
	}
	return target, b.covers(target)
}

// isOwn reports whether a URL is under the server's own base. If a link has no host and its path starts at the root,
// isOwn compares only the path. A URL under both the base and the server's own base is assigned to the more specific
// one.
func (b Base) isOwn(target *url.URL, hostless bool) bool {
	if b.own.host == "" || !b.own.covers(target) || hostOf(target) != b.own.host && !hostless {
		return false
	}
	return !b.has(target) || len(b.own.path) >= len(b.path)
}

// has reports whether an absolute URL is at or below p, regardless of its scheme.
func (p place) has(address *url.URL) bool {
	return isWeb(address) && hostOf(address) == p.host && p.covers(address)
}

// covers reports whether a URL's path is at or below p's path.
func (p place) covers(address *url.URL) bool {
	path := address.EscapedPath()
	return path == p.path || strings.HasPrefix(path, p.path+"/")
}

// isWeb reports whether a URL is an absolute http or https URL with a host and without user information.
func isWeb(address *url.URL) bool {
	return (address.Scheme == "http" || address.Scheme == "https") && address.Hostname() != "" &&
		address.User == nil && address.Opaque == ""
}

// hostOf returns a URL's host and port in a comparable form.
func hostOf(address *url.URL) string {
	host := strings.ToLower(address.Host)
	port := map[string]string{"http": ":80", "https": ":443"}[address.Scheme]
	return strings.TrimSuffix(strings.TrimSuffix(host, port), ":")
}

// isPlainPath reports whether every server interprets an escaped path literally. A plain path doesn't contain dot
// segments or escapes that some servers decode to separators or dots.
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
