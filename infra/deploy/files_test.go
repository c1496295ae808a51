package main

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"recordbridge/infra/testkit/built"
	"recordbridge/infra/testkit/expect"
)

const (
	asset  = "widget/assets/embed-1a2b3c.js"
	pinned = "sdk/" + built.Version + "/svc-widget.js"
	viewer = "sdk/" + built.Version + "/record-view.js"
)

func newWidget(t *testing.T) (*project, *s3.Client) {
	t.Helper()
	p := newProject(t)
	expect.NoError(t, built.Into(builtPages))
	bucket := s3.NewFromConfig(p.cloud.Config("test"))
	_, err := bucket.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: awssdk.String("widget")})
	expect.NoError(t, err)
	p.outputs["WidgetBucket"] = "widget"
	return p, bucket
}

func held(t *testing.T, bucket *s3.Client) map[string]string {
	t.Helper()
	listed, err := bucket.ListObjectsV2(t.Context(), &s3.ListObjectsV2Input{Bucket: awssdk.String("widget")})
	expect.NoError(t, err)
	all := map[string]string{}
	for _, object := range listed.Contents {
		out, err := bucket.GetObject(t.Context(), &s3.GetObjectInput{Bucket: awssdk.String("widget"), Key: object.Key})
		expect.NoError(t, err)
		text, err := io.ReadAll(out.Body)
		expect.NoError(t, err)
		all[*object.Key] = string(text)
	}
	return all
}

// TestDeployUploadsWidgetFilesBeforeStack covers deployments, during which either version may respond. If the
// deployment creates the bucket, the files are uploaded afterwards.
func TestDeployUploadsWidgetFilesBeforeStack(t *testing.T) {
	for made, after := range map[string]string{"": " after 1", "bucket": " after 2", "stack": " after 2"} {
		t.Run("made "+made, func(t *testing.T) {
			p, bucket := newWidget(t)
			p.made = made
			printed, calls, err := p.deploy(t, "-env", "dev")
			if err != nil || !strings.Contains(printed, "The widget's files are in widget: 12 new.") ||
				strings.Count(calls, "\n") != 2 {
				t.Fatalf("%v, printed %s, sam was called with %s", err, printed, calls)
			}
			forms := func(name string) []string { return []string{name, name + ".br", name + ".gz"} }
			want := slices.Concat(forms(pinned), forms(viewer), forms(asset), forms("widget/assets/embed-4d5e6f.css"))
			all := held(t, bucket)
			for _, name := range want {
				if text, err := os.ReadFile(filepath.Join(builtPages, name)); err != nil || all[name] != string(text) {
					t.Errorf("%s is %q: %v", name, all[name], err)
				}
			}
			if len(all) != len(want) {
				t.Errorf("the bucket has %d files, want %d", len(all), len(want))
			}
			if len(p.puts) != len(want) || slices.ContainsFunc(p.puts,
				func(put string) bool { return !strings.HasSuffix(put, after) }) {
				t.Errorf("put were %q, want all%s calls of sam", p.puts, after)
			}
		})
	}
}

func TestDeployKeepsFilesOfPreviousReleases(t *testing.T) {
	p, bucket := newWidget(t)
	_, _, err := p.deploy(t, "-env", "dev")
	expect.NoError(t, err)
	expect.NoError(t, os.Rename(filepath.Join(builtPages, asset),
		filepath.Join(builtPages, "widget/assets/embed-9z8y7x.js")))
	write(t, filepath.Join(builtPages, pinned+".gz"), "by another Node")
	before := held(t, bucket)
	printed, _, err := p.deploy(t, "-env", "dev")
	if err != nil || !strings.Contains(printed, "1 new.") {
		t.Errorf("%v, printed %s", err, printed)
	}
	all := held(t, bucket)
	if all["widget/assets/embed-9z8y7x.js"] != built.Script || len(all) != len(before)+1 {
		t.Errorf("the bucket has %q", all)
	}
	for name, text := range before {
		if all[name] != text {
			t.Errorf("%s is %q, and was %q", name, all[name], text)
		}
	}
}

// TestDeployRejectsChangedElementVersion checks that a released version of the web component can't change. A page with
// an integrity attribute would reject the changed bytes, and one without it would load unexpected code.
func TestDeployRejectsChangedElementVersion(t *testing.T) {
	p, bucket := newWidget(t)
	_, _, err := p.deploy(t, "-env", "dev")
	expect.NoError(t, err)
	write(t, filepath.Join(builtPages, pinned), "other")
	write(t, filepath.Join(builtPages, "widget/assets/more-1a2b3c.js"), "more")
	expect.NoError(t, os.Remove(p.calls))
	_, calls, err := p.deploy(t, "-env", "dev")
	if err == nil || !strings.Contains(err.Error(), pinned+" was deployed with other content") ||
		!strings.Contains(err.Error(), "raise the version in shared/ui/sdk/package.json") {
		t.Errorf("got %v", err)
	}
	if all := held(t, bucket); strings.Contains(calls, "deploy --config-env") || all[pinned] != built.SDK ||
		len(all) != 12 {
		t.Errorf("sam was called with %s, the bucket has %q", calls, all)
	}
	expect.NoError(t, os.Rename(filepath.Join(builtPages, "sdk", built.Version), filepath.Join(builtPages, "sdk/4.1.3")))
	if _, _, err = p.deploy(t, "-env", "dev"); err != nil {
		t.Error(err)
	}
	if all := held(t, bucket); all["sdk/4.1.3/svc-widget.js"] != "other" || all[pinned] != built.SDK {
		t.Errorf("the bucket has %q", all)
	}
}

func TestDeployStopsWhenWidgetUploadFails(t *testing.T) {
	p, _ := newWidget(t)
	p.outputs["WidgetBucket"] = "another"
	_, calls, err := p.deploy(t, "-env", "dev")
	if err == nil || !strings.Contains(err.Error(), "NoSuchBucket") || strings.Contains(calls, "deploy --config-env") {
		t.Errorf("%v, sam was called with %s", err, calls)
	}
	expect.NoError(t, os.RemoveAll(builtPages))
	printed, calls, err := p.deploy(t, "-env", "dev")
	if err != nil || !strings.Contains(printed, "pages were not built, which needs Node 20") ||
		!strings.Contains(calls, "deploy --config-env") {
		t.Errorf("without pages: %v, printed %s", err, printed)
	}
}
