package collect

import (
	"context"
	"errors"

	"recordbridge/shared/export"
	"recordbridge/shared/export/checkpoint"
	"recordbridge/shared/export/source"
	"recordbridge/shared/fhir"
)

// lookAhead limits how many waiting references are considered for a combined request. All references in a combined
// request have the same type.
const lookAhead = 200

// follower reads the resources that the record refers to.
type follower struct {
	session *source.Session
	state   *checkpoint.State
	record  *record
	outage  *outage
	pace    pace
	writer  *writer
	streams *source.Streams[checkpoint.Reference] // a search by ids uses the stream of its first reference
	lists   lists
}

func newFollower(
	session *source.Session, state *checkpoint.State, of *record, down *outage, p pace, w *writer,
) *follower {
	return &follower{
		session: session, state: state, record: of, outage: down, pace: p, writer: w,
		streams: source.NewStreams[checkpoint.Reference](session), lists: newLists(&state.Server.Learned),
	}
}

// all reads every queued reference. Binary resources are read last because they may be large.
func (f *follower) all(ctx context.Context) (export.Result, error) {
	work := &f.state.Work
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

// step writes the first resource in todo, unless it is already written, while prefetching the next ones.
func (f *follower) step(ctx context.Context, todo *[]checkpoint.Reference) (export.Result, error) {
	if stop := f.pace.isDue(); stop.Stops() {
		return stop, nil
	}
	r := (*todo)[0]
	if f.state.IsWritten(checkpoint.MarkOf(r.Name())) { // the resource was written after the reference was queued
		*todo = (*todo)[1:]
		f.forget(r)
		return export.Result{}, nil
	}
	f.readAhead(ctx)
	if list := f.lists.of[r]; list != nil && list.found == nil {
		return f.receive(ctx, list)
	}
	found, isListed := f.lists.take(r)
	if !isListed {
		var err error
		if found, err = f.streams.Take(ctx, r, func() { f.readAhead(ctx) }); err != nil || found.Stop.Stops() {
			return found.Stop, err
		}
		f.streams.Drop(r)
		f.lists.readAlone(r, found)
	}
	*todo = (*todo)[1:]
	return export.Result{}, f.end(r, found)
}

// receive processes the response to a search by ids. Each of the list's members is taken from the response or read
// individually.
func (f *follower) receive(ctx context.Context, list *list) (export.Result, error) {
	found, err := f.streams.Take(ctx, list.refs[0], func() { f.readAhead(ctx) })
	if err != nil || found.Stop.Stops() {
		return found.Stop, err
	}
	f.streams.Drop(list.refs[0])
	f.lists.receive(list, found)
	return export.Result{}, nil
}

// forget drops the pending request for a reference. If the reference belongs to a search by ids, the search continues
// for the other references.
func (f *follower) forget(r checkpoint.Reference) {
	list := f.lists.of[r]
	if list == nil {
		f.streams.Drop(r)
	} else if f.lists.remove(r) {
		f.streams.Drop(list.refs[0])
	}
}

// end writes the resource that a reference points to, or records why it could not be read.
func (f *follower) end(r checkpoint.Reference, found source.Page) error {
	if found.Failed != nil && f.outage.mayPass(found.Failed) && !isFile(r, found.Failed) {
		f.state.Work.Deferred.Refs = append(f.state.Work.Deferred.Refs, r)
		if f.outage.recordFailure() {
			f.streams.DropAll()
			f.lists = newLists(&f.state.Server.Learned)
		}
		return nil
	}
	f.state.Work.Ended++
	defer f.pace.reportProgress()
	if found.Failed != nil {
		f.unread(r, found.Failed)
		return nil
	}
	f.outage.recordAnswer()
	f.state.Accounts.Of(r.Type).Answer("")
	for resource := range found.All() {
		if err := f.writer.write(resource, r.Round); err != nil {
			return err
		}
	}
	return nil
}

// readAhead starts reading the first references that are not yet written. If the server supports lists of ids, a single
// search reads several references of the same type.
func (f *follower) readAhead(ctx context.Context) {
	work := &f.state.Work
	left := lookAhead
	for _, waiting := range [...][]checkpoint.Reference{work.Refs, work.Binaries} {
		waiting = waiting[:min(left, len(waiting))]
		for i, r := range waiting {
			isNext := left == lookAhead
			left--
			if f.streams.Full() && !isNext {
				return
			}
			if f.isAsked(r) {
				continue
			}
			wanted := source.Wanted{Tried: work.TakeTried()} // number of earlier attempts at the first request
			if refs := f.lists.begin(waiting[i:], f.isAsked); refs != nil {
				f.streams.Start(ctx, r, wanted, f.session.List(r.Type, idsOf(refs), f.record.base))
				continue
			}
			f.streams.Start(ctx, r, wanted, f.session.Read(r.Type, r.ID))
		}
	}
}

// isAsked reports whether a reference has already been requested.
func (f *follower) isAsked(r checkpoint.Reference) bool {
	return f.streams.Has(r) || f.lists.of[r] != nil || f.state.IsWritten(checkpoint.MarkOf(r.Name()))
}

// isFile reports whether a Binary could not be read because its content is not JSON.
func isFile(r checkpoint.Reference, failed *fhir.RequestError) bool {
	return r.Type == "Binary" && failed.Class == fhir.Content && !errors.Is(failed, source.ErrOther)
}

// unread records a reference that could not be read. A Binary whose content is not JSON is queued to be read again as
// an attachment.
func (f *follower) unread(r checkpoint.Reference, failed *fhir.RequestError) {
	state := f.state
	if isFile(r, failed) {
		state.Work.Attachments = append(
			state.Work.Attachments, checkpoint.Attachment{URL: f.record.base.Join(r.Type, r.ID), ID: r.ID},
		)
		return
	}
	reason := checkpoint.NamedLoss(failed)
	if reason == export.LossRefused && !f.session.Allows(r.Type, fhir.Read) {
		reason = f.session.Withheld(r.Type, fhir.Read)
	}
	state.Accounts.Of(r.Type).Miss(1, checkpoint.OutcomeOf(failed), reason, failed.Status)
}
