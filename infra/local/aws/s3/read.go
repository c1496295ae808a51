package s3

import (
	"fmt"
	"strconv"
	"strings"
)

// matches reports whether tags is "*" or contains etag. Some SDK users omit the quotes, so quotes are ignored.
func matches(tags, etag string) bool {
	for tag := range strings.SplitSeq(tags, ",") {
		if tag = strings.TrimSpace(tag); tag == "*" || sameETag(tag, etag) {
			return true
		}
	}
	return false
}

func sameETag(a, b string) bool { return strings.Trim(a, `"`) == strings.Trim(b, `"`) }

type byteRange struct {
	start, length int64
}

func (b byteRange) text() string { return fmt.Sprintf("%d-%d", b.start, b.start+b.length-1) }

func (b byteRange) contentRange(size int64) string { return fmt.Sprintf("bytes %s/%d", b.text(), size) }

// parseRange parses a Range header for a body of the given size. Like S3, parseRange ignores a header that has several
// ranges or an unsupported form. For a range outside the body, it returns InvalidRange.
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
	case firstErr != nil && from != "", lastErr != nil && to != "", from == "" && to == "", from != "" && to != "" &&
		last < first:
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
