package ihe

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"recordbridge/shared/tefca"
)

// Settings adapts requests to a gateway or community that deviates from the profiles. It maps setting names to values
// (docs/operate/tefca.md, "Gateway settings").
type Settings map[string]string

// requestFormat holds the settings that determine the format of requests to a community.
type requestFormat struct {
	nameFormat string  // NameFormat for SAML attributes
	prefix     spelled // format of community and repository IDs
	documents  spelled // format of document IDs
	ranged     string  // name of the document entry attribute whose date range limits queries; may be empty
	purpose    coding
}

// spelled selects the format of IDs in message bodies.
type spelled int

const (
	usual spelled = iota // the format that is usual for the transaction
	asURN
	bare
)

// coding is an HL7 v3 code and its code system.
type coding struct{ code, system, systemName, name string }

// settingValues returns the allowed values of each setting. The first value is the default.
func settingValues() map[string][]string {
	return map[string][]string{
		"attribute_name_format": {"uri", "basic", "unspecified"},
		"id_prefix":             {"usual", "urn", "none"},
		"document_id_prefix":    {"usual", "urn", "none"},
		"date_range":            {"none", "creation_time", "service_start_time", "service_stop_time"},
		"purpose_of_use":        {"T-IAS", "REQUEST", "PATRQT"},
	}
}

// check rejects unknown settings and values. The error names the member and its allowed values, but doesn't quote the
// configuration.
func (s Settings) check(at string) error {
	values := settingValues()
	names := slices.Sorted(maps.Keys(values))
	unknown := errors.New("ihe: " + at + ".settings has a member other than " + strings.Join(names, ", "))
	for name := range s {
		if values[name] == nil {
			return unknown
		}
	}
	for _, name := range names {
		if value, isSet := s[name]; isSet && !slices.Contains(values[name], value) {
			return fmt.Errorf("ihe: %s.settings.%s is none of %s", at, name, strings.Join(values[name], ", "))
		}
	}
	return nil
}

// mannerOf combines valid settings into a request format. A community's settings override its gateway's settings.
func mannerOf(community, gateway Settings) requestFormat {
	set := func(name string) string { return cmp.Or(community[name], gateway[name], settingValues()[name][0]) }
	ways := map[string]spelled{"usual": usual, "urn": asURN, "none": bare}
	return requestFormat{
		nameFormat: attributeFormats + set("attribute_name_format"),
		prefix:     ways[set("id_prefix")], documents: ways[set("document_id_prefix")],
		ranged: map[string]string{
			"creation_time": "CreationTime", "service_start_time": "ServiceStartTime",
			"service_stop_time": "ServiceStopTime",
		}[set("date_range")],
		purpose: purposes()[set("purpose_of_use")],
	}
}

// root returns a community's ID as written in HL7 v3 messages. By default, the ID is an OID without a prefix.
func (m requestFormat) root(home id) string { return m.prefix.write(home, home.oid()) }

// home returns a community's ID for queries and retrievals. By default, the ID is a URN (IHE ITI TF-3, 4.2.3.2.12).
func (m requestFormat) home(home id) string { return m.prefix.write(home, home.urn()) }

// repository returns a repository's ID in the community's format. By default, it returns the ID as written in the list.
func (m requestFormat) repository(listed id) string { return m.prefix.write(listed, string(listed)) }

// document returns a document's ID. By default, it returns the ID as written in the list.
func (m requestFormat) document(listed id) string { return m.documents.write(listed, string(listed)) }

func (s spelled) write(one id, usually string) string {
	switch s {
	case asURN:
		return one.urn()
	case bare:
		return one.value()
	case usual:
	}
	return usually
}

// between returns the date range for a query, if the settings require a range. The range extends to tomorrow, because
// some gateways write local times as if they were UTC. The range begins one year before the person's birth. Gateways
// may omit entries without the attribute, such as on-demand documents.
func (m requestFormat) between(who tefca.Person, now time.Time) [][2]string {
	if m.ranged == "" {
		return nil
	}
	const layout = "20060102150405"
	from := "19000101000000"
	if born, err := time.Parse(time.DateOnly, who.BirthDate); err == nil {
		from = born.AddDate(-1, 0, 0).Format(layout)
	}
	name := "$XDSDocumentEntry" + m.ranged
	return [][2]string{{name + "From", from}, {name + "To", now.UTC().AddDate(0, 0, 1).Format(layout)}}
}
