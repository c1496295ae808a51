package export

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"recordbridge/shared/export/plan"
	"recordbridge/shared/fault"
	"recordbridge/shared/fhir"
)

// write appends a resource to the segment, once, and notes what it refers to. It was found after some rounds of following
// references, 0 for what a search has found.
func (c *collector) write(resource fhir.Resource, round int) error {
	name := resource.Type + "/" + resource.ID
	if resource.ID == "" {
		name = string(resource.JSON) // without an id only the content tells resources apart
	}
	if !c.state.firstTime(name) || !c.belongs(resource) {
		return nil
	}
	if c.sourced() && fhir.ValidID(resource.ID) {
		c.line = resource.AppendSourcedLine(c.line[:0], c.base.Join(resource.Type, resource.ID))
	} else {
		c.line = resource.AppendLine(c.line[:0])
	}
	if _, err := c.out.Write(c.line); err != nil {
		return err
	}
	c.state.Counts[resource.Type]++
	for _, text := range resource.References {
		if resourceType, id, ok := fhir.ParseReference(text, c.base); ok {
			c.note(reference{Type: resourceType, ID: id, Round: round + 1})
		} else if resourceType, ok := fhir.ForeignReference(text, c.base); ok && plan.Followed(resourceType) && c.task.Options.wants(resourceType) {
			c.missForeign(resourceType, text)
		}
	}
	for _, a := range resource.Attachments {
		c.noteAttachment(a, round)
	}
	return nil
}

// belongs reports whether a resource that was found is part of this export. One that says it is another patient's never is,
// whatever search has returned it.
func (c *collector) belongs(resource fhir.Resource) bool {
	if resource.Type == "Patient" {
		return true
	}
	if c.anothers(resource) {
		c.state.account(resource.Type).LeftOut++
		return false
	}
	return c.task.Options.wants(resource.Type) && c.task.Options.changed(resource.LastUpdated)
}

// sourced reports whether resources get a meta.source where they have none: R4 and later know it. A server that does not
// tell its version is taken for one of R4.
func (c *collector) sourced() bool {
	return !c.worker.PlainLines && (c.state.Version == "" || c.state.Version[0] >= '4')
}

// note keeps a reference to be read.
func (c *collector) note(r reference) {
	if !plan.Followed(r.Type) || !c.task.Options.wants(r.Type) || r.Round > maxRounds || c.overfull(r.Type) || !c.state.queue(r.name()) {
		return
	}
	if r.Type == "Binary" {
		c.state.Binaries = append(c.state.Binaries, r)
	} else {
		c.state.Refs = append(c.state.Refs, r)
	}
}

// missForeign notes what another server has, once: no token goes there.
func (c *collector) missForeign(resourceType, address string) {
	if c.overfull(resourceType) || !c.state.queue(address) {
		return
	}
	account := c.state.account(resourceType)
	account.Missing++
	account.fail(OutcomeUnsupported, 0)
}

// overfull reports whether nothing more can wait to be read, and notes that something is missing then.
func (c *collector) overfull(resourceType string) bool {
	s := c.state
	if len(s.Refs)+len(s.Binaries)+len(s.Attachments)+s.Later.size() < maxWaiting {
		return false
	}
	account := s.account(resourceType)
	account.Missing++
	account.fail(OutcomeTruncated, 0)
	return true
}

// noteAttachment keeps the address of an attachment to be read. Nothing is asked of another server than the patient's
// (fhir notes section 2.4); that such content is not in the file is told in the outcome.
func (c *collector) noteAttachment(a fhir.Attachment, round int) {
	if !c.task.Options.wants("Binary") {
		return
	}
	address, ok := c.base.Resolve(a.URL)
	if !ok {
		c.missForeign("Binary", a.URL)
		return
	}
	if resourceType, id, ok := fhir.ParseReference(address, c.base); ok {
		c.note(reference{Type: resourceType, ID: id, Round: round + 1})
		return
	}
	if id := attachmentID(address); !c.overfull("Binary") && c.state.queue("Binary/"+id) {
		c.state.Attachments = append(c.state.Attachments, attachment{URL: address, ContentType: a.ContentType, ID: id})
	}
}

// closeSegment makes the segment an object, unless nothing was written to it.
func (c *collector) closeSegment(ctx context.Context) (err error) {
	out := c.out
	if out == nil {
		return nil
	}
	c.out = nil
	if out.bytes == 0 {
		out.Abort(ctx)
		return nil
	}
	if err = out.Close(ctx); err != nil {
		return fmt.Errorf("close segment: %w", err)
	}
	c.state.Segments = append(c.state.Segments, segment{Key: segmentKey(c.task), Bytes: out.bytes})
	c.state.Digest, err = out.digest.state()
	return err
}

// complete makes the files of the task and stores the result.
func (c *collector) complete(ctx context.Context) error {
	task := c.task
	task.Stats, task.Outcome, task.Progress = c.state.stats(), c.state.outcome(), c.progress()
	task.Scope = Scope{Asked: c.current.AskedScope, Granted: c.current.Scope}
	for _, f := range task.Options.chosen() {
		file, err := c.file(ctx, task, f)
		if err != nil {
			return err
		}
		task.Files = append(task.Files, file)
	}
	err := c.worker.succeed(ctx, task)
	if errors.Is(err, fault.Conflict) {
		return errTakenOver // the segments are the other worker's now
	}
	if err != nil {
		return err
	}
	// The heartbeat may find the task finished and cancel the run; what is left over is ours all the same.
	c.tidy(context.WithoutCancel(ctx), task.Files)
	return nil
}

// file makes the file of one format.
func (c *collector) file(ctx context.Context, task Task, f Format) (File, error) {
	switch f {
	case JSONLines:
		return c.assemble(ctx, f, c.state.Segments, c.state.Digest)
	case Report:
		return c.writeReport(ctx, task)
	case Gzipped, OneBundle:
	}
	made := c.state.rendering(f)
	return c.assemble(ctx, f, made.Parts, made.Digest)
}

// tidy deletes what the finished files have replaced. What a crash leaves behind goes with the files, when their time is
// over.
func (c *collector) tidy(ctx context.Context, kept []File) {
	parts := c.state.Segments
	for _, made := range c.state.Renderings {
		parts = append(parts, made.Parts...)
	}
	for _, part := range parts {
		if !slices.ContainsFunc(kept, func(f File) bool { return f.Key == part.Key }) {
			_ = c.worker.Files.Delete(ctx, part.Key)
		}
	}
	for _, key := range append(c.state.Spent, c.task.Checkpoint) {
		if key != "" {
			_ = c.worker.Files.Delete(ctx, key)
		}
	}
}
