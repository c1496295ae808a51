package aws_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"recordbridge/infra/local/aws"
)

// BenchmarkPutItemOverLoopbackWithData is BenchmarkPutItemOverLoopback with a data directory.
func BenchmarkPutItemOverLoopbackWithData(b *testing.B) {
	cloud, err := aws.New(aws.Options{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = cloud.Close() }()
	if err := fillTable(b.Context(), cloud.Config("test")); err != nil {
		b.Fatal(err)
	}
	server := httptest.NewServer(cloud)
	defer server.Close()
	transport := &http.Transport{MaxIdleConnsPerHost: 64}
	defer transport.CloseIdleConnections()
	cfg := cloud.Config("test")
	cfg.BaseEndpoint, cfg.HTTPClient = &server.URL, &http.Client{Transport: transport}
	var written atomic.Int64
	b.SetParallelism(clientsPerCore)
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		client := dynamodb.NewFromConfig(cfg)
		for pb.Next() {
			item := row("item-"+strconv.FormatInt(written.Add(1), 10), strings.Repeat("x", 350))
			if _, err := client.PutItem(b.Context(), &dynamodb.PutItemInput{TableName: awssdk.String(itemsTable), Item: item}); err != nil {
				b.Error(err)
				return
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "writes/s")
}

// BenchmarkStart reads a journal of 10 000 items of about 400 bytes, which is not due for compaction.
func BenchmarkStart(b *testing.B) {
	dir := b.TempDir()
	if err := cloudOfItems(b, dir).Close(); err != nil {
		b.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(dir, "journal.ndjson"))
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(info.Size())
	for b.Loop() {
		cloud, err := aws.New(aws.Options{Dir: dir})
		if err != nil {
			b.Fatal(err)
		}
		if err = cloud.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCompaction writes the same items anew; the time is what a writer may have to wait.
func BenchmarkCompaction(b *testing.B) {
	cloud := cloudOfItems(b, b.TempDir())
	defer func() { _ = cloud.Close() }()
	for b.Loop() {
		if err := cloud.Compact(); err != nil {
			b.Fatal(err)
		}
	}
}

func cloudOfItems(b *testing.B, dir string) *aws.Cloud {
	b.Helper()
	cloud, err := aws.New(aws.Options{Dir: dir})
	if err != nil {
		b.Fatal(err)
	}
	if err = fillTable(b.Context(), cloud.Config("test")); err != nil {
		b.Fatal(err)
	}
	client := dynamodb.NewFromConfig(cloud.Config("test"))
	for i := range 10_000 {
		item := row("item-"+strconv.Itoa(i), strings.Repeat("x", 350))
		if _, err = client.PutItem(b.Context(), &dynamodb.PutItemInput{TableName: awssdk.String(itemsTable), Item: item}); err != nil {
			b.Fatal(err)
		}
	}
	return cloud
}
