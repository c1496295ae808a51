package s3

import (
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"
)

const maxKeyBytes = 1024

type request struct {
	*http.Request

	bucket string
	key    string
	query  url.Values
	body   io.Reader // never nil
}

// newRequest parses a request. It rejects invalid URLs and requests for unsupported features.
func newRequest(r *http.Request) (*request, error) {
	bucket, key := address(r)
	switch {
	case !utf8.ValidString(key) || !utf8.ValidString(bucket):
		return nil, refuse("InvalidURI", "the path is not valid UTF-8")
	case len(key) > maxKeyBytes:
		return nil, errKeyTooLong(len(key))
	}
	if err := refuseUnknownFeatures(r); err != nil {
		return nil, err
	}
	req := &request{Request: r, bucket: bucket, key: key, query: r.URL.Query(), body: r.Body}
	if r.Body == nil { // in-process SDK clients may omit the body
		req.body = http.NoBody
	}
	return req, nil
}

// address splits the path "/bucket/key". The key includes every slash after the bucket.
func address(r *http.Request) (bucket, key string) {
	path, err := url.PathUnescape(r.URL.EscapedPath())
	if err != nil {
		path = r.URL.Path
	}
	bucket, key, _ = strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return bucket, key
}

// Operation implements wire.Service.
func (s *Server) Operation(r *http.Request) string { return operationOf(r) }

// operationOf returns the operation's name, or "" if no supported operation has the request's method, level and
// sub-resource.
func operationOf(r *http.Request) string {
	level := "object"
	switch bucket, key := address(r); {
	case bucket == "":
		level = "service"
	case key == "":
		level = "bucket"
	}
	asked := r.Method + " " + level
	if sub := subresource(r.URL.Query()); sub != "" {
		asked += " " + sub
	}
	return operationName(asked, r.Header.Get("X-Amz-Copy-Source") != "")
}

// operationName returns the AWS and IAM name of the operation for a method, level and sub-resource.
func operationName(asked string, copies bool) string {
	switch asked {
	case "GET service":
		return "ListBuckets"
	case "PUT bucket":
		return "CreateBucket"
	case "GET bucket list-type":
		return "ListObjectsV2"
	case "PUT object":
		if copies {
			return "CopyObject" // has no handler; named only for the log
		}
		return "PutObject"
	case "GET object":
		return "GetObject"
	case "HEAD object":
		return "HeadObject"
	case "DELETE object":
		return "DeleteObject"
	case "POST object uploads":
		return "CreateMultipartUpload"
	case "PUT object partNumber,uploadId":
		if copies {
			return "UploadPartCopy"
		}
		return "UploadPart"
	case "POST object uploadId":
		return "CompleteMultipartUpload"
	case "DELETE object uploadId":
		return "AbortMultipartUpload"
	default:
		return ""
	}
}

// notAllowed reports whether S3 also lacks an operation for a request that this package doesn't support.
func notAllowed(r *http.Request) bool {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodPut, http.MethodDelete:
		bucket, _ := address(r)
		return bucket == "" && r.Method != http.MethodGet
	case http.MethodPost:
		_, key := address(r)
		return key != "" && subresource(r.URL.Query()) == ""
	default:
		return r.Method != http.MethodOptions
	}
}

// subresource returns the sorted names of query parameters, except those that only modify an operation. Unknown names
// are included, so that a request with "?acl" or "?tagging" is never mistaken for a plain read or write.
func subresource(query url.Values) string {
	var names []string
	for name := range query {
		if !isModifier(name) && (!isOfListing(name) || !query.Has("list-type")) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return strings.Join(names, ",")
}

func isModifier(name string) bool {
	if _, ok := overrideHeader(name); ok || strings.HasPrefix(strings.ToLower(name), "x-amz-") {
		return true
	}
	return name == "x-id" // SDKs send the operation's name in this parameter
}

func isOfListing(name string) bool {
	return slices.Contains([]string{"prefix", "delimiter", "max-keys", "continuation-token", "encoding-type"}, name)
}
