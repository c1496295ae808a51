package s3_test

import (
	"net/http"
	"strings"
	"testing"

	"recordbridge/infra/local/aws/s3"
)

// TestS3RejectsUnsupportedOperations covers S3 features that this server lacks. The scripts in infra/test/conformance
// cover the requests that S3 itself rejects.
func TestS3RejectsUnsupportedOperations(t *testing.T) {
	t.Parallel()
	server := newServer(t, s3.Options{})
	createBucket(t, connect(server))
	put(t, connect(server), "k", "body")
	for name, target := range map[string]string{
		"tags are no object":            "PUT /exports/k?tagging=",
		"a policy is no bucket":         "PUT /other?policy=",
		"a lifecycle is no bucket":      "PUT /exports?lifecycle=",
		"the old listing":               "GET /exports",
		"the owners of a listing":       "GET /exports?list-type=2&fetch-owner=true",
		"a listing after a key":         "GET /exports?list-type=2&start-after=a",
		"a page of buckets":             "GET /?max-buckets=1",
		"buckets of a prefix":           "GET /?prefix=a",
		"the head of a bucket":          "HEAD /exports",
		"one part of an object":         "GET /exports/k?partNumber=1",
		"the parts of an upload":        "GET /exports/k?uploadId=u",
		"a version":                     "GET /exports/k?versionId=1",
		"another header of the answer":  "GET /exports/k?response-content-language=de",
		"a bucket is kept":              "DELETE /exports",
		"many deletes":                  "POST /exports?delete=",
		"a form post":                   "POST /exports",
		"a restoration":                 "POST /exports/k?restore=",
		"the acceleration of transfers": "PUT /exports?accelerate=",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			method, address, _ := strings.Cut(target, " ")
			expect(t, server, raw{method: method, target: address}, http.StatusNotImplemented, "NotImplemented")
		})
	}
}

func TestS3RejectsUnsupportedHeaders(t *testing.T) {
	t.Parallel()
	server := newServer(t, s3.Options{})
	createBucket(t, connect(server))
	put(t, connect(server), "k", "body")
	for header, method := range map[string]string{
		"X-Amz-Storage-Class: GLACIER": http.MethodPut, "X-Amz-Acl: public-read": http.MethodPut,
		"X-Amz-Tagging: a=b":                           http.MethodPut,
		"X-Amz-Server-Side-Encryption: aws:kms":        http.MethodPut,
		"X-Amz-Server-Side-Encryption-Customer-Key: a": http.MethodGet,
		"X-Amz-Expected-Bucket-Owner: 999999999999":    http.MethodGet, "X-Amz-If-Match-Size: 4": http.MethodDelete,
		"If-Match: *": http.MethodDelete, "If-None-Match: *": http.MethodGet,
		`If-None-Match: "5d41402abc4b2a76b9719d911017c592"`:  http.MethodPut,
		"If-Modified-Since: Mon, 01 Jan 1996 00:00:00 GMT":   http.MethodGet,
		"If-Unmodified-Since: Mon, 01 Jan 1996 00:00:00 GMT": http.MethodHead,
		"X-Amz-Checksum-Crc32c: mnG7TA==":                    http.MethodPut, "X-Amz-Checksum-Sha256: a": http.MethodPut,
		"X-Amz-Checksum-Crc64nvme: a":         http.MethodPut,
		"X-Amz-Trailer: x-amz-checksum-crc32": http.MethodPut, "X-Amz-Copy-Source: /exports/k": http.MethodPut,
		"X-Amz-Content-Sha256: STREAMING-UNSIGNED-PAYLOAD-TRAILER": http.MethodPut,
		"X-Amz-Sdk-Checksum-Algorithm: SHA1":                       http.MethodPut,
	} {
		t.Run(header, func(t *testing.T) {
			t.Parallel()
			name, value, _ := strings.Cut(header, ": ")
			expect(t, server, raw{method, "/exports/k", "", map[string]string{name: value}}, http.StatusNotImplemented,
				"NotImplemented")
		})
	}
}

func TestS3RejectsMalformedRequests(t *testing.T) {
	t.Parallel()
	server := newServer(t, s3.Options{})
	client := connect(server)
	createBucket(t, client)
	upload := "/exports/k?uploadId=" + *begin(t, client).id
	put(t, client, "k", "body")
	tests := map[string]struct {
		request raw
		status  int
		code    string
	}{
		"listing three":            {raw{method: http.MethodGet, target: "/exports?list-type=3"}, 400, "InvalidArgument"},
		"an unknown method":        {raw{method: "BREW", target: "/exports/k"}, 405, "MethodNotAllowed"},
		"no list of buckets":       {raw{method: http.MethodDelete, target: "/"}, 405, "MethodNotAllowed"},
		"a form post of an object": {raw{method: http.MethodPost, target: "/exports/k"}, 405, "MethodNotAllowed"},
		"keys are UTF-8":           {raw{method: http.MethodPut, target: "/exports/%FF"}, 400, "InvalidURI"},
		"metadata is UTF-8": {
			raw{http.MethodPut, "/exports/k", "body", map[string]string{"X-Amz-Meta-A": "\xff"}},
			400, "InvalidArgument",
		},
		"a huge document": {
			raw{method: http.MethodPost, target: upload, body: strings.Repeat(" ", 5<<20)},
			400,
			"MaxMessageLengthExceeded",
		},
		"another document": {raw{method: http.MethodPost, target: upload, body: "<Other/>"}, 400, "MalformedXML"},
		"a part that is no number": {
			raw{
				method: http.MethodPost, target: upload,
				body: "<CompleteMultipartUpload><Part><PartNumber>x</PartNumber></Part></CompleteMultipartUpload>",
			},
			400,
			"MalformedXML",
		},
		"a configured bucket": {
			raw{method: http.MethodPut, target: "/other", body: "<CreateBucketConfiguration/>"},
			501,
			"NotImplemented",
		},
		"a claim about the object": {
			raw{http.MethodPost, upload, "", map[string]string{"X-Amz-Checksum-Crc32": "AAAAAA=="}},
			501, "NotImplemented",
		},
		"a copy of a version": {
			raw{http.MethodPut, upload + "&partNumber=1", "", map[string]string{"X-Amz-Copy-Source": "/exports/k?versionId=1"}},
			501, "NotImplemented",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			expect(t, server, tt.request, tt.status, tt.code)
		})
	}
}

func expect(t *testing.T, server *s3.Server, q raw, status int, code string) {
	t.Helper()
	got, answer := q.send(t, inProcess{server})
	if got != status || q.method != http.MethodHead && !strings.Contains(answer, "<Code>"+code+"</Code>") {
		t.Errorf("got %d %s, want %d %s", got, answer, status, code)
	}
}
