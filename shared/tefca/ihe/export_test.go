package ihe

import (
	"time"

	"recordbridge/shared/tefca"
)

func (n *Network) Limits(limit time.Duration, atOnce int) {
	n.gatewayLimit, n.retrieveLimit, n.atOnce = limit, limit, atOnce
}

func (n *Network) Through(client Sender) { n.client = client }

type Sender = sender

// Parse parses a document and discards the resulting tree.
func Parse(document []byte) error {
	_, err := parse(document)
	return err
}

func Discovered(media string, content []byte, id, ours string) (records, unreadable int, more bool, err error) {
	got, err := open(media, content, id)
	if err != nil {
		return 0, 0, false, err
	}
	said, err := discovered(got, ours)
	return len(said.matches), len(said.unreadable), said.more, err
}

// Listed parses a response to a query about patient "1" of a community.
func Listed(content []byte, message, home string) ([]tefca.Document, error) {
	got, err := open(soapMedia, content, message)
	if err != nil {
		return nil, err
	}
	return leading(home).listed(got.body, local{Home: home, Root: id(home).oid(), Extension: "1"})
}

// Retrieved parses a response to the retrieval of document "1" in repository "2".
func Retrieved(media string, content []byte, message, home string, limit int64) ([]byte, error) {
	got, err := open(media, content, message)
	if err != nil {
		return nil, err
	}
	return leading(home).retrieved(got, locator{Home: home, Patient: "", Repository: "2", Document: "1"}, limit)
}

// RetrievedAs is like Retrieved, but takes the listed IDs of the repository and document as arguments.
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

func Moment(text string) time.Time { return moment(text) }

func SameID(a, b string) bool { return id(a).is(id(b)) }

// PatientOne reports how a CX compares with patient 1 of the authority 2.999.2.
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

func (n *Network) IsWithin(home, community string) bool { return n.isWithin(id(home), community) }

// Heard parses a gateway's response to a patient discovery and returns the trusted facilities and the rejections.
func (n *Network) Heard(media string, content []byte, message string, from Gateway,
	who tefca.Person,
) ([]tefca.Facility, map[string]error, error) {
	got, err := open(media, content, message)
	if err != nil {
		return nil, nil, err
	}
	facilities, doubts, err := n.parseDiscovery(got, from, who)
	told := map[string]error{}
	for _, d := range doubts {
		told[d.home] = d.err
	}
	return facilities, told, err
}

func leading(home string) *Network {
	return &Network{facilities: map[string]place{home: {}}}
}

// SamePerson reports whether a community's patient matches the verified demographics.
func SamePerson(given, family, born, sex string, who tefca.Person) bool {
	return match{names: []name{{given: given, family: family}}, born: born, sex: sex}.is(who)
}

// Believe returns the trusted facilities in a response, and the rejections. For each community in the map, the response
// contains one record with the given family name.
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
	facilities, doubts := n.accepted(said, from, who)
	told := map[string]error{}
	for _, d := range doubts {
		told[d.home] = d.err
	}
	return facilities, told
}
