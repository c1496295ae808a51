package export

import (
	"context"
	"errors"

	"recordbridge/shared/fhir"
)

// maxRounds bounds how far references of references are followed (fhir notes section 2.3).
const maxRounds = 5

// reference is a resource that the record refers to.
type reference struct {
	Type  string `json:"type"`
	ID    string `json:"id"`
	Round int    `json:"round"` // 1 for what a search has found refers to it
}

func (r reference) name() string { return r.Type + "/" + r.ID }

// follow writes the first resource of todo, unless it is there already, while the next ones are read.
func (c *collector) follow(ctx, ahead context.Context, todo *[]reference) error {
	if err := c.checkTime(); err != nil {
		return err
	}
	c.readAhead(ahead, *todo)
	r := (*todo)[0]
	reading := c.reads[r]
	if reading == nil { // it was written meanwhile
		*todo = (*todo)[1:]
		return nil
	}
	found, err := reading.take(ctx)
	failed, isFailed := refusedRequest(err)
	if err != nil && !isFailed {
		return err
	}
	*todo = (*todo)[1:]
	delete(c.reads, r)
	if isFailed && c.mayPass(failed) && !c.isFile(r, failed) {
		c.state.Later.Refs = append(c.state.Later.Refs, r)
		c.silence()
		return nil
	}
	c.state.Done++
	defer c.tell()
	if isFailed {
		c.unread(r, failed)
		return nil
	}
	c.answered()
	c.state.account(r.Type).Answered++
	for resource := range found.All() {
		if err := c.write(resource, r.Round); err != nil {
			return err
		}
	}
	return nil
}

// readAhead starts to read the first of todo that are not there yet.
func (c *collector) readAhead(ahead context.Context, todo []reference) {
	for i, r := range todo[:min(inFlight, len(todo))] {
		if c.reads[r] != nil || c.state.written.has(markOf(r.name())) {
			continue
		}
		tried := 0
		if i == 0 {
			tried = c.tried()
		}
		c.reads[r] = c.open(ahead, "", tried, c.reading(r))
	}
}

// isFile reports whether a Binary that could not be read is none in JSON.
func (c *collector) isFile(r reference, failed *fhir.RequestError) bool {
	return r.Type == "Binary" && failed.Class == fhir.Content && !errors.Is(failed, errOther)
}

// unread records a reference that could not be read. A Binary that is no JSON is read as an attachment.
func (c *collector) unread(r reference, failed *fhir.RequestError) {
	if c.isFile(r, failed) {
		c.state.Attachments = append(c.state.Attachments, attachment{URL: c.base.Join(r.Type, r.ID), ID: r.ID})
		return
	}
	account, reason := c.state.account(r.Type), namedReason(failed)
	if reason == LossRefused && !c.granted(r.Type, fhir.Read) {
		reason = LossNotGranted
	}
	account.Missing++
	account.fail(outcomeOf(failed), reason, failed.Status)
}
