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

// Readings opens objects (blob.Bucket) and returns fault.NotFound for a missing one.
type Readings interface {
	Open(ctx context.Context, key string) (io.ReadCloser, error)
}

// Reader reads records.
type Reader struct {
	Objects Readings
	Sealer  tokens.Sealer // for Purpose
}

// Read returns a chunk, counted from 0, of the record that held describes, or of one of its fixtures. The receiver may
// overwrite the resources. Any failure is internal, because a stored record must be completely readable until
// held.Until.
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
