package operator

import (
	"errors"
	"slices"

	"recordbridge/shared/fault"
	"recordbridge/shared/org"
	"recordbridge/shared/weburl"
)

// normalURLs sets the URLs that change names. URLs that it does not name keep their spelling, so that an organisation with one that an
// earlier release took can change everything else. Errors are fault.Invalid.
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
			return fault.BadRequest("An organisation's URLs cannot lead to this service.").About(at.field)
		case err != nil || !u.IsSecure():
			return fault.BadRequest("An organisation's URLs must be https URLs with a public host name.").About(at.field)
		}
		*at.to = u.String()
	}
	return nil
}

// normalList returns a list in which every entry that was not there before has its normal form. Those that were there keep their
// spelling, which clients compare exactly; they are checked again nevertheless.
func normalList(list, before []string, normal func(text string) (string, error)) ([]string, error) {
	if len(list) == 0 {
		return nil, nil
	}
	made := make([]string, 0, len(list))
	for _, text := range list {
		spelled, err := normal(text)
		if err != nil {
			return nil, err
		}
		if slices.Contains(before, text) {
			spelled = text
		}
		if !slices.Contains(made, spelled) {
			made = append(made, spelled)
		}
	}
	return made, nil
}
