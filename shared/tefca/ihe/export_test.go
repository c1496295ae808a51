package ihe

import (
	"time"

	"recordbridge/shared/tefca"
)

// Limits makes a network ask so many gateways at once, each for so long.
func (n *Network) Limits(limit time.Duration, atOnce int) {
	n.gatewayLimit, n.retrieveLimit, n.atOnce = limit, limit, atOnce
}

// Through makes a network send by something else.
func (n *Network) Through(client Sender) { n.client = client }

// Sender is sender.
type Sender = sender

// Parse is parse, without what it gives.
func Parse(document []byte) error {
	_, err := parse(document)
	return err
}

// Discovered reads an answer of a media type to a discovery.
func Discovered(media string, content []byte, id, ours string) (records, unreadable int, more bool, err error) {
	got, err := open(media, content, id)
	if err != nil {
		return 0, 0, false, err
	}
	said, err := discovered(got, ours)
	return len(said.matches), len(said.unreadable), said.more, err
}

// Listed reads an answer to a query of the patient "1" of a community.
func Listed(content []byte, message, home string) ([]tefca.Document, error) {
	got, err := open(soapMedia, content, message)
	if err != nil {
		return nil, err
	}
	return leading(home).listed(got.body, local{Home: home, Root: id(home).oid(), Extension: "1"})
}

// Retrieved reads an answer of a media type to the retrieval of the document "1" in the repository "2".
func Retrieved(media string, content []byte, message, home string, limit int64) ([]byte, error) {
	got, err := open(media, content, message)
	if err != nil {
		return nil, err
	}
	return leading(home).retrieved(got, locator{Home: home, Patient: "", Repository: "2", Document: "1"}, limit)
}

// RetrievedAs is Retrieved for a document that the list has named so.
func RetrievedAs(media string, content []byte, message, home, repository, document string,
	limit int64,
) ([]byte, error) {
	got, err := open(media, content, message)
	if err != nil {
		return nil, err
	}
	return leading(home).retrieved(got, locator{
		Home: home, Patient: "", Repository: id(repository),
		Document: id(document),
	}, limit)
}

// Moment is moment.
func Moment(text string) time.Time { return moment(text) }

// SameID is id.is.
func SameID(a, b string) bool { return id(a).is(id(b)) }

// PatientOne tells whether a CX is of the patient 1 of the authority 2.999.2.
func PatientOne(cx string) string {
	patient, ok := parseCX(cx)
	switch {
	case !ok:
		return "unreadable"
	case patient.is(local{Root: "2.999.2", Extension: "1"}):
		return "same"
	}
	return "other"
}

// IsWithin is isWithin.
func (n *Network) IsWithin(home, community string) bool { return n.isWithin(id(home), community) }

// Heard reads an answer to a discovery by a gateway, and says what is believed of it and why the rest is not.
func (n *Network) Heard(media string, content []byte, message string, from Gateway,
	who tefca.Person,
) ([]tefca.Facility, map[string]error, error) {
	got, err := open(media, content, message)
	if err != nil {
		return nil, nil, err
	}
	facilities, doubts, err := n.heard(got, from, who)
	told := map[string]error{}
	for _, d := range doubts {
		told[d.home] = d.err
	}
	return facilities, told, err
}

// leading is a network with one community.
func leading(home string) *Network {
	return &Network{facilities: map[string]place{home: {}}}
}

// SamePerson compares what a community says of its patient with the verified demographics.
func SamePerson(given, family, born, sex string, who tefca.Person) bool {
	return match{names: []name{{given: given, family: family}}, born: born, sex: sex}.is(who)
}

// Believe says what is believed of an answer that has one record of each of some communities, by the family name there,
// and why the rest is not.
func (n *Network) Believe(from Gateway, who tefca.Person, more bool,
	families map[string]string,
) ([]tefca.Facility, map[string]error) {
	said := discovery{more: more}
	for home, family := range families {
		said.matches = append(said.matches, match{
			home: home, local: local{Home: home, Root: id(home).oid(), Extension: "1"},
			names: []name{{given: who.Given, family: family}}, born: digits(who.BirthDate),
		})
	}
	facilities, doubts := n.believe(said, from, who)
	told := map[string]error{}
	for _, d := range doubts {
		told[d.home] = d.err
	}
	return facilities, told
}
