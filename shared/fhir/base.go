package fhir

import (
	"errors"
	"net/url"
	"strings"
)

// Base is the base URL of a FHIR server. A bearer token may be sent to URLs under it and to no others
// (docs/develop/threat-model.md).
//
// A server behind a gateway can know itself by a different URL, its own base, and write that into links and references
// (see Learn). A URL under the own base is rewritten to the same path under the Base; no request is ever sent to the
// own base.
type Base struct {
	place

	own place // host is empty if no other base is known
}

// place is the location of a server.
type place struct {
	scheme string // http or https
	host   string // lower case, without the scheme's default port
	path   string // escaped, without a trailing slash; empty at the root
}

var errBase = errors.New("fhir: not an absolute http or https address without user information, query and fragment")

// ParseBase parses a FHIR base URL. A trailing slash is dropped.
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

// Own returns the base URL that the server uses for itself, for Knowing; empty if no different one is known.
func (b Base) Own() string {
	if b.own.host == "" {
		return ""
	}
	return b.own.String()
}

// Knowing returns the base of the same server with its own base set. An invalid URL, or one equal to b, changes
// nothing.
func (b Base) Knowing(own string) Base {
	other, err := ParseBase(own)
	if err == nil && other.place != b.place {
		b.own = other.place
	}
	return b
}

// Learn returns the base with the own base that the first page of a search at path reveals ("Observation", or
// "Patient/p1/$everything"). The own base is the part of the page's self link before the path or, only if there is no
// such link, the part of its entries' full URLs before "/Type/id" (FHIR R4 bundle.html#searchset,
// bundle.html#bundle-unique): a server that knows itself by the Base can have another server's entries.
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

// Join returns the URL of the path elements under the base, each of them escaped.
func (b Base) Join(elements ...string) string {
	var address strings.Builder
	address.WriteString(b.String())
	for _, element := range elements {
		address.WriteString("/" + url.PathEscape(element))
	}
	return address.String()
}

// Resolve returns the URL to request for a link of this server. Relative links are resolved against the base. A link
// under the server's own base is moved to the base, and so is one to any other host if its path is under the base's
// path, because proxies leak internal names and schemes into links. ok is false for every other link: it must not be
// followed.
func (b Base) Resolve(link string) (address string, ok bool) {
	target, ok := b.parse(link)
	if !ok {
		return "", false
	}
	sameHost := strings.EqualFold(target.Hostname(), (&url.URL{Host: b.host}).Hostname())
	// At the root every path is under the base's path, so that only the host distinguishes a leaked name from a different
	// server.
	if b.path == "" && !sameHost {
		return "", false
	}
	address = b.scheme + "://" + b.host + target.EscapedPath()
	if target.RawQuery != "" {
		address += "?" + target.RawQuery
	}
	return address, true
}

// relative returns the path of an absolute URL below the base; ok is false if it belongs to another server.
func (b Base) relative(address string) (path string, ok bool) {
	target, ok := b.parse(address)
	if !ok || target.Scheme != b.scheme || hostOf(target) != b.host || target.RawQuery != "" {
		return "", false
	}
	return strings.TrimPrefix(target.EscapedPath(), b.path+"/"), true
}

// parse resolves a link against the base, and moves it there from the own base; ok is false if its path is not under
// the base's path.
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

// isOwn reports whether a URL is under the server's own base. A link without a host, with only a path from the root,
// can be too. A URL that is under both bases belongs to the more specific one.
func (b Base) isOwn(target *url.URL, hostless bool) bool {
	if b.own.host == "" || !b.own.covers(target) || hostOf(target) != b.own.host && !hostless {
		return false
	}
	return !b.has(target) || len(b.own.path) >= len(b.path)
}

// has reports whether an absolute URL is under the place, whatever its scheme.
func (p place) has(address *url.URL) bool {
	return isWeb(address) && hostOf(address) == p.host && p.covers(address)
}

// covers reports whether a URL's path is under that of the place.
func (p place) covers(address *url.URL) bool {
	path := address.EscapedPath()
	return path == p.path || strings.HasPrefix(path, p.path+"/")
}

// isWeb reports whether a URL is absolute http or https with a host and without user information.
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

// isPlainPath reports whether every server interprets an escaped path literally: it has no dot segments and no escapes
// that some servers read as separators or dots.
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
