// Package source sends an export's requests to one patient's FHIR server. The package manages tokens, limits
// concurrency and rate, retries requests, and reads ahead. Callers choose the requests and interpret the results. The
// package distinguishes refusals by the server from results that end the run and from internal failures.
package source

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"time"

	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/export"
	"recordbridge/shared/fhir"
	"recordbridge/shared/fhir/plan"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

// Server reads from one patient's FHIR server. Response bodies are at most limit bytes long, and no document is larger
// than fhir.MaxPage. A failed request returns a *fhir.RequestError.
type Server interface {
	Metadata(ctx context.Context) (fhir.Response, error)
	Read(ctx context.Context, resourceType, id string, limit int64) (fhir.Response, error)
	// Search reads the first page at path, such as "Observation" or "Patient/p1/$everything".
	Search(ctx context.Context, path string, params url.Values, limit int64) (fhir.Response, error)
	Page(ctx context.Context, next string, limit int64) (fhir.Response, error)
	// Batch sends a batch of searches encoded by fhir.Batch.
	Batch(ctx context.Context, batch []byte, limit int64) (fhir.Response, error)
	// Attachment opens the content at an attachment's URL.
	Attachment(ctx context.Context, address string, limit int64) (fhir.File, error)
}

// Portals opens the FHIR server at base, applying the platform's request profile. The opened server calls token before
// every request.
type Portals interface {
	Open(base string, profile plan.Profile, token func(context.Context) (secret.Text, error)) (Server, error)
}

// Tokens provides usable access tokens (tokens.Manager).
type Tokens interface {
	Current(ctx context.Context, tenant org.Tenant, connectionID string) (tokens.Usable, error)
	// Renew replaces the tokens if their version is still current.
	Renew(ctx context.Context, tenant org.Tenant, connectionID string, used int64) (tokens.Usable, error)
}

// Opener opens the FHIR servers of connections.
type Opener struct {
	Tokens   Tokens
	Portals  Portals
	Profiles Profiles
	Now      func() time.Time
}

// Session holds an open FHIR server and its tokens for a single run. A Session is safe for concurrent use.
type Session struct {
	grant   grant
	server  Server
	profile plan.Profile
	limiter Limiter
	pace    pace

	statement *statement // nil until the statement is requested
}

// Open obtains usable tokens and opens their FHIR server. If pauseBy is nonzero, no wait extends beyond pauseBy. If
// begins is true, Open requests the server's CapabilityStatement while it obtains the tokens. If the Result stops the
// run, Open does not return a session. A session for a cached record has no FHIR server.
func (o Opener) Open(ctx context.Context, tenant org.Tenant, connectionID string, pauseBy time.Time,
	begins bool,
) (*Session, export.Result, error) {
	profile, err := o.Profiles.Of(ctx, tenant, connectionID) // called first, to add the endpoint to the log line
	if err != nil {
		return nil, export.Result{}, err
	}
	s := &Session{profile: profile.Filled(nil), pace: pace{now: o.Now, pauseBy: pauseBy}}
	s.limiter.flight = newFlight(profile.InFlight)
	ahead, leave := context.WithCancel(ctx)
	if begins && profile.Base != "" {
		if s.server, err = o.Portals.Open(profile.Base, s.profile, noToken); err == nil {
			s.Statement(ahead, 0)
		}
	}
	if stop := o.open(ctx, s, profile, tenant, connectionID); stop.Stops() {
		leave()
		return nil, stop, nil
	}
	context.AfterFunc(ctx, leave)
	return s, export.Result{}, nil
}

// noToken returns an empty token, which suffices to request a server's CapabilityStatement.
func noToken(context.Context) (secret.Text, error) { return secret.Text{}, nil }

// open adds the tokens and the server for which they were issued to the session.
func (o Opener) open(ctx context.Context, s *Session, profile plan.Profile, tenant org.Tenant,
	connectionID string,
) export.Result {
	usable, err := o.Tokens.Current(ctx, tenant, connectionID)
	if err != nil {
		return tokenFailure(err, o.Now())
	}
	if usable.Overdue != nil {
		logx.Add(ctx, slog.Any("refresh_overdue", usable.Overdue))
	}
	set := usable.Set
	otherBase := fault.Spot{Step: fault.StepToken, Host: fault.HostOf(profile.Base), Class: "other_base"}
	// The patient authorized access only to the server for which the tokens were issued.
	if profile.Base != "" && profile.Base != set.FHIRBase {
		return export.Result{Kind: export.Fatal, Reason: export.TokenRefreshFailure, Cause: otherBase.Failed(errOtherBase)}
	}
	s.grant.begin(o.Tokens, tenant, connectionID, usable)
	s.profile = profile.Filled(set.Extra)
	if set.Records != nil && set.FHIRBase == "" { // cached record: no server to query
		return export.Result{}
	}
	s.server, err = o.Portals.Open(set.FHIRBase, s.profile, func(context.Context) (secret.Text, error) {
		return s.Tokens().AccessToken, nil
	})
	if err != nil {
		return export.Result{Kind: export.Fatal, Reason: export.SuppressedPleaseContact, Cause: err}
	}
	return export.Result{}
}

// errOtherBase means that the tokens were not issued for the endpoint's current FHIR base URL.
var errOtherBase = errors.New("the endpoint's FHIR base is not the one that the tokens are for")

// Spot returns the log location for an export step at the session's server. If class is empty, Spot uses the class of
// the error.
func (s *Session) Spot(step fault.Step, class string) fault.Spot {
	return fault.Spot{Step: step, Host: fault.HostOf(s.Tokens().FHIRBase), Class: class}
}

// Limiter returns the limiter for the session's requests.
func (s *Session) Limiter() *Limiter { return &s.limiter }

// GiveUpBy sets the time beyond which the session does not wait for the server. If the server demands a pause beyond
// end, the session sends no further requests. Call GiveUpBy before the first request.
func (s *Session) GiveUpBy(end time.Time) { s.pace.giveUpBy = end }

// GivenUp reports whether the server has demanded a pause beyond the time set by GiveUpBy. After that, requests are not
// sent but fail with the server's refusal.
func (s *Session) GivenUp() bool {
	_, isGivenUp := s.pace.givenUp()
	return isGivenUp
}

// Demanded returns the remaining duration of a pause that the server demanded.
func (s *Session) Demanded() time.Duration {
	wait, _ := s.pace.left()
	return wait
}

// Wait waits until the pause demanded by the server has ended. If the pause is too long for a running Lambda function,
// the Result stops the run.
func (s *Session) Wait(ctx context.Context) (export.Result, error) { return s.pace.waitForServer(ctx) }

// Profile returns the server's request profile.
func (s *Session) Profile() plan.Profile { return s.profile }

// Tokens returns the current tokens.
func (s *Session) Tokens() tokens.Set {
	set, _ := s.grant.now()
	return set
}

// Allows reports whether the granted scopes allow the given access to a resource type. If the server did not state the
// granted scopes, Allows returns true.
func (s *Session) Allows(resourceType string, access fhir.Access) bool {
	granted := s.Tokens().Scope
	return granted == "" || fhir.ParseScopes(granted).Allows(resourceType, access)
}

// Withheld returns the reason that the authorization does not cover the given access to a resource type. If the
// authorization request did not include the access, the reason is export.LossNotRequested. If the access was requested
// or the authorization request is unknown, the reason is export.LossNotGranted.
func (s *Session) Withheld(resourceType string, access fhir.Access) export.LossReason {
	asked := fhir.ParseScopes(s.Tokens().AskedScope)
	if asked.Any() && !asked.Allows(resourceType, access) {
		return export.LossNotRequested
	}
	return export.LossNotGranted
}
