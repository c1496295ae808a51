package export

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"

	"recordbridge/shared/fhir"
)

// maxAttachment is the largest attachment that is exported, in bytes.
const maxAttachment = 25 << 20

// attachment is content that the record names by an address of the server.
type attachment struct {
	URL         string `json:"url"`
	ContentType string `json:"content_type,omitempty"` // as the record states it
	ID          string `json:"id"`                     // of the Binary that it becomes
}

// attachmentID is the id of the Binary that the content at an address becomes: the same in every export.
func attachmentID(address string) string {
	sum := sha256.Sum256([]byte(address))
	return "b-" + hex.EncodeToString(sum[:])[:60]
}

// attach writes the first attachment as a Binary. It is never held in memory: a line that breaks in the middle is taken
// back.
func (c *collector) attach(ctx context.Context) error {
	if err := c.checkTime(); err != nil {
		return err
	}
	a, tried := c.state.Attachments[0], c.tried()
	name := "Binary/" + a.ID
	if c.state.written.has(markOf(name)) {
		c.state.Attachments = c.state.Attachments[1:]
		return nil
	}
	if err := c.out.mark(); err != nil {
		return err
	}
	_, err := c.ask(ctx, tried, func(ctx context.Context) (fhir.Answer, error) {
		rate, err := c.copyAttachment(ctx, a)
		if err == nil {
			return fhir.Answer{Rate: rate}, nil
		}
		if failure := c.out.rewind(context.WithoutCancel(ctx)); failure != nil {
			return fhir.Answer{}, failure
		}
		return fhir.Answer{}, err
	})
	failed, isFailed := refusedRequest(err)
	if err != nil && !isFailed {
		return err
	}
	c.state.Attachments = c.state.Attachments[1:]
	if isFailed && c.mayPass(failed) {
		c.state.Later.Attachments = append(c.state.Later.Attachments, a)
		c.silence()
		return nil
	}
	c.state.Done++
	defer c.tell()
	account := c.state.account("Binary")
	if isFailed {
		account.Missing++
		account.fail(outcomeOf(failed), namedReason(failed), failed.Status)
		return nil
	}
	c.answered()
	c.state.written.add(markOf(name))
	c.state.Counts["Binary"]++
	account.Answered++
	return nil
}

// copyAttachment writes the line of one attachment while it is read.
func (c *collector) copyAttachment(ctx context.Context, a attachment) (fhir.Rate, error) {
	file, err := c.source.Attachment(ctx, a.URL, maxAttachment)
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
	if c.sourced() {
		head.Meta = &meta{Source: a.URL}
	}
	begin, err := json.Marshal(head)
	if err != nil {
		return fhir.Rate{}, fmt.Errorf("encode binary: %w", err)
	}
	if _, err = c.out.Write(append(begin[:len(begin)-1], `,"data":"`...)); err != nil {
		return fhir.Rate{}, err
	}
	encoder := base64.NewEncoder(base64.StdEncoding, c.out)
	if _, err = io.Copy(encoder, file.Body); err != nil {
		return fhir.Rate{}, fmt.Errorf("copy attachment: %w", err)
	}
	if err = encoder.Close(); err != nil {
		return fhir.Rate{}, fmt.Errorf("encode binary: %w", err)
	}
	_, err = c.out.Write([]byte("\"}\n"))
	return file.Rate, err
}

type meta struct {
	Source string `json:"source"`
}
