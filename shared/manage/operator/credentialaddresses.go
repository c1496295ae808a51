package operator

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/version"
)

// maxNote is the maximum length, in characters, of a note on a credential or a webhook.
const maxNote = 200

// checkNote requires a note to be a single line of text.
func checkNote(note string) error {
	if utf8.RuneCountInString(note) > maxNote || !utf8.ValidString(note) || strings.ContainsFunc(note, unicode.IsControl) {
		return fault.BadRequest("A note must be one line of at most 200 characters.").About("note")
	}
	return nil
}

// CredentialChange describes a change to a credential. Fields with the zero value change nothing. Fields that replace
// all URLs are applied before additions and removals.
type CredentialChange struct {
	Note            *string
	Redirects       []string // all redirect URIs; nil if unchanged
	Origins         []string // all allowed origins; nil if unchanged, empty for any origin
	AddRedirects    []string
	RemoveRedirects []string
	AddOrigins      []string
	RemoveOrigins   []string
	AnyOrigin       bool          // removes all origins, so that pages from any origin may use the public ID
	From            version.Match // versions of the credential that may be changed
}

// changedCredential returns a credential with a change applied. It doesn't validate lists again that have not changed.
func (o Credentials) changedCredential(found org.Credential, change CredentialChange) (org.Credential, error) {
	if change.Note != nil {
		found.Note = *change.Note
	}
	if err := checkNote(found.Note); err != nil {
		return org.Credential{}, err
	}
	redirects, err := o.changedRedirects(found, change)
	if err != nil {
		return org.Credential{}, err
	}
	origins, err := o.changedOrigins(found.AllowedOrigins, change)
	if err != nil {
		return org.Credential{}, err
	}
	found.RedirectURIs, found.AllowedOrigins = redirects, origins
	return found, nil
}

func (o Credentials) changedRedirects(found org.Credential, change CredentialChange) ([]string, error) {
	list := found.RedirectURIs
	if change.Redirects != nil {
		list = change.Redirects
	}
	list, err := edited(list, change.AddRedirects, change.RemoveRedirects, "remove-redirect")
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil,
			fault.BadRequest("A credential needs a redirect URI. Add another one in the same " +
				"request.").About("remove-redirect")
	}
	if change.Redirects == nil && len(change.AddRedirects) == 0 {
		return list, nil
	}
	return o.checkedRedirects(found.Tenant.Mode, list, "add-redirect")
}

func (o Credentials) changedOrigins(before []string, change CredentialChange) ([]string, error) {
	list := before
	if change.Origins != nil {
		checked, err := o.checkedOrigins(change.Origins, "origin")
		if err != nil {
			return nil, err
		}
		list = checked
	}
	added, err := o.checkedOrigins(change.AddOrigins, "add-origin")
	if err != nil {
		return nil, err
	}
	had := len(list)
	if list, err = edited(list, added, change.RemoveOrigins, "remove-origin"); err != nil {
		return nil, err
	}
	switch {
	case change.AnyOrigin && len(change.AddOrigins) > 0:
		return nil, fault.BadRequest("Either list origins or allow any origin, not both.").About("any-origin")
	case change.AnyOrigin:
		return nil, nil
	case had > 0 && len(list) == 0:
		return nil,
			fault.BadRequest(
				"Without an origin, pages of any origin can use the public ID. To allow this, set " +
					"-any-origin.").About("remove-origin")
	}
	return list, nil
}

// edited returns list with items added and removed. The list must contain every item in remove.
func edited(list, add, remove []string, field string) ([]string, error) {
	list = slices.Clone(list)
	for _, text := range remove {
		i := slices.Index(list, text)
		if i < 0 {
			return nil,
				fault.BadRequest(fmt.Sprintf("%q not found. Write it exactly as credential show does.",
					text)).About(field)
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

// checkedRedirects returns redirect URIs in their stored form.
func (o Credentials) checkedRedirects(mode org.Mode, redirects []string, field string) ([]string, error) {
	if len(redirects) == 0 || len(redirects) > maxRedirectURIs {
		return nil, fault.BadRequest("A credential needs 1 to 25 redirect URIs.").About(field)
	}
	return normalList(redirects, func(text string) (string, error) {
		uri, err := org.NewRedirectURI(o.own, mode, text)
		if err != nil {
			return "", fmt.Errorf("redirect URI %q: %w", text, fault.Of(err).About(field))
		}
		return uri, nil
	})
}

// checkedOrigins returns allowed origins in their stored form.
func (o Credentials) checkedOrigins(origins []string, field string) ([]string, error) {
	return normalList(origins, func(text string) (string, error) {
		origin, err := org.NewOrigin(o.own, text)
		if err != nil {
			return "", fmt.Errorf("origin %q: %w", text, fault.Of(err).About(field))
		}
		return origin, nil
	})
}
