package tefca

import (
	"context"
	"errors"
	"fmt"
	"time"

	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/words/secret"
)

// Scope is the scope of every connection made in TEFCA mode (docs/guide/webhook-reference.md).
const Scope = "patient/*.read"

// Person is what an identity provider has verified of a person, and nothing else: a network may be asked with no other
// words (RCE, SOP "Individual Access Services Provider Requirements"). What the token does not say is empty.
type Person struct {
	Given, Middle, Family string
	BirthDate             string // YYYY-MM-DD
	Sex                   string // as the token says it
	Addresses             []Address
	Phone, Email          string
}

// Address is where a person lives, or has lived: the first of a Person's is the current one.
type Address struct {
	Street, City, State, PostalCode, Country string
}

// Assertion is a verified identity, as it is shown to a network. It is never logged, and stored only
// sealed and until ExpiresAt.
type Assertion struct {
	Provider  string // id of the identity provider in our configuration
	Issuer    string
	Subject   string // of the person at the issuer
	Level     int    // identity assurance level (NIST SP 800-63A), 2 or more
	Person    Person
	Token     secret.Text // the id_token, as it was signed
	IssuedAt  time.Time
	ExpiresAt time.Time // of the token: nobody may be asked with it afterwards
}

// Facility is an organisation of a network that has, or may have, records of a person.
type Facility struct {
	ID     string // in the network's directory, as an URN such as urn:oid:2.999.1.7: tefca_directory_id
	Name   string
	City   string
	State  string // two letters
	Match  Match
	Local  secret.Text // how the facility knows the person; opaque to all but the network that has said it
	Access Access
}

// Match is what a facility has said of a person.
type Match string

// The matches. Only Found can be connected.
const (
	Found      Match = "found"
	Ambiguous  Match = "ambiguous"  // more than one person fits: the facility wants to know more, and tells nothing
	Unanswered Match = "unanswered" // no answer in time, or one that cannot be read: records may be there
)

// Access is how the records of a facility are read.
type Access string

// The ways.
const (
	Documents Access = "documents" // C-CDA documents, listed and retrieved while the assertion lives
	FHIR      Access = "fhir"      // a FHIR server (facilitated FHIR), read by the export engine with a token of its own
)

// Document is one that a facility lists for a person.
type Document struct {
	ID      string // unique at the facility
	Type    string // media type; empty where the facility does not say
	Made    time.Time
	Size    int64       // 0 where the facility does not say
	Locator secret.Text // what the network retrieves it with; opaque to all others
}

// What a network, or a facility of it, answers with beside records. They are wrapped, and tell nothing of the person.
var (
	ErrIdentity    = errors.New("tefca: the assertion is not accepted, or no longer")
	ErrRefused     = errors.New("tefca: the facility refuses")
	ErrNotFound    = errors.New("tefca: there is no such document any more")
	ErrTooLarge    = errors.New("tefca: larger than what is read")
	ErrContent     = errors.New("tefca: an answer that cannot be read")
	ErrUnavailable = errors.New("tefca: no answer for now") // all else, and what may pass

	// ErrDemographics is an ErrIdentity: what the provider has verified is less than a query needs.
	ErrDemographics = fmt.Errorf("%w: demographics are missing", ErrIdentity)
	// ErrOtherPerson is an ErrContent: what is told of another person is as little of this person's
	// record as what cannot be read.
	ErrOtherPerson = fmt.Errorf("%w: another person's", ErrContent)
)

// Network is who is asked for records. Implementations: tefca/sim (simulated), tefca/ihe (XCPD and XCA),
// tefca/facilitated (FHIR). All methods end with ctx, are safe for concurrent use, and wrap one of the errors above.
type Network interface {
	// Locate asks who has records of the person. It tells found of each facility as it answers, one call at a time and in
	// no order, and at its end of each that has not answered (Unanswered). A facility may be told of more than once: the
	// last word counts. The error is that of a network that could not be asked at all, or that of found.
	Locate(ctx context.Context, who Assertion, found func(Facility) error) error
	// Documents lists the documents of a facility whose Access is Documents; none is no error. A list that is not
	// whole comes with an error.
	Documents(ctx context.Context, who Assertion, at Facility) ([]Document, error)
	// Retrieve reads a document of the list, of at most limit bytes.
	Retrieve(ctx context.Context, who Assertion, at Facility, document Document, limit int64) ([]byte, error)
}

// FHIRNetwork is a Network some of whose facilities have FHIR as their Access.
type FHIRNetwork interface {
	Network
	// Open gets a token for the person's record at the facility's FHIR server. The set has no refresh token.
	Open(ctx context.Context, who Assertion, at Facility) (tokens.Set, error)
}
