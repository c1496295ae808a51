package s3

import (
	"encoding/base64"
	"encoding/xml"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

const maxPage = 1000

type listing struct {
	XMLName               xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ ListBucketResult"`
	Name                  string
	Prefix                string
	Delimiter             string `xml:",omitempty"`
	ContinuationToken     string `xml:",omitempty"`
	NextContinuationToken string `xml:",omitempty"`
	EncodingType          string `xml:",omitempty"`
	KeyCount              int
	MaxKeys               int
	IsTruncated           bool
	Contents              []listedObject
	CommonPrefixes        []listedPrefix
}

type listedObject struct {
	Key               string
	LastModified      string
	ETag              string
	ChecksumAlgorithm string `xml:",omitempty"`
	ChecksumType      string `xml:",omitempty"`
	Size              int64
	StorageClass      string
}

type listedPrefix struct{ Prefix string }

func (s bucketOperations) listObjects(w http.ResponseWriter, r *request) error {
	q := r.query
	if q.Get("list-type") != "2" {
		return refuse("InvalidArgument", "list-type must be 2")
	}
	maxKeys, err := pageSize(q, "max-keys")
	if err != nil {
		return err
	}
	out := listing{
		Name: r.bucket, Prefix: q.Get("prefix"), Delimiter: q.Get("delimiter"),
		ContinuationToken: q.Get("continuation-token"), EncodingType: q.Get("encoding-type"), MaxKeys: maxKeys,
	}
	if out.EncodingType != "" && out.EncodingType != "url" {
		return refuse("InvalidArgument", "invalid encoding method specified in request")
	}
	from, err := readPosition(out.ContinuationToken)
	if err != nil {
		return err
	}
	err = s.view(func(st state) error {
		b, missing := st.bucket(r.bucket)
		if missing != nil {
			return missing
		}
		out.fill(b, from)
		return nil
	})
	if err != nil {
		return err
	}
	if out.EncodingType == "url" {
		out.encodeKeys()
	}
	writeXML(w, http.StatusOK, out)
	return nil
}

// fill lists the keys that follow from, in byte order. A common prefix counts as one key.
func (l *listing) fill(b *bucket, from position) {
	last := from
	for _, key := range slices.Sorted(maps.Keys(b.objects)) {
		if !strings.HasPrefix(key, l.Prefix) || last.covers(key) {
			continue
		}
		if l.KeyCount == l.MaxKeys {
			l.IsTruncated = l.MaxKeys > 0 // for max-keys=0, S3 returns an empty, untruncated page
			break
		}
		l.KeyCount++
		if common, ok := l.commonPrefix(key); ok {
			last = position{prefix: common}
			l.CommonPrefixes = append(l.CommonPrefixes, listedPrefix{common})
			continue
		}
		last = position{key: key}
		l.Contents = append(l.Contents, entry(key, b.objects[key]))
	}
	if l.IsTruncated {
		l.NextContinuationToken = last.token()
	}
}

func entry(key string, o *object) listedObject {
	return listedObject{
		Key: key, LastModified: formatTime(o.Modified), ETag: o.ETag, Size: o.Size, StorageClass: "STANDARD",
		ChecksumAlgorithm: o.CRC.algorithm(), ChecksumType: o.CRC.kind(),
	}
}

func (l *listing) commonPrefix(key string) (string, bool) {
	if l.Delimiter == "" {
		return "", false
	}
	head, _, found := strings.Cut(key[len(l.Prefix):], l.Delimiter)
	return l.Prefix + head + l.Delimiter, found
}

// encodeKeys URL-encodes the listing's keys and prefixes, except for slashes, because XML can't represent every
// character.
func (l *listing) encodeKeys() {
	unlikeQuery := strings.NewReplacer("+", "%20", "%2F", "/")
	encode := func(fields ...*string) {
		for _, field := range fields {
			*field = unlikeQuery.Replace(url.QueryEscape(*field))
		}
	}
	encode(&l.Prefix, &l.Delimiter)
	for i := range l.Contents {
		encode(&l.Contents[i].Key)
	}
	for i := range l.CommonPrefixes {
		encode(&l.CommonPrefixes[i].Prefix)
	}
}

// position marks a point in a listing, either after a key or after all keys with a common prefix.
type position struct {
	key    string
	prefix string
}

func readPosition(token string) (position, error) {
	if token == "" {
		return position{}, nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(token)
	kind, value, ok := strings.Cut(string(raw), ":")
	switch {
	case err != nil || !ok:
	case kind == "key":
		return position{key: value}, nil
	case kind == "prefix":
		return position{prefix: value}, nil
	}
	return position{}, refuse("InvalidArgument", "the continuation token provided is incorrect")
}

func (p position) token() string {
	text := "key:" + p.key
	if p.prefix != "" {
		text = "prefix:" + p.prefix
	}
	return base64.RawURLEncoding.EncodeToString([]byte(text))
}

// covers reports whether key is at or before position p in the listing.
func (p position) covers(key string) bool {
	if p.prefix != "" {
		return key < p.prefix || strings.HasPrefix(key, p.prefix)
	}
	return p.key != "" && key <= p.key
}

// pageSize parses a page limit. Like S3, it treats values above 1000 as 1000.
func pageSize(q url.Values, name string) (int, error) {
	if !q.Has(name) {
		return maxPage, nil
	}
	n, err := strconv.ParseUint(q.Get(name), 10, 31)
	if err != nil {
		return 0, refuse("InvalidArgument", "%s must be an integer between 0 and 2147483647", name)
	}
	return min(int(n), maxPage), nil
}

// formatTime formats a time as S3 does in XML.
func formatTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
