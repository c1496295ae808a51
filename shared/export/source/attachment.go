package source

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"recordbridge/shared/fhir"
)

// Attachment opens the content at a URL without retrying on failure.
func (s *Session) Attachment(ctx context.Context, address string, limit int64) (fhir.File, error) {
	return s.server.Attachment(ctx, address, limit)
}

// Content returns a Fetch that prefetches the content at an attachment's URL. If the content exceeds aheadLimit,
// Page.Content is nil and the caller must read the content with Attachment.
func (s *Session) Content(address string) Fetch {
	return func(ctx context.Context, wanted Wanted) (Page, error) {
		var content Content
		answer, err := s.ask(ctx, wanted, func(ctx context.Context) (answer fhir.Response, err error) {
			content, answer.Rate, err = s.content(ctx, address)
			answer.Body = content.Data
			return answer, err
		})
		if failed := answer.Failed; failed != nil && failed.Class == fhir.TooLarge {
			return Page{}, err
		}
		found := Page{Failed: answer.Failed, Stop: answer.Stop}
		if found.IsThere() {
			found.Content, found.room = &content, int64(cap(content.Data))
		}
		return found, err
	}
}

func (s *Session) content(ctx context.Context, address string) (Content, fhir.Rate, error) {
	file, err := s.server.Attachment(ctx, address, aheadLimit)
	if err != nil {
		return Content{}, fhir.Rate{}, err
	}
	defer func() { _ = file.Body.Close() }()
	var data bytes.Buffer
	if _, err = io.Copy(&data, file.Body); err != nil {
		return Content{}, fhir.Rate{}, fmt.Errorf("read attachment: %w", err)
	}
	return Content{Type: file.ContentType, Data: data.Bytes()}, file.Rate, nil
}
