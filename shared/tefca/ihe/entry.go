package ihe

import (
	"strconv"
	"strings"

	"recordbridge/shared/tefca"
)

// Attributes of a document entry (IHE ITI TF-3, table 4.2.3.2-1), used in a tefca.Loss.
const (
	attributeHome       = "homeCommunityId"
	attributeType       = "objectType"
	attributePatient    = "patientId"
	attributeUnique     = "uniqueId"
	attributeRepository = "repositoryUniqueId"
)

type entry struct {
	document tefca.Document
	at       locator
}

// isSame reports whether two entries with the same document ID also have the same community and repository.
func (e entry) isSame(other entry) bool {
	a, b := e.at, other.at
	return a.Origin.value() == b.Origin.value() && a.Repository.value() == b.Repository.value()
}

// flaw is the reason for rejecting an entry. The zero value means that the entry is accepted.
type flaw struct {
	err       error  // either tefca.ErrContent or tefca.ErrOtherPerson
	attribute string // name of the faulty attribute
}

// entry parses a document entry (IHE ITI TF-3, 4.2.3.2). The entry must be for the requested patient, in the requested
// community or one below it. If the entry names no repository, the document is retrieved with its community's ID
// instead.
func (n *Network) entry(e *element, whose local) (entry, flaw) {
	home := id(e.attribute("home"))
	if !n.isWithin(home, whose.Home) {
		return entry{}, flaw{tefca.ErrContent, attributeHome}
	}
	if kind := id(e.attribute("objectType")); !kind.is(stableEntry) && !kind.is(onDemandEntry) {
		return entry{}, flaw{tefca.ErrContent, attributeType}
	}
	patients, documents := externals(e, entryPatient), externals(e, entryUnique)
	if len(patients) != 1 {
		return entry{}, flaw{tefca.ErrContent, attributePatient}
	}
	patient, isReadable := parseCX(patients[0])
	switch {
	case !isReadable:
		return entry{}, flaw{tefca.ErrContent, attributePatient}
	case !patient.is(whose):
		return entry{}, flaw{tefca.ErrOtherPerson, attributePatient}
	case len(documents) != 1 || !printable(documents[0]):
		return entry{}, flaw{tefca.ErrContent, attributeUnique}
	}
	repositories := slots(e, "repositoryUniqueId")
	if len(repositories) > 1 || len(repositories) == 1 && !printable(repositories[0]) {
		return entry{}, flaw{tefca.ErrContent, attributeRepository}
	}
	at := locator{Home: whose.Home, Origin: "", Patient: whose.cx(), Repository: "", Document: id(documents[0])}
	if len(repositories) == 1 {
		at.Repository = id(repositories[0])
	}
	if !home.is(id(whose.Home)) {
		at.Origin = home
	}
	return entry{at: at, document: tefca.Document{
		ID: documents[0], Type: e.attribute("mimeType"), Made: moment(only(slots(e, "creationTime"))),
		Size: size(only(slots(e, "size"))), Locator: at.seal(),
	}}, flaw{}
}

// isWithin reports whether home is the community's ID, or lies below it in the OID tree with no other configured
// community in between. The owner of an OID assigns all OIDs below it (ITU-T X.660).
func (n *Network) isWithin(home id, community string) bool {
	for oid := home.oid(); oid != ""; oid = parent(oid) {
		if _, known := n.facilities[oidScheme+oid]; known || id(n.config.Home).is(id(oid)) {
			return id(community).is(id(oid))
		}
	}
	return false
}

// parent returns the OID one level above oid, or "" at the top level.
func parent(oid string) string { return oid[:max(0, strings.LastIndexByte(oid, '.'))] }

// externals returns the entry's external identifiers that belong to a scheme.
func externals(e *element, scheme id) []string {
	var found []string
	for _, i := range e.all(rimSpace, "ExternalIdentifier") {
		if id(i.attribute("identificationScheme")).is(scheme) {
			found = append(found, i.attribute("value"))
		}
	}
	return found
}

func slots(e *element, name string) []string {
	var found []string
	for _, s := range e.all(rimSpace, "Slot") {
		if s.attribute("name") != name {
			continue
		}
		for _, list := range s.all(rimSpace, "ValueList") {
			for _, value := range list.all(rimSpace, "Value") {
				if text := value.words(); text != "" {
					found = append(found, text)
				}
			}
		}
	}
	return found
}

// only returns the single value in values, or "" if there are several or none.
func only(values []string) string {
	if len(values) != 1 {
		return ""
	}
	return values[0]
}

// size parses a size in bytes. It returns 0 if the size is unknown.
func size(text string) int64 {
	bytes, err := strconv.ParseInt(text, 10, 64)
	if err != nil || bytes < 0 {
		return 0
	}
	return bytes
}
