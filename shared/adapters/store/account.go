package store

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"recordbridge/shared/manage/account"
)

// Accounts stores accounts, their email addresses and their memberships.
type Accounts struct {
	DB    DB
	Table string // name of the Control table
}

// Account implements account.Rows.
func (s Accounts) Account(ctx context.Context, id string) (account.Account, error) {
	row, err := get(ctx, s.DB, s.Table, accountKey(id))
	if err != nil {
		return account.Account{}, err
	}
	return accountOf(id, row)
}

// AccountAt implements signin.Accounts.
func (s Accounts) AccountAt(ctx context.Context, address string) (account.AddressOwner, error) {
	row, err := get(ctx, s.DB, s.Table, addressKey(address))
	if err != nil {
		return account.AddressOwner{}, err
	}
	return account.AddressOwner{AccountID: row.text("account_id"), FormerUntil: row.time("former_until")}, nil
}

// CreateAccount implements signin.Accounts. If two accounts are created concurrently for the same address, only one is
// stored.
func (s Accounts) CreateAccount(ctx context.Context, a account.Account) error {
	row, err := accountItem(a)
	if err != nil {
		return err
	}
	row.setInt("rev", 1)
	return transact(ctx, s.DB, putNew(s.Table, row), s.occupy(a.Email, a.ID, a.CreatedAt))
}

// SaveAccount implements signin.Accounts.
func (s Accounts) SaveAccount(ctx context.Context, a account.Account) error {
	row, err := accountItem(a)
	if err != nil {
		return err
	}
	return replace(ctx, s.DB, s.Table, row, a.Rev)
}

// MoveAccount implements signin.Accounts.
func (s Accounts) MoveAccount(ctx context.Context, a account.Account) error {
	row, err := accountItem(a)
	if err != nil {
		return err
	}
	former := newItem(addressKey(a.Former.Email))
	former.setText("account_id", a.ID)
	former.setTime("former_until", a.Former.Until)
	return transact(ctx, s.DB, putOver(s.Table, row, a.Rev), s.occupy(a.Email, a.ID, a.Former.ChangedAt),
		s.held(former, a.ID))
}

// MoveAccountBack implements signin.Accounts.
func (s Accounts) MoveAccountBack(ctx context.Context, a account.Account, left string) error {
	row, err := accountItem(a)
	if err != nil {
		return err
	}
	back := newItem(addressKey(a.Email))
	back.setText("account_id", a.ID)
	leave := types.TransactWriteItem{Delete: &types.Delete{
		TableName: &s.Table, Key: addressKey(left).attributes(),
		ConditionExpression: aws.String("account_id = :account"), ExpressionAttributeValues: item{":account": text(a.ID)},
	}}
	return transact(ctx, s.DB, putOver(s.Table, row, a.Rev), s.held(back, a.ID), leave)
}

// occupy assigns an address to an account. The write fails if the address belongs, or recently belonged, to another
// account.
func (s Accounts) occupy(address, id string, now time.Time) types.TransactWriteItem {
	row := newItem(addressKey(address))
	row.setText("account_id", id)
	return types.TransactWriteItem{Put: &types.Put{
		TableName: &s.Table, Item: row, ConditionExpression: aws.String(absent + " OR former_until <= :now"),
		ExpressionAttributeValues: item{":now": moment(now)},
	}}
}

// held returns the write that replaces an address row, provided that the row belongs to the account.
func (s Accounts) held(row item, id string) types.TransactWriteItem {
	return types.TransactWriteItem{Put: &types.Put{
		TableName: &s.Table, Item: row, ConditionExpression: aws.String("account_id = :account"),
		ExpressionAttributeValues: item{":account": text(id)},
	}}
}

func accountItem(a account.Account) (item, error) {
	row := newItem(accountKey(a.ID))
	row.setText("email", a.Email)
	row.setBytes("totp_sealed", a.TOTP.Sealed)
	row.setTime("totp_since", a.TOTP.Since)
	row.setInt("totp_step", a.TOTP.Step)
	row.setBytes("totp_offer", a.TOTP.Offer)
	row.setText("former_email", a.Former.Email)
	row.setText("former_token", a.Former.TokenHash)
	row.setTime("former_changed_at", a.Former.ChangedAt)
	row.setTime("former_until", a.Former.Until)
	row.setInt("epoch", a.Epoch)
	row.setTime("created_at", a.CreatedAt)
	if len(a.Passkeys) == 0 {
		return row, nil
	}
	return row, row.setJSON("passkeys", a.Passkeys)
}

func accountOf(id string, row item) (account.Account, error) {
	a := account.Account{
		ID: id, Email: row.text("email"), Epoch: row.int("epoch"), CreatedAt: row.time("created_at"), Rev: row.int("rev"),
		TOTP: account.TOTP{
			Sealed: row.bytes("totp_sealed"), Since: row.time("totp_since"), Step: row.int("totp_step"),
			Offer: row.bytes("totp_offer"),
		},
		Former: account.Former{
			Email: row.text("former_email"), TokenHash: row.text("former_token"), ChangedAt: row.time("former_changed_at"),
			Until: row.time("former_until"),
		},
	}
	return a, row.json("passkeys", &a.Passkeys)
}
