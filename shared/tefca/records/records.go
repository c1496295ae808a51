// Package records caches the record of a TEFCA connection that was fetched while the patient's assertion was valid
// (docs/guide/tefca.md): converted resources, sealed, in chunks, for a day. An export reads them instead of a server.
// The package does not handle documents or their conversion, and logs nothing of the contents.
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

// Purpose is the encryption context of sealed chunks.
const Purpose = "records"

const (
	// life is the time for which a record is stored, and so also the lifetime of the connection's authorisation
	// (docs/reference/deviations.md, "Exports").
	life = 24 * time.Hour
	// fullAt is the number of resource bytes at which a chunk is full. The last resource is not split.
	fullAt = 4 << 20
)

// Objects stores chunks (blob.Bucket). The bucket's lifecycle rule deletes them even after a crash.
type Objects interface {
	Removals

	Put(ctx context.Context, key, contentType string, body []byte) error
}

// Cache stores records.
type Cache struct {
	Objects Objects
	Sealer  tokens.Sealer // for Purpose
	Now     func() time.Time
	NewID   ids.Source
}

// Feed passes resources to put, each as compact JSON without a line break. It returns put's first error or its own.
type Feed func(put func(resource []byte) error) error

// Content is the data to store for one authorisation.
type Content struct {
	Generation int64 // the connection's generation
	Resources  Feed
	Documents  int // number of source documents
	// documents missing in whole or in part, by reason (export.LossReason); Resources may add to it
	Lost     map[string]int
	Fixtures map[string]Feed // synthetic records that an export may request instead, by name; in test mode only
}

// errLine is returned for a resource that would be read back as two.
var errLine = errors.New("a resource has a line break")

// Write stores content for a connection and returns the description for its token set. Nothing remains stored if it
// fails.
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

// writePart returns the number of chunks, including those written before a failure.
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

// place locates the chunks of a record, or of one of its fixtures.
type place struct {
	tenant       org.Tenant
	connectionID string
	held         tokens.Records
	fixture      string
}

// folderOf returns the common prefix of a connection's chunks, used to find them when the connection ends.
func folderOf(tenant org.Tenant, connectionID string) string {
	return string(tenant.Mode) + "/" + tenant.OrgID + "/" + connectionID + "/"
}

// key returns the name of a chunk.
func (p place) key(chunk int) string {
	folder := folderOf(p.tenant, p.connectionID) + strconv.FormatInt(p.held.Generation, 10) + "/" + p.held.Batch + "/"
	if p.fixture != "" {
		folder += p.fixture + "/"
	}
	return folder + strconv.Itoa(chunk)
}

// boundTo binds a sealed chunk to its name.
func boundTo(key string) string { return "records|" + key }
