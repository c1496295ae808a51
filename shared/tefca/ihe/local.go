package ihe

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"recordbridge/shared/tefca"
	"recordbridge/shared/words/secret"
)

// local is a community's identifier for a person. It is stored in Facility.Local and is valid only in that community.
type local struct {
	Home      string `json:"home"`
	Root      string `json:"root"` // OID of the assigning authority
	Extension string `json:"extension"`
}

// locator holds the IDs that identify a document for retrieval, as written in the list. It is stored in
// Document.Locator and is valid for one person in one community.
type locator struct {
	Home       string `json:"home"`             // community that listed the document
	Origin     id     `json:"origin,omitempty"` // the entry's home community ID; empty if equal to Home
	Patient    string `json:"patient"`
	Repository id     `json:"repository,omitempty"` // empty if the list does not name a repository
	Document   id     `json:"document"`
}

// maxID is the maximum length of an external ID in bytes. Document and repository IDs are OIDs, some of which have an
// extension (IHE ITI TF-3, 4.2.3.2: uniqueId, repositoryUniqueId).
const maxID = 256

// valid reports whether the IDs keep their meaning in a patient ID (CX) and within the quotes of a stored query (IHE
// ITI TF-3, table 4.2.3.1.7-2; TF-2, 3.18.4.1.2.3.5).
func (l local) valid() bool {
	return oid.MatchString(l.Root) && printable(l.Extension) && !strings.ContainsAny(l.Extension, `^&~\|'`)
}

// printable reports whether an external ID has an acceptable length and contains no invisible characters.
func printable(id string) bool {
	return id != "" && len(id) <= maxID && !strings.ContainsFunc(id, func(r rune) bool { return !unicode.IsPrint(r) })
}

// is reports whether two patient IDs have the same value.
func (l local) is(other local) bool {
	return id(l.Root).is(id(other.Root)) && l.Extension == other.Extension
}

// cx returns the ID in the form that document registries use (IHE ITI TF-3, table 4.2.3.1.7-2).
func (l local) cx() string { return l.Extension + "^^^&" + l.Root + "&ISO" }

func (l local) seal() secret.Text { return sealed(l) }

func (l locator) seal() secret.Text { return sealed(l) }

func sealed(v any) secret.Text {
	text, _ := json.Marshal(v) //nolint:errchkjson // strings only
	return secret.New(string(text))
}

// patient returns the facility's identifier for the person.
func patient(at tefca.Facility) (local, error) {
	var l local
	if err := json.Unmarshal([]byte(at.Local.Reveal()), &l); err != nil || l.Home != at.ID || !l.valid() {
		return local{}, fmt.Errorf("ihe: the patient id is not of this facility: %w", tefca.ErrRefused)
	}
	return l, nil
}

// document decodes a listed document's locator.
func document(at tefca.Facility, listed tefca.Document) (locator, error) {
	known, err := patient(at)
	if err != nil {
		return locator{}, err
	}
	var l locator
	err = json.Unmarshal([]byte(listed.Locator.Reveal()), &l)
	if err != nil || l.Home != at.ID || l.Patient != known.cx() || string(l.Document) != listed.ID {
		return locator{}, fmt.Errorf("ihe: the document is not of this person at this facility: %w", tefca.ErrRefused)
	}
	return l, nil
}
