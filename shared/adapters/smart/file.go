package smart

import (
	"errors"
	"io"
	"mime"
	"net/http"

	"recordbridge/shared/fhir"
)

// maxMediaType is the longest media type in bytes that is passed on.
const maxMediaType = 200

// file makes the File of a good answer, of at most limit bytes.
func file(response *http.Response, limit int64) fhir.File {
	body := &bounded{body: response.Body, left: max(0, limit)}
	if response.ContentLength > limit {
		body.left = -1 // not one byte of what will be thrown away
	}
	return fhir.File{Body: body, ContentType: mediaType(response.Header), Rate: rate(response.Header)}
}

// mediaType returns the Content-Type of an answer in its canonical form; empty when there is none that can be read.
func mediaType(header http.Header) string {
	stated, parameters, err := mime.ParseMediaType(header.Get("Content-Type"))
	if err != nil {
		return ""
	}
	if text := mime.FormatMediaType(stated, parameters); len(text) <= maxMediaType {
		return text
	}
	return ""
}

// bounded is the body of an answer whose errors are *fhir.RequestError and that gives no more bytes than it may.
type bounded struct {
	body io.ReadCloser
	left int64 // bytes that may still come; negative once there was one more
}

// Read implements io.Reader.
func (b *bounded) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, &fhir.RequestError{Class: fhir.TooLarge}
	}
	n, err := b.body.Read(p[:min(int64(len(p)), b.left+1)]) // one byte more tells the end from a limit that is passed
	b.left -= int64(n)
	switch {
	case b.left < 0:
		return n - 1, &fhir.RequestError{Class: fhir.TooLarge}
	case errors.Is(err, io.EOF):
		return n, io.EOF
	case err != nil:
		return n, unanswered(err)
	}
	return n, nil
}

// Close implements io.Closer. What cannot be closed any more is no failure of what was read.
func (b *bounded) Close() error {
	_ = b.body.Close()
	return nil
}
