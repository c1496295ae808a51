package weburl

import (
	"fmt"
	"strings"
)

// Own holds the hosts that resolve to this service. The zero value treats every host as the service's own, so a
// function without configured hosts rejects all URLs.
type Own struct {
	known bool
	hosts map[string]bool // internet hosts, regardless of port
	ports map[string]bool // ports of loopback hosts; other ports belong to other programs
}

// NewOwn returns an Own for the given URLs of the service, separated by spaces or commas.
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

// Parse parses an external URL. It returns ErrOwn for one of the service's own URLs, and a different error for any
// other unacceptable URL.
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

// Shown returns a stored URL in canonical form, or "" if Parse rejects the URL.
func (o Own) Shown(stored string) string {
	u, err := o.Parse(stored)
	if err != nil {
		return ""
	}
	return u.String()
}

// IsSameOrigin reports whether two URLs have the same origin. IsSameOrigin returns false if Parse rejects either URL.
func (o Own) IsSameOrigin(one, other string) bool {
	a, errA := o.Parse(one)
	b, errB := o.Parse(other)
	return errA == nil && errB == nil && a.Origin() == b.Origin()
}

// has reports whether u points to this service. A loopback URL, in any spelling, points to this service if its port is
// one of the service's ports.
func (o Own) has(u URL) bool {
	switch {
	case !o.known:
		return true
	case u.isLoopback():
		return o.ports[u.effectivePort()]
	}
	return o.hosts[u.host]
}
