package safehttp

import (
	"cmp"
	"context"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"syscall"
)

// guard decides at dial time whether a connection to an address is allowed. It checks the IP address actually dialled,
// so DNS rebinding can't bypass it.
type guard struct {
	allow      []netip.Prefix // address ranges that are allowed on any port
	public     bool           // whether to allow public addresses as well, on port 443 only
	forbidden4 []netip.Prefix
	global6    netip.Prefix
	forbidden6 []netip.Prefix
}

// newGuard returns a guard that allows the ranges in allow and, if public is set, public addresses.
func newGuard(allow []netip.Prefix, public bool) *guard {
	return &guard{
		allow:      slices.Clone(allow),
		public:     public,
		forbidden4: special4(),
		global6:    netip.MustParsePrefix("2000::/3"), // all ranges that IANA has allocated for global unicast
		forbidden6: special6(),
	}
}

// control implements net.Dialer.ControlContext.
func (g *guard) control(_ context.Context, network, address string, _ syscall.RawConn) error {
	target, err := netip.ParseAddrPort(address)
	if err != nil || (network != "tcp4" && network != "tcp6") || !g.permits(target) {
		return errBlocked
	}
	return nil
}

// permits reports whether a connection to target is allowed. The dialler unmaps IPv4-mapped IPv6 addresses before the
// check. IPv4-mapped addresses and addresses with a zone are never allowed.
func (g *guard) permits(target netip.AddrPort) bool {
	address := target.Addr()
	if address.Zone() != "" {
		return false
	}
	return within(g.allow, address) || g.public && target.Port() == 443 && g.isPublic(address)
}

// MayReach reports whether a client with these options would attempt a request to target. The URL must pass the same
// checks as in Do. If the host is an IP address, the guard must also allow that address. Host names are not checked,
// because they have not been resolved.
func (o Options) MayReach(target *url.URL) bool {
	if !acceptable(target) {
		return false
	}
	g := newGuard(o.Allow, target.Scheme == "https")
	address, err := netip.ParseAddr(target.Hostname())
	if err != nil {
		return g.public || len(g.allow) > 0
	}
	port, err := strconv.ParseUint(cmp.Or(target.Port(), defaultPort(target.Scheme)), 10, 16)
	return err == nil && g.permits(netip.AddrPortFrom(address.Unmap(), uint16(port))) // the dialler also unmaps it
}

func defaultPort(scheme string) string {
	if scheme == "http" {
		return "80"
	}
	return "443"
}

// isPublic reports whether address is a globally reachable unicast address.
func (g *guard) isPublic(address netip.Addr) bool {
	if address.Is4() {
		return !within(g.forbidden4, address)
	}
	return address.Zone() == "" && g.global6.Contains(address) && !within(g.forbidden6, address)
}

func within(ranges []netip.Prefix, address netip.Addr) bool {
	return slices.ContainsFunc(ranges, func(r netip.Prefix) bool { return r.Contains(address) })
}

// special4 returns the IPv4 ranges that are not globally reachable unicast ranges: those in the IANA Special-Purpose
// Address Registry (RFC 6890), and multicast. Loopback addresses matter even in Lambda, whose Runtime API listens on
// one.
func special4() []netip.Prefix {
	return prefixes(
		"0.0.0.0/8",       // this network
		"10.0.0.0/8",      // private
		"100.64.0.0/10",   // carrier-grade NAT
		"127.0.0.0/8",     // loopback
		"169.254.0.0/16",  // link local, instance metadata
		"172.16.0.0/12",   // private
		"192.0.0.0/24",    // protocol assignments
		"192.0.2.0/24",    // documentation
		"192.31.196.0/24", // AS112
		"192.52.193.0/24", // multicast tunnelling
		"192.88.99.0/24",  // 6to4 relays
		"192.168.0.0/16",  // private
		"192.175.48.0/24", // AS112
		"198.18.0.0/15",   // benchmarks
		"198.51.100.0/24", // documentation
		"203.0.113.0/24",  // documentation
		"224.0.0.0/4",     // multicast
		"240.0.0.0/4",     // reserved, broadcast
	)
}

// special6 returns the ranges within 2000::/3 that are not public. IPv6 addresses outside that range, such as NAT64
// (64:ff9b::/96), unique local (fd00::/8) and IPv4-mapped addresses, are never public.
func special6() []netip.Prefix {
	return prefixes(
		"2001::/23",         // protocol assignments, Teredo
		"2001:db8::/32",     // documentation
		"2002::/16",         // 6to4; embeds IPv4 addresses
		"2620:4f:8000::/48", // AS112
		"3fff::/20",         // documentation
	)
}

func prefixes(texts ...string) []netip.Prefix {
	parsed := make([]netip.Prefix, 0, len(texts))
	for _, text := range texts {
		parsed = append(parsed, netip.MustParsePrefix(text))
	}
	return parsed
}
