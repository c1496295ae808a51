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

// Person holds the attributes of a person that an identity provider has verified, and no others: a network may not be
// queried with anything else (RCE, SOP "Individual Access Services Provider Requirements"). Attributes missing from the
// token are empty.
type Person struct {
	Given, Middle, Family string
	BirthDate             string // YYYY-MM-DD
	Sex                   string // as in the token
	Addresses             []Address
	Phone, Email          string
}

// Address is a current or former address of a person. The first of a Person's is the current one.
type Address struct {
	Street, City, State, PostalCode, Country string
}

// Assertion is a verified identity for querying networks. It is never logged, and stored only sealed and until
// ExpiresAt.
type Assertion struct {
	Provider  string // the identity provider's configured id
	Issuer    string
	Subject   string // the person's id at the issuer
	Level     int    // identity assurance level (NIST SP 800-63A), 2 or more
	Person    Person
	Token     secret.Text // the id_token as signed by the issuer
	IssuedAt  time.Time
	ExpiresAt time.Time // expiry of the token; no network may be queried afterwards
}

// Facility is an organisation of a network that has, or may have, records of a person.
type Facility struct {
	ID     string // in the network's directory, a URN such as urn:oid:2.999.1.7: tefca_directory_id
	Name   string
	City   string
	State  string // two letters
	Match  Match
	Local  secret.Text // the facility's identifier of the person; opaque outside its network
	Access Access
}

// Match is a facility's response about a person.
type Match string

// The matches. Only a Found facility can be connected.
const (
	Found      Match = "found"
	Ambiguous  Match = "ambiguous"  // several people fit; the facility needs more data and discloses nothing
	Unanswered Match = "unanswered" // no readable response in time; it may have records
)

// Access is the way in which a facility's records are read.
type Access string

// The kinds of access.
const (
	Documents Access = "documents" // C-CDA documents, listed and retrieved while the assertion is valid
	FHIR      Access = "fhir"      // a FHIR server (facilitated FHIR), read by the export engine with its own token
)

// Document is a document that a facility lists for a person.
type Document struct {
	ID      string // unique at the facility
	Type    string // media type; empty if the facility does not state it
	Made    time.Time
	Size    int64       // 0 if the facility does not state it
	Locator secret.Text // opaque data with which the network retrieves it
}

// The errors of a network or a facility. They are wrapped, and contain nothing about the person.
var (
	ErrIdentity    = errors.New("tefca: the assertion is not accepted, or no longer")
	ErrRefused     = errors.New("tefca: the facility refuses")
	ErrNotFound    = errors.New("tefca: the document no longer exists")
	ErrTooLarge    = errors.New("tefca: exceeds the size limit")
	ErrContent     = errors.New("tefca: unreadable response")
	ErrUnavailable = errors.New("tefca: no response at present") // all other errors, including temporary ones

	// ErrDemographics is an ErrIdentity. It means that the provider has verified fewer attributes than a query requires.
	ErrDemographics = fmt.Errorf("%w: demographics are missing", ErrIdentity)
	// ErrOtherPerson is an ErrContent. It means that a response is about another person, so it is as useless for this
	// person's record as an unreadable one.
	ErrOtherPerson = fmt.Errorf("%w: another person's", ErrContent)
)

// Network is a network that can be queried for records. Implementations: tefca/sim (simulated), tefca/ihe (XCPD and
// XCA), tefca/facilitated (FHIR). All methods end with ctx, are safe for concurrent use, and wrap one of the errors
// above.
type Network interface {
	// Locate asks which facilities have records of the person. It calls found for each facility as it responds, one call
	// at a time and in no particular order, and at the end for each that has not responded (Unanswered). A facility may be
	// reported repeatedly; the last report counts. The error is found's, or means that the network could not be queried at
	// all.
	Locate(ctx context.Context, who Assertion, found func(Facility) error) error
	// Documents lists the documents of a facility whose Access is Documents; an empty list is not an error. An incomplete
	// list is returned with an error.
	Documents(ctx context.Context, who Assertion, at Facility) ([]Document, error)
	// Retrieve returns a listed document of at most limit bytes.
	Retrieve(ctx context.Context, who Assertion, at Facility, document Document, limit int64) ([]byte, error)
}

// FHIRNetwork is a Network with facilities whose Access may be FHIR.
type FHIRNetwork interface {
	Network
	// Open requests a token for the person's record at the facility's FHIR server. The set has no refresh token.
	Open(ctx context.Context, who Assertion, at Facility) (tokens.Set, error)
}
