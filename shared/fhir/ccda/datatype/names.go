package datatype

import (
	"cmp"
	"strings"

	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/r4"
	"recordbridge/shared/fhir/ccda/terms"
)

// useOf maps the first use that the table contains. The element may have several uses (SET<CS>, separated by spaces).
func useOf(n *cda.Node, table terms.Table) string {
	for use := range strings.FieldsSeq(n.Attr("use")) {
		if mapped := table.Of(use); mapped != "" {
			return mapped
		}
	}
	return ""
}

// HumanNames converts all of a person's names.
func (r *names) HumanNames(person *cda.Node) []r4.HumanName {
	var list []r4.HumanName
	for n := range person.Each("name") {
		if name, ok := r.humanName(n); ok {
			list = append(list, name)
		}
	}
	return list
}

// humanName converts a PN. If the family name is qualified as a birth name, the use of the entire HumanName is maiden.
// A call name becomes an additional given name (C-CDA on FHIR, "Patient": name).
func (r *names) humanName(n *cda.Node) (name r4.HumanName, ok bool) {
	name.Use = useOf(n, nameUses)
	for use := range strings.FieldsSeq(n.Attr("use")) {
		if name.Use == "" && strings.Contains(otherNameUses, " "+use+" ") {
			const url = "http://hl7.org/fhir/StructureDefinition/iso21090-EN-use"
			name.Extension = append(name.Extension, r4.Extension{URL: url, ValueCode: use})
		}
	}
	for part := range n.Each() {
		words := part.Words()
		switch {
		case words == "":
		case part.Name == "family" && name.Family == "":
			name.Family = words
			if part.Attr("qualifier") == "BR" {
				name.Use = "maiden"
			}
		case part.Name == "family":
			name.Family += " " + words
		case part.Name == "given":
			name.Given = append(name.Given, words)
		case part.Name == "prefix":
			name.Prefix = append(name.Prefix, words)
		case part.Name == "suffix":
			name.Suffix = append(name.Suffix, words)
		}
	}
	if name.Family == "" && name.Given == nil {
		name.Text = n.Words()
	}
	name.Period = r.times.Period(n.At("validTime"))
	return name, name.Text != "" || name.Family != "" || name.Given != nil
}

// Shown formats a name for use as a reference's display text.
func Shown(name r4.HumanName) string {
	if name.Text != "" {
		return name.Text
	}
	parts := append(append([]string{}, name.Prefix...), name.Given...)
	if name.Family != "" {
		parts = append(parts, name.Family)
	}
	return strings.Join(append(parts, name.Suffix...), " ")
}

// Addresses converts all nonempty addresses of an element.
func (r *names) Addresses(parent *cda.Node) []r4.Address {
	var list []r4.Address
	for n := range parent.Each("addr") {
		if a := r.Address(n); a != nil {
			list = append(list, *a)
		}
	}
	return list
}

// Address converts an AD. It returns nil if all parts are unknown.
func (r *names) Address(n *cda.Node) *r4.Address {
	if n == nil {
		return nil
	}
	a := r4.Address{Use: useOf(n, addressUses)}
	known := false
	for part := range n.Each() {
		words := part.Words()
		if words == "" {
			continue
		}
		known = known || part.Name != "useablePeriod"
		switch part.Name {
		case "streetAddressLine", "streetName", "houseNumber", "additionalLocator", "unitID", "deliveryAddressLine",
			"postBox":
			a.Line = append(a.Line, words)
		case "city":
			a.City = words
		case "county":
			a.District = words
		case "state":
			a.State = words
		case "postalCode":
			a.PostalCode = words
		case "country":
			a.Country = words
		}
	}
	if !known {
		a.Text = n.Words()
	}
	if a.Text == "" && !known {
		return nil
	}
	if use := n.Attr("use"); use == "PST" {
		a.Type = "postal"
	}
	a.Period = r.times.Period(n.At("useablePeriod"))
	return &a
}

// Telecoms converts an element's telecoms that have values.
func (r *names) Telecoms(parent *cda.Node) []r4.ContactPoint {
	var list []r4.ContactPoint
	for n := range parent.Each("telecom") {
		value := n.Attr("value")
		if value == "" {
			continue
		}
		system, rest := telecomSystem(value)
		if hasUse(n, "PG") { // C-CDA on FHIR, "Mapping Guidance": CDA telecom → FHIR telecom
			system = "pager"
		}
		list = append(list, r4.ContactPoint{
			System: system, Value: rest, Use: telecomUse(n), Period: r.times.Period(n.At("useablePeriod")),
		})
	}
	return list
}

// telecomSystem returns the system for a TEL's scheme. If the value has no scheme, the system is derived from the
// value's form.
func telecomSystem(value string) (system, rest string) {
	scheme, after, found := strings.Cut(value, ":")
	if found {
		switch strings.ToLower(scheme) {
		case "tel":
			return "phone", trimmedOr(after, value)
		case "fax", "x-text-fax":
			return "fax", trimmedOr(after, value)
		case "mailto":
			return "email", trimmedOr(after, value)
		case "sms":
			return "sms", trimmedOr(after, value)
		case "http", "https", "ftp":
			return "url", value
		}
	}
	switch {
	case strings.Contains(value, "@"):
		return "email", value
	case strings.Trim(value, "+-()./ 0123456789xX") == "":
		return "phone", value
	}
	return "other", value
}

func trimmedOr(text, otherwise string) string { return cmp.Or(strings.TrimSpace(text), otherwise) }

// telecomUse maps a telecom's use. A mobile telephone always maps to "mobile", regardless of its other uses.
func telecomUse(n *cda.Node) string {
	if hasUse(n, "MC") {
		return "mobile"
	}
	return useOf(n, addressUses)
}

func hasUse(n *cda.Node, use string) bool {
	return strings.Contains(" "+n.Attr("use")+" ", " "+use+" ")
}
