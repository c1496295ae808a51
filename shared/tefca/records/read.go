package records

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"

	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// Readings opens stored objects; blob.Bucket implements it. It returns fault.NotFound if an object does not exist.
type Readings interface {
	Open(ctx context.Context, key string) (io.ReadCloser, error)
}

// Reader reads stored records.
type Reader struct {
	Objects Readings
	Sealer  tokens.Sealer // uses Purpose
}

// Read returns one chunk of the record that held describes, or of one of the record's fixtures. Chunks are numbered
// from 0. The caller may modify the resources. All failures are internal errors, because a stored record must stay
// readable until held.Until.
func (r Reader) Read(
	ctx context.Context, tenant org.Tenant, connectionID string, held tokens.Records, fixture string, chunk int,
) (iter.Seq[[]byte], error) {
	key, damaged := place{tenant, connectionID, held, fixture}.key(chunk),
		fault.Spot{Operation: "open", Row: "RECORDS", Attribute: "sealed"}
	body, err := r.Objects.Open(ctx, key)
	if err != nil {
		return nil, damaged.Failed(fmt.Errorf("get records: %w", err))
	}
	defer func() { _ = body.Close() }()
	sealed, err := io.ReadAll(body)
	if err != nil {
		return nil, fmt.Errorf("get records: %w", err)
	}
	plain, err := r.Sealer.Open(ctx, tenant, boundTo(key), sealed)
	if err != nil {
		return nil, damaged.Failed(fmt.Errorf("open records: %w", err))
	}
	return bytes.SplitSeq(bytes.TrimSuffix(plain, []byte("\n")), []byte("\n")), nil
}
