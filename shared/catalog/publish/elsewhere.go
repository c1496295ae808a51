package publish

import (
	"slices"

	"recordbridge/shared/catalog/compose"
	"recordbridge/shared/words/weburl"
)

// elsewhere normalises the lists' website and logo URLs. It removes URLs that point to this service or that browsers
// would parse differently than we do.
func elsewhere(own weburl.Own, lists []compose.List) []compose.List {
	made := make([]compose.List, len(lists))
	for i, list := range lists {
		listings := slices.Clone(list.Listings)
		for j := range listings {
			l := &listings[j]
			l.Website, l.LogoURI, l.LogoLicense = own.Shown(l.Website), own.Shown(l.LogoURI), own.Shown(l.LogoLicense)
			l.Portals = slices.Clone(l.Portals)
			for k := range l.Portals {
				l.Portals[k].Website, l.Portals[k].LogoURI = own.Shown(l.Portals[k].Website), own.Shown(l.Portals[k].LogoURI)
			}
		}
		list.Listings = listings
		made[i] = list
	}
	return made
}
