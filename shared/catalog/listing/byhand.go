package listing

import (
	"errors"
	"regexp"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"

	"recordbridge/shared/catalog/record"
	"recordbridge/shared/words/ids"
)

// byHand is a brand in a manually maintained list. Portals and endpoints have their own sections and are referenced by
// key, so that brands can share a portal and portals can share an endpoint (infra/catalog/example.yaml).
type byHand struct {
	ID          string           `yaml:"id"`
	Name        string           `yaml:"name"`
	Aliases     []string         `yaml:"aliases"`
	Identifiers []identifier     `yaml:"identifiers"`
	NPIs        []string         `yaml:"npis"`
	Website     string           `yaml:"website"`
	Logo        string           `yaml:"logo"`
	LogoLicense string           `yaml:"logo_license"`
	Description string           `yaml:"description"`
	Category    string           `yaml:"category"`
	PartOf      string           `yaml:"part_of"`
	Hidden      bool             `yaml:"hidden"`
	Merged      []string         `yaml:"merged"`
	Locations   []locationByHand `yaml:"locations"`
	Portals     []string         `yaml:"portals"`
	Endpoints   []string         `yaml:"endpoints"` // endpoints in an unnamed portal
}

type locationByHand struct {
	City       string `yaml:"city"`
	State      string `yaml:"state"`
	PostalCode string `yaml:"postal_code"`
	Country    string `yaml:"country"`
}

type portalByHand struct {
	ID          string   `yaml:"id"`
	Name        string   `yaml:"name"`
	Website     string   `yaml:"website"`
	Logo        string   `yaml:"logo"`
	Description string   `yaml:"description"`
	Endpoints   []string `yaml:"endpoints"`
}

type endpointByHand struct {
	ID          string `yaml:"id"`
	Address     string `yaml:"address"`
	Name        string `yaml:"name"`
	FHIRVersion string `yaml:"fhir_version"`
	Platform    string `yaml:"platform"`
	Off         bool   `yaml:"off"`
}

// decode decodes an entry and reports problems by line number. Each of the entry's keys must be in words.
func (h handList) decode(node *yaml.Node, name string, into any, words ...string) bool {
	report := &h.out.report
	if node.Kind != yaml.MappingNode {
		report.omitted(BadType, at(node.Line, name))
		return false
	}
	if line := unknown(node, words); line > 0 {
		report.omitted(Unknown, at(line, name))
		return false
	}
	if err := node.Decode(into); err != nil {
		line := lineOf(err)
		if line == 0 {
			line = node.Line
		}
		report.omitted(BadType, at(line, name))
		return false
	}
	return true
}

// unknown returns the line of the first key in an entry, at any depth, that the format does not define. It returns 0 if
// the format defines all keys.
func unknown(node *yaml.Node, words []string) int {
	for i := 0; node.Kind == yaml.MappingNode && i+1 < len(node.Content); i += 2 {
		if !slices.Contains(words, node.Content[i].Value) {
			return node.Content[i].Line
		}
	}
	for _, below := range node.Content {
		if line := unknown(below, words); line > 0 {
			return line
		}
	}
	return 0
}

var lineInError = regexp.MustCompile(`line (\d+)`)

// lineOf returns the line number in a YAML error, or 0 if the error doesn't contain a line number.
func lineOf(err error) int {
	text := err.Error()
	if failure, isType := errors.AsType[*yaml.TypeError](err); isType && len(failure.Errors) > 0 {
		text = failure.Errors[0]
	}
	if found := lineInError.FindStringSubmatch(text); found != nil {
		line, _ := strconv.Atoi(found[1])
		return line
	}
	return 0
}

func at(line int, name string) string { return "line " + strconv.Itoa(line) + ": " + name }

func (h handList) endpoint(key string, node *yaml.Node) error {
	var e endpointByHand
	if !h.decode(node, key, &e, "id", "address", "name", "fhir_version", "platform", "off") {
		return nil
	}
	report, place := &h.out.report, at(node.Line, key)
	address, isServer := server(e.Address)
	if !isServer {
		report.omitted(BadAddress, place)
		return nil
	}
	h.endpoints[key] = Endpoint{
		ID: h.id(place, e.ID), Address: address, Name: report.text(place, e.Name, maxName),
		FHIRVersion: version(e.FHIRVersion),
		Platform:    report.text(place, e.Platform, maxName), Off: e.Off,
	}
	return nil
}

func (h handList) portal(key string, node *yaml.Node) error {
	var p portalByHand
	if !h.decode(node, key, &p, "id", "name", "website", "logo", "description", "endpoints") {
		return nil
	}
	report, place := &h.out.report, at(node.Line, key)
	h.portals[key] = Portal{
		Key: key, ID: h.id(place, p.ID), Name: report.text(place, p.Name, maxName), Website: report.link(place, p.Website),
		LogoURI: report.link(place, p.Logo), Description: report.text(place, p.Description, maxDescription),
		Endpoints: h.servers(place, p.Endpoints),
	}
	return nil
}

func (h handList) brand(key string, node *yaml.Node) error {
	var b byHand
	if !h.decode(node, key, &b, "id", "name", "aliases", "identifiers", "npis", "website", "logo", "logo_license",
		"description", "category",
		"part_of", "hidden", "merged", "locations", "portals", "endpoints", "system", "value", "city", "state",
		"postal_code", "country") {
		return nil
	}
	report, place := &h.out.report, at(node.Line, key)
	l := Listing{
		Key: key, ID: h.id(place, b.ID), Name: report.text(place, b.Name, maxName), Website: report.link(place, b.Website),
		LogoURI: report.link(place, b.Logo), LogoLicense: report.link(place, b.LogoLicense),
		Description: report.text(place, b.Description, maxDescription), Category: report.text(place, b.Category, maxName),
		PartOf: b.PartOf, Hidden: b.Hidden,
	}
	if l.Name == "" {
		report.omitted(NoName, place)
		return nil
	}
	for _, alias := range limited(report, place, b.Aliases, maxAliases) {
		l.Aliases = appendNew(l.Aliases, report.text(place, alias, maxName))
	}
	for _, id := range limited(report, place, b.Identifiers, maxIdentifiers) {
		l.Identifiers = appendNew(l.Identifiers,
			Identifier{report.text(place, id.System, maxAddress), report.text(place, id.Value, maxAddress)})
	}
	for _, npi := range limited(report, place, b.NPIs, maxNPIs) {
		if !isNPI(npi) {
			report.problem(BadNumber, place)
			continue
		}
		l.NPIs = appendNew(l.NPIs, npi)
	}
	for _, id := range b.Merged {
		l.Merged = appendNew(l.Merged, h.id(place, id))
	}
	for _, a := range limited(report, place, b.Locations, maxLocations) {
		l.Locations = appendNew(l.Locations, record.Location{
			City: report.text(place, a.City, maxName), State: report.text(place, a.State, maxName),
			PostalCode: report.text(place, a.PostalCode, maxName), Country: report.text(place, a.Country, maxName),
		})
	}
	if l.Portals = h.portalsOf(place, b); len(l.Portals) == 0 {
		report.omitted(NoEndpoint, place)
		return nil
	}
	return h.out.give(l)
}

// portalsOf returns the portals that a brand references. If the brand also references endpoints directly, portalsOf
// adds one portal for these endpoints.
func (h handList) portalsOf(place string, b byHand) []Portal {
	var portals []Portal
	for _, key := range limited(&h.out.report, place, b.Portals, maxPortals) {
		if p, ok := h.portals[key]; ok {
			portals = append(portals, p)
			continue
		}
		h.out.report.problem(NoSuch, place)
	}
	if own := h.servers(place, b.Endpoints); len(own) > 0 {
		portals = append(portals, Portal{Endpoints: own})
	}
	return portals
}

func (h handList) servers(place string, keys []string) []Endpoint {
	var servers []Endpoint
	for _, key := range limited(&h.out.report, place, keys, maxEndpoints) {
		if e, ok := h.endpoints[key]; ok {
			servers = appendNew(servers, e)
			continue
		}
		h.out.report.problem(NoSuch, place)
	}
	return servers
}

// id returns an ID from a manually maintained list, or "" if the ID is not a valid UUID.
func (h handList) id(place, text string) string {
	id, isUUID := ids.ParseUUID(text)
	if text != "" && !isUUID {
		h.out.report.problem(BadType, place)
	}
	return id
}
