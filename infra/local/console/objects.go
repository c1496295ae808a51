package console

import (
	"context"
	"io"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

const (
	objectsOfPage = 200
	shownBytes    = 64 << 10 // maximum number of bytes of text to display for an object
	downloadChunk = 8 << 20  // a download reads chunks of this size, so that objects need not fit into memory
)

// ObjectClient is the read-only part of the S3 client.
type ObjectClient interface {
	ListBuckets(context.Context, *s3.ListBucketsInput, ...func(*s3.Options)) (*s3.ListBucketsOutput, error)
	ListObjectsV2(context.Context, *s3.ListObjectsV2Input, ...func(*s3.Options)) (*s3.ListObjectsV2Output, error)
	HeadObject(context.Context, *s3.HeadObjectInput, ...func(*s3.Options)) (*s3.HeadObjectOutput, error)
	GetObject(context.Context, *s3.GetObjectInput, ...func(*s3.Options)) (*s3.GetObjectOutput, error)
}

type listedObject struct {
	Key      string    `json:"key"`
	Size     int64     `json:"size"`
	ETag     string    `json:"etag"`
	Modified time.Time `json:"modified"`
}

type shownObject struct {
	listedObject

	ContentType string            `json:"content_type"`
	Encryption  string            `json:"encryption,omitempty"`
	Metadata    map[string]string `json:"metadata,omitempty"`
	Text        string            `json:"text"` // beginning of the text; "" if the object is not text
	Binary      bool              `json:"binary"`
	Truncated   bool              `json:"truncated"` // true if the object is longer than the part that was read
}

func (c *console) serveBuckets(w http.ResponseWriter, r *http.Request) {
	list, err := c.Objects.ListBuckets(r.Context(), &s3.ListBucketsInput{})
	if err != nil {
		refuseAWS(w, err)
		return
	}
	names := make([]string, len(list.Buckets))
	for i, bucket := range list.Buckets {
		names[i] = aws.ToString(bucket.Name)
	}
	writeJSON(w, http.StatusOK, map[string]any{"buckets": names})
}

// serveObjects lists one level of keys as folders and objects. A level ends at the next slash.
func (c *console) serveObjects(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	in := &s3.ListObjectsV2Input{
		Bucket: aws.String(r.PathValue("bucket")), Prefix: aws.String(query.Get("prefix")), Delimiter: aws.String("/"),
		MaxKeys: aws.Int32(objectsOfPage), EncodingType: types.EncodingTypeUrl, // XML can't represent every key
	}
	if from := query.Get("from"); from != "" {
		in.ContinuationToken = &from
	}
	page, err := c.Objects.ListObjectsV2(r.Context(), in)
	if err != nil {
		refuseAWS(w, err)
		return
	}
	folders, objects := make([]string, len(page.CommonPrefixes)), make([]listedObject, len(page.Contents))
	for i, folder := range page.CommonPrefixes {
		folders[i] = unescape(folder.Prefix)
	}
	for i, o := range page.Contents {
		objects[i] = listedObject{
			Key: unescape(o.Key), Size: aws.ToInt64(o.Size), ETag: aws.ToString(o.ETag), Modified: aws.ToTime(o.LastModified),
		}
	}
	writeJSON(w, http.StatusOK, map[string]any{
		"folders": folders, "objects": objects, "next": aws.ToString(page.NextContinuationToken),
	})
}

func unescape(key *string) string {
	plain, err := url.QueryUnescape(aws.ToString(key))
	if err != nil {
		return aws.ToString(key)
	}
	return plain
}

func (c *console) serveObject(w http.ResponseWriter, r *http.Request) {
	shown, err := c.head(r)
	if err != nil {
		refuseAWS(w, err)
		return
	}
	var begin []byte
	if shown.Size > 0 {
		if begin, err = c.part(r, shown.listedObject, 0, shownBytes); err != nil {
			refuseAWS(w, err)
			return
		}
	}
	shown.Truncated = shown.Size > int64(len(begin))
	if shown.Truncated {
		begin = wholeRunes(begin)
	}
	if shown.Binary = !utf8.Valid(begin); !shown.Binary {
		shown.Text = string(begin)
	}
	writeJSON(w, http.StatusOK, shown)
}

// serveDownload sends the object as an attachment so that browsers don't display it on the console's origin.
func (c *console) serveDownload(w http.ResponseWriter, r *http.Request) {
	shown, err := c.head(r)
	if err != nil {
		refuseAWS(w, err)
		return
	}
	header := w.Header()
	header.Set("Content-Type", "application/octet-stream")
	header.Set("Content-Length", strconv.FormatInt(shown.Size, 10))
	header.Set("Content-Disposition", mime.FormatMediaType("attachment",
		map[string]string{"filename": path.Base(shown.Key)}))
	for from := int64(0); from < shown.Size; from += downloadChunk {
		chunk, err := c.part(r, shown.listedObject, from, downloadChunk)
		if err != nil {
			return // the client detects the truncation by Content-Length
		}
		if _, err := w.Write(chunk); err != nil { //nolint:gosec // an attachment of no type, which no browser renders
			return
		}
	}
}

func (c *console) head(r *http.Request) (shownObject, error) {
	bucket, key := r.PathValue("bucket"), r.URL.Query().Get("key")
	if key == "" { // the SDK's own error for an empty key would be unclear
		return shownObject{}, &types.NoSuchKey{Message: aws.String("The key is required.")}
	}
	head, err := c.Objects.HeadObject(r.Context(), &s3.HeadObjectInput{Bucket: &bucket, Key: &key})
	if err != nil {
		return shownObject{}, err
	}
	return shownObject{
		listedObject: listedObject{
			Key: key, Size: aws.ToInt64(head.ContentLength), ETag: aws.ToString(head.ETag),
			Modified: aws.ToTime(head.LastModified),
		},
		ContentType: aws.ToString(head.ContentType), Encryption: string(head.ServerSideEncryption), Metadata: head.Metadata,
	}, nil
}

// part reads up to size bytes of the object, or returns an error if the object has changed.
func (c *console) part(r *http.Request, o listedObject, from, size int64) ([]byte, error) {
	out, err := c.Objects.GetObject(r.Context(), &s3.GetObjectInput{
		Bucket: aws.String(r.PathValue("bucket")), Key: &o.Key, IfMatch: &o.ETag,
		Range: aws.String("bytes=" + strconv.FormatInt(from, 10) + "-" + strconv.FormatInt(min(from+size, o.Size)-1, 10)),
	})
	if err != nil {
		return nil, err
	}
	defer func() { _ = out.Body.Close() }()
	return io.ReadAll(out.Body)
}

// wholeRunes drops an incomplete rune at the end of text.
func wholeRunes(text []byte) []byte {
	for back := 1; back <= min(utf8.UTFMax, len(text)); back++ {
		if at := len(text) - back; utf8.RuneStart(text[at]) {
			if !utf8.FullRune(text[at:]) {
				return text[:at]
			}
			break
		}
	}
	return text
}
