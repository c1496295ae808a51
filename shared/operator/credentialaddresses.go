package operator

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"recordbridge/shared/fault"
	"recordbridge/shared/org"
)

// CredentialChange is what an operator says of a credential's addresses. What is not named stays.
type CredentialChange struct {
	AddRedirects    []string
	RemoveRedirects []string
	AddOrigins      []string
	RemoveOrigins   []string
	AnyOrigin       bool // it has no origins any more: pages of any may use the public id
}

// of is the credential after the change.
func (c CredentialChange) of(found org.Credential) (org.Credential, error) {
	var err error
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
