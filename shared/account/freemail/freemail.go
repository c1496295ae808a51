// Package freemail owns which mail domains everybody can get an address at, so that one there vouches for no organisation. A list of our
// own is always there; those that others publish, of free mail and of addresses for minutes, are beside it where npm was there to fetch
// them (make freemail; infra/freemail says which).
package freemail

import (
	"bytes"
	"embed"
	"io/fs"
	"slices"
	"strings"

	"recordbridge/shared/fault"
)

// lists have a domain on each line but the first, in lower case, internationalised ones as their A-labels (RFC 5890).
//
//go:embed lists
var lists embed.FS

// Is reports whether a domain, however it is spelt, is one of them or below one.
func Is(domain string) bool {
	domain = strings.TrimSuffix(strings.ToLower(domain), ".")
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
	line := []byte("\n" + domain + "\n")
	return slices.ContainsFunc(files, func(file fs.DirEntry) bool {
		text, err := lists.ReadFile("lists/" + file.Name())
		return err == nil && bytes.Contains(text, line)
	})
}

// Refused is what somebody with such an address is told.
func Refused() error {
	return fault.BadRequest("Use the address that you have at your organisation. Anybody can get one at this domain.").About("email")
}

// families have a domain in many countries.
func families() []string { return []string{"hotmail", "outlook", "yahoo"} }

// isCountry reports whether a domain may be a country's, or that of its companies: fr, com.br, co.uk.
func isCountry(domain string) bool {
	labels := strings.Split(domain, ".")
	return len(labels) <= 2 && !slices.ContainsFunc(labels, func(label string) bool { return len(label) > 3 })
}
