package iam

import (
	"net/http"
	"net/url"
	"strings"

	"recordbridge/infra/local/aws/wire"
)

// objectNeeds returns the permissions that an S3 call requires ("Required permissions for Amazon S3 API operations").
func (a *Authority) objectNeeds(r *http.Request, c wire.Call) []need {
	bucket, key := address(r)
	resource := "arn:aws:s3:::" + bucket
	switch c.Operation {
	case "ListBuckets":
		return []need{{action: "s3:ListAllMyBuckets", resource: "*"}}
	case "ListObjectsV2":
		list := need{action: "s3:ListBucket", resource: resource}
		if prefix := r.URL.Query().Get("prefix"); prefix != "" {
			list.keys = map[string][]string{prefixKey: {prefix}}
		}
		return []need{list}
	case "GetObject", "HeadObject":
		return a.reading(bucket, key, c.Operation == "GetObject" || r.Header.Get("X-Amz-Checksum-Mode") != "")
	case "PutObject", "CreateMultipartUpload", "UploadPart", "UploadPartCopy", "CompleteMultipartUpload", "CopyObject":
		return a.writing(r, c, bucket, key)
	default: // for DeleteObject, AbortMultipartUpload and CreateBucket, the permission has the operation's name
		if key != "" {
			resource += "/" + key
		}
		return []need{{action: "s3:" + c.Operation, resource: resource}}
	}
}

// reading returns the permissions required to read an object. If content is set, reading includes the permission to
// decrypt the object's content; metadata is not encrypted.
func (a *Authority) reading(bucket, key string, content bool) []need {
	needs := []need{{action: "s3:GetObject", resource: "arn:aws:s3:::" + bucket + "/" + key}}
	if content {
		needs = append(needs, a.sealed(bucket, "kms:Decrypt")...)
	}
	return needs
}

// writing returns the permissions required to write an object or a part. S3 encrypts an upload's parts with a data key
// created when the upload begins, so writing a part requires permission to decrypt that key.
func (a *Authority) writing(r *http.Request, c wire.Call, bucket, key string) []need {
	needs := []need{{action: "s3:PutObject", resource: "arn:aws:s3:::" + bucket + "/" + key}}
	switch c.Operation {
	case "UploadPart", "UploadPartCopy", "CompleteMultipartUpload":
		needs = append(needs, a.sealed(bucket, "kms:Decrypt")...)
	default:
		needs = append(needs, a.sealed(bucket, "kms:GenerateDataKey")...)
	}
	if c.Operation == "UploadPartCopy" || c.Operation == "CopyObject" {
		source, from := copySource(r)
		needs = append(needs, a.reading(source, from, true)...)
	}
	return needs
}

// sealed returns the permission that the caller needs for a bucket's KMS key, because S3 uses the key on the caller's
// behalf. If the bucket has no key, sealed returns nil. All buckets in the template use S3 Bucket Keys, so the
// encryption context contains the bucket's ARN.
func (a *Authority) sealed(bucket, action string) []need {
	key := a.keys[bucket]
	if key == "" {
		return nil
	}
	return []need{{action: action, resource: key, keys: map[string][]string{
		viaServiceKey:                {"s3.us-east-1.amazonaws.com"},
		contextPrefix + "aws:s3:arn": {"arn:aws:s3:::" + bucket},
	}}}
}

// address splits "/bucket/key". The key includes every slash after the bucket.
func address(r *http.Request) (bucket, key string) {
	path, err := url.PathUnescape(r.URL.EscapedPath())
	if err != nil {
		path = r.URL.Path
	}
	bucket, key, _ = strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return bucket, key
}

// copySource splits the copy source header, which has the form "bucket/key?versionId=1". A leading slash is optional.
func copySource(r *http.Request) (bucket, key string) {
	source, _, _ := strings.Cut(r.Header.Get("X-Amz-Copy-Source"), "?")
	if decoded, err := url.PathUnescape(source); err == nil {
		source = decoded
	}
	bucket, key, _ = strings.Cut(strings.TrimPrefix(source, "/"), "/")
	return bucket, key
}

// conceal makes a missing object look like a forbidden one if the caller may not list the bucket, because S3 does not
// reveal to such callers which keys exist.
func (a *Authority) conceal(w http.ResponseWriter, r *http.Request, c wire.Call, caller *role) http.ResponseWriter {
	bucket, _ := address(r)
	list := need{action: "s3:ListBucket", resource: "arn:aws:s3:::" + bucket}
	return &concealer{ResponseWriter: w, missing: func() bool {
		if _, ok := a.decide(caller, []need{list}); ok {
			return false
		}
		w.Header().Del("Content-Length")
		deny(w, r, c, list)
		return true
	}}
}

// concealer calls missing if the response is 404. If missing sends its own response, concealer discards the 404
// response.
type concealer struct {
	http.ResponseWriter

	missing func() (answered bool)
	dropped bool
}

// WriteHeader implements http.ResponseWriter.
func (c *concealer) WriteHeader(status int) {
	if status == http.StatusNotFound {
		c.dropped = c.missing()
	}
	if !c.dropped {
		c.ResponseWriter.WriteHeader(status)
	}
}

// Write implements http.ResponseWriter.
func (c *concealer) Write(part []byte) (int, error) {
	if c.dropped {
		return len(part), nil
	}
	return c.ResponseWriter.Write(part)
}
