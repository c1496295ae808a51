package smart

import (
	"errors"
	"io"
	"mime"
	"net/http"

	"recordbridge/shared/fhir"
)

// maxMediaType is the maximum length of a forwarded media type in bytes.
const maxMediaType = 200

// file returns a successful response as a File whose body is limited to limit bytes.
func file(response *http.Response, limit int64) fhir.File {
	body := &bounded{body: response.Body, left: max(0, limit)}
	if response.ContentLength > limit {
		body.left = -1 // makes reading fail before an oversized body is read
	}
	return fhir.File{Body: body, ContentType: mediaType(response.Header), Rate: rate(response.Header)}
}

// mediaType returns a response's Content-Type in canonical form, or "" if the header is missing, malformed or too long.
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

// bounded is a response body with a size limit. All errors from Read except io.EOF are of type *fhir.RequestError.
type bounded struct {
	body io.ReadCloser
	left int64 // bytes still allowed; negative once the limit is exceeded
}

// Read implements io.Reader.
func (b *bounded) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, &fhir.RequestError{Class: fhir.TooLarge}
	}
	n, err := b.body.Read(p[:min(int64(len(p)), b.left+1)]) // one extra byte, to detect an exceeded limit
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

// Close implements io.Closer. Close ignores the error because the data has already been read.
func (b *bounded) Close() error {
	_ = b.body.Close()
	return nil
}
