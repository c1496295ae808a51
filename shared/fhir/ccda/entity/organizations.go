package entity

import (
	"cmp"
	"strings"

	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/datatype"
	"recordbridge/shared/fhir/ccda/emit"
	"recordbridge/shared/fhir/ccda/r4"
	"recordbridge/shared/fhir/ccda/terms"
)

// Organization creates an Organization. It returns nil if nothing is known about the organization.
func (m *Maker) Organization(n *cda.Node) *r4.Reference {
	if n == nil {
		return nil
	}
	// US Core requires Active, and documents name only organizations that exist.
	o := &r4.Organization{
		Identifier: datatype.Identifiers(n), Active: r4.True(),
		Telecom: m.read.Telecoms(n), Address: m.read.Addresses(n),
	}
	for i := range o.Telecom { // Constraints org-2 and org-3: an organization has no home address or home telecom.
		o.Telecom[i].Use = strings.TrimPrefix(o.Telecom[i].Use, "home")
	}
	for i := range o.Address {
		o.Address[i].Use = strings.TrimPrefix(o.Address[i].Use, "home")
	}
	for name := range n.Each("name") {
		switch words := name.Words(); {
		case words == "":
		case o.Name == "":
			o.Name = words
		default:
			o.Alias = append(o.Alias, words)
		}
	}
	if o.Name == "" && o.Identifier == nil { // Constraint org-1: an organization must have a name or an identifier.
		return nil
	}
	o.Type = m.read.Concepts(n, "standardIndustryClassCode")
	if whole := cmp.Or(n.At("asOrganizationPartOf", "wholeOrganization"), n.At("asOrganizationPartOf")); whole != nil {
		o.PartOf = m.Organization(whole)
	}
	own := cda.RealID(n)
	if root := n.At("id").Attr("root"); own == "" && terms.IsOID(root) { // The OID itself identifies the organization.
		own = root
	}
	if own == "" {
		own = m.emit.Key
	}
	o.Header = m.emit.HeaderWith("Organization", emit.Derive("Organization", own, strings.ToLower(o.Name)))
	ref := m.emit.AddEntity(o)
	ref.Display = o.Name
	return ref
}

// software creates a Device for software that is an author.
func (m *Maker) software(role, device *cda.Node, owner *r4.Reference) *r4.Reference {
	d := &r4.Device{
		Identifier: datatype.Identifiers(role), Type: m.read.Concept(cmp.Or(device.At("code"), role.At("code"))),
		Owner: owner,
	}
	model, version := device.At("manufacturerModelName").Words(), device.At("softwareName").Words()
	if model != "" {
		d.DeviceName = append(d.DeviceName, r4.DeviceName{Name: model, Type: "model-name"})
	}
	if version != "" {
		d.DeviceName = append(d.DeviceName, r4.DeviceName{Name: version, Type: "other"})
	}
	if model == "" && version == "" && d.Identifier == nil && d.Type == nil {
		return nil
	}
	if cda.RealID(role) == "" {
		d.Header = m.emit.HeaderWith("Device", emit.Derive("Device", m.emit.Key, cda.Digest(device)))
	} else {
		d.Header = m.emit.Entity("Device", role, model, version)
	}
	ref := m.emit.AddEntity(d)
	ref.Display = cmp.Or(model, version)
	return ref
}
