package weburl_test

import (
	_ "embed"
	"encoding/json"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/net/idna"

	"recordbridge/infra/testkit/spelling"
	"recordbridge/shared/words/weburl"
)

// table holds the results of parsing URLs with Node, as written by testdata/whatwg.mjs. Each URL is listed with its
// protocol, host and port if the URL is valid.
//
//go:embed testdata/whatwg.json
var table []byte

// reading holds the components of a URL as parsed by a browser. It is zero for text that is not a URL with a host.
type reading struct{ scheme, host, port string }

// browser parses an http or https URL as browsers do (WHATWG URL Standard, "basic URL parser" without a base URL). The
// function shares no code with package weburl.
func browser(text string) reading {
	text = strings.Map(func(r rune) rune {
		if r == '\t' || r == '\n' || r == '\r' {
			return -1
		}
		return r
	}, strings.TrimFunc(text, func(r rune) bool { return r <= ' ' }))
	scheme, rest, found := strings.Cut(text, ":")
	scheme = strings.ToLower(scheme)
	if !found || scheme != "http" && scheme != "https" {
		return reading{}
	}
	rest = strings.TrimLeft(rest, `/\`)
	if end := strings.IndexAny(rest, `/\?#`); end >= 0 {
		rest = rest[:end]
	}
	rest = rest[strings.LastIndexByte(rest, '@')+1:]
	host, port := rest, ""
	if at := strings.IndexByte(rest[strings.LastIndexByte(rest, ']')+1:], ':'); at >= 0 {
		at += strings.LastIndexByte(rest, ']') + 1
		host, port = rest[:at], strings.TrimLeft(rest[at+1:], "0")
		if port == "" && rest[at+1:] != "" {
			port = "0"
		}
		if number, err := strconv.ParseUint(port, 10, 16); port != "" &&
			(err != nil || strconv.FormatUint(number, 10) != port) {
			return reading{}
		}
	}
	if scheme == "https" && port == "443" || scheme == "http" && port == "80" {
		port = ""
	}
	if host = browserHost(host); host == "" {
		return reading{}
	}
	return reading{scheme: scheme, host: host, port: port}
}

func browserHost(host string) string {
	if strings.HasPrefix(host, "[") {
		address, err := netip.ParseAddr(strings.TrimSuffix(host[1:], "]"))
		if err != nil || !strings.HasSuffix(host, "]") || address.Zone() != "" || !address.Is6() {
			return ""
		}
		if b := address.As16(); address.Is4In6() {
			hex := func(high, low byte) string { return strconv.FormatUint(uint64(high)<<8|uint64(low), 16) }
			return "[::ffff:" + hex(b[12], b[13]) + ":" + hex(b[14], b[15]) + "]"
		}
		return "[" + address.String() + "]"
	}
	var plain []byte
	for i := 0; i < len(host); i++ {
		if i+2 < len(host) && host[i] == '%' {
			if code, err := strconv.ParseUint(host[i+1:i+3], 16, 8); err == nil {
				plain = append(plain, byte(code))
				i += 2
				continue
			}
		}
		plain = append(plain, host[i])
	}
	mapping := idna.New(idna.MapForLookup(), idna.StrictDomainName(false), idna.CheckHyphens(false))
	name, err := mapping.ToASCII(string(plain))
	if err != nil || !utf8.Valid(plain) || name == "" || strings.ContainsFunc(name, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune(`#/:<>?@[\]^|%`, r)
	}) {
		return ""
	}
	parts := strings.Split(strings.TrimSuffix(name, "."), ".")
	if last := parts[len(parts)-1]; last != "" && strings.Trim(last, "0123456789") == "" || isNumber(last) {
		return ipv4(parts)
	}
	return name
}

func isNumber(part string) bool {
	_, ok := number(part)
	return part != "" && ok
}

// number parses one part of an IPv4 address (WHATWG URL Standard, "IPv4 number parser").
func number(part string) (uint64, bool) {
	base := 10
	switch {
	case strings.HasPrefix(part, "0x") || strings.HasPrefix(part, "0X"):
		part, base = part[2:], 16
	case len(part) > 1 && part[0] == '0':
		part, base = part[1:], 8
	}
	if part == "" {
		return 0, base == 16
	}
	value, err := strconv.ParseUint(part, base, 64)
	return value, err == nil && part[0] != '+'
}

func ipv4(parts []string) string {
	if len(parts) > 4 {
		return ""
	}
	var whole uint64
	for i, part := range parts {
		value, ok := number(part)
		last := i == len(parts)-1
		if !ok || part == "" || !last && value > 255 || last && value >= 1<<(8*(5-len(parts))) {
			return ""
		}
		if last {
			whole |= value
		} else {
			whole |= value << (8 * (3 - i))
		}
	}
	return netip.AddrFrom4([4]byte{byte(whole >> 24), byte(whole >> 16), byte(whole >> 8), byte(whole)}).String()
}

func rows(tb testing.TB) [][]string {
	tb.Helper()
	var all [][]string
	if err := json.Unmarshal(table, &all); err != nil || len(all) < 2000 {
		tb.Fatalf("%d rows: %v", len(all), err)
	}
	return all
}

// TestReferenceParserAgreesWithNode checks the fuzz target's reference parser. Malformed A-labels are omitted, because
// parsers disagree on which of them to reject.
func TestReferenceParserAgreesWithNode(t *testing.T) {
	t.Parallel()
	for _, row := range rows(t) {
		want := reading{}
		if len(row) == 4 && (row[1] == "https:" || row[1] == "http:") {
			want = reading{strings.TrimSuffix(row[1], ":"), row[2], row[3]}
		}
		got := browser(row[0])
		if malformed := strings.Contains(row[0], "xn--") &&
			(got == reading{} || want == reading{}); got != want && !malformed {
			t.Errorf("%q: got %+v, node %+v", row[0], got, want)
		}
	}
}

func elsewhere(tb testing.TB) weburl.Own {
	tb.Helper()
	own, err := weburl.NewOwn("https://api.recordbridge.example/v1, http://127.0.0.1:4566/v1")
	if err != nil {
		tb.Fatal(err)
	}
	return own
}

func TestParseAgreesWithNode(t *testing.T) {
	t.Parallel()
	own, taken := elsewhere(t), 0
	for _, row := range rows(t) {
		u, err := own.Parse(row[0])
		if err != nil {
			continue
		}
		taken++
		if len(row) != 4 || row[1]+"//"+strings.TrimSuffix(row[2], ".")+":"+row[3] != originOf(u) {
			t.Errorf("%q: parsed as %s, by node as %q", row[0], u, row[1:])
		}
	}
	if taken < 100 {
		t.Errorf("only %d rows were taken: the table shows nothing", taken)
	}
}

func originOf(u weburl.URL) string {
	scheme, rest, _ := strings.Cut(u.Origin(), "://")
	if at := strings.LastIndexByte(rest, ':'); at > strings.LastIndexByte(rest, ']') {
		return scheme + "://" + rest
	}
	return scheme + "://" + rest + ":"
}

func TestParseRejectsVariantsOfServiceHost(t *testing.T) {
	t.Parallel()
	own := elsewhere(t)
	for _, all := range [][]string{
		spelling.Of("api.recordbridge.example", "", "/v1/bridge/connect?attempt=x"),
		spelling.Of("127.0.0.1", "4566", "/v1/bridge/connect?attempt=x"),
	} {
		for _, text := range all {
			if read := browser(text); read.host != "api.recordbridge.example" && read.host != "api.recordbridge.example." &&
				read.host != "127.0.0.1" {
				t.Errorf("%q leads browsers to %q: not a spelling", text, read.host)
			}
			if u, err := own.Parse(text); err == nil {
				t.Errorf("%q is taken as %s", text, u)
			}
		}
		if len(slices.Compact(slices.Sorted(slices.Values(all)))) != spelling.Count {
			t.Error("spellings repeat")
		}
	}
}

// FuzzParse checks that browsers resolve every accepted URL to the host that Parse returned, and never to this service.
// Each accepted URL must have only one spelling.
func FuzzParse(f *testing.F) {
	for _, row := range rows(f)[:150] {
		f.Add(row[0])
	}
	for _, text := range spelling.Of("api.recordbridge.example", "", "/")[:100] {
		f.Add(text)
	}
	own := elsewhere(f)
	f.Fuzz(func(t *testing.T, text string) {
		u, err := own.Parse(text)
		read := browser(text)
		if err != nil {
			return
		}
		bare := strings.TrimSuffix(read.host, ".")
		if read.host == "" || read.scheme+"://"+bare+":"+read.port != originOf(u) {
			t.Fatalf("%q: parsed as %s, by browsers as %+v", text, u, read)
		}
		if bare == "api.recordbridge.example" || read.port == "4566" && strings.HasSuffix(u.Host(), "localhost") {
			t.Fatalf("%q leads home", text)
		}
		shown := u.String()
		if again, err := own.Parse(shown); err != nil || again != u || browser(shown).host != bare ||
			strings.ContainsFunc(shown, func(r rune) bool { return r >= utf8.RuneSelf }) {
			t.Fatalf("%q is shown as %q, which is read as %s (%v)", text, shown, again, err)
		}
	})
}
