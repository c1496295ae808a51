package ihe

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"recordbridge/shared/tefca"
)

var (
	errBusy    = errors.New("the gateway could not look")
	errForeign = errors.New("an answer of a community that the gateway does not stand for")
)

// discovery is a gateway's parsed response to a patient discovery.
type discovery struct {
	matches    []match
	unreadable []string // communities with unreadable records; "" for an unreadable community ID
	more       bool     // The gateway requests more attributes, because several people might match.
}

// match is one community's record of the patient.
type match struct {
	home  string // home community ID, urn:oid:…
	local local
	names []name
	born  string // date of birth as YYYYMMDD
	sex   string // code of HL7 AdministrativeGender; may be empty
}

// name is one of a patient's names. Its field given contains all given names.
type name struct{ given, family string }

// discovered parses the response to a patient discovery (IHE ITI TF-2, 3.55.4.2.3, cases 1 to 5).
func discovered(got answer, ours string) (discovery, error) {
	root := got.body
	if !root.is(hl7Space, discoverAnswer) {
		return discovery{}, errShape
	}
	told := root.only(hl7Space, "acknowledgement")
	act := root.only(hl7Space, "controlActProcess")
	acknowledged := act.only(hl7Space, "queryAck")
	query := acknowledged.only(hl7Space, "queryId")
	target := told.optionalChild(hl7Space, "targetMessage").optionalChild(hl7Space, "id")
	accepted, code := told.only(hl7Space, "typeCode").attribute("code"),
		acknowledged.only(hl7Space, "queryResponseCode").attribute("code")
	if err := root.shapeError(); err != nil {
		return discovery{}, err
	}
	asked := id(got.id)
	isOurs := id(query.attribute("extension")).is(asked) && id(query.attribute("root")).is(id(ours))
	if !isOurs || target != nil && !id(target.attribute("extension")).is(asked) {
		return discovery{}, errRelation
	}
	if accepted != "AA" && accepted != "CA" || code != "OK" && code != "NF" {
		return discovery{}, errBusy
	}
	found := discovery{more: wantsMore(act)}
	for _, subject := range act.all(hl7Space, "subject") {
		subject.detached()
		one, ok := matched(subject.only(hl7Space, "registrationEvent"))
		if !ok || subject.shapeError() != nil {
			found.unreadable = append(found.unreadable, one.home)
			continue
		}
		found.matches = append(found.matches, one)
	}
	if err := root.shapeError(); err != nil {
		return discovery{}, err
	}
	if some := len(found.matches)+len(found.unreadable) > 0; code == "NF" && some || code == "OK" && !some && !found.more {
		return discovery{}, errShape // The response contradicts itself.
	}
	return found, nil
}

// wantsMore reports whether the gateway found no close match but more attributes might produce one, which is case 3
// (3.55.4.2.2.6).
func wantsMore(act *element) bool {
	for _, reason := range act.all(hl7Space, "reasonOf") {
		for _, trigger := range reason.optionalChild(hl7Space, "detectedIssueEvent").all(hl7Space, "triggerFor") {
			if trigger.optionalChild(hl7Space, "actOrderRequired").optionalChild(hl7Space,
				"code").attribute("codeSystem") == moreAttributes {
				return true
			}
		}
	}
	return false
}

// matched parses one record. found holds the record's community (the custodian) and the patient's ID and demographics.
// If the record is unreadable, ok is false and found holds at most the community.
func matched(event *element) (found match, ok bool) {
	patient := event.only(hl7Space, "subject1").only(hl7Space, "patient")
	known := patient.only(hl7Space, "id")
	manager := event.only(hl7Space, "custodian").only(hl7Space, "assignedEntity").only(hl7Space, "id")
	custodian := id(manager.attribute("root"))
	person := patient.only(hl7Space, "patientPerson")
	if custodian.oid() == "" {
		return match{}, false
	}
	found.home = custodian.urn()
	found.local = local{Home: found.home, Root: id(known.attribute("root")).oid(), Extension: known.attribute("extension")}
	found.born = person.optionalChild(hl7Space, "birthTime").attribute("value")
	found.sex = person.optionalChild(hl7Space, "administrativeGenderCode").attribute("code")
	for _, n := range person.all(hl7Space, "name") {
		given, family := n.all(hl7Space, "given"), n.all(hl7Space, "family")
		if len(given) > 0 && len(family) > 0 {
			all := make([]string, 0, len(given))
			for _, one := range given {
				all = append(all, one.words())
			}
			found.names = append(found.names, name{given: strings.Join(all, " "), family: family[0].words()})
		}
	}
	return found, found.local.valid()
}

// rejection names a community and explains why its part of a response is not trusted.
type rejection struct {
	home string // home community ID
	err  error
}

// accepted returns the trusted facilities in a gateway's response, and the reasons for rejecting other parts of the
// response. A community with an unreadable record is Unanswered, because the record may be the person's. The gateway's
// own community is included, even without a record, in three cases: the gateway requests more attributes, reports a
// community that it doesn't serve, or sends an unreadable record of an unknown community.
func (n *Network) accepted(said discovery, from Gateway,
	who tefca.Person,
) (facilities []tefca.Facility, doubts []rejection) {
	byHome, unreadable := map[string][]match{}, map[string]bool{}
	strange := map[error]bool{}
	for _, home := range said.unreadable {
		if n.standsFor(from, home) {
			unreadable[home] = true
		} else {
			strange[errShape] = true
		}
	}
	for _, m := range said.matches {
		switch {
		case !n.standsFor(from, m.home):
			strange[errForeign] = true
		case !unreadable[m.home]:
			byHome[m.home] = append(byHome[m.home], m)
		}
	}
	for _, err := range []error{errForeign, errShape} {
		if strange[err] {
			doubts = append(doubts, rejection{from.Home, content(err)})
		}
	}
	for _, home := range slices.Sorted(maps.Keys(unreadable)) {
		facilities = append(facilities, facility(n.facilities[home].Community, tefca.Unanswered))
		doubts = append(doubts, rejection{home, content(errShape)})
	}
	switch {
	case byHome[from.Home] != nil || unreadable[from.Home]:
	case said.more:
		facilities = append(facilities, facility(from.Community, tefca.Ambiguous))
	case len(strange) > 0:
		facilities = append(facilities, facility(from.Community, tefca.Unanswered))
	}
	for _, home := range slices.Sorted(maps.Keys(byHome)) {
		matches := byHome[home]
		one := facility(n.facilities[home].Community, tefca.Found)
		switch {
		case several(matches):
			one.Match = tefca.Ambiguous
		case !matches[0].is(who):
			one.Match = tefca.Unanswered
			doubts = append(doubts, rejection{home, fmt.Errorf("ihe: %w", tefca.ErrOtherPerson)})
		default:
			one.Local = matches[0].local.seal()
		}
		facilities = append(facilities, one)
	}
	return facilities, doubts
}

// standsFor reports whether the gateway serves the community with the ID home.
func (n *Network) standsFor(g Gateway, home string) bool {
	known, ok := n.facilities[home]
	return ok && known.gateway.Home == g.Home
}

// several reports whether matches contains more than one patient ID.
func several(matches []match) bool {
	for _, m := range matches[1:] {
		if !m.local.is(matches[0].local) {
			return true
		}
	}
	return false
}

// facility returns the community as a tefca.Facility.
func facility(c Community, match tefca.Match) tefca.Facility {
	f := tefca.Facility{ID: c.Home, Name: c.Name, City: c.City, State: c.State, Match: match}
	if match == tefca.Found {
		f.Access = tefca.Documents
	}
	return f
}
