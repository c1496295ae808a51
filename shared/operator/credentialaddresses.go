package operator

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"recordbridge/shared/fault"
	"recordbridge/shared/org"
)

// maxNote bounds what somebody writes beside a credential or a webhook, in characters.
const maxNote = 200

// checkNote wants one line of text.
func checkNote(note string) error {
	if utf8.RuneCountInString(note) > maxNote || !utf8.ValidString(note) || strings.ContainsFunc(note, unicode.IsControl) {
		return fault.BadRequest("A note has at most 200 characters, on one line.").About("note")
	}
	return nil
}

// CredentialChange is what is said of a credential. What is not named stays. Whole lists are taken first, then what is to be added
// and removed.
type CredentialChange struct {
	Note            *string
	Redirects       []string // nil: as they are
	Origins         []string // nil: as they are; empty: any
	AddRedirects    []string
	RemoveRedirects []string
	AddOrigins      []string
	RemoveOrigins   []string
	AnyOrigin       bool // it has no origins any more: pages of any may use the public id
}

// of is the credential after the change.
func (c CredentialChange) of(found org.Credential) (org.Credential, error) {
	if c.Note != nil {
		found.Note = *c.Note
	}
	if c.Redirects != nil {
		found.RedirectURIs = c.Redirects
	}
	if c.Origins != nil {
		found.AllowedOrigins = c.Origins
	}
	err := errors.Join(checkNote(found.Note), checkAllowed(c.Origins, "origin"))
	if err != nil {
		return org.Credential{}, err
	}
	if found.RedirectURIs, err = edited(found.RedirectURIs, c.AddRedirects, c.RemoveRedirects, "remove-redirect"); err != nil {
		return org.Credential{}, err
	}
	if len(found.RedirectURIs) == 0 {
		return org.Credential{}, fault.BadRequest("A credential needs a redirect URI. Add another one at the same time.").About("remove-redirect")
	}
	if err = checkRedirects(found.Tenant.Mode, found.RedirectURIs, "add-redirect"); err != nil {
		return org.Credential{}, err
	}
	if err = checkAllowed(c.AddOrigins, "add-origin"); err != nil {
		return org.Credential{}, err
	}
	before := len(found.AllowedOrigins)
	if found.AllowedOrigins, err = edited(found.AllowedOrigins, c.AddOrigins, c.RemoveOrigins, "remove-origin"); err != nil {
		return org.Credential{}, err
	}
	if c.AnyOrigin {
		if len(c.AddOrigins) > 0 {
			return org.Credential{}, fault.BadRequest("Either there are origins, or any may use the public id.").About("any-origin")
		}
		found.AllowedOrigins = nil
	}
	if !c.AnyOrigin && before > 0 && len(found.AllowedOrigins) == 0 {
		return org.Credential{}, fault.BadRequest("Without an origin, pages of any may use the public id: -any-origin, if that is meant.").About("remove-origin")
	}
	return found, nil
}

// edited is a list with what is added and without what is removed, which has to be there.
func edited(list, add, remove []string, field string) ([]string, error) {
	list = slices.Clone(list)
	for _, text := range remove {
		i := slices.Index(list, text)
		if i < 0 {
			return nil, fault.BadRequest(fmt.Sprintf("%q is not there. It has to be written exactly as credential show does.", text)).About(field)
		}
		list = slices.Delete(list, i, i+1)
	}
	for _, text := range add {
		if !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	return list, nil
}

func checkRedirects(mode org.Mode, redirects []string, field string) error {
	if len(redirects) == 0 || len(redirects) > maxRedirectURIs {
		return fault.BadRequest("A credential needs 1 to 25 redirect URIs.").About(field)
	}
	for _, uri := range redirects {
		if err := org.CheckRedirectURI(mode, uri); err != nil {
			return fmt.Errorf("redirect URI %q: %w", uri, fault.Of(err).About(field))
		}
	}
	return nil
}

// checkAllowed wants origins as browsers send them (RFC 6454), since they are compared exactly.
func checkAllowed(origins []string, field string) error {
	for _, text := range origins {
		u, err := url.Parse(text)
		if err != nil || u.Host == "" || text != strings.ToLower(u.Scheme+"://"+u.Host) || strings.HasSuffix(u.Host, ":443") {
			return fault.BadRequest(fmt.Sprintf("%q is not an origin as browsers send it, such as https://app.example: a scheme, a host in lower case, "+
				"and no path.", text)).About(field)
		}
		if u.Scheme == "http" && !loopback(u) {
			return fault.BadRequest(fmt.Sprintf("%q is not https; http is possible on this machine only.", text)).About(field)
		}
	}
	return nil
}
