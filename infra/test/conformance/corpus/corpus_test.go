package corpus_test

import (
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/test/conformance/corpus"
)

const good = `
fixtures:
  table: [{call: CreateTable, in: {TableName: "${id}"}}]
scripts:
  - name: it waits
    with: [table]
    steps:
      - wait: 2s
      - {call: GetItem, in: {Key: {pk: {S: a}}}, fails: ResourceNotFoundException, sign: {how: url, ago: 1m}}
`

func load(text string) ([]corpus.Script, error) {
	return corpus.Load(fstest.MapFS{"dynamodb/get.yaml": {Data: []byte(text)}})
}

func TestLoadSortsFixturesFirst(t *testing.T) {
	t.Parallel()
	got, err := load(good)
	if err != nil {
		t.Fatal(err)
	}
	want := []corpus.Script{{ID: "dynamodb/get/it waits", Service: "dynamodb", Steps: []corpus.Step{
		{Call: "CreateTable", In: map[string]any{"TableName": "${id}"}},
		{Wait: 2 * time.Second},
		{
			Call: "GetItem", In: map[string]any{"Key": map[string]any{"pk": map[string]any{"S": "a"}}},
			Fails: "ResourceNotFoundException", Sign: corpus.Sign{How: "url", Ago: time.Minute},
		},
	}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("scripts (-want +got):\n%s", diff)
	}
}

func TestLoadErrorNamesFile(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ text, want string }{
		"an unknown member":         {strings.Replace(good, "fails:", "fail:", 1), "field fail not found"},
		"a fixture that is missing": {strings.Replace(good, "with: [table]", "with: [chair]", 1), `the fixture "chair"`},
		"nothing expected": {
			strings.Replace(good, "fails: ResourceNotFoundException, ", "", 1),
			"it expects nothing",
		},
		"a wait that calls": {
			strings.Replace(good, "wait: 2s", "{wait: 2s, call: GetItem}", 1),
			"either a wait or a call",
		},
		"nothing to do each": {
			strings.Replace(good, "call: GetItem,", "call: GetItem, each: [],", 1),
			"is performed for nothing",
		},
		"a name with a star": {strings.Replace(good, "it waits", "it*waits", 1), "a script has a name"},
		"no name":            {strings.Replace(good, "name: it waits", "name: ''", 1), "a script has a name"},
		"one name twice": {
			good + "  - {name: it waits, steps: [{call: GetItem, status: 400}]}\n",
			`two scripts are called "dynamodb/get/it waits"`,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := load(tt.text)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want an error with %q", err, tt.want)
			}
		})
	}
}

func TestExpandReplacesVariablesAndGenerators(t *testing.T) {
	t.Parallel()
	in := map[string]any{
		"${name}": []any{"${id}-x", 1, true, nil},
		"long":    map[string]any{"$repeat": 3, "of": "ab"},
		"plain":   map[string]any{"$repeat": 2},
		"parts":   map[string]any{"$join": []any{"${id}:", map[string]any{"$repeat": 2, "of": "y"}}},
		"list":    map[string]any{"$list": 2, "of": map[string]any{"N": "${n}", "id": "${id}"}},
	}
	got, err := corpus.Expand(in, map[string]string{"id": "j1", "name": "key"})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"key":   []any{"j1-x", 1, true, nil},
		"long":  "ababab",
		"plain": "xx",
		"parts": "j1:yy",
		"list":  []any{map[string]any{"N": "0", "id": "j1"}, map[string]any{"N": "1", "id": "j1"}},
	}
	if diff := cmp.Diff(any(want), got); diff != "" {
		t.Errorf("expanded (-want +got):\n%s", diff)
	}
}

func TestExpandFailsWhenVariableIsNotSet(t *testing.T) {
	t.Parallel()
	for _, in := range []any{"${missing}", []any{"${missing}"}, map[string]any{"a": map[string]any{"${missing}": 1}}} {
		if _, err := corpus.Expand(in, nil); err == nil {
			t.Errorf("%v was expanded", in)
		}
	}
}

func TestMatchReportsFirstDifference(t *testing.T) {
	t.Parallel()
	type mapping = map[string]any
	tests := map[string]struct {
		want, got  any
		difference string // expected substring of the difference; "" if the values match
	}{
		"equal texts":                    {"a", "a", ""},
		"other texts":                    {mapping{"k": "a"}, mapping{"k": "b"}, "k is b, want a"},
		"more members than named":        {mapping{"a": "1"}, mapping{"a": "1", "b": "2"}, ""},
		"a missing member":               {mapping{"a": "1"}, mapping{"b": "1"}, "a is <nil>, want 1"},
		"no mapping":                     {mapping{"a": "1"}, "a", "is a, want"},
		"a number in XML":                {mapping{"n": 12}, mapping{"n": "12"}, ""},
		"a number in JSON":               {12, 12.0, ""},
		"another number":                 {12, 13.0, "is 13, want 12"},
		"a truth in XML":                 {true, "true", ""},
		"anything":                       {mapping{"a": "<any>"}, mapping{"a": []any{}}, ""},
		"anything, but nothing is there": {mapping{"a": "<any>"}, mapping{}, "a is <nil>"},
		"absent":                         {mapping{"a": "<absent>"}, mapping{"b": "1"}, ""},
		"absent, but there":              {mapping{"a": "<absent>"}, mapping{"a": "1"}, "a is 1"},
		"a text":                         {"<text>", "x", ""},
		"an empty text":                  {"<text>", "", "is , want <text>"},
		"a number as text":               {"<number>", "1.5", ""},
		"no number":                      {"<number>", "x", "is x, want <number>"},
		"a pattern":                      {"<re:a+b?>", "aab", ""},
		"a pattern that fits a part":     {"<re:a+>", "aab", "is aab"},
		"a list":                         {[]any{"a", "b"}, []any{"a", "b"}, ""},
		"a list in another order":        {[]any{"a", "b"}, []any{"b", "a"}, "0 is b, want a"},
		"a longer list":                  {[]any{"a"}, []any{"a", "b"}, "2 elements"},
		"an empty list":                  {[]any{}, nil, ""},
		"a list of one in XML":           {[]any{mapping{"k": "a"}}, mapping{"k": "a"}, ""},
		"some of a list":                 {mapping{"$has": []any{"b"}}, []any{"a", "b"}, ""},
		"some that a list has not":       {mapping{"$has": []any{"c"}}, []any{"a", "b"}, "c"},
		"a set":                          {mapping{"$set": []any{"a", "b"}}, []any{"b", "a"}, ""},
		"another set":                    {mapping{"$set": []any{"a", "b"}}, []any{"b", "b"}, "lacks a"},
		"a larger set":                   {mapping{"$set": []any{"a"}}, []any{"a", "a"}, "2 elements"},
		"a count":                        {mapping{"$count": 2}, []any{"b", "a"}, ""},
		"another count":                  {mapping{"$count": 2}, []any{"b"}, "1 elements"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := corpus.Match(tt.want, tt.got)
			if tt.difference == "" && got != "" || !strings.Contains(got, tt.difference) {
				t.Errorf("got %q, want %q", got, tt.difference)
			}
		})
	}
}

func TestMatchTruncatesLargeDifference(t *testing.T) {
	t.Parallel()
	got := corpus.Match("a", strings.Repeat("b", 100_000))
	if len(got) > 1000 || !strings.Contains(got, "100000 bytes") {
		t.Errorf("the difference has %d bytes", len(got))
	}
}

func TestFindReturnsValueAtPath(t *testing.T) {
	t.Parallel()
	value := map[string]any{"Messages": []any{map[string]any{"Body": "x"}}, "One": map[string]any{"Key": "y"}}
	for path, want := range map[string]any{
		"Messages.0.Body": "x", "Messages.1.Body": nil, "One.0.Key": "y", "One.Key": "y", "None": nil, "One.Key.Deeper": nil,
	} {
		if got := corpus.Find(value, path); got != want {
			t.Errorf("%s: got %v, want %v", path, got, want)
		}
	}
}
