// Package records owns the cache of what was fetched of a TEFCA connection's record while the patient's assertion lived
// (docs/guide/tefca.md): resources that are converted already, sealed, in chunks, for a day. An export reads them in place of
// a server. It knows neither documents nor how they are converted, and nothing of it is logged.
package records

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
)

// Purpose stands in the encryption context of sealed chunks.
const Purpose = "records"

const (
	// life is how long a record is kept, and with it the connection's authorization (docs/reference/deviations.md, "Exports").
	life = 24 * time.Hour
	// fullAt is how many bytes of resources make a chunk full. The last one goes whole into it.
	fullAt = 4 << 20
)

// Objects keeps chunks (blob.Bucket, whose bucket has a rule that removes them, whatever crashes).
type Objects interface {
	Removals

	Put(ctx context.Context, key, contentType string, body []byte) error
}

// Cache keeps records.
type Cache struct {
	Objects Objects
	Sealer  tokens.Sealer // of Purpose
	Now     func() time.Time
	NewID   ids.Source
}

// Feed hands resources to put, each as compact JSON without a line break, and ends with put's first error or its own.
type Feed func(put func(resource []byte) error) error

// Content is what is written of one authorization.
type Content struct {
	Generation int64 // of the connection
	Resources  Feed
	Documents  int // that the resources are made of
	// documents that are not wholly in them, by reason (export.LossReason); Resources may add to it
	Lost     map[string]int
	Fixtures map[string]Feed // synthetic records that an export may ask for instead, by name; in test mode only
}

// errLine refuses what would be read as two resources.
var errLine = errors.New("a resource has a line break")

// Write keeps content for a connection and returns what its token set has to know. Nothing is kept when it fails.
func (c Cache) Write(ctx context.Context, tenant org.Tenant, connectionID string,
	content Content,
) (tokens.Records, error) {
	held := tokens.Records{
		Generation: content.Generation, Batch: c.NewID(), Documents: content.Documents, Lost: content.Lost,
		Fixtures: make(map[string]int, len(content.Fixtures)), Until: c.Now().Add(life),
	}
	var err error
	held.Chunks, err = c.writePart(ctx, place{tenant, connectionID, held, ""}, content.Resources)
	for name, feed := range content.Fixtures {
		if err != nil {
			break
		}
		held.Fixtures[name], err = c.writePart(ctx, place{tenant, connectionID, held, name}, feed)
	}
	if err != nil {
		_ = Remover{c.Objects}.Delete(context.WithoutCancel(ctx), tenant, connectionID, held)
		return tokens.Records{}, err
	}
	return held, nil
}

// writePart returns how many chunks there are, those of a failure among them.
func (c Cache) writePart(ctx context.Context, at place, feed Feed) (chunks int, err error) {
	var full []byte
	flush := func() error {
		key := at.key(chunks)
		sealed, failure := c.Sealer.Seal(ctx, at.tenant, boundTo(key), full)
		if failure != nil {
			return fmt.Errorf("seal records: %w", failure)
		}
		chunks++
		full = full[:0]
		if failure = c.Objects.Put(ctx, key, "application/octet-stream", sealed); failure != nil {
			return fmt.Errorf("keep records: %w", failure)
		}
		return nil
	}
	err = feed(func(resource []byte) error {
		if bytes.IndexByte(resource, '\n') >= 0 {
			return errLine
		}
		if full = append(append(full, resource...), '\n'); len(full) < fullAt {
			return nil
		}
		return flush()
	})
	if err == nil && len(full) > 0 {
		err = flush()
	}
	return chunks, err
}

// place is where the chunks of a record are, or of a fixture beside it.
type place struct {
	tenant       org.Tenant
	connectionID string
	held         tokens.Records
	fixture      string
}

// folderOf is in front of the names of all chunks of a connection, so that they can be found when it ends.
func folderOf(tenant org.Tenant, connectionID string) string {
	return string(tenant.Mode) + "/" + tenant.OrgID + "/" + connectionID + "/"
}

// key names a chunk.
func (p place) key(chunk int) string {
	folder := folderOf(p.tenant, p.connectionID) + strconv.FormatInt(p.held.Generation, 10) + "/" + p.held.Batch + "/"
	if p.fixture != "" {
		folder += p.fixture + "/"
	}
	return folder + strconv.Itoa(chunk)
}

// boundTo binds a chunk to all that its name tells.
func boundTo(key string) string { return "records|" + key }
