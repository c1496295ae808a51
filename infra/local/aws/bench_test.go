package aws_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"recordbridge/infra/local/aws"
)

const clientsPerCore = 4

// BenchmarkPutItemOverLoopback writes items of about 400 bytes through SDK clients and a real server on a port.
func BenchmarkPutItemOverLoopback(b *testing.B) {
	cloud := benchCloud(b)
	server := httptest.NewServer(cloud)
	defer server.Close()
	transport := &http.Transport{MaxIdleConnsPerHost: 64}
	defer transport.CloseIdleConnections()
	cfg := cloud.Config("ExportWorker")
	cfg.BaseEndpoint, cfg.HTTPClient = &server.URL, &http.Client{Transport: transport}
	note := &ddbtypes.AttributeValueMemberS{Value: strings.Repeat("x", 350)}
	var written atomic.Int64
	b.SetParallelism(clientsPerCore)
	b.ReportAllocs()
	start := time.Now()
	b.RunParallel(func(pb *testing.PB) {
		client := dynamodb.NewFromConfig(cfg)
		for pb.Next() {
			key := &ddbtypes.AttributeValueMemberS{Value: "item-" + strconv.FormatInt(written.Add(1), 10)}
			_, err := client.PutItem(b.Context(), &dynamodb.PutItemInput{
				TableName: new("items"), Item: map[string]ddbtypes.AttributeValue{"pk": key, "note": note},
			})
			if err != nil {
				b.Error(err)
				return
			}
		}
	})
	b.ReportMetric(float64(written.Load())/time.Since(start).Seconds(), "writes/s")
}

// BenchmarkPutItemThroughServeHTTP is the server's share of the same write: one request, signed once.
func BenchmarkPutItemThroughServeHTTP(b *testing.B) {
	cloud := benchCloud(b)
	content := []byte(`{"TableName":"items","Item":{"pk":{"S":"a"},"note":{"S":"` + strings.Repeat("x", 350) + `"}}}`)
	signed := signedPut(b, content)
	b.ReportAllocs()
	for b.Loop() {
		r := signed.Clone(b.Context())
		r.Body = readOnce{bytes.NewReader(content)}
		answer := httptest.NewRecorder()
		if cloud.ServeHTTP(answer, r); answer.Code != http.StatusOK {
			b.Fatal(answer.Body)
		}
	}
}

// readOnce is a body as net/http hands it over: no method but Read and Close.
type readOnce struct{ content *bytes.Reader }

func (r readOnce) Read(p []byte) (int, error) { return r.content.Read(p) }
func (readOnce) Close() error                 { return nil }

func signedPut(b *testing.B, content []byte) *http.Request {
	b.Helper()
	r, err := http.NewRequestWithContext(b.Context(), http.MethodPost, "http://127.0.0.1:4566/", bytes.NewReader(content))
	if err != nil {
		b.Fatal(err)
	}
	r.Header.Set("X-Amz-Target", "DynamoDB_20120810.PutItem")
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	r.Header.Set("Amz-Sdk-Invocation-Id", "00000000-0000-0000-0000-000000000000")
	r.Header.Set("Accept-Encoding", "identity")
	who := awssdk.Credentials{AccessKeyID: "ExportWorker", SecretAccessKey: "local"}
	if err := v4.NewSigner().SignHTTP(b.Context(), who, r, hexSHA256(content), "dynamodb", "us-east-1",
		time.Now()); err != nil {
		b.Fatal(err)
	}
	r.Host, r.RequestURI = r.URL.Host, "/"
	return r
}

func benchCloud(b *testing.B) *aws.Cloud {
	b.Helper()
	cloud, err := aws.New(aws.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = cloud.Close() })
	if err := fillTable(b.Context(), cloud.Config("provision")); err != nil {
		b.Fatal(err)
	}
	return cloud
}

func hexSHA256(content []byte) string {
	digest := sha256.Sum256(content)
	return hex.EncodeToString(digest[:])
}
