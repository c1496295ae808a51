package ihe

import (
	"strings"

	"github.com/beevik/etree"

	"recordbridge/shared/tefca"
)

// discoverBody builds a query for a person (IHE ITI TF-2, 3.55.4.1.2: demographic query only mode). The query contains
// exactly the verified attributes (RCE, SOP "Exchange Purpose Implementation: Individual Access Services" v3.0, 4.4
// (e)).
func (n *Network) discoverBody(message string, who tefca.Person, to place) *etree.Element {
	ours := to.format.root(id(n.config.Home))
	root := etree.NewElement(discoverMessage)
	root.CreateAttr("xmlns", hl7Space)
	root.CreateAttr("ITSVersion", "XML_1.0")
	mark := func(parent *etree.Element, tag string) {
		e := parent.CreateElement(tag)
		e.CreateAttr("root", ours)
		e.CreateAttr("extension", message)
	}
	mark(root, "id")
	with(root, "creationTime", "value", n.deps.Now().UTC().Format("20060102150405"))
	with(root, "interactionId", "root", interactions, "extension", discoverMessage)
	with(root, "processingCode", "code", "P")
	with(root, "processingModeCode", "code", "T")
	with(root, "acceptAckCode", "code", "AL")
	device(root, "receiver", "RCV", to.format.root(id(to.Home)), "")
	device(root, "sender", "SND", ours, n.config.Organization)
	act := with(root, "controlActProcess", "classCode", "CACT", "moodCode", "EVN")
	with(act, "code", "code", discoverTrigger, "codeSystem", interactions)
	query := act.CreateElement("queryByParameter")
	mark(query, "queryId")
	with(query, "statusCode", "code", "new")
	with(query, "responseModalityCode", "code", "R")
	with(query, "responsePriorityCode", "code", "I")
	demographics(query.CreateElement("parameterList"), who)
	return root
}

// demographics adds the query parameters in the order that the schema requires (HL7 v3, PRPA_MT201306UV02).
func demographics(list *etree.Element, who tefca.Person) {
	parameter := func(name, meaning string, values ...func(value *etree.Element)) {
		p := list.CreateElement(name)
		for _, fill := range values {
			fill(p.CreateElement("value"))
		}
		put(p, "semanticsText", meaning)
	}
	if code := gender(who.Sex); code != "" {
		parameter("livingSubjectAdministrativeGender", "LivingSubject.administrativeGender", func(v *etree.Element) {
			v.CreateAttr("code", code)
			v.CreateAttr("codeSystem", genders)
		})
	}
	parameter("livingSubjectBirthTime", "LivingSubject.birthTime",
		func(v *etree.Element) { v.CreateAttr("value", digits(who.BirthDate)) })
	parameter("livingSubjectName", "LivingSubject.name", func(v *etree.Element) {
		put(v, "family", plain(who.Family))
		put(v, "given", plain(who.Given))
		if who.Middle != "" {
			put(v, "given", plain(who.Middle))
		}
	})
	addresses := make([]func(*etree.Element), 0, len(who.Addresses))
	for _, a := range who.Addresses {
		addresses = append(addresses, func(v *etree.Element) {
			for _, part := range [][2]string{
				{"streetAddressLine", a.Street},
				{"city", a.City},
				{"state", a.State},
				{"postalCode", a.PostalCode},
				{"country", a.Country},
			} {
				if part[1] != "" {
					put(v, part[0], plain(part[1]))
				}
			}
		})
	}
	parameter("patientAddress", "Patient.addr", addresses...)
	var reached []func(*etree.Element)
	for _, way := range [][2]string{{"tel:", who.Phone}, {"mailto:", who.Email}} {
		if way[1] != "" {
			reached = append(reached, func(v *etree.Element) { v.CreateAttr("value", way[0]+plain(way[1])) })
		}
	}
	parameter("patientTelecom", "Patient.telecom", reached...)
}

// with adds an element. attributes alternates between names and values.
func with(parent *etree.Element, tag string, attributes ...string) *etree.Element {
	e := parent.CreateElement(tag)
	for i := 0; i+1 < len(attributes); i += 2 {
		e.CreateAttr(attributes[i], attributes[i+1])
	}
	return e
}

// device adds the sender or receiver and its community (IHE ITI TF-2, 3.55.4.1.2.4).
func device(parent *etree.Element, tag, kind, community, name string) {
	d := with(with(parent, tag, "typeCode", kind), "device", "classCode", "DEV", "determinerCode", "INSTANCE")
	with(d, "id", "root", community)
	represented := with(with(d, "asAgent", "classCode", "AGNT"), "representedOrganization", "classCode", "ORG",
		"determinerCode", "INSTANCE")
	with(represented, "id", "root", community)
	if name != "" {
		put(represented, "name", plain(name))
	}
}

// gender converts an id_token's gender to a code of HL7 AdministrativeGender. It returns "" for any other gender.
func gender(sex string) string {
	switch strings.ToLower(sex) {
	case "male", "m":
		return "M"
	case "female", "f":
		return "F"
	case "other", "x", "o":
		return "UN" // undifferentiated
	}
	return ""
}

func digits(text string) string {
	return strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' {
			return r
		}
		return -1
	}, text)
}
