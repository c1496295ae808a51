package store

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"recordbridge/shared/manage/verification"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

// sendingsKept is the period during which an email counts towards its mailbox's limit.
const sendingsKept = 24 * time.Hour

// Sendings implements verification.SendStore.
func (s Flow) Sendings(ctx context.Context, tenant org.Tenant, mailbox string) (verification.Sendings, error) {
	row, err := get(ctx, s.DB, s.Table, mailboxKey(tenant, mailbox))
	if err != nil && !errors.Is(err, fault.NotFound) {
		return verification.Sendings{}, err
	}
	sent := verification.Sendings{Tenant: tenant, Mailbox: mailbox, Rev: row.int("rev")}
	moments, networks := strings.Fields(row.text("sent_at")), strings.Fields(row.text("sent_from"))
	older := len(moments) - len(networks) // emails stored before networks were recorded
	for i, micros := range moments {
		at, err := strconv.ParseInt(micros, 10, 64)
		if err != nil {
			continue
		}
		one := verification.Sending{At: time.UnixMicro(at).UTC()}
		if i >= older {
			one.Network = networks[i-older]
		}
		sent.Sent = append(sent.Sent, one)
	}
	return sent, nil
}

// CreateCode implements verification.SendStore.
func (s Flow) CreateCode(ctx context.Context, c verification.Code, sent verification.Sendings) error {
	row := newItem(codeKey(c.Tenant, c.ID))
	row.setMark("code", c.Mark)
	row.setMark("address", c.Address)
	row["tries"] = number(int64(c.Tries))
	row.setTime("expires_at", c.ExpiresAt)
	row.setInt("ttl", c.ExpiresAt.Add(ttlGrace).Unix())

	list := newItem(mailboxKey(sent.Tenant, sent.Mailbox))
	moments, networks := make([]string, 0, len(sent.Sent)), make([]string, 0, len(sent.Sent))
	for _, one := range sent.Sent {
		moments = append(moments, strconv.FormatInt(one.At.UnixMicro(), 10))
		if one.Network != "" {
			networks = append(networks, one.Network)
		}
		list.setInt("ttl", one.At.Add(sendingsKept+ttlGrace).Unix()) // the row expires a day after the latest sending
	}
	list.setText("sent_at", strings.Join(moments, " "))
	list.setText("sent_from", strings.Join(networks, " "))
	written := putOver(s.Table, list, sent.Rev)
	if sent.Rev == 0 {
		written.Put.ConditionExpression, written.Put.ExpressionAttributeValues = aws.String(absent), nil
	}
	return transact(ctx, s.DB, putNew(s.Table, row), written)
}

// TryCode implements verification.CheckStore. TryCode uses one conditional update so that every concurrent attempt is
// counted.
func (s Flow) TryCode(ctx context.Context, tenant org.Tenant, id string, now time.Time,
	most int,
) (verification.Code, error) {
	row, err := update(ctx, s.DB, change{
		table: s.Table, key: codeKey(tenant, id),
		set: "SET tries = tries + :one", when: "tries < :most AND expires_at > :now",
		values: item{":one": number(1), ":most": number(int64(most)), ":now": moment(now)},
	})
	if err != nil {
		return verification.Code{}, err
	}
	return verification.Code{
		ID: id, Tenant: tenant, Mark: row.mark("code"), Address: row.mark("address"), Tries: int(row.int("tries")),
		ExpiresAt: row.time("expires_at"),
	}, nil
}

// ExchangeCode implements verification.CheckStore.
func (s Flow) ExchangeCode(ctx context.Context, c verification.Code, t verification.Token) error {
	row := newItem(emailTokenKey(t.Tenant, t.Hash))
	row.setMark("address", t.Address)
	row.setTime("expires_at", t.ExpiresAt)
	row.setInt("ttl", t.ExpiresAt.Add(ttlGrace).Unix())
	use := types.TransactWriteItem{Delete: &types.Delete{
		TableName: &s.Table, Key: codeKey(c.Tenant, c.ID).attributes(),
		ConditionExpression: aws.String("attribute_exists(pk)"),
	}}
	return transact(ctx, s.DB, use, putNew(s.Table, row))
}

// EmailToken implements verification.TokenStore.
func (s Flow) EmailToken(ctx context.Context, tenant org.Tenant, hash string) (verification.Token, error) {
	row, err := get(ctx, s.DB, s.Table, emailTokenKey(tenant, hash))
	if err != nil {
		return verification.Token{}, err
	}
	return verification.Token{
		Hash: hash, Tenant: tenant, Address: row.mark("address"),
		ExpiresAt: row.time("expires_at"),
	}, nil
}

func (r item) setMark(name string, m secret.Mark) {
	r.setInt(name+"_version", int64(m.Version))
	r.setBytes(name+"_hash", m.Sum)
}

func (r item) mark(name string) secret.Mark {
	return secret.Mark{Version: int(r.int(name + "_version")), Sum: r.bytes(name + "_hash")}
}
