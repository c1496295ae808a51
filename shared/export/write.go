package export

import (
	"context"
	"errors"
	"fmt"

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
	if !c.state.firstTime(name) {
		return nil
	}
	if c.state.sourced() && fhir.ValidID(resource.ID) {
		c.line = resource.AppendSourcedLine(c.line[:0], c.base.Join(resource.Type, resource.ID))
	} else {
		c.line = resource.AppendLine(c.line[:0])
	}
	if err := c.put(c.line); err != nil {
		return err
	}
	c.state.Counts[resource.Type]++
	for _, text := range resource.References {
		resourceType, id, ok := fhir.ParseReference(text, c.base)
		if ok {
			c.note(reference{Type: resourceType, ID: id, Round: round + 1})
		}
	}
	for _, a := range resource.Attachments {
		c.noteAttachment(a, round)
	}
	return nil
}

func (c *collector) put(data []byte) error {
	n, err := c.out.Write(data)
	c.bytes += int64(n)
	if err != nil {
		return fmt.Errorf("write segment: %w", err)
	}
	return nil
}

// note keeps a reference to be read.
func (c *collector) note(r reference) {
	if !plan.Followed(r.Type) || r.Round > maxRounds || !c.state.queue(r.name()) {
		return
	}
	if r.Type == "Binary" {
		c.state.Binaries = append(c.state.Binaries, r)
	} else {
		c.state.Refs = append(c.state.Refs, r)
	}
}

// noteAttachment keeps the address of an attachment to be read. Nothing is asked of another server than the patient's
// (fhir notes section 2.4); that such content is not in the file is told in the outcome.
func (c *collector) noteAttachment(a fhir.Attachment, round int) {
	address, ok := c.base.Resolve(a.URL)
	if !ok {
		if c.state.queue(a.URL) {
			account := c.state.account("Binary")
			account.Missing++
			account.fail(OutcomeUnsupported, 0)
		}
		return
	}
	if resourceType, id, ok := fhir.ParseReference(address, c.base); ok {
		c.note(reference{Type: resourceType, ID: id, Round: round + 1})
		return
	}
	if id := attachmentID(address); c.state.queue("Binary/" + id) {
		c.state.Attachments = append(c.state.Attachments, attachment{URL: address, ContentType: a.ContentType, ID: id})
	}
}

// closeSegment makes the segment an object, unless nothing was written to it.
func (c *collector) closeSegment(ctx context.Context) error {
	if c.bytes == 0 {
		c.out.Abort(ctx)
		return nil
	}
	if err := c.out.Close(ctx); err != nil {
		return fmt.Errorf("close segment: %w", err)
	}
	c.state.Segments = append(c.state.Segments, segment{Key: segmentKey(c.task), Bytes: c.bytes})
	return nil
}

// complete makes the one file of the task and stores the result.
func (c *collector) complete(ctx context.Context) error {
	if err := c.closeSegment(ctx); err != nil {
		return err
	}
	file := File{Name: fileName(c.task)}
	for _, s := range c.state.Segments {
		file.Bytes += s.Bytes
	}
	if len(c.state.Segments) == 1 {
		file.Key = c.state.Segments[0].Key
	} else {
		file.Key = fileKey(c.task)
		if err := c.join(ctx, file.Key); err != nil {
			return err
		}
	}
	err := c.worker.succeed(ctx, c.task, file, c.state.stats(), c.state.outcome())
	if errors.Is(err, fault.Conflict) {
		return errTakenOver // the segments are the other worker's now
	}
	if err != nil {
		return err
	}
	// The heartbeat may find the task finished and cancel the run; what is left over is ours all the same.
	c.tidy(context.WithoutCancel(ctx), file.Key)
	return nil
}

func (c *collector) join(ctx context.Context, key string) error {
	parts := make([]string, 0, len(c.state.Segments))
	for _, s := range c.state.Segments {
		parts = append(parts, s.Key)
	}
	if err := c.worker.Files.Compose(ctx, key, ContentType, parts); err != nil {
		return fmt.Errorf("compose file: %w", err)
	}
	return nil
}

// tidy deletes what the finished file has replaced. What a crash leaves behind goes with the file, when its time is over.
func (c *collector) tidy(ctx context.Context, kept string) {
	for _, s := range c.state.Segments {
		if s.Key != kept {
			_ = c.worker.Files.Delete(ctx, s.Key)
		}
	}
	for _, key := range append(c.state.Spent, c.task.Checkpoint) {
		if key != "" {
			_ = c.worker.Files.Delete(ctx, key)
		}
	}
}
