package document

// header returns the US Realm Header, with additions for the kind of document.
func (d Document) header() node {
	const version = "2015-08-01"
	return group(
		el("realmCode", pairs{"code", "US"}),
		el("typeId", pairs{"root", "2.16.840.1.113883.1.3", "extension", "POCD_HD000040"}),
		template("2.16.840.1.113883.10.20.22.1.1", version),
		template(d.Kind.template(), version),
		d.ID.node(),
		d.Kind.code().node("code"),
		el("title", nil, words(d.Facility.Name+": "+d.Kind.Title())),
		el("effectiveTime", pairs{"value", d.Made}),
		el("confidentialityCode", pairs{"code", "N", "codeSystem", "2.16.840.1.113883.5.25", "displayName", "normal"}),
		el("languageCode", pairs{"code", "en-US"}),
		d.recordTarget(),
		el("author", nil, el("time", pairs{"value", d.Made}), d.Author.assigned("assignedAuthor", d.Facility)),
		el("custodian", nil, el("assignedCustodian", nil, d.Facility.node("representedCustodianOrganization"))),
		el("legalAuthenticator", nil,
			el("time", pairs{"value", d.Made}), el("signatureCode", pairs{"code", "S"}),
			d.Author.assigned("assignedEntity", d.Facility)),
		d.serviceEvent(),
		d.encompassing(),
	)
}

func (d Document) recordTarget() node {
	p := d.Patient
	sex := Code{"2.16.840.1.113883.5.1", "UN", "Undifferentiated"}
	switch p.Sex {
	case "female":
		sex.Code, sex.Name = "F", "Female"
	case "male":
		sex.Code, sex.Name = "M", "Male"
	}
	return el("recordTarget", nil, el("patientRole", nil,
		each(p.IDs, ID.node),
		each(p.Addresses, func(a Address) node { return a.node("HP") }),
		when(p.Email != "", el("telecom", pairs{"use", "HP", "value", "mailto:" + p.Email})),
		el("patient", nil,
			el("name", pairs{"use", "L"}, el("given", nil, words(p.Given)), el("family", nil, words(p.Family))),
			sex.node("administrativeGenderCode"),
			el("birthTime", pairs{"value", day(p.BirthDate)}),
			el("raceCode", pairs{"nullFlavor", "ASKU"}),
			el("ethnicGroupCode", pairs{"nullFlavor", "ASKU"}),
			el("languageCommunication", nil, el("languageCode", pairs{"code", "en"}),
				el("preferenceInd", pairs{"value", "true"})),
		),
		d.Facility.node("providerOrganization"),
	))
}

// serviceEvent states who provides care and the period of care, which ends with the visit.
func (d Document) serviceEvent() node {
	from := d.Visit.From
	if d.Kind == Summary && len(d.Visits) > 0 {
		from = d.Visits[0].From
	}
	return el("documentationOf", nil, el("serviceEvent", pairs{"classCode", "PCPR"},
		between(from, d.Visit.To),
		el("performer", pairs{"typeCode", "PRF"},
			el("functionCode", pairs{
				"code", "PCP", "codeSystem", "2.16.840.1.113883.5.88", "displayName",
				"primary care physician",
			}),
			d.Author.assigned("assignedEntity", d.Facility)),
	))
}

func (d Document) encompassing() node {
	class := Code{actCode, "AMB", "ambulatory"}
	if d.Visit.Inpatient {
		class = Code{actCode, "IMP", "inpatient encounter"}
	}
	return el("componentOf", nil, el("encompassingEncounter", nil,
		d.Visit.ID.node(), class.node("code"), between(d.Visit.From, d.Visit.To),
		when(d.Visit.Inpatient, el("dischargeDispositionCode",
			pairs{"code", "01", "codeSystem", "2.16.840.1.113883.12.112", "displayName", "Discharged to home or self care"})),
		el("responsibleParty", nil, d.Visit.By.assigned("assignedEntity", d.Visit.At)),
		el("location", nil, el("healthCareFacility", nil,
			d.Facility.place(), d.Facility.Ward.node("code"),
			el("location", nil, el("name", nil, words(d.Facility.Name)), d.Facility.Address.node("WP")))),
	))
}

func template(root, version string) node {
	return el("templateId", pairs{"root", root, "extension", version})
}

func (id ID) node() node { return el("id", pairs{"root", id.Root, "extension", id.Extension}) }

func (c Code) node(name string, children ...node) node {
	return el(name, pairs{"code", c.Code, "codeSystem", c.System, "displayName", c.Name}, children...)
}

// value returns the code as the value of an observation.
func (c Code) value(children ...node) node {
	return el("value", pairs{"xsi:type", "CD", "code", c.Code, "codeSystem", c.System, "displayName", c.Name}, children...)
}

func (a Address) node(use string) node {
	return el("addr", pairs{"use", use},
		el("streetAddressLine", nil, words(a.Street)), el("city", nil, words(a.City)), el("state", nil, words(a.State)),
		el("postalCode", nil, words(a.PostalCode)), el("country", nil, words(a.Country)))
}

func (f Facility) node(name string) node {
	return el(name, nil,
		ID{npi, f.NPI}.node(), ID{f.OID, ""}.node(), el("name", nil, words(f.Name)),
		el("telecom", pairs{"use", "WP", "value", "tel:" + f.Phone}), f.Address.node("WP"))
}

// place returns the ID of the facility's building.
func (f Facility) place() node { return ID{f.OID + ".4", "MAIN"}.node() }

// assigned returns a clinician in a role at a facility. If of has no name, the address and the organisation are omitted
// as well.
func (c Clinician) assigned(name string, of Facility) node {
	return el(name, nil,
		ID{npi, c.NPI}.node(), c.Specialty.node("code"),
		when(of.Name != "", group(of.Address.node("WP"), el("telecom", pairs{"use", "WP", "value", "tel:" + of.Phone}))),
		el("assignedPerson", nil, el("name", nil, el("given", nil, words(c.Given)), el("family", nil, words(c.Family)),
			el("suffix", nil, words("MD")))),
		when(of.Name != "", el("representedOrganization", nil, ID{npi, of.NPI}.node(), ID{of.OID, ""}.node(),
			el("name", nil, words(of.Name)))),
	)
}

// author returns the author element for a fact.
func (n Noted) author() node {
	return el("author", nil,
		el("templateId", pairs{"root", "2.16.840.1.113883.10.20.22.4.119"}), el("time", pairs{"value", n.At}),
		n.By.assigned("assignedAuthor", Facility{}))
}

// between returns an interval, which has no end if to is empty.
func between(from, to string) node {
	return el("effectiveTime", nil, el("low", pairs{"value", from}), when(to != "", el("high", pairs{"value", to})))
}

func at(moment string) node { return el("effectiveTime", pairs{"value", moment}) }
