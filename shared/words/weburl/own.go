package weburl

import (
	"fmt"
	"strings"
)

// Own holds the hosts that lead to this service. The zero value counts every host as its own, so that a function
// without configured hosts refuses all URLs.
type Own struct {
	known bool
	hosts map[string]bool // internet hosts, on any port
	ports map[string]bool // ports of loopback hosts; other programs use the other ports
}

// NewOwn returns an Own for the service's URLs, which are separated by spaces or commas.
func NewOwn(urls string) (Own, error) {
	own := Own{hosts: map[string]bool{}, ports: map[string]bool{}}
	for _, text := range strings.FieldsFunc(urls, func(r rune) bool { return r == ' ' || r == ',' }) {
		u, err := parse(text)
		switch {
		case err != nil:
			return Own{}, fmt.Errorf("the service's own URL %q: %w", text, err)
		case u.isLoopback():
			own.ports[u.effectivePort()] = true
		default:
			own.hosts[u.host] = true
		}
		own.known = true
	}
	return own, nil
}

// Parse parses an external URL. The error is ErrOwn for a URL of this service, and another error for text that is not
// an acceptable URL.
func (o Own) Parse(text string) (URL, error) {
	u, err := parse(text)
	if err == nil && o.has(u) {
		err = ErrOwn
	}
	if err != nil {
		return URL{}, err
	}
	return u, nil
}

// Shown returns the canonical spelling of a stored URL, or "" if Parse refuses it.
func (o Own) Shown(stored string) string {
	u, err := o.Parse(stored)
	if err != nil {
		return ""
	}
	return u.String()
}

// IsSameOrigin reports whether two URLs have the same origin. A URL that Parse refuses matches no other.
func (o Own) IsSameOrigin(one, other string) bool {
	a, errA := o.Parse(one)
	b, errB := o.Parse(other)
	return errA == nil && errB == nil && a.Origin() == b.Origin()
}

// has reports whether u leads to this service. A loopback host in any spelling does so on one of the service's ports.
func (o Own) has(u URL) bool {
	switch {
	case !o.known:
		return true
	case u.isLoopback():
		return o.ports[u.effectivePort()]
	}
	return o.hosts[u.host]
}
