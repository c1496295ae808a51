// Package freemail owns which mail domains everybody can get an address at, so that one there vouches for no
// organisation. A list of our own is always there; those that others publish, of free mail and of addresses for
// minutes, are beside it where npm was there to fetch them (make freemail; infra/freemail says which).
package freemail

import (
	"bytes"
	"embed"
	"io/fs"
	"slices"
	"strings"

	"recordbridge/shared/words/fault"
)

// lists have a domain on each line but the first, in lower case, internationalised ones as their A-labels (RFC 5890).
//
//go:embed lists
var lists embed.FS

// Is reports whether anybody can get an address at a domain, in any case and with or without the dot of the root:
// whether a list has the domain or one above it. A domain is ASCII, as package verification has it.
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
		return false // which cannot be: they are in the program
	}
	return slices.ContainsFunc(files, func(file fs.DirEntry) bool { return isIn(file.Name(), domain) })
}

func isIn(list, domain string) bool {
	text, err := lists.ReadFile("lists/" + list)
	return err == nil && bytes.Contains(text, []byte("\n"+domain+"\n"))
}

// Refused is what somebody with such an address is told.
func Refused() error {
	return fault.BadRequest(
		"Use your work e-mail address; personal addresses aren't accepted.").About("email")
}

// families have a domain in many countries.
func families() []string {
	return []string{
		"aol", "gmx", "hotmail", "live", "outlook", "protonmail", "rocketmail", "tutanota", "windowslive",
		"yahoo", "yandex", "ymail", "zoho", "zohomail",
	}
}

// isCountry reports whether a domain may be a country's, or that of its companies: fr, com.br, co.uk.
func isCountry(domain string) bool {
	labels := strings.Split(domain, ".")
	return len(labels) <= 2 && !slices.ContainsFunc(labels, func(label string) bool { return len(label) > 3 })
}
