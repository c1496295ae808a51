package store

import (
	"context"
	"errors"
	"time"

	"recordbridge/shared/manage/account"
	"recordbridge/shared/words/fault"
)

// Session implements account.SessionRows.
func (s Flow) Session(ctx context.Context, hash string) (account.Session, error) {
	row, err := get(ctx, s.DB, s.Table, sessionKey(hash))
	if err != nil {
		return account.Session{}, err
	}
	return account.Session{
		Hash: hash, AccountID: row.text("account_id"), Epoch: row.int("epoch"), Pending: row.flag("pending"),
		ProvenAt: row.time("proven_at"), StartedAt: row.time("started_at"), SeenAt: row.time("seen_at"),
	}, nil
}

// TouchSession implements account.SessionRows.
func (s Flow) TouchSession(ctx context.Context, hash string, at time.Time) error {
	_, err := update(ctx, s.DB, change{
		table: s.Table, key: sessionKey(hash), set: "SET seen_at = :at", when: "attribute_exists(pk)",
		values: item{":at": moment(at)},
	})
	return err
}

// StartSession implements signin.Sessions.
func (s Flow) StartSession(ctx context.Context, started account.Session, replaced string) error {
	row := newItem(sessionKey(started.Hash))
	row.setText("account_id", started.AccountID)
	row.setInt("epoch", started.Epoch)
	row.setFlag("pending", started.Pending)
	row.setTime("proven_at", started.ProvenAt)
	row.setTime("started_at", started.StartedAt)
	row.setTime("seen_at", started.SeenAt)
	row.setInt("ttl", started.ExpiresAt().Add(ttlGrace).Unix())
	if replaced == "" {
		return create(ctx, s.DB, s.Table, row)
	}
	return transact(ctx, s.DB, putNew(s.Table, row), unlist(s.Table, sessionKey(replaced)))
}

// EndSession implements signin.Sessions.
func (s Flow) EndSession(ctx context.Context, hash string) error {
	return s.spend(ctx, sessionKey(hash))
}

// RememberDevice implements signin.Sessions. RememberDevice never shortens the period for which a device is remembered,
// because the clocks of two functions may differ.
func (s Flow) RememberDevice(ctx context.Context, hash string, until time.Time) error {
	_, err := update(ctx, s.DB, change{
		table: s.Table, key: deviceKey(hash), set: "SET expires_at = :until, #ttl = :ttl",
		when:   "attribute_not_exists(expires_at) OR expires_at <= :until",
		names:  map[string]string{"#ttl": "ttl"},
		values: item{":until": moment(until), ":ttl": number(until.Add(ttlGrace).Unix())},
	})
	if errors.Is(err, fault.Conflict) {
		return nil
	}
	return err
}

// IsDevice implements signin.Sessions.
func (s Flow) IsDevice(ctx context.Context, hash string, now time.Time) (bool, error) {
	row, err := get(ctx, s.DB, s.Table, deviceKey(hash))
	if errors.Is(err, fault.NotFound) {
		return false, nil
	}
	return now.Before(row.time("expires_at")), err
}

// BeginCeremony implements signin.Sessions.
func (s Flow) BeginCeremony(ctx context.Context, hash string, c account.Ceremony) error {
	row := newItem(ceremonyKey(hash))
	row.setText("account_id", c.AccountID)
	row.setBytes("state", c.State)
	row.setTime("expires_at", c.ExpiresAt)
	row.setInt("ttl", c.ExpiresAt.Add(ttlGrace).Unix())
	return create(ctx, s.DB, s.Table, row)
}

// TakeCeremony implements signin.Sessions with a single conditional delete, so that each ceremony can be used only
// once.
func (s Flow) TakeCeremony(ctx context.Context, hash string, now time.Time) (account.Ceremony, error) {
	row, err := remove(ctx, s.DB, change{
		table: s.Table, key: ceremonyKey(hash), when: "expires_at > :now", values: item{":now": moment(now)},
	})
	if errors.Is(err, fault.Conflict) {
		return account.Ceremony{}, fault.Missing("Record not found.").Because(err)
	}
	return account.Ceremony{
		AccountID: row.text("account_id"), State: row.bytes("state"),
		ExpiresAt: row.time("expires_at"),
	}, err
}

func (s Flow) spend(ctx context.Context, k key) error {
	_, err := remove(ctx, s.DB, change{table: s.Table, key: k, when: "attribute_exists(pk)"})
	if errors.Is(err, fault.Conflict) {
		return nil
	}
	return err
}
