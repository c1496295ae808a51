package listing

import (
	"slices"
	"strings"

	"recordbridge/shared/catalog/record"
)

func (b *bundle) organization(o organization, who identity, isContained bool) {
	report, key := &b.out.report, who.key
	found := &institution{
		scope: who.scope, above: o.PartOf,
		Listing: Listing{Key: key, Name: report.text(key, o.Name, maxName), Category: o.category()},
	}
	if found.Name == "" {
		if !isContained { // a contained resource only provides the endpoint's name
			report.omitted(NoName, key)
		}
		return
	}
	if o.Active != nil && !*o.Active {
		return // the publisher marks the organization as inactive
	}
	for _, alias := range limited(report, key, o.Alias, maxAliases) {
		if alias = report.text(key, alias, maxName); alias != "" && alias != found.Name {
			found.Aliases = append(found.Aliases, alias)
		}
	}
	found.identify(report, o)
	for _, a := range limited(report, key, o.Address, maxLocations) {
		found.Locations = appendNew(found.Locations, record.Location{
			City: report.text(key, a.City, maxName), State: report.text(key, a.State, maxName),
			PostalCode: report.text(key, a.PostalCode, maxName), Country: report.text(key, a.Country, maxName),
		})
	}
	found.offers = limited(report, key, o.Endpoint, maxEndpoints)
	for _, e := range o.Extension {
		switch e.URL {
		case brandOf:
			found.brand(report, e.Extension)
		case portalOf:
			found.portals = append(found.portals, found.portal(report, e.Extension))
		}
	}
	found.portals = limited(report, key, found.portals, maxPortals)
	if !register(b.organizations, who, found) {
		report.omitted(DuplicateKey, key)
		return
	}
	if !isContained {
		b.inOrder = append(b.inOrder, found)
	}
}

// identify reads the website and the identifiers used to match the institution across lists.
func (i *institution) identify(report *Report, o organization) {
	for _, id := range limited(report, i.Key, o.Identifier, maxIdentifiers+maxNPIs) {
		system, value := strings.ReplaceAll(id.System, " ", ""), report.text(i.Key, id.Value, maxAddress)
		switch {
		case value == "" || system == "":
		case system == systemNPI && isNPI(value):
			i.NPIs = appendNew(i.NPIs, value)
		case system == systemNPI:
			report.problem(BadNumber, i.Key)
		case system == systemWebsite:
			i.Identifiers = appendNew(i.Identifiers, Identifier{System: system, Value: website(value)})
			if isWeb(value, true) && i.Website == "" {
				i.Website = value
			}
		default:
			i.Identifiers = appendNew(i.Identifiers, Identifier{System: report.text(i.Key, system, maxAddress), Value: value})
		}
	}
	for _, t := range o.Telecom {
		if t.System != "url" {
			continue
		}
		if address := report.link(i.Key, t.Value); address != "" {
			i.Website = address
			break
		}
	}
}

func (i *institution) brand(report *Report, parts []extension) {
	i.LogoURI = report.link(i.Key, first(parts, "brandLogo"))
	if i.LogoURI != "" {
		i.LogoLicense = report.link(i.Key, first(parts, "brandLogoLicense"))
	}
	if own := report.link(i.Key, first(parts, "brandBundle")); own != "" {
		report.names(i.Key, own)
	}
}

// portal reads the organization-portal extension. A portal's logo is omitted if it has its own licence, because the
// catalogue would not display that licence.
func (i *institution) portal(report *Report, parts []extension) portal {
	p := portal{Portal: Portal{
		Name:        report.text(i.Key, first(parts, "portalName"), maxName),
		Website:     report.link(i.Key, first(parts, "portalUrl")),
		Description: report.text(i.Key, first(parts, "portalDescription"), maxDescription),
	}}
	if first(parts, "portalLogoLicense") == "" {
		p.LogoURI = report.link(i.Key, first(parts, "portalLogo"))
	}
	for _, part := range parts {
		switch {
		case part.URL != "portalEndpoint":
		case isAbsent(part.Extension) || isAbsent(part.ValueReference.Extension):
			i.declined = true
		default:
			p.offers = append(p.offers, part.ValueReference)
		}
	}
	p.offers = limited(report, i.Key, p.offers, maxEndpoints)
	return p
}

// limited truncates a slice to the limit and reports any excess elements.
func limited[T any](report *Report, key string, several []T, most int) []T {
	if len(several) > most {
		report.problem(TooMany, key)
		return several[:most]
	}
	return several
}

// appendNew appends a value unless the value is zero or already present.
func appendNew[T comparable](to []T, what T) []T {
	var nothing T
	if what == nothing || slices.Contains(to, what) {
		return to
	}
	return append(to, what)
}
