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
func Discovered(media string, content []byte, id, ours string) (records int, more bool, err error) {
	got, err := open(media, content, id)
	if err != nil {
		return 0, false, err
	}
	said, err := discovered(got, ours)
	return len(said.matches), said.more, err
}

// Listed reads an answer to a query of the patient "1" of a community.
func Listed(content []byte, id, home string) ([]tefca.Document, error) {
	got, err := open(soapMedia, content, id)
	if err != nil {
		return nil, err
	}
	return listed(got.body, local{Home: home, Root: bare(home), Extension: "1"})
}

// Retrieved reads an answer of a media type to the retrieval of the document "1" in the repository "2".
func Retrieved(media string, content []byte, id, home string, limit int64) ([]byte, error) {
	got, err := open(media, content, id)
	if err != nil {
		return nil, err
	}
	return retrieved(got, locator{Home: home, Patient: "", Repository: "2", Document: "1"}, limit)
}

// SamePerson compares what a community says of its patient with the verified demographics.
func SamePerson(given, family, born, sex string, who tefca.Person) bool {
	return match{names: []name{{given: given, family: family}}, born: born, sex: sex}.is(who)
}

// Believe says what is believed of an answer that has one record of each of some communities, by the family name there, and why
// the rest is not.
func (n *Network) Believe(from Gateway, who tefca.Person, more bool, families map[string]string) ([]tefca.Facility, map[string]error) {
	said := discovery{more: more}
	for home, family := range families {
		said.matches = append(said.matches, match{
			home: home, local: local{Home: home, Root: bare(home), Extension: "1"}, names: []name{{given: who.Given, family: family}}, born: digits(who.BirthDate),
		})
	}
	facilities, doubts := n.believe(said, from, who)
	told := map[string]error{}
	for _, d := range doubts {
		told[d.home] = d.err
	}
	return facilities, told
}
