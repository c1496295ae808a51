package replay

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	signer "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"recordbridge/infra/test/conformance/corpus"
)

const (
	region         = "us-east-1"
	defaultExpires = 15 * time.Minute
)

// sign signs r as the step specifies. Any tampering happens after the request is signed.
func (p Target) sign(ctx context.Context, r *http.Request, body []byte, service string,
	how corpus.Sign,
) (*http.Request, error) {
	if how.How == "none" {
		return r, nil
	}
	key := awssdk.Credentials{AccessKeyID: p.AccessKey, SecretAccessKey: p.SecretKey}
	if how.Secret == "wrong" {
		key.SecretAccessKey += "-not"
	}
	at := time.Now().Add(-how.Ago)
	v4 := signer.NewSigner(func(o *signer.SignerOptions) { o.DisableURIPathEscaping = service == "s3" })
	if how.How == "url" {
		return presigned(ctx, v4, key, r, how, at)
	}
	sum := sha256.Sum256(body)
	hash := hex.EncodeToString(sum[:])
	if service == "s3" {
		hash = cmp.Or(r.Header.Get("X-Amz-Content-Sha256"), hash) // a script may set the payload hash itself
		r.Header.Set("X-Amz-Content-Sha256", hash)
	}
	if err := v4.SignHTTP(ctx, key, r, hash, service, region, at); err != nil {
		return nil, fmt.Errorf("sign: %w", err)
	}
	return tamper(r, how.Tamper), nil
}

func presigned(ctx context.Context, v4 *signer.Signer, key awssdk.Credentials, r *http.Request, how corpus.Sign,
	at time.Time,
) (*http.Request, error) {
	expires := how.Expires
	if expires == 0 {
		expires = defaultExpires
	}
	query := r.URL.Query()
	query.Set("X-Amz-Expires", strconv.Itoa(int(expires.Seconds())))
	r.URL.RawQuery = query.Encode()
	address, headers, err := v4.PresignHTTP(ctx, key, r, "UNSIGNED-PAYLOAD", "s3", region, at)
	if err != nil {
		return nil, fmt.Errorf("presign: %w", err)
	}
	//nolint:gosec // the address of a server that we started
	out, err := http.NewRequestWithContext(ctx, r.Method, address, r.Body)
	if err != nil {
		return nil, fmt.Errorf("presign: %w", err)
	}
	out.ContentLength, out.Header = r.ContentLength, headers.Clone()
	out.Header.Del("Host")
	return tamper(out, how.Tamper), nil
}

func tamper(r *http.Request, part string) *http.Request {
	switch part {
	case "path":
		r.URL.Path += "x"
		r.URL.RawPath = ""
	case "query":
		query := r.URL.Query()
		query.Set("prefix", "other")
		r.URL.RawQuery = query.Encode()
	case "header":
		r.Header.Set("X-Amz-Date", time.Now().Add(time.Second).UTC().Format("20060102T150405Z"))
	case "body":
		other := []byte(`{"Other":1}`)
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(other)), int64(len(other))
	case "type":
		r.Header.Set("Content-Type", "text/html")
	case "method":
		r.Method = http.MethodDelete
	}
	return r
}
