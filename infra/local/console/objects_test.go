package console_test

import (
	"crypto/sha256"
	"fmt"
	"strconv"
	"strings"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/google/go-cmp/cmp"
)

func withObjects(t *testing.T, f fixture, objects map[string]string) {
	t.Helper()
	client := s3.NewFromConfig(f.cloud.Config("test"))
	if _, err := client.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: awssdk.String("files")}); err != nil {
		t.Fatal(err)
	}
	for key, body := range objects {
		_, err := client.PutObject(t.Context(), &s3.PutObjectInput{
			Bucket: awssdk.String("files"), Key: &key, Body: strings.NewReader(body), ContentType: awssdk.String("text/html"),
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

type listing struct {
	Folders []string
	Objects []struct {
		Key, ETag string
		Size      int
	}
	Next string
}

type object struct {
	Key, Text         string
	Size              int
	ContentType       string `json:"content_type"`
	Binary, Truncated bool
}

func TestConsoleListsObjectsByFolder(t *testing.T) {
	t.Parallel()
	f := build(t)
	withObjects(t, f, map[string]string{
		"test/a/1.ndjson": "{}\n", "test/b": "x", "test/" + evil + "\x01": "",
		"live/c": "x",
	})
	var buckets struct{ Buckets []string }
	f.get(t, 200, &buckets, "buckets")
	if diff := cmp.Diff([]string{"files"}, buckets.Buckets); diff != "" {
		t.Errorf("buckets (-want +got):\n%s", diff)
	}
	for prefix, want := range map[string]listing{
		"":      {Folders: []string{"live/", "test/"}},
		"test/": {Folders: []string{"test/" + evil[:strings.Index(evil, "/")+1], "test/a/"}},
	} {
		var got listing
		f.get(t, 200, &got, "buckets/files/objects", "prefix", prefix)
		if diff := cmp.Diff(want.Folders, got.Folders); diff != "" {
			t.Errorf("%q: folders (-want +got):\n%s", prefix, diff)
		}
	}
	var got listing
	f.get(t, 200, &got, "buckets/files/objects", "prefix", "test/"+evil[:strings.Index(evil, "/")+1])
	if len(got.Objects) != 1 || got.Objects[0].Key != "test/"+evil+"\x01" || got.Objects[0].ETag == "" {
		t.Errorf("got %+v, want the key as it is", got)
	}
	var refused map[string]string
	f.get(t, 404, &refused, "buckets/nothing/objects")
}

func TestObjectListIsPaginated(t *testing.T) {
	t.Parallel()
	f := build(t)
	objects := map[string]string{}
	for i := range 205 {
		objects[fmt.Sprintf("%03d", i)] = "x"
	}
	withObjects(t, f, objects)
	var first, second listing
	f.get(t, 200, &first, "buckets/files/objects")
	f.get(t, 200, &second, "buckets/files/objects", "from", first.Next)
	if len(first.Objects) != 200 || len(second.Objects) != 5 || second.Objects[0].Key != "200" || second.Next != "" {
		t.Errorf("got %d and %d objects, next %q", len(first.Objects), len(second.Objects), second.Next)
	}
}

func TestObjectResponseIncludesTextPreview(t *testing.T) {
	t.Parallel()
	f := build(t)
	withObjects(t, f, map[string]string{
		"page": evil, "empty": "", "long": "x" + strings.Repeat("é", 40<<10), "picture": "\x89PNG\xff",
	})
	for key, want := range map[string]object{
		"page":  {Key: "page", Text: evil, Size: len(evil), ContentType: "text/html"},
		"empty": {Key: "empty", ContentType: "text/html"},
		"long": {
			Key: "long", Text: "x" + strings.Repeat("é", 32<<10-1), Size: 80<<10 + 1, ContentType: "text/html",
			Truncated: true,
		},
		"picture": {Key: "picture", Size: 5, ContentType: "text/html", Binary: true},
	} {
		var got object
		f.get(t, 200, &got, "buckets/files/object", "key", key)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", key, diff)
		}
	}
	for _, key := range []string{"nothing", ""} {
		var refused map[string]string
		f.get(t, 404, &refused, "buckets/files/object", "key", key)
	}
}

func TestObjectDownloadIsServedAsAttachment(t *testing.T) {
	t.Parallel()
	f := build(t)
	large := strings.Repeat("0123456789abcdef", 17<<16) // 17 MB, so a download takes several chunks
	withObjects(t, f, map[string]string{`a/<b> "c".html`: evil, "large": large})
	got := f.serve(t, "GET", "/_local/api/buckets/files/download?key=a/%3Cb%3E+%22c%22.html", nil)
	header := got.Header()
	if got.Code != 200 || got.Body.String() != evil || header.Get("Content-Type") != "application/octet-stream" ||
		header.Get("X-Content-Type-Options") != "nosniff" ||
		header.Get("Content-Disposition") != `attachment; filename="<b> \"c\".html"` {
		t.Errorf("got %d %v %s", got.Code, header, got.Body)
	}
	got = f.serve(t, "GET", "/_local/api/buckets/files/download?key=large", nil)
	if sha256.Sum256(got.Body.Bytes()) != sha256.Sum256([]byte(large)) ||
		got.Header().Get("Content-Length") != strconv.Itoa(len(large)) {
		t.Errorf("got %d bytes, want %d", got.Body.Len(), len(large))
	}
	if got := f.serve(t, "GET", "/_local/api/buckets/files/download?key=nothing", nil); got.Code != 404 {
		t.Errorf("got %d, want 404", got.Code)
	}
}
