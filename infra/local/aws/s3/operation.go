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

// request is a call whose path has been taken apart.
type request struct {
	*http.Request

	bucket string
	key    string
	query  url.Values
	body   io.Reader // never nil
}

// newRequest refuses addresses that S3 refuses.
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
	if r.Body == nil { // an SDK client that calls us without a socket may leave it out
		req.body = http.NoBody
	}
	return req, nil
}

// address splits "/bucket/key". The key keeps every slash after the first.
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

// operationOf is "" when the method, the level and the sub-resource name nothing served.
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

// operationName maps method, level and sub-resource to the name that AWS and IAM use.
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
			return "CopyObject" // named for the log; it has no handler
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

// notAllowed tells whether a call that is no operation of ours is none of S3 either.
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

// subresource is the sorted rest of the query names when those are gone that only modify an operation. An unknown
// name stays in, so that "?acl" or "?tagging" can never be taken for a plain read or write.
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
	return name == "x-id" // names the operation in the SDK's own words
}

// isOfListing tells the parameters of ListObjectsV2.
func isOfListing(name string) bool {
	return slices.Contains([]string{"prefix", "delimiter", "max-keys", "continuation-token", "encoding-type"}, name)
}
