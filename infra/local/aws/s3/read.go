package s3

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// checkReadConditions decides the If-* headers of a read, in the order of RFC 9110 section 13.2.2.
func checkReadConditions(h http.Header, c content) error {
	if tags := h.Get("If-Match"); tags != "" {
		if !matches(tags, c.ETag) {
			return errPrecondition("If-Match")
		}
	} else if t, err := http.ParseTime(h.Get("If-Unmodified-Since")); err == nil && c.Modified.After(t) {
		return errPrecondition("If-Unmodified-Since")
	}
	if tags := h.Get("If-None-Match"); tags != "" {
		if matches(tags, c.ETag) {
			return refuse("NotModified", "not modified")
		}
	} else if t, err := http.ParseTime(h.Get("If-Modified-Since")); err == nil && !c.Modified.After(t) {
		return refuse("NotModified", "not modified since %s", t.Format(time.RFC3339))
	}
	return nil
}

// matches compares entity tags; SDK users pass them with and without quotes.
func matches(tags, etag string) bool {
	for tag := range strings.SplitSeq(tags, ",") {
		if tag = strings.TrimSpace(tag); tag == "*" || sameETag(tag, etag) {
			return true
		}
	}
	return false
}

func sameETag(a, b string) bool { return strings.Trim(a, `"`) == strings.Trim(b, `"`) }

// writeCondition is what a write demands of the object that it replaces.
type writeCondition struct {
	absent bool   // If-None-Match: *
	etag   string // If-Match, "" without
}

func newWriteCondition(h http.Header) (writeCondition, error) {
	none, etag := h.Get("If-None-Match"), h.Get("If-Match")
	if none != "" && (none != "*" || etag != "") {
		return writeCondition{}, refuse("NotImplemented", "a header you provided implies functionality that is not implemented: "+
			"a write knows If-None-Match: * and If-Match, one at a time").with("Header", "If-None-Match")
	}
	return writeCondition{absent: none == "*", etag: etag}, nil
}

func (c writeCondition) check(st state, bucket, key string) error {
	b, err := st.bucket(bucket)
	if err != nil {
		return err
	}
	current := b.objects[key]
	switch {
	case c.absent && current != nil:
		return errPrecondition("If-None-Match")
	case c.etag != "" && current == nil:
		return errNoSuchKey(key)
	case c.etag != "" && !matches(c.etag, current.ETag):
		return errPrecondition("If-Match")
	default:
		return nil
	}
}

// byteRange is the part of a body that is read.
type byteRange struct {
	start, length int64
}

func (b byteRange) text() string { return fmt.Sprintf("%d-%d", b.start, b.start+b.length-1) }

func (b byteRange) contentRange(size int64) string { return fmt.Sprintf("bytes %s/%d", b.text(), size) }

// parseRange reads a Range header for a body of the given size. As in S3, a header with several ranges or in another
// form is ignored; one that lies outside the body is InvalidRange.
func parseRange(header string, size int64) (part byteRange, partial bool, err error) {
	whole := byteRange{length: size}
	spec, ok := strings.CutPrefix(header, "bytes=")
	from, to, dashed := strings.Cut(spec, "-")
	if !ok || !dashed {
		return whole, false, nil
	}
	first, firstErr := parseOffset(from)
	last, lastErr := parseOffset(to)
	switch {
	case firstErr != nil && from != "", lastErr != nil && to != "", from == "" && to == "", from != "" && to != "" && last < first:
		return whole, false, nil
	case from == "":
		first, last = max(0, size-last), size-1
	case to == "" || last >= size:
		last = size - 1
	}
	if first >= size {
		return whole, false, refuse("InvalidRange", "the requested range is not satisfiable").
			with("RangeRequested", header).with("ActualObjectSize", size)
	}
	return byteRange{start: first, length: last - first + 1}, true, nil
}

func parseOffset(s string) (int64, error) {
	n, err := strconv.ParseUint(s, 10, 63)
	return int64(n), err
}
