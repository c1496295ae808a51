// Package freemail recognises email domains at which anyone can get an address. An address at such a domain does not
// show that its owner belongs to an organisation. The package embeds its own list and, if npm could fetch them,
// published lists of free and disposable email domains. make domains fetches the lists that infra/freemail names.
package freemail

import (
	"bytes"
	"embed"
	"io/fs"
	"slices"
	"strings"

	"recordbridge/shared/words/fault"
)

// lists holds files that contain one domain on each line after the first. Domains are in lower case, and
// internationalised domains are A-labels (RFC 5890).
//
//go:embed lists
var lists embed.FS

// Is reports whether anyone can get an email address at domain. It is true if a list contains the domain or one of its
// parent domains. Letter case and a trailing dot are ignored. The domain must be in ASCII, as returned by package
// verification.
func Is(domain string) bool { return is(domain, isListed) }

func is(domain string, isListed func(domain string) bool) bool {
	domain = strings.TrimRight(strings.ToLower(domain), ".")
	if strings.Contains(domain, "\n") {
		return false
	}
	for {
		first, parent, found := strings.Cut(domain, ".")
		if isListed(domain) || found && slices.Contains(families(), first) && isCountry(parent) {
			return true
		}
		if !found {
			return false
		}
		domain = parent
	}
}

func isListed(domain string) bool {
	files, err := lists.ReadDir("lists")
	if err != nil {
		return false // unreachable, because the lists are embedded
	}
	return slices.ContainsFunc(files, func(file fs.DirEntry) bool { return isIn(file.Name(), domain) })
}

func isIn(list, domain string) bool {
	text, err := lists.ReadFile("lists/" + list)
	return err == nil && bytes.Contains(text, []byte("\n"+domain+"\n"))
}

// Refused returns the error for an email address at a free or disposable email domain.
func Refused() error {
	return fault.BadRequest(
		"Use your work e-mail address; personal addresses aren't accepted.").About("email")
}

// families returns the names of mail providers that have domains in many countries.
func families() []string {
	return []string{
		"aol", "gmx", "hotmail", "live", "outlook", "protonmail", "rocketmail", "tutanota", "windowslive",
		"yahoo", "yandex", "ymail", "zoho", "zohomail",
	}
}

// isCountry reports whether a domain may be a country's top-level domain, such as fr, or a country's domain for
// companies, such as com.br or co.uk.
func isCountry(domain string) bool {
	labels := strings.Split(domain, ".")
	return len(labels) <= 2 && !slices.ContainsFunc(labels, func(label string) bool { return len(label) > 3 })
}
