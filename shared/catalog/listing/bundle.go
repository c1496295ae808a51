package listing

import (
	"bufio"
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

// readBrands reads a User-access Brands bundle: a listing for each Organization.
func readBrands(ctx context.Context, list *bufio.Reader, out *output) error {
	return readBundle(ctx, list, out, false)
}

// readEndpoints reads a vendor's bundle: a listing for each Organization with endpoints, and one for each Endpoint that
// belongs to none of them, by what it says of who manages it, or by its own name.
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

// bundle is what of a Bundle is in memory: no more than what listings are made of. References go
// both ways, forwards as well.
type bundle struct {
	out           *output
	kind          string                  // resourceType
	organizations map[string]*institution // by every name that references call them by
	endpoints     map[string]*node
	inOrder       []*institution
	servers       []*node
}

// institution is an Organization.
type institution struct {
	Listing

	scope    string // the entry, for references to what it contains
	above    reference
	portals  []portal
	offers   []reference // Organization.endpoint
	manages  []*node     // endpoints that name it as the one that manages them
	declined bool        // its publisher knows that it has no endpoint
}

type portal struct {
	Portal

	offers []reference
}

// node is an Endpoint.
type node struct {
	Endpoint

	key     string
	scope   string
	manager reference
	isUsed  bool // by an organization
}

// member reads what a Bundle says beside its entries.
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
		b.out.report.lost(reason, place)
		return
	}
	b.resource(e.Resource, e.FullURL, place, "")
}

// resource takes one in; inside is the scope of the one that contains it.
func (b *bundle) resource(raw json.RawMessage, fullURL, place, inside string) {
	report := &b.out.report
	var h head
	if reason := report.unmarshal(raw, place, &h); reason != "" {
		report.lost(reason, place)
		return
	}
	who := b.identify(h, fullURL, place, inside)
	key := who.key
	switch h.ResourceType {
	case "Organization":
		var o organization
		if reason := report.unmarshal(raw, key, &o); reason != "" {
			report.lost(reason, key)
			return
		}
		b.organization(o, who, inside != "")
	case "Endpoint":
		var e endpoint
		if reason := report.unmarshal(raw, key, &e); reason != "" {
			report.lost(reason, key)
			return
		}
		b.endpoint(e, who)
	case "":
		report.lost(NotFormat, key)
		return
	default: // bundles may hold what belongs to neither, such as a Location
		return
	}
	if inside == "" {
		for _, contained := range h.Contained {
			b.resource(contained, "", key, place)
		}
	}
}

// identity is how a resource is called.
type identity struct {
	key   string // in reports and as a Listing's
	name  string // that nothing else has: the full URL, Type/id where there is none, or that of what an entry contains
	other string // Type/id, which resources of two servers may share; the first has it
	scope string // of references
}

// identify gives a resource its names.
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

// register files something under its names; false when there is one of its name.
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
		return // known not to be there: who refers to it has none, and that is no mistake
	case !e.isREST():
		report.lost(NotREST, key)
		return
	case !isServer:
		report.lost(BadAddress, key)
		return
	}
	n := &node{key: key, scope: who.scope, manager: e.Managing, Endpoint: Endpoint{
		Address: address, Name: report.text(key, e.Name, maxName), FHIRVersion: e.version(), Off: e.isOff(),
	}}
	if register(b.endpoints, who, n) {
		b.servers = append(b.servers, n)
	} else {
		report.lost(DuplicateKey, key)
	}
}

// find follows a reference: to what its own entry contains, to Type/id at its own server or at any, to a full URL.
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
	if at := strings.LastIndex(name, kind+"/"); at > 0 { // absolute, where entries have no full URLs
		found, ok = known[name[at:]]
	}
	return found, ok
}
