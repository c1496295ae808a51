package s3_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"recordbridge/infra/local/aws/s3"
)

// FuzzServerRespondsToEverySignedRequest checks that signed requests of any form receive an HTTP status and never cause
// a panic or an InternalError.
func FuzzServerRespondsToEverySignedRequest(f *testing.F) {
	f.Add("PUT", "/exports/k", "", "body", "bytes=0-")
	f.Add("GET", "/exports", "list-type=2&delimiter=/&max-keys=1", "", "")
	f.Add("POST", "/exports/k", "uploadId=x", "<CompleteMultipartUpload>", "bytes=9223372036854775807-")
	f.Add("PUT", "/exports/k", "partNumber=99999999999999999999&uploadId=", "", "bytes=--1")
	f.Add("PUT", "/exports/k", "partNumber=1&uploadId=x&response-expires=1", "5\r\n", "bytes=-9223372036854775808")
	f.Add("", "//", "delete", "<Delete>", "-")
	f.Fuzz(func(t *testing.T, method, path, query, body, header string) {
		target := (&url.URL{Path: "/" + strings.TrimPrefix(path, "/"), RawQuery: query}).String()
		if _, err := http.NewRequestWithContext(t.Context(), method, "http://127.0.0.1"+target, http.NoBody); err != nil {
			t.Skip("net/http itself refuses it")
		}
		server := newServer(t, s3.Options{})
		createBucket(t, connect(server))
		put(t, connect(server), "k", "body")
		for _, hash := range []string{"UNSIGNED-PAYLOAD", "STREAMING-UNSIGNED-PAYLOAD-TRAILER", header} {
			status, answer := raw{method, target, body, map[string]string{
				"X-Amz-Content-Sha256": hash, "Range": header, "X-Amz-Copy-Source": header, "X-Amz-Trailer": header,
				"If-None-Match":                header,
				"X-Amz-Decoded-Content-Length": "4",
			}}.send(t, inProcess{server})
			if status < 200 || status == http.StatusInternalServerError || status > 501 {
				t.Errorf("got %d %s", status, answer)
			}
		}
	})
}
