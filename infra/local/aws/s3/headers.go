package s3

import (
	"net/http"
	"strings"
	"unicode/utf8"
)

const (
	maxMetadata = 2 << 10 // bytes of names and values of user metadata
	metaPrefix  = "X-Amz-Meta-"
	encryption  = "X-Amz-Server-Side-Encryption"
	kmsKey      = encryption + "-Aws-Kms-Key-Id"
	bucketKey   = encryption + "-Bucket-Key-Enabled"
)

// storedHeaders are the headers of a write that every later read answers.
func storedHeaders(h http.Header) (map[string]string, error) {
	if err := refuseUnknownFeatures(h); err != nil {
		return nil, err
	}
	if err := checkStorageClass(h.Get("X-Amz-Storage-Class")); err != nil {
		return nil, err
	}
	stored := map[string]string{"Content-Type": "binary/octet-stream"}
	for _, name := range []string{
		"Content-Type", "Content-Disposition", "Content-Language", "Cache-Control", "Expires",
	} {
		if value := h.Get(name); value != "" {
			stored[name] = value
		}
	}
	if coding := contentEncoding(h.Get("Content-Encoding")); coding != "" {
		stored["Content-Encoding"] = coding
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
		if !utf8.ValidString(value) { // the journal, which is JSON, would not give it back
			return nil, refuse("InvalidArgument", "the header %s is not valid UTF-8", name)
		}
	}
	return stored, storeEncryption(stored, h)
}

// checkStorageClass takes the one class that the embedded S3 has.
func checkStorageClass(class string) error {
	switch class {
	case "", "STANDARD":
		return nil
	case "STANDARD_IA", "ONEZONE_IA", "INTELLIGENT_TIERING", "GLACIER", "GLACIER_IR", "DEEP_ARCHIVE", "REDUCED_REDUNDANCY":
		return refuse("NotImplemented", "the embedded S3 has no storage class %s", class)
	default:
		return refuse("InvalidStorageClass", "the storage class you specified is not valid").with("StorageClassRequested", class)
	}
}

// refuseEncryption: reads say nothing of an encryption that S3 undoes by itself.
func refuseEncryption(h http.Header) error {
	if h.Get(encryption) != "" || h.Get(kmsKey) != "" {
		return refuse("InvalidArgument", "%s is not supported for this operation", strings.ToLower(encryption)).
			with("ArgumentName", strings.ToLower(encryption))
	}
	return refuseUnknownFeatures(h)
}

// storeEncryption keeps what the writer asked for; S3 encrypts with its own keys when nothing is asked.
func storeEncryption(stored map[string]string, h http.Header) error {
	kind := h.Get(encryption)
	switch kind {
	case "", "AES256":
		if h.Get(kmsKey) != "" {
			return refuse("InvalidArgument", "a KMS key id is only allowed with the encryption aws:kms")
		}
		stored[encryption] = "AES256"
		return nil
	case "aws:kms", "aws:kms:dsse":
		stored[encryption] = kind
	default:
		return refuse("InvalidArgument", "the encryption method specified is not supported")
	}
	for _, name := range []string{kmsKey, bucketKey} {
		if value := h.Get(name); value != "" {
			stored[name] = value
		}
	}
	return nil
}

// refuseUnknownFeatures keeps a caller from believing in something that would not happen.
func refuseUnknownFeatures(h http.Header) error {
	for name := range h {
		for _, prefix := range []string{
			"X-Amz-Tagging", "X-Amz-Object-Lock-", "X-Amz-Grant-", "X-Amz-Acl", "X-Amz-Website-",
			"X-Amz-Write-Offset-Bytes", "X-Amz-Bucket-Object-Lock-", encryption + "-Customer-", encryption + "-Context",
		} {
			if strings.HasPrefix(name, prefix) {
				return refuse("NotImplemented", "the header %s asks for something the embedded S3 does not do", name)
			}
		}
	}
	return nil
}

// contentEncoding drops aws-chunked, which describes the transfer and not the object.
func contentEncoding(value string) string {
	var kept []string
	for coding := range strings.SplitSeq(value, ",") {
		if coding = strings.TrimSpace(coding); coding != "" && coding != "aws-chunked" {
			kept = append(kept, coding)
		}
	}
	return strings.Join(kept, ",")
}

// setEncryption answers a write with the encryption that was applied.
func setEncryption(h http.Header, stored map[string]string) {
	for _, name := range []string{encryption, kmsKey, bucketKey} {
		if value := stored[name]; value != "" {
			h.Set(name, value)
		}
	}
}

// overrideHeader tells which header of the answer a query parameter of GetObject replaces.
func overrideHeader(parameter string) (header string, ok bool) {
	switch parameter {
	case "response-content-type", "response-content-disposition", "response-content-encoding",
		"response-content-language", "response-cache-control", "response-expires":
		return http.CanonicalHeaderKey(strings.TrimPrefix(parameter, "response-")), true
	default:
		return "", false
	}
}
