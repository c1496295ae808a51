package collect

import (
	"context"
	"errors"

	"recordbridge/shared/export"
	"recordbridge/shared/export/checkpoint"
	"recordbridge/shared/export/source"
	"recordbridge/shared/fhir"
)

// follower reads what the record refers to.
type follower struct {
	run     *run
	writer  *writer
	streams source.Streams[checkpoint.Reference]
}

// all reads what waits to be read, Binary resources last, since they may be large.
func (f *follower) all(ctx context.Context) (export.Result, error) {
	work := &f.run.state.Work
	for len(work.Refs) > 0 || len(work.Binaries) > 0 {
		todo := &work.Refs
		if len(*todo) == 0 {
			todo = &work.Binaries
		}
		if stop, err := f.step(ctx, todo); err != nil || stop.Stops() {
			return stop, err
		}
	}
	return export.Result{}, nil
}

// step writes the first resource of todo, unless it is there already, while the next ones are read.
func (f *follower) step(ctx context.Context, todo *[]checkpoint.Reference) (export.Result, error) {
	if stop := f.run.isDue(); stop.Stops() {
		return stop, nil
	}
	f.readAhead(ctx, *todo)
	r := (*todo)[0]
	if !f.streams.Has(r) { // it was written meanwhile
		*todo = (*todo)[1:]
		return export.Result{}, nil
	}
	found, err := f.streams.Take(ctx, r)
	if err != nil || found.Stop.Stops() {
		return found.Stop, err
	}
	*todo = (*todo)[1:]
	f.streams.Drop(r)
	if found.Failed != nil && f.run.outage.mayPass(found.Failed) && !isFile(r, found.Failed) {
		f.run.state.Work.Later.Refs = append(f.run.state.Work.Later.Refs, r)
		if f.run.outage.recordFailure() {
			f.streams.DropAll()
		}
		return export.Result{}, nil
	}
	f.run.state.Work.Ended++
	defer f.run.tell()
	if found.Failed != nil {
		f.unread(r, found.Failed)
		return export.Result{}, nil
	}
	f.run.outage.recordAnswer()
	f.run.state.Accounts.Of(r.Type).Answer("")
	for resource := range found.All() {
		if err := f.writer.write(resource, r.Round); err != nil {
			return export.Result{}, err
		}
	}
	return export.Result{}, nil
}

// readAhead starts to read the first of todo that are not there yet.
func (f *follower) readAhead(ctx context.Context, todo []checkpoint.Reference) {
	for i, r := range todo[:min(source.InFlight, len(todo))] {
		if f.streams.Has(r) || f.run.state.IsWritten(checkpoint.MarkOf(r.Name())) {
			continue
		}
		tried := 0
		if i == 0 {
			tried = f.run.state.Work.TakeTried()
		}
		f.streams.Start(ctx, r, "", tried, f.run.session.Read(r.Type, r.ID))
	}
}

// isFile reports whether a Binary that could not be read is none in JSON.
func isFile(r checkpoint.Reference, failed *fhir.RequestError) bool {
	return r.Type == "Binary" && failed.Class == fhir.Content && !errors.Is(failed, source.ErrOther)
}

// unread records a reference that could not be read. A Binary that is no JSON is read as an attachment.
func (f *follower) unread(r checkpoint.Reference, failed *fhir.RequestError) {
	state := f.run.state
	if isFile(r, failed) {
		state.Work.Attachments = append(state.Work.Attachments, checkpoint.Attachment{URL: f.run.base.Join(r.Type, r.ID), ID: r.ID})
		return
	}
	reason := checkpoint.NamedLoss(failed)
	if reason == export.LossRefused && !f.run.session.Allows(r.Type, fhir.Read) {
		reason = export.LossNotGranted
	}
	state.Accounts.Of(r.Type).Miss(1, checkpoint.OutcomeOf(failed), reason, failed.Status)
}
