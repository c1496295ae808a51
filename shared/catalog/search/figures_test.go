package search_test

import (
	"cmp"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"recordbridge/shared/catalog/search"
)

// figures measures the quality of the results for one type of question.
type figures struct {
	questions  int
	rank       float64 // sum of the reciprocal ranks of the first relevant hits
	recall     float64 // sum of the shares of relevant brands (at most ten) among the first ten hits
	unanswered []string
}

func score(t *testing.T, x *search.Index, questions []question) map[string]*figures {
	t.Helper()
	scored := map[string]*figures{}
	for _, q := range questions {
		page, err := x.Search(search.Query{Text: q.text, Size: 10})
		if err != nil {
			t.Fatal(err)
		}
		f := scored[q.kind]
		if f == nil {
			f = &figures{}
			scored[q.kind] = f
		}
		first, found := 0, 0
		for i, hit := range page.Hits {
			if q.want[hit.ID] {
				found++
				first = cmp.Or(first, i+1)
			}
		}
		f.questions++
		if first > 0 {
			f.rank += 1 / float64(first)
		}
		recall := float64(found) / float64(min(10, len(q.want)))
		f.recall += recall
		if recall < 1 {
			f.unanswered = append(f.unanswered, fmt.Sprintf("%q (%.2f)", q.text, recall))
		}
	}
	return scored
}

func (f figures) String() string {
	return fmt.Sprintf("%4d queries, MRR %.3f, recall@10 %.3f", f.questions, f.rank/float64(f.questions),
		f.recall/float64(f.questions))
}

// leastRecall is the minimum share of relevant brands that must be among the first ten hits, by question type. Question
// types without an entry use the constant usual.
var leastRecall = map[string]float64{"exact": 0.98, "prefix": 0.98, "typo, typing": 0.85}

const usual = 0.92

// judge checks the recall for questions generated from both seeds.
func judge(t *testing.T, x *search.Index, entries []search.Entry) {
	t.Helper()
	for _, seed := range []uint64{tuned, heldOut} {
		questions := newAsker(entries, seed).ask(60)
		if len(questions) < 300 {
			t.Errorf("seed %d: %d questions", seed, len(questions))
		}
		scored := score(t, x, questions)
		for _, kind := range slices.Sorted(maps.Keys(scored)) {
			f := scored[kind]
			t.Logf("seed %d, %-28s %s", seed, kind, f)
			if least := cmp.Or(leastRecall[kind], usual); f.recall/float64(f.questions) < least {
				t.Errorf("seed %d, %s: recall@10 below %.2f: not all of %s", seed, kind, least, f.unanswered)
			}
		}
	}
}

// hostile returns queries that are expensive to run.
func hostile() []string {
	repeat := func(word string) string { return strings.Repeat(word+" ", 200) }
	return []string{
		"a b c d e f g h i j k l m", repeat("a"), repeat("m"), repeat("s"), "st dr md me mc ma mo mi mu my sa se si",
		repeat("medical"), repeat("st"),
		"medical center health clinic family care associates group practice hospital medicine wellness",
		strings.Repeat("st", 500), strings.Repeat("e", 40),
		repeat("medicalcenterhealth"), repeat("associatesassociates"), repeat("aeiouaeiou"),
		"pediatricx cardiologyx associatex healthcarex medicinexx wellnessx hospitalxx therapyxx specialistx",
		strings.Repeat("(a+)+$", 60), strings.Repeat("\x00\u200b\u0301", 5000), strings.Repeat("é", 100_000),
		strings.Repeat("x ", 500_000), "\xff\xfe\xfd clinic",
		"1 2 3 4 5 6 7 8 9 0 1 2", repeat("ear nose throat"),
		"new york north carolina south dakota west virginia rhode island",
	}
}

// maxTime is the maximum processor time for any query. The entire request must complete within 20 ms.
const maxTime = 20 * time.Millisecond

// boundHostile limits the processor time of hostile queries. It measures processor time, because elapsed time depends
// on other processes on the machine.
func boundHostile(t *testing.T, x *search.Index) {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for _, text := range hostile() {
		const times = 10 // The clock has a resolution of milliseconds.
		began := worked(t)
		for range times {
			if _, err := x.Search(search.Query{
				Text: text, Size: search.MaxSize, ByLocation: true,
				ZIPs: []string{"44101", "75001"},
			}); err != nil {
				t.Fatal(err)
			}
		}
		took := (worked(t) - began) / times
		t.Logf("%6.2f ms %.60q", took.Seconds()*1e3, text)
		if took > maxTime {
			t.Errorf("%.60q takes %v", text, took)
		}
	}
}

// worked returns the CPU time that this thread has used.
func worked(t *testing.T) time.Duration {
	t.Helper()
	const ofThread = 1 // RUSAGE_THREAD of getrusage(2)
	var used syscall.Rusage
	if err := syscall.Getrusage(ofThread, &used); err != nil {
		t.Skip("no time of a thread here:", err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
