package exporttest_test

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/tefca/records"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
)

// sealed encrypts data as package kms does, but with a single key.
type sealed struct{ cipher.AEAD }

func (s sealed) Seal(_ context.Context, _ org.Tenant, boundTo string, plain []byte) ([]byte, error) {
	return s.AEAD.Seal(nil, nil, plain, []byte(boundTo)), nil
}

func (s sealed) Open(_ context.Context, _ org.Tenant, boundTo string, text []byte) ([]byte, error) {
	return s.AEAD.Open(nil, nil, text, []byte(boundTo))
}

// drawer stores a record's chunks by key.
type drawer map[string][]byte

func (d drawer) Put(_ context.Context, key, _ string, body []byte) error {
	d[key] = body
	return nil
}

func (d drawer) Open(_ context.Context, key string) (io.ReadCloser, error) {
	return io.NopCloser(bytes.NewReader(d[key])), nil
}

func (d drawer) Delete(_ context.Context, key string) error {
	delete(d, key)
	return nil
}

// BenchmarkExportCachedRecord measures the export of 10,000 cached one-kilobyte resources in three chunks, without S3
// or KMS.
func BenchmarkExportCachedRecord(b *testing.B) {
	const resources = 10_000
	block, err := aes.NewCipher(make([]byte, 32))
	expect.NoError(b, err)
	aead, err := cipher.NewGCMWithRandomNonce(block)
	expect.NoError(b, err)
	kept, total := drawer{}, 0
	held, err := records.Cache{Objects: kept, Sealer: sealed{aead}, Now: time.Now, NewID: ids.Random}.Write(
		b.Context(), tenant, pendingTask().ConnectionID,
		records.Content{Generation: 1, Documents: 1, Resources: func(put func([]byte) error) error {
			for n := range resources {
				one := fmt.Sprintf(
					`{"resourceType":"Observation","id":"o%d","subject":{"reference":"Patient/p"},"valueString":"%s"}`, n,
					strings.Repeat("x", 900))
				total += len(one) + 1
				if failure := put([]byte(one)); failure != nil {
					return failure
				}
			}
			return nil
		}})
	expect.NoError(b, err)
	b.SetBytes(int64(total))
	for b.Loop() {
		task := exportWith(b, nil, records.Reader{Objects: kept, Sealer: sealed{aead}}, &shredder{}, tokens.Set{
			Scope: "patient/*.read", ExpiresAt: held.Until, Records: &held,
		})
		if task.Stats.TotalResources != resources {
			b.Fatalf("%d resources", task.Stats.TotalResources)
		}
	}
	b.ReportMetric(float64(resources)*float64(b.N)/b.Elapsed().Seconds(), "resources/s")
}
