package safehttp_test

import (
	"net/netip"
	"net/url"
	"slices"
	"testing"

	"code.dny.dev/ssrf"
	"pgregory.net/rapid"

	"recordbridge/shared/platform/safehttp"
)

func TestGuardAgreesWithSSRFLibrary(t *testing.T) {
	t.Parallel()
	judge := ssrf.New()
	edges := []netip.Prefix{ssrf.IPv6GlobalUnicast, ssrf.IPv6NAT64Prefix, netip.MustParsePrefix("::ffff:0:0/96")}
	edges = slices.Concat(edges, ssrf.IPv4DeniedPrefixes, ssrf.IPv6DeniedPrefixes)
	for _, edge := range edges {
		first, last := edge.Masked().Addr(), lastOf(edge)
		for _, address := range []netip.Addr{first, last, first.Prev(), last.Next()} {
			compare(t, judge, address)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		v4 := [4]byte(rapid.SliceOfN(rapid.Byte(), 4, 4).Draw(t, "v4"))
		v6 := [16]byte(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "v6"))
		compare(t, judge, netip.AddrFrom4(v4))
		compare(t, judge, netip.AddrFrom16(v6))
		v6[0] = 0x20 | v6[0]&0x1f // Most of the IPv6 address space is forbidden, so half of the cases are in 2000::/3.
		compare(t, judge, netip.AddrFrom16(v6))
		edge := rapid.SampledFrom(edges).Draw(t, "edge")
		inside := edge.Masked().Addr().AsSlice()
		for i, random := range v6[16-len(inside):] {
			if keep := edge.Bits() - 8*i; keep < 8 {
				mask := byte(0xff) >> max(keep, 0)
				inside[i] |= random & mask
			}
		}
		address, _ := netip.AddrFromSlice(inside)
		compare(t, judge, address)
		compare(t, judge, netip.AddrFrom16(netip.AddrFrom4(v4).As16()))
	})
}

func compare(t interface{ Errorf(string, ...any) }, judge *ssrf.Guardian, address netip.Addr) {
	if !address.IsValid() {
		return
	}
	want := judge.SafeAddr(address) == nil
	if got := safehttp.IsPublic(address); got != want {
		t.Errorf("IsPublic(%s) = %v, the library says %v", address, got, want)
	}
}

func lastOf(prefix netip.Prefix) netip.Addr {
	bytes := prefix.Masked().Addr().AsSlice()
	for bit := prefix.Bits(); bit < 8*len(bytes); bit++ {
		bytes[bit/8] |= 0x80 >> (bit % 8)
	}
	address, _ := netip.AddrFromSlice(bytes)
	return address
}

func TestGuardRequiresPort443AndTLSForPublicAddresses(t *testing.T) {
	t.Parallel()
	loopback := []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}
	for _, test := range []struct {
		target              string
		allow               []netip.Prefix
		overTLS, withoutTLS bool
	}{
		{"8.8.8.8:443", nil, true, false},
		{"8.8.8.8:80", nil, false, false},
		{"8.8.8.8:8443", nil, false, false},
		{"[2606:4700::1111]:443", nil, true, false},
		{"[2606:4700::1111]:22", nil, false, false},
		{"127.0.0.1:443", nil, false, false},
		{"127.0.0.1:9001", nil, false, false}, // Lambda Runtime API
		{"127.0.0.1:9001", loopback, true, true},
		{"[::1]:8080", loopback, true, true},
		{"[::1]:443", nil, false, false},
		{"10.0.0.1:443", loopback, false, false},
		{"[::ffff:127.0.0.1]:443", nil, false, false},
		{"[::ffff:127.0.0.1]:443", loopback, false, false},
		{"[::ffff:8.8.8.8]:443", nil, false, false},
		{"169.254.169.254:80", nil, false, false},
		{"169.254.169.254:443", nil, false, false},
		{"169.254.79.129:2000", nil, false, false}, // X-Ray daemon
		{"[fd00:ec2::254]:443", nil, false, false},
		{"[fe80::1%eth0]:443", nil, false, false},
		{"[2606:4700::1111%eth0]:443", nil, false, false},
		{"[64:ff9b::7f00:1]:443", nil, false, false},
		{"[64:ff9b:1::1]:443", nil, false, false},
		{"[2002:7f00:1::]:443", nil, false, false},
		{"[2001:0:7f00:1::]:443", nil, false, false},
		{"[::7f00:1]:443", nil, false, false},
		{"[fec0::1]:443", nil, false, false},
		{"[100::1]:443", nil, false, false},
		{"[5f00::1]:443", nil, false, false},
		{"[ff02::1]:443", nil, false, false},
		{"0.0.0.0:443", nil, false, false},
		{"0.1.2.3:443", nil, false, false},
		{"100.64.0.1:443", nil, false, false},
		{"192.0.0.1:443", nil, false, false},
		{"192.88.99.1:443", nil, false, false},
		{"198.18.0.1:443", nil, false, false},
		{"255.255.255.255:443", nil, false, false},
		{"no address", nil, false, false},
	} {
		if got := safehttp.Permits(test.allow, true, test.target); got != test.overTLS {
			t.Errorf("%s over TLS, allowing %v: got %v", test.target, test.allow, got)
		}
		if got := safehttp.Permits(test.allow, false, test.target); got != test.withoutTLS {
			t.Errorf("%s without TLS, allowing %v: got %v", test.target, test.allow, got)
		}
	}
}

// TestMayReachAgreesWithGuard checks that MayReach rejects every IP address, in any spelling, that the guard would not
// dial.
func TestMayReachAgreesWithGuard(t *testing.T) {
	t.Parallel()
	local := safehttp.Options{Allow: []netip.Prefix{
		netip.MustParsePrefix("127.0.0.0/8"),
		netip.MustParsePrefix("::1/128"),
	}}
	for address, want := range map[string]struct{ anywhere, onALaptop bool }{
		"https://hooks.example/in":        {true, true},
		"https://hooks.example:8443/in":   {true, true}, // a host name's port is checked only when dialling
		"https://8.8.8.8/":                {true, true},
		"https://8.8.8.8:8443/":           {false, false},
		"https://[2606:4700::1111]/":      {true, true},
		"https://[::ffff:8.8.8.8]/":       {true, true},
		"https://localhost/":              {true, true},
		"http://localhost:8080/":          {false, true},
		"http://127.0.0.1:8080/":          {false, true},
		"http://[::1]:8080/":              {false, true},
		"http://[::ffff:127.0.0.1]:8080/": {false, true},
		"http://8.8.8.8/":                 {false, false},
		"https://127.0.0.1/":              {false, true},
		"https://10.0.0.1/":               {false, false},
		"https://169.254.169.254/":        {false, false},
		"https://172.16.0.1/":             {false, false},
		"https://192.168.1.1/":            {false, false},
		"https://100.64.0.1/":             {false, false},
		"https://192.0.2.1/":              {false, false},
		"https://0.0.0.0/":                {false, false},
		"https://255.255.255.255/":        {false, false},
		"https://[fd00::1]/":              {false, false},
		"https://[fe80::1]/":              {false, false},
		"https://[fe80::1%25eth0]/":       {false, false},
		"https://[::]/":                   {false, false},
		"https://[::ffff:10.0.0.1]/":      {false, false},
		"https://[::ffff:a9fe:a9fe]/":     {false, false},
		"https://[::10.0.0.1]/":           {false, false},
		"https://[64:ff9b::a00:1]/":       {false, false},
		"https://[64:ff9b:1::a00:1]/":     {false, false},
		"https://[2002:a00:1::]/":         {false, false},
		"https://[2001:0:a00:1::]/":       {false, false},
		"https://[2001:db8::1]/":          {false, false},
		"https://[ff02::1]/":              {false, false},
		"https://0x0a000001/":             {false, false},
		"https://167772161/":              {false, false},
		"https://10.1/":                   {false, false},
		"https://012.0.0.1/":              {false, false},
		"https://10.0.0.1./":              {false, false},
		"https://10.0.0.1:443/":           {false, false},
		"https://8.8.8.8:99999/":          {false, false},
		"https://user@hooks.example/":     {false, false},
		"https://hooks.example/#fragment": {false, false},
		"https://h\u00f6oks.example/":     {false, false},
		"ftp://hooks.example/":            {false, false},
	} {
		target, err := url.Parse(address)
		if err != nil {
			t.Fatalf("%q: %v", address, err)
		}
		if got := (safehttp.Options{}).MayReach(target); got != want.anywhere {
			t.Errorf("%s: %v", address, got)
		}
		if got := local.MayReach(target); got != want.onALaptop {
			t.Errorf("%s on a laptop: %v", address, got)
		}
	}
}
