package s3

import (
	"net/http"
	"strings"
	"unicode/utf8"
)

const (
	maxMetadata = 2 << 10 // maximum total size of user metadata names and values in bytes
	metaPrefix  = "X-Amz-Meta-"
	encryption  = "X-Amz-Server-Side-Encryption"
)

// storedHeaders returns the request headers that are stored with an object and returned by later reads.
func storedHeaders(h http.Header) (map[string]string, error) {
	stored := map[string]string{"Content-Type": "binary/octet-stream"}
	for _, name := range []string{
		"Content-Type", "Content-Disposition", "Content-Encoding", "Content-Language", "Cache-Control", "Expires",
	} {
		if value := h.Get(name); value != "" {
			stored[name] = value
		}
	}
	size := 0
	for name, values := range h {
		if strings.HasPrefix(name, metaPrefix) {
			stored[name] = strings.Join(values, ",")
			size += len(name) - len(metaPrefix) + len(stored[name])
		}
	}
	if size > maxMetadata {
		return nil, refuse("MetadataTooLarge", "your metadata headers exceed the maximum allowed metadata size")
	}
	for name, value := range stored {
		if !utf8.ValidString(value) { // JSON encoding in the journal would alter invalid UTF-8
			return nil, refuse("InvalidArgument", "the header %s is not valid UTF-8", name)
		}
	}
	return stored, nil
}

// setEncryption sets the response header that reports S3's default encryption.
func setEncryption(h http.Header) { h.Set(encryption, "AES256") }

// overrideHeader returns the response header that a GetObject query parameter overrides.
func overrideHeader(parameter string) (header string, ok bool) {
	switch parameter {
	case "response-content-type", "response-content-disposition", "response-cache-control":
		return http.CanonicalHeaderKey(strings.TrimPrefix(parameter, "response-")), true
	default:
		return "", false
	}
}

// refuseUnknownFeatures rejects headers that request unsupported features, which would otherwise be silently ignored.
// The only supported write condition is If-None-Match: *, which creates an object only if its key does not exist
// ("Conditional writes" of the S3 user guide).
func refuseUnknownFeatures(r *http.Request) error {
	for name := range r.Header {
		for _, prefix := range []string{
			"X-Amz-Tagging", "X-Amz-Object-Lock-", "X-Amz-Grant-", "X-Amz-Acl", "X-Amz-Website-", "X-Amz-Write-Offset-Bytes",
			"X-Amz-Bucket-Object-Lock-", encryption, "X-Amz-Storage-Class", "X-Amz-Expected-Bucket-Owner",
			"X-Amz-Mp-Object-Size",
			"X-Amz-Source-Expected-Bucket-Owner", "X-Amz-If-Match-", "If-Modified-Since", "If-Unmodified-Since",
			copySource + "-If-None-Match", copySource + "-If-Modified-Since", copySource + "-If-Unmodified-Since",
			copySource + "-Server-Side-Encryption", "X-Amz-Checksum-Crc32c", "X-Amz-Checksum-Crc64nvme", "X-Amz-Checksum-Sha",
			"X-Amz-Trailer",
		} {
			if strings.HasPrefix(name, prefix) {
				return notImplemented(name)
			}
		}
	}
	if isRead := r.Method == http.MethodGet || r.Method == http.MethodHead; !isRead && r.Header.Get("If-Match") != "" {
		return notImplemented("If-Match")
	}
	if condition := r.Header.Get("If-None-Match"); condition != "" && (condition != "*" || operationOf(r) != "PutObject") {
		return notImplemented("If-None-Match")
	}
	return nil
}

func notImplemented(header string) error {
	return refuse("NotImplemented", "the header %s asks for something the embedded S3 does not do",
		header).with("Header", header)
}
