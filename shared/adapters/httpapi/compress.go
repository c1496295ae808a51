package httpapi

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"strings"
)

// leastCompressed is the minimum size, in bytes, of a compressed body. A smaller body fits into a single packet even if
// it is uncompressed.
const leastCompressed = 1024

// compress compresses a reply if the reply is text and the client accepts a compressed encoding. It leaves files
// unchanged, because a file either has its own compressed variants or has an entity tag that identifies its exact
// bytes. API Gateway's own compression is off, because API Gateway considers only the first encoding that the client
// accepts. The first encoding that browsers list is not always gzip.
func compress(r *http.Request, header http.Header, body []byte) []byte {
	if len(body) < leastCompressed || !isText(header.Get("Content-Type")) ||
		header.Get("Content-Encoding") != "" || header.Get("ETag") != "" {
		return body
	}
	header.Add("Vary", "Accept-Encoding")
	if !encodingsOf(r)("gzip") {
		return body
	}
	var buffer bytes.Buffer
	writer, err := gzip.NewWriterLevel(&buffer, gzip.BestSpeed)
	if err != nil { // never happens: the level is valid
		return body
	}
	_, err = writer.Write(body)
	if closed := writer.Close(); err != nil || closed != nil || buffer.Len() >= len(body) {
		return body // writing to a buffer can't fail
	}
	header.Set("Content-Encoding", "gzip")
	return buffer.Bytes()
}

// isText reports whether a media type is one of the service's text types.
func isText(mediaType string) bool {
	name, _, _ := strings.Cut(mediaType, ";")
	return name == "application/json" || name == "text/html"
}
