// Package spelling generates many spellings of a URL, all of which browsers resolve to the same host. The spellings
// vary in case, UTS 46 mappings, percent-encoding, slashes, ports, user information, and the IPv4 address forms that
// inet_aton accepts.
package spelling

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Count is the number of URLs that Of returns.
const Count = 1000

// Of returns Count distinct URLs for path, all of which browsers resolve to the given host and port. The host is a name
// or an IPv4 address in ASCII. If port is empty, the URLs' ports vary. Equal arguments yield equal URLs.
func Of(host, port, path string) []string {
	random := rand.New(rand.NewPCG(30, 40)) //nolint:gosec // G404: a test's choices, the same each time
	hosts := names
	if strings.Trim(host, "0123456789.") == "" {
		hosts = addresses
	}
	seen, all := map[string]bool{}, make([]string, 0, Count)
	for len(all) < Count {
		text := pick(random, "https", "https", "HTTPS", "Https", "hTTps", "http", "HTTP") +
			pick(random, "://", "://", "://", ":///", ":/", `:\\`, ":/\\", ":////") +
			pick(random, "", "", "", "user@", "user:word@", "bank.example@", "@", "a@b@", "%40@") +
			hosts(random, host) + ports(random, port) + path
		if random.IntN(12) == 0 { // browsers remove tabs and line breaks at any position
			at := 9 + random.IntN(len(text)-9)
			for !isStart(text, at) {
				at--
			}
			text = text[:at] + pick(random, "\t", "\n", "\r") + text[at:]
		}
		if !seen[text] {
			seen[text] = true
			all = append(all, text)
		}
	}
	return all
}

func isStart(text string, at int) bool { return at == 0 || text[at]&0xc0 != 0x80 }

func pick(random *rand.Rand, from ...string) string { return from[random.IntN(len(from))] }

func ports(random *rand.Rand, port string) string {
	if port == "" {
		return pick(random, "", "", ":", ":443", ":80", ":8443", ":0443", ":00443")
	}
	return pick(random, ":", ":", ":0", ":000") + port
}

// names respells a host name with percent-encoding and with characters that UTS 46 maps back to the original letters or
// ignores.
func names(random *rand.Rand, host string) string {
	var text strings.Builder
	rate := 1 + random.IntN(6)
	for i, c := range host {
		if random.IntN(rate) != 0 {
			text.WriteRune(c)
			continue
		}
		switch {
		case c == '.':
			text.WriteString(pick(random, ".", "\u3002", "\uff0e", "\uff61", "%2e", "%2E", "%E3%80%82"))
		case 'a' <= c && c <= 'z':
			text.WriteString(pick(random, string(c-'a'+'A'), string(c-'a'+'\uff41'), string(c-'a'+'\uff21'),
				string(c-'a'+'\U0001d41a'),
				string(c-'a'+'\u24d0'), string(c-'a'+'\u24b6'), fmt.Sprintf("%%%02x", c), fmt.Sprintf("%%%02X", c-'a'+'A')))
		case '0' <= c && c <= '9':
			text.WriteString(pick(random, string(c-'0'+'\uff10'), string(c-'0'+'\U0001d7ce'), fmt.Sprintf("%%%02x", c)))
		default:
			text.WriteRune(c)
		}
		if i > 0 && c != '.' {
			text.WriteString(pick(random, "", "", "\u00ad", "\u200b", "\u2060", "\ufeff", "\ufe0f", "\u180b"))
		}
	}
	return text.String()
}

// addresses returns an IPv4 address in a random form that inet_aton accepts.
func addresses(random *rand.Rand, host string) string {
	var n [4]uint32
	if _, err := fmt.Sscanf(host, "%d.%d.%d.%d", &n[0], &n[1], &n[2], &n[3]); err != nil {
		return host
	}
	whole := n[0]<<24 | n[1]<<16 | n[2]<<8 | n[3]
	number := func(v uint32) string {
		return fmt.Sprintf(pick(random, "%d", "%d", "0%o", "0x%x", "0X%X", "0x0%x", "00%o"), v)
	}
	var text string
	switch random.IntN(6) {
	case 0:
		text = number(whole)
	case 1:
		text = number(n[0]) + "." + number(whole&0xffffff)
	case 2:
		text = number(n[0]) + "." + number(n[1]) + "." + number(whole&0xffff)
	default:
		text = number(n[0]) + "." + number(n[1]) + "." + number(n[2]) + "." + number(n[3])
	}
	text += pick(random, "", "", "", ".")
	if random.IntN(2) == 0 {
		return text
	}
	var spelled strings.Builder
	for _, c := range text {
		switch {
		case random.IntN(3) != 0:
			spelled.WriteRune(c)
		case c == '.':
			spelled.WriteString(pick(random, "\u3002", "\uff0e", "\uff61", "%2e"))
		case '0' <= c && c <= '9':
			spelled.WriteString(pick(random, string(c-'0'+'\uff10'), string(c-'0'+'\U0001d7ce'), fmt.Sprintf("%%%02x", c)))
		default:
			spelled.WriteRune(c)
		}
	}
	return spelled.String()
}
