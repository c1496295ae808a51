package itemjson_test

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"recordbridge/infra/local/aws/itemjson"
)

// FuzzEachAgreesWithEncodingJSON checks that Each and encoding/json find the same object members in valid JSON. If a
// name is repeated, encoding/json keeps the last value.
func FuzzEachAgreesWithEncodingJSON(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"pk":{"S":"a"}}`, `{"pk":{"S":"a}"},"n":{"N":"1"},"pk":{"S":"b,"}}`,
		`{"m":{"M":{"a":{"L":[{"S":"\"]"},{"BOOL":true}]}}},"b":{"BOOL":false}}`,
		`{ "pk": {"S":"a"}}`, `{"p\u006b":{"S":"a"}}`, `{"pk":null}`, `[]`, `{"S":"a","N":"1"}`, `{"é":{"S":"é"}}`, `{"a":1}`,
		`{"a":"\\"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, object []byte) {
		got := map[string]string{}
		ok := itemjson.Each(object, func(name, content []byte) { got[string(name)] = string(content) })
		kind, content, isScalar := itemjson.Scalar(object)
		if !json.Valid(object) || !ok {
			return
		}
		var want map[string]json.RawMessage
		if err := json.Unmarshal(object, &want); err != nil || len(want) != len(got) {
			t.Fatalf("cut %q into %v, want %v (%v)", object, got, want, err)
		}
		for name, raw := range want {
			if got[name] != string(raw) {
				t.Errorf("%s of %q: got %s, want %s", name, object, got[name], raw)
			}
		}
		if !isScalar {
			return
		}
		var text string
		raw := want[slices.Collect(maps.Keys(want))[0]]
		if json.Unmarshal(raw, &text) != nil {
			text = string(raw)
		}
		if want[string(kind)] == nil || string(content) != text {
			t.Errorf("%q is %s %q, want %q", object, kind, content, text)
		}
	})
}

func TestEachParsesCompactSDKOutput(t *testing.T) {
	t.Parallel()
	var names []string
	ok := itemjson.Each([]byte(`{"pk":{"S":"a"},"m":{"M":{"x":{"N":"1"}}}}`),
		func(name, _ []byte) { names = append(names, string(name)) })
	if !ok || !slices.Equal(names, []string{"pk", "m"}) {
		t.Errorf("got %v %v, want both attributes", names, ok)
	}
	if kind, content, ok := itemjson.Scalar([]byte(`{"S":"a b"}`)); !ok || string(kind) != "S" ||
		string(content) != "a b" {
		t.Errorf("got %s %s %v, want the text", kind, content, ok)
	}
}
