package tefca

import (
	"context"
	"errors"
	"fmt"
	"time"

	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/words/secret"
)

// Scope is the scope of every TEFCA connection (docs/guide/webhook-reference.md).
const Scope = "patient/*.read"

// Person holds a person's verified attributes. It contains no unverified attributes, because networks must not be
// queried with them (RCE, SOP "Individual Access Services Provider Requirements"). If an attribute is missing from the
// token, its field is empty.
type Person struct {
	Given, Middle, Family string
	BirthDate             string // YYYY-MM-DD
	Sex                   string // as stated in the token
	Addresses             []Address
	Phone, Email          string
}

// Address is one of a person's current or former addresses. A Person's current address is listed first.
type Address struct {
	Street, City, State, PostalCode, Country string
}

// Assertion is a verified identity that can be used to query networks. An Assertion is never logged. It is stored only
// encrypted, and only until ExpiresAt.
type Assertion struct {
	Provider  string // configured ID of the identity provider
	Issuer    string
	Subject   string // the person's ID at the issuer
	Level     int    // identity assurance level (NIST SP 800-63A), at least 2
	Person    Person
	Token     secret.Text // id_token as signed by the issuer
	IssuedAt  time.Time
	ExpiresAt time.Time // the token's expiry, after which networks must not be queried
}

// Facility is an organisation in a network that holds, or may hold, a person's records.
type Facility struct {
	ID     string // tefca_directory_id: the facility's URN in the network's directory, such as urn:oid:2.999.1.7
	Name   string
	City   string
	State  string // two-letter code
	Match  Match
	Local  secret.Text // the facility's identifier for the person; meaningful only to its network
	Access Access
}

// Match is the result of a search for a person at a facility.
type Match string

// Outcomes of a match. Only a facility that reports Found can be connected.
const (
	Found      Match = "found"
	Ambiguous  Match = "ambiguous"  // several people match, so the facility needs more data and discloses nothing
	Unanswered Match = "unanswered" // no readable response arrived in time; the facility may still have records
)

// Access is the method used to read a facility's records.
type Access string

// Methods of access.
const (
	Documents Access = "documents" // C-CDA documents, listed and retrieved while the assertion is valid
	FHIR      Access = "fhir"      // FHIR server (facilitated FHIR), read by the export engine with a separate token
)

// Document is an entry in a facility's list of a person's documents.
type Document struct {
	ID      string // unique within the facility
	Type    string // media type; empty if unknown
	Made    time.Time
	Size    int64       // size in bytes; 0 if unknown
	Locator secret.Text // opaque data that the network needs to retrieve the document
}

// Errors of networks and facilities, for implementations of Network to wrap. The messages contain no data about the
// person.
var (
	ErrIdentity    = errors.New("tefca: the assertion is not accepted, or no longer")
	ErrRefused     = errors.New("tefca: the facility refuses")
	ErrNotFound    = errors.New("tefca: the document no longer exists")
	ErrTooLarge    = errors.New("tefca: exceeds the size limit")
	ErrContent     = errors.New("tefca: unreadable response")
	ErrUnavailable = errors.New("tefca: no response at present") // any other error, which may be temporary

	// ErrDemographics is an ErrIdentity for an identity that lacks verified attributes required by a query.
	ErrDemographics = fmt.Errorf("%w: demographics are missing", ErrIdentity)
	// ErrOtherPerson is an ErrContent for a response that can't be used because it is about a different person.
	ErrOtherPerson = fmt.Errorf("%w: another person's", ErrContent)
)

// Network is a network of facilities that hold records. The implementations are tefca/sim (simulated), tefca/ihe (XCPD
// and XCA) and tefca/facilitated (FHIR). All methods are safe for concurrent use and return when ctx ends. Every error
// that they return wraps one of this package's errors.
type Network interface {
	// Locate finds the facilities that have records of the person. Locate calls found for each facility that responds
	// and, at the end, for each Unanswered facility. Calls are sequential, in no particular order. If a facility is
	// reported repeatedly, the last report counts. Locate returns found's error, or an error if the network could not
	// be queried at all.
	Locate(ctx context.Context, who Assertion, found func(Facility) error) error
	// Documents returns the list of documents at a facility whose Access is Documents. An empty list is not an error.
	// If the list is incomplete, Documents returns the incomplete list and a ListError.
	Documents(ctx context.Context, who Assertion, at Facility) ([]Document, error)
	// Retrieve returns the content of a listed document. Content longer than limit bytes is an error.
	Retrieve(ctx context.Context, who Assertion, at Facility, document Document, limit int64) ([]byte, error)
}

// FHIRNetwork is a Network that includes facilities whose Access can be FHIR.
type FHIRNetwork interface {
	Network
	// Open requests a token that grants access to the person's record on the facility's FHIR server. The returned token
	// set has no refresh token.
	Open(ctx context.Context, who Assertion, at Facility) (tokens.Set, error)
}
