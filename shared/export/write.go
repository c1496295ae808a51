package export

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"recordbridge/shared/export/plan"
	"recordbridge/shared/fault"
	"recordbridge/shared/fhir"
)

// write appends a resource to the segment, once, and notes what it refers to. It was found after some rounds of following
// references, 0 for what a search has found.
func (c *collector) write(resource fhir.Resource, round int) error {
	mark := markOf(resource.Type + "/" + resource.ID)
	if resource.ID == "" {
		mark = markOf(resource.JSON) // without an id only the content tells resources apart
	}
	if c.state.written.has(mark) {
		return nil
	}
	if c.state.full() {
		c.state.miss(resource.Type)
		return nil
	}
	c.state.written.add(mark)
	if !c.belongs(resource) {
		return nil
	}
	source := ""
	if c.sourced() && fhir.ValidID(resource.ID) {
		source = c.base.Join(resource.Type, resource.ID)
	}
	if err := resource.WriteLine(c.out, source); err != nil {
		return err
	}
	c.state.Counts[fhir.TypeName(resource.Type)]++
	c.noteAll(resource, round)
	return nil
}

// noteAll notes what a resource refers to.
func (c *collector) noteAll(resource fhir.Resource, round int) {
	for _, text := range resource.References {
		c.noteReference(text, round)
	}
	for _, a := range resource.Attachments {
		c.noteAttachment(a, round)
	}
	if resource.Type == "QuestionnaireResponse" {
		c.noteQuestionnaire(resource.Questionnaire, round)
	}
	if resource.Cut > 0 {
		account := c.state.account(resource.Type)
		account.Missing += resource.Cut
		account.fail(OutcomeTruncated, LossLimit, 0)
	}
}

// belongs reports whether a resource that was found is part of this export. One that is another patient's never is,
// whatever search has returned it.
func (c *collector) belongs(resource fhir.Resource) bool {
	switch {
	case resource.Type == "Patient" && resource.ID == c.patient:
		return true
	case resource.Type == "Patient", c.ownerOf(resource) == anothers: // an include may drag other patients in
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

// noteReference keeps a literal reference to be read, or notes that it leads to another server.
func (c *collector) noteReference(text string, round int) {
	if c.state.keepReference(text) {
		return
	}
	if resourceType, id, ok := fhir.ParseReference(text, c.base); ok {
		c.note(reference{Type: resourceType, ID: id, Round: round + 1})
		return
	}
	resourceType, ok := fhir.ForeignReference(text, c.base)
	if ok && plan.Followed(resourceType) && c.task.Options.wants(resourceType) {
		c.missForeign(resourceType, text)
	}
}

// note keeps a reference to be read.
func (c *collector) note(r reference) {
	if !plan.Followed(r.Type) || !c.task.Options.wants(r.Type) || r.Round > maxRounds || !c.isNew(r.Type, r.name(), len(r.ID)) {
		return
	}
	r.Type, r.ID = strings.Clone(r.Type), strings.Clone(r.ID) // both were parts of an address
	if r.Type == "Binary" {
		c.state.Binaries = append(c.state.Binaries, r)
	} else {
		c.state.Refs = append(c.state.Refs, r)
	}
}

// isNew notes something that the record refers to; it is false for what was noted or written before, and for what there is no
// room for, which is missing then.
func (c *collector) isNew(resourceType, name string, weight int) bool {
	mark := markOf(name)
	if c.state.noted.has(mark) || c.state.written.has(mark) {
		return false
	}
	if c.state.overfull() {
		c.state.miss(resourceType)
		return false
	}
	c.state.weight += weight
	return c.state.noted.add(mark)
}

// missForeign notes what another server has, once: no token goes there.
func (c *collector) missForeign(resourceType, address string) {
	if !c.isNew(resourceType, address, 0) {
		return
	}
	account := c.state.account(resourceType)
	account.Missing++
	account.fail(OutcomeUnsupported, LossElsewhere, 0)
}

// noteAttachment keeps the address of an attachment to be read. Nothing is asked of another server than the patient's
// (fhir notes section 2.4); that such content is not in the file is told in the outcome.
func (c *collector) noteAttachment(a fhir.Attachment, round int) {
	if !c.task.Options.wants("Binary") {
		return
	}
	if c.state.keepAttachment(a) {
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
	if id := attachmentID(address); c.isNew("Binary", "Binary/"+id, len(address)+len(a.ContentType)) {
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
	task.Stats, task.Outcome, task.Progress = c.state.stats(), c.outcome(), c.progress()
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
