package listing

import (
	"bufio"
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

// readBrands reads a User-access Brands bundle and creates one listing per Organization.
func readBrands(ctx context.Context, list *bufio.Reader, out *output) error {
	return readBundle(ctx, list, out, false)
}

// readEndpoints reads a vendor's bundle and creates a listing for each Organization that has endpoints. An Endpoint
// that does not belong to an Organization gets its own listing, named after the managing organization or the Endpoint
// itself.
func readEndpoints(ctx context.Context, list *bufio.Reader, out *output) error {
	return readBundle(ctx, list, out, true)
}

func readBundle(ctx context.Context, list *bufio.Reader, out *output, alone bool) error {
	b := bundle{out: out, organizations: make(map[string]*institution), endpoints: make(map[string]*node)}
	scan := scanner{from: list}
	err := scan.entries(func(name string) bool { return name == "entry" }, b.member,
		func(raw []byte, reason Reason) error {
			if err := out.entry(ctx); err != nil {
				return err
			}
			b.entry(raw, reason)
			return nil
		})
	if err != nil {
		return err
	}
	if b.kind != "Bundle" {
		return refused(NotFormat)
	}
	return b.give(ctx, alone)
}

// bundle holds the Bundle elements needed to read listings. References may point backwards or forwards.
type bundle struct {
	out           *output
	kind          string                  // resourceType
	organizations map[string]*institution // keyed by every name that a reference can use
	endpoints     map[string]*node
	inOrder       []*institution
	servers       []*node
}

type institution struct {
	Listing

	scope    string // the entry's scope for resolving references to contained resources
	above    reference
	portals  []portal
	offers   []reference // Organization.endpoint
	manages  []*node     // endpoints whose managing organization is this institution
	declined bool        // whether the publisher declares that the institution has no endpoint
}

type portal struct {
	Portal

	offers []reference
}

type node struct {
	Endpoint

	key     string
	scope   string
	manager reference
	isUsed  bool // whether an Organization uses the endpoint
}

// member parses a Bundle member other than entry.
func (b *bundle) member(name string, raw []byte) {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return
	}
	switch name {
	case "resourceType":
		b.kind = text
	case "timestamp":
		if at, err := time.Parse(time.RFC3339, text); err == nil {
			b.out.report.Timestamp = at.UTC()
		}
	}
}

func (b *bundle) entry(raw []byte, reason Reason) {
	place := "entry " + strconv.Itoa(b.out.report.Entries)
	if reason == "" {
		reason = ambiguous(raw)
	}
	var e entry
	if reason == "" {
		reason = b.out.report.unmarshal(raw, place, &e)
	}
	if reason == "" && len(e.Resource) == 0 {
		reason = NotFormat
	}
	if reason != "" {
		b.out.report.omitted(reason, place)
		return
	}
	b.resource(e.Resource, e.FullURL, place, "")
}

// resource adds a resource to the bundle. inside is the scope of the containing resource, or empty if there is none.
func (b *bundle) resource(raw json.RawMessage, fullURL, place, inside string) {
	report := &b.out.report
	var h head
	if reason := report.unmarshal(raw, place, &h); reason != "" {
		report.omitted(reason, place)
		return
	}
	who := b.identify(h, fullURL, place, inside)
	key := who.key
	switch h.ResourceType {
	case "Organization":
		var o organization
		if reason := report.unmarshal(raw, key, &o); reason != "" {
			report.omitted(reason, key)
			return
		}
		b.organization(o, who, inside != "")
	case "Endpoint":
		var e endpoint
		if reason := report.unmarshal(raw, key, &e); reason != "" {
			report.omitted(reason, key)
			return
		}
		b.endpoint(e, who)
	case "":
		report.omitted(NotFormat, key)
		return
	default: // bundles may contain other types, such as Location
		return
	}
	if inside == "" {
		for _, contained := range h.Contained {
			b.resource(contained, "", key, place)
		}
	}
}

// identity holds the names that references use for a resource.
type identity struct {
	key   string // key of the Listing, also used in reports
	name  string // unique name: the full URL, Type/id if there is no URL, or the name of a contained resource
	other string // Type/id; if resources on two servers share it, it refers to the first
	scope string
}

func (b *bundle) identify(h head, fullURL, place, inside string) identity {
	local := h.ResourceType + "/" + h.ID
	who := identity{key: h.ID, name: fullURL, other: local, scope: place}
	switch {
	case inside != "":
		who.name, who.other = inside+"#"+h.ID, ""
	case h.ID == "":
		who.key, who.other = fullURL, ""
	case fullURL == "":
		who.name, who.other = local, ""
	default:
		who.scope = strings.TrimSuffix(fullURL, local)
		if who.scope == fullURL {
			who.scope = place
		}
		_, isOrganization := b.organizations[local]
		_, isEndpoint := b.endpoints[local]
		if isOrganization || isEndpoint {
			who.key = fullURL
		}
	}
	if who.key == "" || len(who.key) > maxKey {
		who.key = place
	}
	return who
}

// register stores a value under its names. register returns false if the unique name is already taken.
func register[T any](known map[string]T, who identity, what T) bool {
	if _, isKnown := known[who.name]; isKnown && who.name != "" {
		return false
	}
	known[who.name] = what
	if _, isKnown := known[who.other]; !isKnown {
		known[who.other] = what
	}
	return true
}

func (b *bundle) endpoint(e endpoint, who identity) {
	report, key := &b.out.report, who.key
	address, isServer := server(e.Address)
	switch {
	case e.Address == "" && isAbsent(e.AddressMore.Extension):
		return // declared absent: references to this resource are ignored without a report
	case !e.isREST():
		report.omitted(NotREST, key)
		return
	case !isServer:
		report.omitted(BadAddress, key)
		return
	}
	n := &node{key: key, scope: who.scope, manager: e.Managing, Endpoint: Endpoint{
		Address: address, Name: report.text(key, e.Name, maxName), FHIRVersion: e.version(), Off: e.isOff(),
	}}
	if register(b.endpoints, who, n) {
		b.servers = append(b.servers, n)
	} else {
		report.omitted(DuplicateKey, key)
	}
}

// find resolves a reference to a contained resource in the same entry, to Type/id on any server, or to a full URL.
func find[T any](known map[string]T, to reference, scope, kind string) (found T, ok bool) {
	name := to.Reference
	if name == "" {
		return found, false
	}
	for _, full := range []string{scope + name, name} {
		if found, ok = known[full]; ok {
			return found, true
		}
	}
	if at := strings.LastIndex(name, kind+"/"); at > 0 { // absolute reference in a bundle without full URLs
		found, ok = known[name[at:]]
	}
	return found, ok
}
