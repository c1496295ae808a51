package aws_test

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"recordbridge/infra/local/aws"
)

const clientsPerCore = 4

// BenchmarkPutItemOverLoopback writes items of about 400 bytes, using SDK clients and a real server on a loopback port.
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
