package version_test

import (
	"errors"
	"testing"

	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/version"
)

func TestVersionDistinguishesEditableFields(t *testing.T) {
	t.Parallel()
	states := [][][]string{
		{{"ab"}, {"c"}},
		{{"a"}, {"bc"}},
		{{"a", "b"}, {"c"}},
		{{"a"}, {"b", "c"}},
		{{}, {"ab", "c"}},
		{{"c"}, {"ab"}},
		{{""}},
		{{}},
	}
	seen := map[string]int{}
	for i, state := range states {
		v := version.Of(state...)
		if other, known := seen[v]; known || v != version.Of(state...) || len(v) != 32 {
			t.Errorf("the version of %q is %q, as that of state %d", state, v, other)
		}
		seen[v] = i
	}
	if version.Of(nil) != version.Of([]string{}) {
		t.Error("nil and an empty list have different versions")
	}
}

func TestCheckComparesCurrentVersionWithIfMatch(t *testing.T) {
	t.Parallel()
	for header, isAccepted := range map[string]bool{
		"":                      true,
		"*":                     true,
		` "v1" `:                true,
		`"v0", "v1"`:            true,
		`, "v0",,"v1" ,`:        true,
		`,`:                     false,
		`"a,b", W/"v1", "v1"`:   true,
		`"v0"`:                  false,
		`W/"v1"`:                false,
		`"v0, v1"`:              false,
		`v1`:                    false,
		`"v1`:                   false,
		`*, "v1"`:               false,
		`"v1" "v0"`:             false,
		`"v1";q=1`:              false,
		`w/"v1"`:                false,
		`"",W/"","v1 ","V1",""`: false,
	} {
		match, err := version.Parse(header)
		if err == nil {
			err = match.Check("webhook", "v1")
		}
		if (err == nil) != isAccepted {
			t.Errorf("If-Match: %s: %v, want accepted: %v", header, err, isAccepted)
		}
	}
}

func TestParseRejectsMalformedIfMatch(t *testing.T) {
	t.Parallel()
	for _, header := range []string{`v1`, `"v1`, `*, "v1"`, `"v1" "v0"`, `w/"v1"`, `"v 1"`, `,v1`} {
		if _, err := version.Parse(header); !errors.Is(err, fault.Invalid) {
			t.Errorf("If-Match: %s: %v, want fault.Invalid", header, err)
		}
	}
}

func TestCheckReturnsConflictThatIsNotRetried(t *testing.T) {
	t.Parallel()
	match, err := version.Parse(`"v0"`)
	if err != nil {
		t.Fatal(err)
	}
	if err = match.Check("webhook", "v1"); !errors.Is(err, fault.Conflict) || fault.IsStale(err) ||
		fault.Of(err).Code != fault.CodeConflict {
		t.Errorf("%v, want svc_conflict", err)
	}
}
