package collect

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/export"
	"recordbridge/shared/export/checkpoint"
	"recordbridge/shared/fhir"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// Cache reads the cached records of TEFCA connections, one chunk at a time (records.Reader). Callers may overwrite the
// returned resources. Every error from Cache is an internal failure.
type Cache interface {
	Read(ctx context.Context, tenant org.Tenant, connectionID string, held tokens.Records, fixture string,
		chunk int) (iter.Seq[[]byte], error)
}

// cachedVersion is the FHIR version of the cached resources.
const cachedVersion = "4.0.1"

// Errors that end the export of a cached record.
var (
	errNoDocuments = fault.Spot{Class: "no_documents"}.Failed(errors.New("the facility had no documents"))
	errNoneRead    = fault.Spot{Class: "documents_lost"}.Failed(
		errors.New("none of the facility's documents could be read"))
	errNoFixture = fault.Spot{Class: "no_fixture"}.Failed(errors.New("the record has no such fixture"))
)

// cached is the single stage of a cached record's export. Every cached resource belongs to the connection's patient.
// Cached resources have no source URL, and their references are not followed.
type cached struct {
	task    export.Task
	held    tokens.Records
	state   *checkpoint.State
	pace    pace
	writer  *writer
	cache   Cache
	outcome []export.TypeOutcome // set only if the export contains no resources
}

func (c *cached) all(ctx context.Context) (export.Result, error) {
	chunks, ok := c.held.Held(c.task.Options.Fixture)
	if !ok {
		return export.Result{Kind: export.Fatal, Reason: export.SuppressedPleaseContact, Cause: errNoFixture}, nil
	}
	at := &c.state.Work.Cached
	// A new batch ID means that this is the first run or that the patient has authorized again. Resources already in
	// the file are not rewritten.
	if at.Batch != c.held.Batch {
		c.begin(chunks)
	}
	if chunks == 0 {
		return c.none(), nil
	}
	for at.Left > 0 {
		if stop := c.pace.isDue(); stop.Stops() {
			return stop, nil
		}
		if err := c.write(ctx, chunks-at.Left); err != nil {
			return export.Result{}, err
		}
		at.Left--
		c.state.Work.Ended++
		c.pace.reportProgress()
	}
	return export.Result{}, nil
}

// begin records the requested types, even those without resources, and the documents missing from the cache.
func (c *cached) begin(chunks int) {
	state := c.state
	state.Work.Cached = checkpoint.Cached{Batch: c.held.Batch, Left: chunks}
	state.Server.Version = cachedVersion
	for _, resourceType := range c.task.Options.Types {
		state.Accounts.Of(resourceType)
	}
	if c.task.Options.Fixture != "" {
		return // a fixture's record counts as complete even if the facility reported losses
	}
	account := state.Accounts.Of("DocumentReference")
	*account = checkpoint.Account{Type: account.Type}
	for reason, count := range c.held.Lost {
		account.Miss(count, export.OutcomeFailed, export.LossReason(reason), 0)
	}
}

// write adds a chunk's resources to the file. Invalid FHIR is an error, because the cache holds only resources that
// this service wrote.
func (c *cached) write(ctx context.Context, chunk int) error {
	resources, err := c.cache.Read(ctx, c.task.Tenant, c.task.ConnectionID, c.held, c.task.Options.Fixture, chunk)
	if err != nil {
		return fmt.Errorf("read cached records: %w", err)
	}
	for raw := range resources {
		resource, err := fhir.Scan(raw)
		if err != nil {
			return fmt.Errorf("read cached resource: %w", err)
		}
		if err := c.writer.writeOwn(resource); err != nil {
			return err
		}
	}
	return nil
}

// none returns the result of an export that contains no resources. The reason is TEFCANoDocumentsFound only if no
// document was lost.
func (c *cached) none() export.Result {
	c.outcome = c.state.Accounts.Outcome()
	lost := c.state.Accounts.Of("DocumentReference").Reason
	if lost == "" {
		return export.Result{Kind: export.Fatal, Reason: export.TEFCANoDocumentsFound, Cause: errNoDocuments}
	}
	end := export.Result{Kind: export.Fatal, Reason: export.SuppressedPleaseContact, Cause: errNoneRead}
	if lost == export.LossContent || lost == export.LossTooLarge {
		end.Reason = export.ResourceInvalidContent
	}
	return end
}
