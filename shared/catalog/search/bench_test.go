package search_test

import (
	"bytes"
	"runtime"
	"slices"
	"testing"
	"time"

	"recordbridge/shared/catalog/search"
)

// BenchmarkRead reads the real list's index, as a Lambda function does at startup.
func BenchmarkRead(b *testing.B) {
	form := realData(b).form
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var x *search.Index
	for b.Loop() {
		var err error
		if x, err = search.Read(bytes.NewReader(form)); err != nil {
			b.Fatal(err)
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(len(form))/1e6, "MB-file")
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/1e6, "MB-heap")
	runtime.KeepAlive(x)
}

func BenchmarkBuild(b *testing.B) {
	entries := realData(b).entries
	for b.Loop() {
		if _, err := search.Build(entries); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSearch runs each kind of query, with 25 hits per page.
func BenchmarkSearch(b *testing.B) {
	r := realData(b)
	byKind := map[string][]string{"nothing typed": {""}, "hostile": hostile()}
	for _, q := range newAsker(r.entries, tuned).ask(60) {
		byKind[q.kind] = append(byKind[q.kind], q.text)
	}
	for kind, texts := range byKind {
		b.Run(kind, func(b *testing.B) {
			var took []time.Duration
			for b.Loop() {
				began := time.Now()
				if _, err := r.index.Search(search.Query{Text: texts[len(took)%len(texts)], Size: 25}); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(began))
			}
			slices.Sort(took)
			b.ReportMetric(took[len(took)/2].Seconds()*1e3, "ms-p50")
			b.ReportMetric(took[len(took)*99/100].Seconds()*1e3, "ms-p99")
		})
	}
}
