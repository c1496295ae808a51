package collect

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"

	"recordbridge/shared/export"
	"recordbridge/shared/export/checkpoint"
	"recordbridge/shared/export/source"
	"recordbridge/shared/fhir"
)

// maxAttachment is the maximum size of an exported attachment, in bytes.
const maxAttachment = 25 << 20

// attacher copies attachments, prefetching the next ones while it writes one. Small attachments are buffered in memory.
// Larger attachments are streamed one at a time.
type attacher struct {
	session *source.Session
	state   *checkpoint.State
	outage  *outage
	pace    pace
	writer  *writer
	streams *source.Streams[checkpoint.Attachment]
}

func newAttacher(session *source.Session, state *checkpoint.State, down *outage, p pace, w *writer) attacher {
	return attacher{
		session: session, state: state, outage: down, pace: p, writer: w,
		streams: source.NewStreams[checkpoint.Attachment](session),
	}
}

func (c attacher) all(ctx context.Context) (export.Result, error) {
	for len(c.state.Work.Attachments) > 0 {
		if stop, err := c.step(ctx); err != nil || stop.Stops() {
			return stop, err
		}
	}
	return export.Result{}, nil
}

// step writes the first waiting attachment as a Binary resource.
func (c attacher) step(ctx context.Context) (export.Result, error) {
	if stop := c.pace.isDue(); stop.Stops() {
		return stop, nil
	}
	work := &c.state.Work
	a := work.Attachments[0]
	mark := checkpoint.MarkOf(a.Name())
	if c.state.IsWritten(mark) {
		work.Attachments = work.Attachments[1:]
		c.streams.Drop(a)
		return export.Result{}, nil
	}
	c.readAhead(ctx)
	found, err := c.write(ctx, a)
	if err != nil || found.Stop.Stops() {
		return found.Stop, err
	}
	work.Attachments = work.Attachments[1:]
	if found.Failed != nil && c.outage.mayPass(found.Failed) {
		work.Deferred.Attachments = append(work.Deferred.Attachments, a)
		if c.outage.recordFailure() {
			c.streams.DropAll()
		}
		return export.Result{}, nil
	}
	work.Ended++
	defer c.pace.reportProgress()
	account := c.state.Accounts.Of("Binary")
	if failed := found.Failed; failed != nil {
		account.Miss(1, checkpoint.OutcomeOf(failed), checkpoint.NamedLoss(failed), failed.Status)
		return export.Result{}, nil
	}
	c.outage.recordAnswer()
	c.state.SetWritten(mark)
	c.state.Accounts.Count("Binary")
	account.Answer("")
	return export.Result{}, nil
}

// readAhead starts to read the attachments that follow the first one. The first attachment is streamed immediately, so
// it does not need a buffer.
func (c attacher) readAhead(ctx context.Context) {
	for _, a := range c.state.Work.Attachments[1:] {
		if c.streams.Full() {
			return
		}
		if !c.streams.Has(a) && !c.state.IsWritten(checkpoint.MarkOf(a.Name())) {
			c.streams.Start(ctx, a, source.Wanted{}, c.session.Content(a.URL))
		}
	}
}

// write writes the line for an attachment, either from prefetched data or by streaming.
func (c attacher) write(ctx context.Context, a checkpoint.Attachment) (source.Page, error) {
	if c.streams.Has(a) {
		found, err := c.streams.Take(ctx, a, func() { c.readAhead(ctx) })
		c.streams.Drop(a)
		if err != nil || !found.IsThere() {
			return found, err
		}
		if content := found.Content; content != nil {
			return found, c.line(a, content.Type, bytes.NewReader(content.Data))
		}
	}
	return c.stream(ctx, a)
}

// stream writes the line for an attachment without holding the whole line in memory. If the stream breaks, the partial
// line is rolled back.
func (c attacher) stream(ctx context.Context, a checkpoint.Attachment) (source.Page, error) {
	out := c.writer.out
	if err := out.mark(); err != nil {
		return source.Page{}, err
	}
	answer, err := c.session.Ask(ctx, c.state.Work.TakeTried(), func(ctx context.Context) (fhir.Response, error) {
		rate, err := c.copy(ctx, a)
		if err == nil {
			return fhir.Response{Rate: rate}, nil
		}
		if failure := out.rewind(context.WithoutCancel(ctx)); failure != nil {
			return fhir.Response{}, failure
		}
		return fhir.Response{}, err
	})
	return source.Page{Failed: answer.Failed, Stop: answer.Stop}, err
}

// copy writes the line for an attachment while reading its content.
func (c attacher) copy(ctx context.Context, a checkpoint.Attachment) (fhir.Rate, error) {
	file, err := c.session.Attachment(ctx, a.URL, maxAttachment)
	if err != nil {
		return fhir.Rate{}, err
	}
	defer func() { _ = file.Body.Close() }()
	return file.Rate, c.line(a, file.ContentType, file.Body)
}

// line writes a Binary resource that contains an attachment. The record's media type takes precedence over the
// response's.
func (c attacher) line(a checkpoint.Attachment, contentType string, content io.Reader) error {
	out := c.writer.out
	head := struct {
		ResourceType string `json:"resourceType"`
		ID           string `json:"id"`
		Meta         *meta  `json:"meta,omitempty"`
		ContentType  string `json:"contentType"`
	}{ResourceType: "Binary", ID: a.ID, ContentType: cmp.Or(a.ContentType, contentType)}
	if c.writer.isSourced() {
		head.Meta = &meta{Source: a.URL}
	}
	begin, err := json.Marshal(head)
	if err != nil {
		return fmt.Errorf("encode binary: %w", err)
	}
	if _, err = out.Write(append(begin[:len(begin)-1], `,"data":"`...)); err != nil {
		return err
	}
	encoder := base64.NewEncoder(base64.StdEncoding, out)
	if _, err = io.Copy(encoder, content); err != nil {
		return fmt.Errorf("copy attachment: %w", err)
	}
	if err = encoder.Close(); err != nil {
		return fmt.Errorf("encode binary: %w", err)
	}
	_, err = out.Write([]byte("\"}\n"))
	return err
}

type meta struct {
	Source string `json:"source"`
}
