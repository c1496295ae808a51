package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"

	"recordbridge/infra/ctl/cloudformation"
	"recordbridge/infra/ctl/target"
	"recordbridge/shared/adapters/blob"
)

// builtPages is the folder to which sam build writes the web function's files.
const builtPages = ".aws-sam/build/WebFunction/ui"

// sdk is the folder that contains the released versions of the web component, which customers pin with an integrity
// attribute.
const sdk = "sdk"

// files uploads the widget's immutable files to a bucket. If a file is missing from the web function's own build, the
// function serves it from this bucket (docs/adr/0035-the-widget.md).
type files struct {
	built fs.FS
	out   io.Writer
}

// keepBefore uploads the files to the bucket of an existing stack, so that pages of both versions can load them during
// a deployment.
func (f files) keepBefore(ctx context.Context, stack string) (kept bool, err error) {
	deployed, err := target.Named(ctx, stack)
	if cloudformation.IsMissing(err) || err == nil && deployed.Outputs["WidgetBucket"] == "" {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, f.keep(ctx, deployed)
}

// keep uploads the files that are missing from the bucket and never overwrites a file. It returns an error if the
// bucket holds different content for a version of the web component.
func (f files) keep(ctx context.Context, deployed target.Stack) error {
	if _, err := fs.Stat(f.built, "manifest.json"); errors.Is(err, fs.ErrNotExist) {
		fmt.Fprintln(f.out, "\nThe widget's pages were not built, which needs Node 20 or later: the service will say so in "+
			"their place.")
		return nil
	}
	bucket := blob.Bucket{Client: s3.NewFromConfig(deployed.Config), Name: deployed.Outputs["WidgetBucket"]}
	made := 0
	for _, folder := range []string{sdk, "widget/assets"} { // sdk comes first, because its upload may be rejected
		err := fs.WalkDir(f.built, folder, func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			isNew, err := f.put(ctx, bucket, name)
			if isNew {
				made++
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("keep the widget's files: %w", err)
		}
	}
	fmt.Fprintf(f.out, "\nThe widget's files are in %s: %d new.\n", bucket.Name, made)
	return nil
}

func (f files) put(ctx context.Context, bucket blob.Bucket, name string) (isNew bool, err error) {
	content, err := fs.ReadFile(f.built, name)
	if err != nil {
		return false, err
	}
	_, err = bucket.Client.PutObject(ctx, &s3.PutObjectInput{
		Bucket: &bucket.Name, Key: &name, Body: bytes.NewReader(content), IfNoneMatch: aws.String("*"),
	})
	if refused, ok := errors.AsType[smithy.APIError](err); !ok || refused.ErrorCode() != "PreconditionFailed" {
		return err == nil, err
	}
	// Compressed files may differ between versions of Node, so only the JavaScript files of the SDK are compared.
	if !strings.HasPrefix(name, sdk+"/") || path.Ext(name) != ".js" {
		return false, nil
	}
	return false, same(ctx, bucket, name, content)
}

func same(ctx context.Context, bucket blob.Bucket, name string, content []byte) error {
	object, err := bucket.Open(ctx, name)
	if err != nil {
		return err
	}
	defer func() { _ = object.Close() }() // errors don't matter, because the object is only read
	before, err := io.ReadAll(object)
	if err == nil && !bytes.Equal(before, content) {
		err = fmt.Errorf("%s was deployed with other content, which customers may have pinned: raise the version in "+
			"shared/ui/sdk/package.json", name)
	}
	return err
}
