package operator

import (
	"errors"
	"slices"

	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/weburl"
)

// normalURLs normalises the URLs in change and sets them in the organisation. It returns fault.Invalid for a URL that
// is not allowed.
func normalURLs(own weburl.Own, of *org.Organisation, change OrganisationChange) error {
	for _, at := range []struct {
		field string
		to    *string
		given *string
	}{
		{"website", &of.WebsiteURI, change.Website},
		{"privacy", &of.PrivacyPolicyURI, change.Privacy},
		{"terms", &of.TermsURI, change.Terms},
		{"logo", &of.LogoURI, change.Logo},
	} {
		if at.given == nil {
			continue
		}
		if *at.given == "" {
			*at.to = ""
			continue
		}
		u, err := own.Parse(*at.given)
		switch {
		case errors.Is(err, weburl.ErrOwn):
			return fault.BadRequest("An organisation's URLs can't lead to this service.").About(at.field)
		case err != nil || !u.IsSecure():
			return fault.BadRequest("An organisation's URLs must be https URLs with a public host name.").About(at.field)
		}
		*at.to = u.String()
	}
	return nil
}

// normalList returns a list's entries in normalised form and without duplicates.
func normalList(list []string, normal func(text string) (string, error)) ([]string, error) {
	if len(list) == 0 {
		return nil, nil
	}
	made := make([]string, 0, len(list))
	for _, text := range list {
		spelled, err := normal(text)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(made, spelled) {
			made = append(made, spelled)
		}
	}
	return made, nil
}
