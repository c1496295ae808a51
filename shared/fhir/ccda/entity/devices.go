package entity

import (
	"cmp"
	"strings"

	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/datatype"
	"recordbridge/shared/fhir/ccda/emit"
	"recordbridge/shared/fhir/ccda/r4"
)

// Devices creates a Device for each product instance that participates in a statement (Product Instance,
// 2.16.840.1.113883.10.20.22.4.37; US Core Implantable Device).
func (m *Maker) Devices(n *cda.Node) []*r4.Reference {
	var list []*r4.Reference
	for p := range n.Each("participant") {
		role := p.At("participantRole")
		if role.At("playingDevice") != nil || cda.IsTemplate(role, "2.16.840.1.113883.10.20.22.4.37") {
			if d := m.device(role, n); d != nil {
				list = append(list, d)
			}
		}
	}
	return list
}

// device creates a Device for a product instance, with the UDI parts from the enclosing statement. It returns nil if
// all details of the device are unknown. The resource's id also depends on the code, because senders use one id for
// several products.
func (m *Maker) device(role, n *cda.Node) *r4.Reference {
	product := cmp.Or(role.At("playingDevice"), role.At("playingEntity"))
	d := &r4.Device{
		Type: m.read.Substance(product), Patient: m.patient,
		Manufacturer: cmp.Or(role.At("scopingEntity", "desc").Words(), role.At("scopingEntity", "name").Words()),
	}
	if model := product.At("manufacturerModelName").Words(); model != "" {
		d.DeviceName = append(d.DeviceName, r4.DeviceName{Name: model, Type: "model-name"})
	}
	if version := product.At("softwareName").Words(); version != "" {
		d.Version = []r4.DeviceVersion{{Value: version}}
	}
	for _, id := range datatype.Identifiers(role) {
		if id.System == "urn:oid:"+udiRoot {
			d.UDI = append(d.UDI, udi(id.Value, d))
		} else {
			d.Identifier = append(d.Identifier, id)
		}
	}
	for rel := range n.Each("entryRelationship") {
		for organizer := range rel.Each("organizer") {
			m.readUDI(d, organizer)
		}
	}
	if d.Type == nil && d.Identifier == nil && d.UDI == nil && d.DeviceName == nil {
		return nil
	}
	what := ""
	if d.Type != nil {
		what = r4.CodeKey(d.Type)
	}
	if cda.RealID(role) == "" {
		d.Header = m.emit.HeaderWith(
			"Device", emit.Derive(m.emit.Salt, "Device", m.emit.Key, cda.Container(role), cda.Digest(role)),
		)
	} else {
		d.Header = m.emit.Entity("Device", role, m.emit.Salt, what)
	}
	ref := m.emit.AddEntity(d)
	ref.Display = r4.Words(d.Type)
	return ref
}

// udiRoot is the FDA's namespace for unique device identifiers in C-CDA.
const udiRoot = "2.16.840.1.113883.3.3719"

// udi parses a UDI in GS1's human-readable form: (01) device, (11) manufacture date, (17) expiry date, (10) lot, (21)
// serial number (gs1.org, application identifiers; us-core-implantable-device).
func udi(text string, d *r4.Device) r4.UDICarrier {
	carrier := r4.UDICarrier{CarrierHRF: text}
	for part := range strings.SplitSeq(text, "(") {
		key, value, found := strings.Cut(part, ")")
		if !found || value == "" {
			continue
		}
		switch key {
		case "01":
			carrier.DeviceIdentifier, carrier.Issuer = value, "http://hl7.org/fhir/NamingSystem/gs1-di"
		case "10":
			d.LotNumber = value
		case "21":
			d.SerialNumber = value
		case "11":
			d.Manufactured = dayOfGS1(value)
		case "17":
			d.Expiration = dayOfGS1(value)
		}
	}
	return carrier
}

// dayOfGS1 converts a date in the form YYMMDD. A day of 00 means that the day is unknown.
func dayOfGS1(text string) string {
	if len(text) != 6 {
		return ""
	}
	s, ok := cda.ReadStamp("20" + strings.TrimSuffix(text, "00"))
	switch {
	case !ok || len(s.Digits) < 6:
		return ""
	case len(s.Digits) == 6:
		return s.Digits[:4] + "-" + s.Digits[4:]
	}
	return s.Digits[:4] + "-" + s.Digits[4:6] + "-" + s.Digits[6:8]
}

// readUDI converts the separate parts of a UDI in C-CDA (UDI Organizer, 2.16.840.1.113883.10.20.22.4.311; NCI Thesaurus
// codes).
func (m *Maker) readUDI(d *r4.Device, organizer *cda.Node) {
	if !cda.IsTemplate(organizer, "2.16.840.1.113883.10.20.22.4.311") {
		return
	}
	m.emit.CountTemplate("2.16.840.1.113883.10.20.22.4.311")
	for member := range cda.Members(organizer) {
		value := member.At("value")
		words := cmp.Or(m.read.Text(value), value.Attr("value"), value.Attr("displayName"), value.Attr("extension"))
		switch cda.CodeOf(member.At("code")) {
		case "C101722":
			carrier := r4.UDICarrier{DeviceIdentifier: cmp.Or(value.Attr("extension"), words)}
			if len(d.UDI) == 0 {
				d.UDI = []r4.UDICarrier{carrier}
			}
			d.UDI[0].DeviceIdentifier = cmp.Or(d.UDI[0].DeviceIdentifier, carrier.DeviceIdentifier)
		case "C101672":
			d.LotNumber = words
		case "C101671":
			d.SerialNumber = words
		case "C101669":
			d.Manufactured = m.read.DateTime(value)
		case "C101670":
			d.Expiration = m.read.DateTime(value)
		case "C113843":
			d.Distinct = words
		case "C99285":
			d.ModelNumber = words
		case "C71898":
			d.DeviceName = append(d.DeviceName, r4.DeviceName{Name: words, Type: "user-friendly-name"})
		case "C54131":
			d.Manufacturer = cmp.Or(d.Manufacturer, words)
		default:
			continue
		}
		m.emit.Take(member)
	}
}
