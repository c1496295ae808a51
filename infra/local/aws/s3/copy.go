package s3

import (
	"crypto/md5" //nolint:gosec // G501: the ETag of a part is defined as its MD5
	"encoding/xml"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
)

const (
	copySource     = "X-Amz-Copy-Source"
	minRangeSource = 5 << 20 // a range can be copied only from a source larger than this many bytes
)

var copySpan = regexp.MustCompile(`^bytes=(0|[1-9][0-9]{0,17})-(0|[1-9][0-9]{0,17})$`)

// uploadPartCopy creates a part from a stored object or from a range of the object. Recordbridge uses this operation to
// assemble exports.
func (s uploadOperations) uploadPartCopy(w http.ResponseWriter, r *request) error {
	number, u, err := s.target(r)
	if err != nil {
		return err
	}
	source, body, err := s.openSource(r.Header)
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }()
	span, err := copyRange(r.Header.Get(copySource+"-Range"), source.Size)
	if err != nil {
		return err
	}
	if _, err = body.Seek(span.start, io.SeekStart); err != nil {
		return fmt.Errorf("find the start of the range: %w", err)
	}
	part, err := s.copyContent(body, span.length, u)
	if err != nil {
		return err
	}
	if err := s.storePart(r, number, part); err != nil {
		return err
	}
	setEncryption(w.Header())
	writeXML(w, http.StatusOK, struct {
		XMLName       xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ CopyPartResult"`
		ETag          string
		LastModified  string
		ChecksumCRC32 crc `xml:",omitempty"`
	}{ETag: part.ETag, LastModified: formatTime(part.Modified), ChecksumCRC32: part.CRC})
	return nil
}

// openSource opens the object named in x-amz-copy-source, and returns an error if its ETag does not meet the request's
// condition.
func (s uploadOperations) openSource(h http.Header) (*object, io.ReadSeekCloser, error) {
	source, version, versioned := strings.Cut(strings.TrimPrefix(h.Get(copySource), "/"), "?versionId=")
	if versioned && version != "null" {
		return nil, nil, refuse("NotImplemented", "the embedded S3 has no versions")
	}
	path, err := url.PathUnescape(source)
	bucket, key, ok := strings.Cut(path, "/")
	if err != nil || !ok || key == "" {
		return nil, nil, refuse("InvalidArgument", "the copy source must be of the form bucket/key, URL-encoded")
	}
	o, body, err := s.openObject(bucket, key)
	if err != nil {
		return nil, nil, err
	}
	if tags := h.Get(copySource + "-If-Match"); tags != "" && !matches(tags, o.ETag) {
		_ = body.Close()
		return nil, nil, errPrecondition(strings.ToLower(copySource))
	}
	return o, body, nil
}

// copyRange parses a copy range. The rules for a copy range are stricter than those for a Range header: both ends are
// required and must lie within the source, which must be larger than 5 MB ("x-amz-copy-source-range" of UploadPartCopy
// in the S3 API reference).
func copyRange(header string, size int64) (byteRange, error) {
	if header == "" {
		return byteRange{length: size}, nil
	}
	if !copySpan.MatchString(header) {
		return byteRange{}, refuse("InvalidArgument",
			"the x-amz-copy-source-range value must be of the form bytes=first-last").
			with("ArgumentName", "x-amz-copy-source-range").with("ArgumentValue", header)
	}
	span, partial, err := parseRange(header, size)
	if err != nil || !partial || "bytes="+span.text() != header {
		return byteRange{}, refuse("InvalidArgument", "range specified is not valid for source object of size: %d", size).
			with("ArgumentName", "x-amz-copy-source-range").with("ArgumentValue", header)
	}
	if size <= minRangeSource {
		return byteRange{}, refuse("InvalidRequest", "the specified copy source is not supported as a byte-range copy source")
	}
	return span, nil
}

// copyContent stores the next size bytes of src as a part, with a checksum if the upload requires one.
func (s uploadOperations) copyContent(src io.Reader, size int64, u *upload) (content, error) {
	part := content{Modified: now()}
	tag, sum := md5.New(), crc32.NewIEEE() //nolint:gosec // G401: see the import
	id, err := s.blobs.write(size, func(w io.Writer) (err error) {
		part.Size, err = io.Copy(io.MultiWriter(w, tag, sum), io.LimitReader(src, size))
		return err
	})
	if err != nil {
		return content{}, fmt.Errorf("copy a part: %w", err)
	}
	part.Blob, part.ETag = id, etag(tag.Sum(nil))
	if u.Checked {
		part.CRC = crc(encodeSum(sum))
	}
	return part, nil
}
