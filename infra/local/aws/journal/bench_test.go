package journal_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
)

// row has the shape and size of a task in DynamoDB's journal.
type row struct {
	Items []map[string]map[string]map[string]string `json:"items"`
}

func newRow() row {
	item := map[string]map[string]string{}
	for _, name := range []string{"pk", "sk", "org", "created", "shard", "due", "rev", "state_name"} {
		item[name] = map[string]string{"S": "T#TASK#1"}
	}
	item["body"] = map[string]string{"S": strings.Repeat("x", 300)}
	return row{Items: []map[string]map[string]map[string]string{{"put": item}}}
}

func BenchmarkAppend(b *testing.B) {
	log := open(b, b.TempDir())
	replay(b, log)
	record := newRow()
	for b.Loop() {
		if err := log.Append("dynamodb", record); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkAppendEncoded leaves out what encoding/json costs.
func BenchmarkAppendEncoded(b *testing.B) {
	log := open(b, b.TempDir())
	replay(b, log)
	record, err := json.Marshal(newRow())
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := log.Append("dynamodb", json.RawMessage(record)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkReplay(b *testing.B) {
	dir := b.TempDir()
	log := open(b, dir)
	replay(b, log)
	for i := range 10_000 {
		if err := log.Append("dynamodb", note{Text: strconv.Itoa(i) + strings.Repeat("x", 500)}); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(int64(len(read(b, dir))))
	for b.Loop() {
		if err := log.Replay(nothing); err != nil {
			b.Fatal(err)
		}
	}
}
