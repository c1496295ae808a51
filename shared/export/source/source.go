// Package source asks one patient's FHIR server for an export: with usable tokens, no more than a few requests at
// a time, again where that may help, as slowly as the server wants, and ahead of who needs the answers. It knows
// neither what is asked for nor what becomes of it; it tells apart what the server refused, what ends the run,
// and what fails on our side.
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

// Server reads one patient's FHIR server. Bodies are at most limit bytes, and no document is larger than fhir.MaxPage;
// failed requests are *fhir.RequestError.
type Server interface {
	Metadata(ctx context.Context) (fhir.Answer, error)
	Read(ctx context.Context, resourceType, id string, limit int64) (fhir.Answer, error)
	// Search reads the first page at path: "Observation" or "Patient/p1/$everything".
	Search(ctx context.Context, path string, params url.Values, limit int64) (fhir.Answer, error)
	Page(ctx context.Context, next string, limit int64) (fhir.Answer, error)
	// Batch makes the searches of a batch, as fhir.Batch writes it.
	Batch(ctx context.Context, batch []byte, limit int64) (fhir.Answer, error)
	// Attachment opens the content that an attachment's URL names.
	Attachment(ctx context.Context, address string, limit int64) (fhir.File, error)
}

// Portals opens the FHIR server at base, which is asked as profile says; token is asked before every request.
type Portals interface {
	Open(base string, profile plan.Profile, token func(context.Context) (secret.Text, error)) (Server, error)
}

// Tokens hands out usable access tokens (tokens.Manager).
type Tokens interface {
	Current(ctx context.Context, tenant org.Tenant, connectionID string) (tokens.Usable, error)
	// Renew gets other tokens than those of the version that was used.
	Renew(ctx context.Context, tenant org.Tenant, connectionID string, used int64) (tokens.Usable, error)
}

// Opener opens the servers of connections.
type Opener struct {
	Tokens   Tokens
	Portals  Portals
	Profiles Profiles
	Now      func() time.Time
}

// Session is a server that is open for one run, with the tokens it is read with. It is safe for concurrent use.
type Session struct {
	grant   grant
	server  Server
	profile plan.Profile
	limiter Limiter
	pace    pace

	statement *statement // nil until it is asked for
}

// Open gets usable tokens and opens the FHIR server that they belong to. No wait reaches beyond pauseBy, unless that is
// zero. Where a run begins that will need the server's statement, it is asked for while the tokens are looked at. There
// is no session when the Result stops, and no server in one whose record is cached.
func (o Opener) Open(ctx context.Context, tenant org.Tenant, connectionID string, pauseBy time.Time,
	begins bool,
) (*Session, export.Result, error) {
	profile, err := o.Profiles.Of(ctx, tenant, connectionID) // first, since it puts the endpoint on the log line
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

// noToken is that of a server that is asked for its statement only.
func noToken(context.Context) (secret.Text, error) { return secret.Text{}, nil }

// open completes a session with tokens and the server that they are for.
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
	// the patient's consent was for the server that issued the tokens
	if profile.Base != "" && profile.Base != set.FHIRBase {
		return export.Result{Kind: export.Fatal, Reason: export.TokenRefreshFailure, Cause: otherBase.Failed(errOtherBase)}
	}
	s.grant.begin(o.Tokens, tenant, connectionID, usable)
	s.profile = profile.Filled(set.Extra)
	if set.Records != nil && set.FHIRBase == "" { // the record is cached, and there is nobody to ask
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

// errOtherBase ends an export whose tokens are not for the server that the endpoint has now.
var errOtherBase = errors.New("the endpoint's FHIR base is not the one that the tokens are for")

// Spot is this server at a step, for the log. Without a class that of the error counts.
func (s *Session) Spot(step fault.Step, class string) fault.Spot {
	return fault.Spot{Step: step, Host: fault.HostOf(s.Tokens().FHIRBase), Class: class}
}

// Limiter returns the limiter of the session's requests.
func (s *Session) Limiter() *Limiter { return &s.limiter }

// GiveUpBy sets the end of the time in which the server may be waited for: one that demands to be left alone until
// later is not asked any more. It is called before the first request.
func (s *Session) GiveUpBy(end time.Time) { s.pace.giveUpBy = end }

// GivenUp reports whether the server has demanded to be left alone beyond the time of GiveUpBy. Requests then fail
// without being made, with that refusal.
func (s *Session) GivenUp() bool {
	_, isGivenUp := s.pace.givenUp()
	return isGivenUp
}

// Demanded returns for how long the server still has to be left alone.
func (s *Session) Demanded() time.Duration {
	wait, _ := s.pace.left()
	return wait
}

// Wait leaves the server alone for as long as it has to be. The Result stops if that is too long for a running
// function.
func (s *Session) Wait(ctx context.Context) (export.Result, error) { return s.pace.waitForServer(ctx) }

// Profile is how the server wants to be asked.
func (s *Session) Profile() plan.Profile { return s.profile }

// Tokens are those that the server is read with now.
func (s *Session) Tokens() tokens.Set {
	set, _ := s.grant.now()
	return set
}

// Allows reports whether the authorization allows an access to a type, as far as the server has said what it covers.
func (s *Session) Allows(resourceType string, access fhir.Access) bool {
	granted := s.Tokens().Scope
	return granted == "" || fhir.ParseScopes(granted).Allows(resourceType, access)
}

// Withheld returns why the authorization does not cover an access to a type: the authorization request did not name
// the type, or the patient or portal did not grant it. Sets that do not have their request count as the latter.
func (s *Session) Withheld(resourceType string, access fhir.Access) export.LossReason {
	asked := fhir.ParseScopes(s.Tokens().AskedScope)
	if asked.Any() && !asked.Allows(resourceType, access) {
		return export.LossNotRequested
	}
	return export.LossNotGranted
}
