package store

import (
	"context"

	"recordbridge/shared/manage/account"
)

// RecoveryCodes implements signin.Accounts.
func (s Accounts) RecoveryCodes(ctx context.Context, accountID string) (account.RecoveryCodes, error) {
	row, err := get(ctx, s.DB, s.Table, recoveryCodesKey(accountID))
	if err != nil {
		return account.RecoveryCodes{}, err
	}
	codes := account.RecoveryCodes{MadeAt: row.time("made_at"), Rev: row.int("rev")}
	return codes, row.json("marks", &codes.Marks)
}

// SaveRecoveryCodes implements signin.Accounts.
func (s Accounts) SaveRecoveryCodes(ctx context.Context, accountID string, codes account.RecoveryCodes) error {
	row, err := recoveryCodesItem(accountID, codes)
	if err != nil {
		return err
	}
	if codes.Rev == 0 {
		row.setInt("rev", 1)
		return create(ctx, s.DB, s.Table, row)
	}
	return replace(ctx, s.DB, s.Table, row, codes.Rev)
}

// SaveFirstFactor implements signin.Accounts.
func (s Accounts) SaveFirstFactor(ctx context.Context, a account.Account, codes account.RecoveryCodes) error {
	held, err := recoveryCodesItem(a.ID, codes)
	if err != nil {
		return err
	}
	row, err := accountItem(a)
	if err != nil {
		return err
	}
	made := putOver(s.Table, held, codes.Rev)
	if codes.Rev == 0 {
		held.setInt("rev", 1)
		made = putNew(s.Table, held)
	}
	return transact(ctx, s.DB, putOver(s.Table, row, a.Rev), made)
}

func recoveryCodesItem(accountID string, codes account.RecoveryCodes) (item, error) {
	row := newItem(recoveryCodesKey(accountID))
	row.setTime("made_at", codes.MadeAt)
	return row, row.setJSON("marks", codes.Marks)
}

// Recovery implements account.RecoveryRows.
func (s Accounts) Recovery(ctx context.Context, accountID string) (account.Recovery, error) {
	row, err := get(ctx, s.DB, s.Table, recoveryKey(accountID))
	if err != nil {
		return account.Recovery{}, err
	}
	return account.Recovery{
		AccountID: accountID, Actor: row.text("actor"), RequestedAt: row.time("requested_at"),
		AppliesAt: row.time("applies_at"),
		EndedAt:   row.time("ended_at"), Rev: row.int("rev"),
	}, nil
}

// SaveRecovery implements account.RecoveryRows.
func (s Accounts) SaveRecovery(ctx context.Context, r account.Recovery) error {
	row := recoveryItem(r)
	if r.Rev == 0 {
		row.setInt("rev", 1)
		return create(ctx, s.DB, s.Table, row)
	}
	return replace(ctx, s.DB, s.Table, row, r.Rev)
}

// SaveRecovered implements signin.Accounts.
func (s Accounts) SaveRecovered(ctx context.Context, a account.Account, r account.Recovery) error {
	row, err := accountItem(a)
	if err != nil {
		return err
	}
	return transact(ctx, s.DB, putOver(s.Table, row, a.Rev), putOver(s.Table, recoveryItem(r), r.Rev))
}

func recoveryItem(r account.Recovery) item {
	row := newItem(recoveryKey(r.AccountID))
	row.setText("actor", r.Actor)
	row.setTime("requested_at", r.RequestedAt)
	row.setTime("applies_at", r.AppliesAt)
	row.setTime("ended_at", r.EndedAt)
	return row
}
