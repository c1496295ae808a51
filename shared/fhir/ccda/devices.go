package ccda

import (
	"strings"

	"recordbridge/shared/fhir/ccda/r4"
)

// devices makes Devices of the product instances that take part in a statement (Product Instance,
// 2.16.840.1.113883.10.20.22.4.37; US Core Implantable Device).
func (c *converter) devices(n *node) []*r4.Reference {
	var list []*r4.Reference
	for p := range n.each("participant") {
		role := p.at("participantRole")
		if role.at("playingDevice") != nil || isTemplate(role, "2.16.840.1.113883.10.20.22.4.37") {
			if d := c.device(role, n); d != nil {
				list = append(list, d)
			}
		}
	}
	return list
}

// device makes a Device of a product instance and of what the statement around it says of its UDI; nil when nothing is known.
// Senders use one id for several products, so that the code is part of the id.
func (c *converter) device(role, n *node) *r4.Reference {
	product := firstNode(role.at("playingDevice"), role.at("playingEntity"))
	d := &r4.Device{
		Type: c.substance(product), Patient: c.patient, Manufacturer: firstOf(role.at("scopingEntity", "desc").words(), role.at("scopingEntity", "name").words()),
	}
	if model := product.at("manufacturerModelName").words(); model != "" {
		d.DeviceName = append(d.DeviceName, r4.DeviceName{Name: model, Type: "model-name"})
	}
	if version := product.at("softwareName").words(); version != "" {
		d.Version = []r4.DeviceVersion{{Value: version}}
	}
	for _, id := range identifiers(role) {
		if id.System == "urn:oid:"+udiRoot {
			d.UDI = append(d.UDI, udi(id.Value, d))
		} else {
			d.Identifier = append(d.Identifier, id)
		}
	}
	for rel := range n.each("entryRelationship") {
		for organizer := range rel.each("organizer") {
			c.readUDI(d, organizer)
		}
	}
	if d.Type == nil && d.Identifier == nil && d.UDI == nil && d.DeviceName == nil {
		return nil
	}
	what := ""
	if d.Type != nil {
		what = codeKey(d.Type)
	}
	if realID(role) == "" {
		d.Header = c.headerWith("Device", derive(c.salt, "Device", c.key, container(role), digest(role)))
	} else {
		d.Header = c.entity("Device", role, c.salt, what)
	}
	ref := c.addEntity(d)
	ref.Display = conceptWords(d.Type)
	return ref
}

// udiRoot is the namespace of unique device identifiers of the FDA in C-CDA.
const udiRoot = "2.16.840.1.113883.3.3719"

// udi reads a UDI as GS1 writes it for people: (01) the device, (11) made, (17) expires, (10) lot, (21) serial number
// (gs1.org, application identifiers; us-core-implantable-device).
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

// dayOfGS1 reads YYMMDD, with 00 for a day that is not said.
func dayOfGS1(text string) string {
	if len(text) != 6 {
		return ""
	}
	s, ok := readStamp("20" + strings.TrimSuffix(text, "00"))
	switch {
	case !ok || len(s.digits) < 6:
		return ""
	case len(s.digits) == 6:
		return s.digits[:4] + "-" + s.digits[4:]
	}
	return s.digits[:4] + "-" + s.digits[4:6] + "-" + s.digits[6:8]
}

// readUDI reads the parts of a UDI as C-CDA has them one by one (UDI Organizer, 2.16.840.1.113883.10.20.22.4.311; codes of the
// NCI Thesaurus).
func (c *converter) readUDI(d *r4.Device, organizer *node) {
	if !isTemplate(organizer, "2.16.840.1.113883.10.20.22.4.311") {
		return
	}
	c.report.Templates["2.16.840.1.113883.10.20.22.4.311"]++
	for member := range members(organizer) {
		value := member.at("value")
		words := firstOf(c.text(value), value.attr("value"), value.attr("displayName"), value.attr("extension"))
		switch codeOf(member.at("code")) {
		case "C101722":
			carrier := r4.UDICarrier{DeviceIdentifier: firstOf(value.attr("extension"), words)}
			if len(d.UDI) == 0 {
				d.UDI = []r4.UDICarrier{carrier}
			}
			d.UDI[0].DeviceIdentifier = firstOf(d.UDI[0].DeviceIdentifier, carrier.DeviceIdentifier)
		case "C101672":
			d.LotNumber = words
		case "C101671":
			d.SerialNumber = words
		case "C101669":
			d.Manufactured = c.dateTime(value)
		case "C101670":
			d.Expiration = c.dateTime(value)
		case "C113843":
			d.Distinct = words
		case "C99285":
			d.ModelNumber = words
		case "C71898":
			d.DeviceName = append(d.DeviceName, r4.DeviceName{Name: words, Type: "user-friendly-name"})
		case "C54131":
			d.Manufacturer = firstOf(d.Manufacturer, words)
		default:
			continue
		}
		c.take(member)
	}
}
