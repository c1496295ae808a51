package store

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"recordbridge/shared/catalog"
	"recordbridge/shared/catalog/health"
	"recordbridge/shared/words/fault"
)

// CatalogHealth stores the health of endpoints: each probed endpoint's record and discovered URLs, the current summary,
// and the lease for the periodic checks.
type CatalogHealth struct {
	DB    DB
	Table string // name of the Catalog table
}

// Begin implements rounds.Records.
func (s CatalogHealth) Begin(ctx context.Context, now, until time.Time) (run int64, err error) {
	rounds := lease{until: "until", holder: "run"}
	row, err := update(ctx, s.DB, rounds.claim(change{table: s.Table, key: roundsKey()}, now, until))
	return row.int("run"), err
}

// Records implements rounds.Records. During concurrent writes, the result may omit rows or contain outdated ones, which
// SaveRecord detects.
func (s CatalogHealth) Records(ctx context.Context, mode string) ([]health.Record, error) {
	rows, err := s.list(ctx, healthPartition(mode))
	if err != nil {
		return nil, err
	}
	all := make([]health.Record, 0, len(rows))
	for _, row := range rows {
		all = append(all, health.Record{
			EndpointID: row.text("sk"), Mode: mode, State: health.State(row.text("state")), Since: row.time("since"),
			CheckedAt: row.time("checked_at"),
			Cause:     row.text("class"), Failures: int(row.int("failures")), FailingAt: row.time("failing_at"),
			NextAt: row.time("next_at"),
			Token:  row.text("token_endpoint"), Seen: row.text("seen"), Rev: row.int("rev"),
		})
	}
	return all, nil
}

// SaveRecord implements rounds.Records.
func (s CatalogHealth) SaveRecord(ctx context.Context, r health.Record) error {
	row := newItem(endpointHealthKey(r.Mode, r.EndpointID))
	row.setText("state", string(r.State))
	row.setTime("since", r.Since)
	row.setTime("checked_at", r.CheckedAt)
	row.setText("class", r.Cause)
	row.setInt("failures", int64(r.Failures))
	row.setTime("failing_at", r.FailingAt)
	row.setTime("next_at", r.NextAt)
	row.setText("token_endpoint", r.Token)
	row.setText("seen", r.Seen)
	return Catalog(s).saveOver(ctx, row, r.Rev)
}

// Forget implements rounds.Records.
func (s CatalogHealth) Forget(ctx context.Context, r health.Record) error {
	return transact(ctx, s.DB,
		removal(s.Table, endpointHealthKey(r.Mode, r.EndpointID), r.Rev),
		unlist(s.Table, discoveredURLsKey(r.Mode, r.EndpointID)))
}

// DiscoveredURLs lists the URLs discovered at a mode's endpoints, for the endpoints' publisher.
func (s CatalogHealth) DiscoveredURLs(ctx context.Context, mode string) ([]health.DiscoveredURLs, error) {
	rows, err := s.list(ctx, discoveredURLsPartition(mode))
	if err != nil {
		return nil, err
	}
	all := make([]health.DiscoveredURLs, 0, len(rows))
	for _, row := range rows {
		seen := health.DiscoveredURLs{
			EndpointID: row.text("sk"), Mode: mode, SeenAt: row.time("seen_at"),
			Bundle: row.text("bundle"),
		}
		if err := errors.Join(row.json("pins", &seen.Pins), row.json("abroad", &seen.Untrusted)); err != nil {
			return nil, err
		}
		all = append(all, seen)
	}
	return all, nil
}

// SaveDiscoveredURLs implements rounds.Records. An older discovery never replaces a newer one.
func (s CatalogHealth) SaveDiscoveredURLs(ctx context.Context, seen health.DiscoveredURLs) error {
	values := newItem(discoveredURLsKey(seen.Mode, seen.EndpointID))
	if err := values.setJSON("pins", seen.Pins); err != nil {
		return err
	}
	if err := values.setJSON("abroad", append([]catalog.Departure{}, seen.Untrusted...)); err != nil {
		return err
	}
	_, err := update(ctx, s.DB, change{
		table: s.Table, key: discoveredURLsKey(seen.Mode, seen.EndpointID),
		set:  "SET pins = :pins, abroad = :abroad, bundle = :bundle, seen_at = :at",
		when: "attribute_not_exists(seen_at) OR seen_at <= :at",
		values: item{
			":pins": values["pins"], ":abroad": values["abroad"], ":bundle": text(seen.Bundle),
			":at": moment(seen.SeenAt),
		},
	})
	return err
}

// Pointer implements rounds.Records.
func (s CatalogHealth) Pointer(ctx context.Context, mode string) (health.Pointer, error) {
	row, err := get(ctx, s.DB, s.Table, healthPointerKey(mode))
	if errors.Is(err, fault.NotFound) {
		return health.Pointer{Mode: mode}, nil
	}
	if err != nil {
		return health.Pointer{}, err
	}
	return health.Pointer{
		Mode: mode, Version: row.text("version"), States: row.text("states"),
		MadeAt: row.time("made_at"), Rev: row.int("rev"),
	}, nil
}

// MovePointer implements rounds.Records.
func (s CatalogHealth) MovePointer(ctx context.Context, p health.Pointer) error {
	row := newItem(healthPointerKey(p.Mode))
	row.setText("version", p.Version)
	row.setText("states", p.States)
	row.setTime("made_at", p.MadeAt)
	return Catalog(s).saveOver(ctx, row, p.Rev)
}

// list reads all rows of a partition, which may be large. The read is eventually consistent, because every decision
// based on the result is protected by a condition.
func (s CatalogHealth) list(ctx context.Context, partition string) ([]item, error) {
	return queryAll(ctx, s.DB, &dynamodb.QueryInput{
		TableName: &s.Table, KeyConditionExpression: aws.String("pk = :pk"),
		ExpressionAttributeValues: item{":pk": text(partition)},
	})
}
