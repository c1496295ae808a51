// Package requestlog records and searches an organisation's API requests and its patients' sign-in attempts for 30 days
// (docs/adr/0053-the-request-log.md). Rows contain no bodies, query strings, addresses or names. A row refers to a
// patient only by connection ID and by a keyed hash of the external ID. The caller must authorise access.
package requestlog

import (
	"context"
	"log/slog"
	"time"

	"recordbridge/shared/connect/connection"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/metric"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

const (
	// Kept is the period for which a row is shown. DynamoDB deletes expired rows late, so Log checks each row's age.
	Kept = 30 * 24 * time.Hour
	// writeTime limits how long recording a row can delay a response.
	writeTime = 200 * time.Millisecond
)

// Request is a request that an organisation's API key or public ID authenticated.
type Request struct {
	Tenant       org.Tenant
	ID           string // request ID
	At           time.Time
	Method       string
	Route        string // pattern of the path, never the path itself
	Status       int    // HTTP status
	Error        string // error code; empty for a successful request
	CredentialID string
	Latency      time.Duration
	ConnectionID string
	TaskID       string      // ID of the export
	External     secret.Mark // keyed hash of the external ID in the request; zero if there is none
}

// Kind distinguishes the ways in which a patient shares records.
type Kind string

// Kinds of sign-in attempts.
const (
	Connect   Kind = "connect"
	Reconnect Kind = "reconnect"
	TEFCA     Kind = "tefca"
)

// Outcome is the result of a sign-in attempt.
type Outcome string

// Outcomes of sign-in attempts. An attempt that the patient abandons has no outcome.
const (
	Connected Outcome = "connected"
	Failed    Outcome = "failed"
	Cancelled Outcome = "cancelled"
)

// SignIn is a finished attempt of a patient to share records. In TEFCA mode, each facility is a separate SignIn.
type SignIn struct {
	Tenant       org.Tenant
	AttemptID    string
	At           time.Time // time of the outcome
	Kind         Kind
	Outcome      Outcome
	Cause        string // cause of a failure, as in patient.connection_failed; empty for a connection
	RequestID    string // ID of the request that failed the attempt or, for a connection, that began it
	BrandID      string
	PortalID     string
	EndpointID   string
	DirectoryID  string // facility in TEFCA mode
	Duration     time.Duration
	ConnectionID string
	External     secret.Mark // keyed hash of the attempt's external ID; zero if there is none
}

// Writer stores rows; store.RequestLog implements it.
type Writer interface {
	PutRequest(ctx context.Context, r Request) error
	PutSignIn(ctx context.Context, s SignIn) error
}

// Recorder records rows. The zero Recorder records nothing. A failed or slow write is logged and counted, and has no
// other effect.
type Recorder struct {
	Rows    Writer         // nil if the log is off
	Hashing secret.Keyring // keys for hashing external IDs
}

// Request records a request. externalID is the external ID in the request, or empty.
func (r Recorder) Request(ctx context.Context, row Request, externalID string) {
	if r.Rows == nil {
		return
	}
	row.External = r.mark(row.Tenant, externalID)
	write(ctx, func(ctx context.Context) error { return r.Rows.PutRequest(ctx, row) })
}

// SignIn records a sign-in attempt. externalID is the attempt's external ID, or empty.
func (r Recorder) SignIn(ctx context.Context, row SignIn, externalID string) {
	if r.Rows == nil {
		return
	}
	row.External = r.mark(row.Tenant, externalID)
	write(ctx, func(ctx context.Context) error { return r.Rows.PutSignIn(ctx, row) })
}

func (r Recorder) mark(tenant org.Tenant, externalID string) secret.Mark {
	if externalID == "" {
		return secret.Mark{}
	}
	return r.Hashing.Sign(connection.ExternalText(tenant, externalID))
}

func write(ctx context.Context, put func(context.Context) error) {
	writing, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTime)
	defer cancel()
	if err := put(writing); err != nil {
		logx.Add(ctx, slog.Any("unlogged", err))
		logx.Measure(ctx, metric.Count(metric.Unlogged, ""))
	}
}

// Marks returns the keyed hashes under which rows with an external ID may be stored: one for each version of each
// keyring.
func Marks(tenant org.Tenant, externalID string, rings ...secret.Keyring) []secret.Mark {
	var marks []secret.Mark
	for _, ring := range rings {
		for version := ring.Current(); version > 0; version-- {
			if mark, ok := ring.SignAs(version, connection.ExternalText(tenant, externalID)); ok {
				marks = append(marks, mark)
			}
		}
	}
	return marks
}

// uuid returns text in the form in which rows store IDs. Other texts, which match no row, are returned unchanged.
func uuid(text string) string {
	if id, ok := ids.ParseUUID(text); ok {
		return id
	}
	return text
}
