package smart

import (
	"errors"
	"io"
	"mime"
	"net/http"

	"recordbridge/shared/fhir"
)

// maxMediaType is the maximum length in bytes of a media type that is passed on.
const maxMediaType = 200

// file creates the File of a successful response, of at most limit bytes.
func file(response *http.Response, limit int64) fhir.File {
	body := &bounded{body: response.Body, left: max(0, limit)}
	if response.ContentLength > limit {
		body.left = -1 // read no byte of a body that will be discarded
	}
	return fhir.File{Body: body, ContentType: mediaType(response.Header), Rate: rate(response.Header)}
}

// mediaType returns the Content-Type of a response in canonical form, or "" if there is no readable one.
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

// bounded is a response body with a size limit. Its errors are of type *fhir.RequestError.
type bounded struct {
	body io.ReadCloser
	left int64 // bytes still allowed; negative once the limit is exceeded
}

// Read implements io.Reader.
func (b *bounded) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, &fhir.RequestError{Class: fhir.TooLarge}
	}
	n, err := b.body.Read(p[:min(int64(len(p)), b.left+1)]) // one extra byte distinguishes the end from an exceeded limit
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

// Close implements io.Closer. It ignores the error, which does not affect the data already read.
func (b *bounded) Close() error {
	_ = b.body.Close()
	return nil
}
