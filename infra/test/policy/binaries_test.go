package policy_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"recordbridge/infra/local/template"
	"recordbridge/infra/test/policy"
)

func answers(folder string) template.Function {
	return template.Function{Folder: folder, Routes: []template.Route{{Method: "GET", Path: "/"}}}
}

func TestBinariesCheckFindsUnexpectedBinaries(t *testing.T) {
	t.Parallel()
	of := func(size int) *fstest.MapFile { return &fstest.MapFile{Data: make([]byte, size)} }
	got, err := policy.Binaries(fstest.MapFS{
		"build/arm64/fits/bootstrap": of(policy.MaxBinary), "build/arm64/large/bootstrap": of(policy.MaxBinary + 10_000),
		"build/arm64/old/bootstrap": of(1), "build/arm64/half/other": of(1),
		"build/arm64/worker/bootstrap": of(policy.MaxBinary + 1),
	}, []template.Function{answers("fits"), answers("half"), answers("large"), {Folder: "worker"}, answers("unbuilt")})
	if err != nil {
		t.Fatal(err)
	}
	finds(t, got,
		"build/arm64/half/bootstrap: was not built",
		"build/arm64/large/bootstrap: has 12.01 MB, more than 12",
		"build/arm64/old: there is no such function: make clean",
		"build/arm64/unbuilt/bootstrap: was not built",
	)
}

func TestBinariesReturnsErrorWhenNothingIsBuilt(t *testing.T) {
	t.Parallel()
	_, err := policy.Binaries(fstest.MapFS{"Makefile": {}}, []template.Function{answers("fits")})
	if err == nil || !strings.Contains(err.Error(), "run make build") {
		t.Errorf("got %v, want an error that says what to run", err)
	}
}
