package refresh

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"recordbridge/shared/connect/connection"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

// upstreamDocument is the JSON form of a disconnected connection's remaining tokens, which is stored sealed. The
// document contains only the data needed to revoke the tokens. It includes the access token, which can read records,
// only if the connection has no refresh token.
type upstreamDocument struct {
	RefreshToken       string `json:"refresh_token,omitempty"`
	AccessToken        string `json:"access_token,omitempty"` // set only if there is no refresh token
	RevocationEndpoint string `json:"revocation_endpoint,omitempty"`
	TokenEndpoint      string `json:"token_endpoint"`
	FHIRBase           string `json:"fhir_base"`
	ClientID           string `json:"client_id"`
	ClientAuthID       string `json:"client_auth_id,omitempty"`
	RawBasic           bool   `json:"raw_basic,omitempty"`
}

// UpstreamBinding returns the binding of the sealed document that Store.Upstream returns.
func UpstreamBinding(tenant org.Tenant, connectionID string) string {
	return "upstream|" + tenant.Key() + "|" + connectionID
}

// EncodeUpstream encodes the document that is sealed for Store.Upstream. The document contains the data needed to
// revoke the token set's refresh token or, if there is none, its access token (RFC 7009). A caller that stores the
// document must also set Refresh.UpstreamUntil, and set RefreshAt to the time of the first revocation attempt.
func EncodeUpstream(set tokens.Set) []byte {
	left := upstreamDocument{
		RefreshToken: set.RefreshToken.Reveal(), RevocationEndpoint: set.RevocationEndpoint, TokenEndpoint: set.TokenEndpoint,
		FHIRBase: set.FHIRBase, ClientID: set.ClientID, ClientAuthID: set.ClientAuthID, RawBasic: set.RawBasic,
	}
	if left.RefreshToken == "" {
		left.AccessToken = set.AccessToken.Reveal()
	}
	plain, _ := json.Marshal(left) //nolint:errchkjson,gosec // strings always encode, and what is encoded is sealed
	return plain
}

func decodeUpstream(plain []byte) (tokens.Set, error) {
	var left upstreamDocument
	if json.Unmarshal(plain, &left) != nil {
		return tokens.Set{}, errors.New("decode what is left of the tokens") // the original error may quote the tokens
	}
	return tokens.Set{
		RefreshToken: secret.New(left.RefreshToken), AccessToken: secret.New(left.AccessToken),
		RevocationEndpoint: left.RevocationEndpoint, TokenEndpoint: left.TokenEndpoint,
		FHIRBase: left.FHIRBase, ClientID: left.ClientID, ClientAuthID: left.ClientAuthID, RawBasic: left.RawBasic,
	}, nil
}

// revokeRemaining revokes a disconnected connection's tokens at the health system. It deletes the tokens after the
// revocation or after the deadline.
func (w Worker) revokeRemaining(ctx context.Context, seen connection.Connection) error {
	sealed, err := w.store.Upstream(ctx, seen.Tenant, seen.ID)
	if errors.Is(err, fault.NotFound) {
		was := seen
		if seen, sealed, err = w.finish(ctx, was); movedOn(was, seen) {
			return nil
		}
	}
	now, outcome := w.now(), "given_up"
	switch {
	case errors.Is(err, fault.NotFound):
		return w.finishUpstream(ctx, seen, "nothing")
	case err == nil && !reached(seen.Refresh.RefreshAt, now):
		return w.putBack(ctx, seen)
	}
	if now.Before(seen.Refresh.UpstreamUntil) {
		if err == nil {
			err, outcome = w.revokeUpstream(ctx, seen, sealed), "revoked"
		}
		if fault.Outage(err) {
			next := earlier(now.Add(outageWait), seen.Refresh.UpstreamUntil)
			logOutage(ctx, err, next)
			return w.amend(ctx, seen, noNews, func(c *connection.Connection) { c.Refresh.RefreshAt = next })
		}
		if err != nil {
			logx.Add(ctx, logx.Failed(), slog.String("upstream", "failed"), slog.Any("cause", err))
			logx.Add(ctx, logx.Spot(fault.SpotOf(err))...)
			return w.amend(ctx, seen, noNews, func(c *connection.Connection) {
				c.Refresh.Failures++
				wait := max(upstreamWait(c.Refresh.Failures), requestedWait(err))
				c.Refresh.RefreshAt = earlier(now.Add(wait), c.Refresh.UpstreamUntil)
			})
		}
	}
	if err != nil {
		return fmt.Errorf("read upstream tokens: %w", err)
	}
	if err := w.store.ForgetUpstream(ctx, seen.Tenant, seen.ID, sealed); err != nil {
		return fmt.Errorf("forget upstream tokens: %w", err)
	}
	return w.finishUpstream(ctx, seen, outcome)
}

// finish completes a requested disconnection. It returns the updated connection and its remaining tokens, still sealed.
// It returns fault.NotFound if there is nothing to revoke.
func (w Worker) finish(ctx context.Context, seen connection.Connection) (connection.Connection, []byte, error) {
	if _, err := w.ender.Finish(ctx, seen.Tenant, seen.ID); err != nil {
		return seen, nil, fmt.Errorf("finish disconnection: %w", err)
	}
	found, err := w.store.Connection(ctx, seen.Tenant, seen.ID)
	if err != nil {
		return seen, nil, fmt.Errorf("read connection: %w", err)
	}
	sealed, err := w.store.Upstream(ctx, seen.Tenant, seen.ID)
	return found, sealed, err
}

// finishUpstream clears a disconnected connection's schedule when no upstream revocation remains to be done.
func (w Worker) finishUpstream(ctx context.Context, seen connection.Connection, outcome string) error {
	logx.Add(ctx, slog.String("upstream", outcome))
	return w.amend(ctx, seen, news, func(c *connection.Connection) {
		c.Refresh.Failures, c.Refresh.RefreshAt, c.Refresh.UpstreamUntil = 0, time.Time{}, time.Time{}
	})
}

func (w Worker) revokeUpstream(ctx context.Context, c connection.Connection, sealed []byte) error {
	plain, err := w.opener.Open(ctx, c.Tenant, UpstreamBinding(c.Tenant, c.ID), sealed)
	if err != nil {
		return fmt.Errorf("open upstream tokens: %w", err)
	}
	set, err := decodeUpstream(plain)
	if err != nil {
		return err
	}
	if err := w.revoker.Revoke(ctx, c.Tenant, set); err != nil {
		return fmt.Errorf("revoke upstream: %w", err)
	}
	return nil
}

// upstreamWait returns the retry delay after the given number of failed upstream revocations.
func upstreamWait(failures int) time.Duration {
	waits := map[int]time.Duration{1: time.Minute, 2: 5 * time.Minute, 3: 15 * time.Minute}
	return cmp.Or(waits[failures], time.Hour)
}
