package collect

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"

	"recordbridge/shared/export"
	"recordbridge/shared/export/checkpoint"
	"recordbridge/shared/fhir"
)

// maxAttachment is the largest attachment that is exported, in bytes.
const maxAttachment = 25 << 20

// attacher copies attachments.
type attacher struct {
	run    *run
	writer *writer
}

// all copies the attachments that wait.
func (c attacher) all(ctx context.Context) (export.Result, error) {
	for len(c.run.state.Work.Attachments) > 0 {
		if stop, err := c.step(ctx); err != nil || stop.Stops() {
			return stop, err
		}
	}
	return export.Result{}, nil
}

// step writes the first attachment as a Binary. It is never held in memory: a line that breaks in the middle is taken back.
func (c attacher) step(ctx context.Context) (export.Result, error) {
	r := c.run
	if stop := r.isDue(); stop.Stops() {
		return stop, nil
	}
	work := &r.state.Work
	a, tried := work.Attachments[0], work.TakeTried()
	mark := checkpoint.MarkOf(a.Name())
	if r.state.IsWritten(mark) {
		work.Attachments = work.Attachments[1:]
		return export.Result{}, nil
	}
	if err := r.out.mark(); err != nil {
		return export.Result{}, err
	}
	answer, err := r.session.Ask(ctx, tried, func(ctx context.Context) (fhir.Answer, error) {
		rate, err := c.copy(ctx, a)
		if err == nil {
			return fhir.Answer{Rate: rate}, nil
		}
		if failure := r.out.rewind(context.WithoutCancel(ctx)); failure != nil {
			return fhir.Answer{}, failure
		}
		return fhir.Answer{}, err
	})
	if err != nil || answer.Stop.Stops() {
		return answer.Stop, err
	}
	work.Attachments = work.Attachments[1:]
	if answer.Failed != nil && r.outage.mayPass(answer.Failed) {
		work.Later.Attachments = append(work.Later.Attachments, a)
		r.outage.recordFailure()
		return export.Result{}, nil
	}
	work.Ended++
	defer r.tell()
	account := r.state.Accounts.Of("Binary")
	if failed := answer.Failed; failed != nil {
		account.Miss(1, checkpoint.OutcomeOf(failed), checkpoint.NamedLoss(failed), failed.Status)
		return export.Result{}, nil
	}
	r.outage.recordAnswer()
	r.state.SetWritten(mark)
	r.state.Accounts.Count("Binary")
	account.Answer("")
	return export.Result{}, nil
}

// copy writes the line of one attachment while it is read.
func (c attacher) copy(ctx context.Context, a checkpoint.Attachment) (fhir.Rate, error) {
	out := c.run.out
	file, err := c.run.session.Attachment(ctx, a.URL, maxAttachment)
	if err != nil {
		return fhir.Rate{}, err
	}
	defer func() { _ = file.Body.Close() }()
	head := struct {
		ResourceType string `json:"resourceType"`
		ID           string `json:"id"`
		Meta         *meta  `json:"meta,omitempty"`
		ContentType  string `json:"contentType"`
	}{ResourceType: "Binary", ID: a.ID, ContentType: a.ContentType}
	if head.ContentType == "" {
		head.ContentType = file.ContentType
	}
	if c.writer.isSourced() {
		head.Meta = &meta{Source: a.URL}
	}
	begin, err := json.Marshal(head)
	if err != nil {
		return fhir.Rate{}, fmt.Errorf("encode binary: %w", err)
	}
	if _, err = out.Write(append(begin[:len(begin)-1], `,"data":"`...)); err != nil {
		return fhir.Rate{}, err
	}
	encoder := base64.NewEncoder(base64.StdEncoding, out)
	if _, err = io.Copy(encoder, file.Body); err != nil {
		return fhir.Rate{}, fmt.Errorf("copy attachment: %w", err)
	}
	if err = encoder.Close(); err != nil {
		return fhir.Rate{}, fmt.Errorf("encode binary: %w", err)
	}
	_, err = out.Write([]byte("\"}\n"))
	return file.Rate, err
}

type meta struct {
	Source string `json:"source"`
}
