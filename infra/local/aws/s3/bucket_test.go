package s3_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/local/aws/s3"
)

func TestBucketsAreMadeOnceAndListed(t *testing.T) {
	t.Parallel()
	client := newBucket(t)
	put(t, client, "k", "kept")
	createBucket(t, client)
	if got := string(read(t, client, "k")); got != "kept" {
		t.Errorf("a bucket that was made again has %q, want the object that it had", got)
	}
	in := &awss3.CreateBucketInput{Bucket: aws.String("catalog"), CreateBucketConfiguration: &types.CreateBucketConfiguration{LocationConstraint: "eu-west-1"}}
	_, err := client.CreateBucket(t.Context(), in)
	wantCode(t, err, "InvalidLocationConstraint")
	if _, err = client.CreateBucket(t.Context(), &awss3.CreateBucketInput{Bucket: aws.String("catalog")}); err != nil {
		t.Fatal(err)
	}
	head, err := client.HeadBucket(t.Context(), &awss3.HeadBucketInput{Bucket: aws.String("catalog")})
	if err != nil || aws.ToString(head.BucketRegion) != "us-east-1" {
		t.Fatalf("got %+v, %v, want a bucket in us-east-1", head, err)
	}
	out, err := client.ListBuckets(t.Context(), &awss3.ListBucketsInput{})
	if err != nil {
		t.Fatal(err)
	}
	got := make([]string, 0, len(out.Buckets))
	for _, b := range out.Buckets {
		got = append(got, aws.ToString(b.Name))
		if b.CreationDate == nil {
			t.Errorf("bucket %s has no date", aws.ToString(b.Name))
		}
	}
	if diff := cmp.Diff([]string{"catalog", bucketName}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestLifecycleRulesAreKept(t *testing.T) {
	t.Parallel()
	client := newBucket(t)
	_, err := client.GetBucketLifecycleConfiguration(t.Context(), &awss3.GetBucketLifecycleConfigurationInput{Bucket: aws.String(bucketName)})
	wantCode(t, err, "NoSuchLifecycleConfiguration")
	_, err = client.PutBucketLifecycleConfiguration(t.Context(), &awss3.PutBucketLifecycleConfigurationInput{
		Bucket: aws.String(bucketName),
		LifecycleConfiguration: &types.BucketLifecycleConfiguration{Rules: []types.LifecycleRule{{
			ID: aws.String("expire"), Status: types.ExpirationStatusEnabled,
			Filter: &types.LifecycleRuleFilter{Prefix: aws.String("live/")}, Expiration: &types.LifecycleExpiration{Days: aws.Int32(7)},
		}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	out, err := client.GetBucketLifecycleConfiguration(t.Context(), &awss3.GetBucketLifecycleConfigurationInput{Bucket: aws.String(bucketName)})
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Rules) != 1 || aws.ToInt32(out.Rules[0].Expiration.Days) != 7 {
		t.Errorf("got %+v, want the rule that was put", out.Rules)
	}
}

func TestAListingTurnsPages(t *testing.T) {
	t.Parallel()
	client := newBucket(t)
	for _, key := range []string{"a/1", "a/2", "b", "c/1", "c/2/3", "d", "d!"} {
		put(t, client, key, key)
	}
	tests := map[string]struct {
		in   awss3.ListObjectsV2Input
		want []string
	}{
		"all":                     {awss3.ListObjectsV2Input{}, []string{"a/1", "a/2", "b", "c/1", "c/2/3", "d", "d!"}},
		"prefix":                  {awss3.ListObjectsV2Input{Prefix: aws.String("c/")}, []string{"c/1", "c/2/3"}},
		"after a key":             {awss3.ListObjectsV2Input{StartAfter: aws.String("c/1")}, []string{"c/2/3", "d", "d!"}},
		"delimiter":               {awss3.ListObjectsV2Input{Delimiter: aws.String("/")}, []string{"[a/]", "b", "[c/]", "d", "d!"}},
		"prefix and delimiter":    {awss3.ListObjectsV2Input{Prefix: aws.String("c/"), Delimiter: aws.String("/")}, []string{"c/1", "[c/2/]"}},
		"keys encoded":            {awss3.ListObjectsV2Input{Prefix: aws.String("d!"), EncodingType: types.EncodingTypeUrl}, []string{"d%21"}},
		"nothing under a prefix":  {awss3.ListObjectsV2Input{Prefix: aws.String("z")}, nil},
		"after all keys in the a": {awss3.ListObjectsV2Input{StartAfter: aws.String("a/9"), Delimiter: aws.String("/")}, []string{"b", "[c/]", "d", "d!"}},
	}
	for name, tt := range tests {
		for _, size := range []int32{1, 2, 1000} {
			t.Run(fmt.Sprint(name, " by ", size), func(t *testing.T) {
				t.Parallel()
				in := tt.in
				in.Bucket, in.MaxKeys = aws.String(bucketName), aws.Int32(size)
				if diff := cmp.Diff(tt.want, listAll(t, client, &in)); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		}
	}
}

// listAll turns every page; a common prefix is shown in brackets, between the keys where it sorts.
func listAll(t *testing.T, client *awss3.Client, in *awss3.ListObjectsV2Input) []string {
	t.Helper()
	var all []string
	pages := awss3.NewListObjectsV2Paginator(client, in)
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got := len(page.Contents) + len(page.CommonPrefixes); got > int(*in.MaxKeys) || int(aws.ToInt32(page.KeyCount)) != got {
			t.Fatalf("got a page of %d keys that counts %d, want at most %d", got, aws.ToInt32(page.KeyCount), *in.MaxKeys)
		}
		prefixes := page.CommonPrefixes
		for _, o := range page.Contents {
			for len(prefixes) > 0 && aws.ToString(prefixes[0].Prefix) < aws.ToString(o.Key) {
				all = append(all, "["+aws.ToString(prefixes[0].Prefix)+"]")
				prefixes = prefixes[1:]
			}
			if aws.ToInt64(o.Size) == 0 || aws.ToString(o.ETag) == "" || o.LastModified == nil {
				t.Errorf("got %+v, want size, tag and date", o)
			}
			all = append(all, aws.ToString(o.Key))
		}
		for _, prefix := range prefixes {
			all = append(all, "["+aws.ToString(prefix.Prefix)+"]")
		}
	}
	return all
}

func TestManyObjectsAreDeletedInOneCall(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*awss3.Options){"plain": func(*awss3.Options) {}, "over TLS": overTLS} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := newBucket(t, change)
			put(t, client, "a", "a")
			put(t, client, "b", "b")
			put(t, client, "keep", "keep")
			out, err := client.DeleteObjects(t.Context(), &awss3.DeleteObjectsInput{Bucket: aws.String(bucketName), Delete: &types.Delete{
				Objects: []types.ObjectIdentifier{{Key: aws.String("a")}, {Key: aws.String("b")}, {Key: aws.String("never")}},
			}})
			if err != nil || len(out.Deleted) != 3 || len(out.Errors) != 0 {
				t.Fatalf("got %+v, %v, want three deleted keys", out, err)
			}
			in := &awss3.ListObjectsV2Input{Bucket: aws.String(bucketName), MaxKeys: aws.Int32(9)}
			if diff := cmp.Diff([]string{"keep"}, listAll(t, client, in)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestOperationsAreToldApart(t *testing.T) {
	t.Parallel()
	server := newServer(t, s3.Options{})
	createBucket(t, connect(server))
	put(t, connect(server), "k", "body")
	copies := map[string]string{"X-Amz-Copy-Source": "/exports/k"}
	tests := map[string]struct {
		request raw
		status  int
		code    string
	}{
		"tags are no object":       {raw{method: http.MethodPut, target: "/exports/k?tagging="}, 501, "NotImplemented"},
		"a policy is no bucket":    {raw{method: http.MethodPut, target: "/other?policy="}, 501, "NotImplemented"},
		"the old listing":          {raw{method: http.MethodGet, target: "/exports"}, 501, "NotImplemented"},
		"listing three":            {raw{method: http.MethodGet, target: "/exports?list-type=3"}, 400, "InvalidArgument"},
		"a copied object":          {raw{method: http.MethodPut, target: "/exports/new", header: copies}, 501, "NotImplemented"},
		"one part of an object":    {raw{method: http.MethodGet, target: "/exports/k?partNumber=1"}, 501, "NotImplemented"},
		"a version":                {raw{method: http.MethodGet, target: "/exports/k?versionId=1"}, 501, "NotImplemented"},
		"a bucket is kept":         {raw{method: http.MethodDelete, target: "/exports"}, 501, "NotImplemented"},
		"a form post":              {raw{method: http.MethodPost, target: "/exports"}, 501, "NotImplemented"},
		"an unknown method":        {raw{method: "BREW", target: "/exports/k"}, 405, "MethodNotAllowed"},
		"no list of buckets":       {raw{method: http.MethodDelete, target: "/"}, 405, "MethodNotAllowed"},
		"a form post of an object": {raw{method: http.MethodPost, target: "/exports/k"}, 405, "MethodNotAllowed"},
		"a restoration":            {raw{method: http.MethodPost, target: "/exports/k?restore="}, 501, "NotImplemented"},
		"keys are UTF-8":           {raw{method: http.MethodPut, target: "/exports/%FF"}, 400, "InvalidURI"},
		"a bad page size":          {raw{method: http.MethodGet, target: "/exports?list-type=2&max-keys=-1"}, 400, "InvalidArgument"},
		"a bad token":              {raw{method: http.MethodGet, target: "/exports?continuation-token=%21&list-type=2"}, 400, "InvalidArgument"},
		"a bad encoding type":      {raw{method: http.MethodGet, target: "/exports?encoding-type=rot13&list-type=2"}, 400, "InvalidArgument"},
		"deletes need a checksum":  {raw{method: http.MethodPost, target: "/exports?delete=", body: "<Delete/>"}, 400, "InvalidRequest"},
		"deletes are verified":     {raw{http.MethodPost, "/exports?delete=", "?", map[string]string{"Content-Md5": "0UV7uTdR8TyZWS2UF2SDhw=="}}, 400, "BadDigest"},
		"a huge document": {
			raw{http.MethodPut, "/exports?lifecycle=", strings.Repeat(" ", 5<<20), map[string]string{"Content-Md5": "0UV7uTdR8TyZWS2UF2SDhw=="}},
			400, "MaxMessageLengthExceeded",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status, answer := tt.request.send(t, inProcess{server})
			if status != tt.status || !strings.Contains(answer, "<Code>"+tt.code+"</Code>") {
				t.Errorf("got %d %s, want %d %s", status, answer, tt.status, tt.code)
			}
		})
	}
}
