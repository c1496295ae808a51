// Package records stores TEFCA connections' records, which were fetched while the patient's assertion was valid
// (docs/guide/tefca.md). The converted resources are stored for a day in encrypted chunks. Exports read the chunks
// instead of querying a server.
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

// Purpose is the purpose in the encryption context for chunks.
const Purpose = "records"

const (
	// life is the storage period of a record and therefore also the lifetime of the connection's authorisation
	// (docs/reference/deviations.md, "Exports").
	life = 24 * time.Hour
	// fullAt is the size of a full chunk in bytes. Resources are never split, so a chunk's last resource may exceed
	// fullAt.
	fullAt = 4 << 20
)

// Objects stores chunks; blob.Bucket implements it. The bucket's lifecycle rule eventually deletes chunks that remain
// after a crash.
type Objects interface {
	Removals

	Put(ctx context.Context, key, contentType string, body []byte) error
}

// Cache writes records to storage.
type Cache struct {
	Objects Objects
	Sealer  tokens.Sealer // uses Purpose
	Now     func() time.Time
	NewID   ids.Source
}

// Feed calls put for each resource, passing compact JSON without line breaks. Feed returns put's first error or, if it
// fails itself, its own error.
type Feed func(put func(resource []byte) error) error

// Content is the data stored for one authorisation.
type Content struct {
	Generation int64 // generation of the connection's authorisation
	Resources  Feed
	Documents  int // number of source documents
	// Lost counts documents that are missing in whole or in part, by reason (export.LossReason). Calling Resources may
	// add entries to Lost.
	Lost     map[string]int
	Fixtures map[string]Feed // synthetic records by name, which exports in test mode may request instead
}

// errLine rejects a resource that contains a line break, because readers would parse it as two resources.
var errLine = errors.New("a resource has a line break")

// Write stores a connection's content and returns the description to store in the connection's token set. If Write
// fails, it deletes all chunks that it has stored.
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

// writePart writes one record and returns its number of chunks. If writing fails, the number includes the chunks
// written before the failure.
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

type place struct {
	tenant       org.Tenant
	connectionID string
	held         tokens.Records
	fixture      string
}

// folderOf returns the common prefix of a connection's chunks. Ender lists chunks by this prefix.
func folderOf(tenant org.Tenant, connectionID string) string {
	return string(tenant.Mode) + "/" + tenant.OrgID + "/" + connectionID + "/"
}

// key returns the object name of a chunk.
func (p place) key(chunk int) string {
	folder := folderOf(p.tenant, p.connectionID) + strconv.FormatInt(p.held.Generation, 10) + "/" + p.held.Batch + "/"
	if p.fixture != "" {
		folder += p.fixture + "/"
	}
	return folder + strconv.Itoa(chunk)
}

// boundTo returns the data that binds an encrypted chunk to its name.
func boundTo(key string) string { return "records|" + key }
