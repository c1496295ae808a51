// Package lookalike detects names and URLs that a person could mistake for one another. The package compares skeletons
// as defined in Unicode Technical Standard 39, ignoring case, punctuation, legal forms and similar details. Skeletons
// are used only for comparison and are never displayed.
package lookalike

import (
	"net/url"
	"slices"
	"strings"

	"go.mau.fi/util/confusable"
	"golang.org/x/net/idna"
	"golang.org/x/text/unicode/norm"

	"recordbridge/shared/catalog/names"
)

// Face holds the names and URLs that people use to recognise an organisation or an institution.
type Face struct {
	Names []string // main and alternative names
	Site  string   // URL of the website
	Logo  string   // URL of the logo
}

// Comparer compares one Face with many others. A Comparer is safe for concurrent use.
type Comparer struct {
	reader *names.Reader
	names  []string
	hosts  []string
	logo   string
}

// NewComparer returns a Comparer for f.
func NewComparer(f Face) *Comparer {
	c := Comparer{reader: names.NewReader(), logo: f.Logo}
	c.names, c.hosts = c.keys(f.Names), hosts(f)
	return &c
}

// Alike returns the attributes in which another Face resembles the Comparer's Face: "name", "host" (of the website or
// logo) or "logo".
func (c *Comparer) Alike(other Face) []string {
	var ways []string
	if overlap(c.names, c.keys(other.Names)) {
		ways = append(ways, "name")
	}
	if overlap(c.hosts, hosts(other)) {
		ways = append(ways, "host")
	}
	if c.logo != "" && c.logo == other.Logo {
		ways = append(ways, "logo")
	}
	return ways
}

func (c *Comparer) keys(all []string) []string {
	keys := make([]string, 0, len(all))
	for _, name := range all {
		if key := closed(c.reader.Key(skeleton(name))); key != "" {
			keys = append(keys, key)
		}
	}
	return keys
}

// hosts returns the hosts of a Face's website and logo in the form that browsers display, without "www.".
func hosts(f Face) []string {
	var all []string
	for _, address := range []string{f.Site, f.Logo} {
		u, err := url.Parse(address)
		if err != nil || u.Hostname() == "" {
			continue
		}
		host := strings.TrimSuffix(u.Hostname(), ".")
		if shown, err := idna.Punycode.ToUnicode(strings.ToLower(host)); err == nil {
			host = shown
		}
		all = append(all, closed(strings.TrimPrefix(skeleton(host), "www.")))
	}
	return all
}

// skeleton returns a text's visual skeleton in lower case. Legal forms and abbreviations remain recognisable in the
// skeleton. The function reverses the Unicode standard's mapping of m to "rn".
func skeleton(text string) string {
	lower := strings.ToLower(norm.NFKC.String(text))
	return strings.ReplaceAll(strings.ToLower(confusable.Skeleton(lower)), "rn", "m")
}

// closed removes spaces and treats i and l as equal because a capital i looks like an l.
func closed(key string) string {
	return strings.NewReplacer(" ", "", "i", "l").Replace(key)
}

func overlap(a, b []string) bool {
	return slices.ContainsFunc(a, func(one string) bool { return slices.Contains(b, one) })
}
