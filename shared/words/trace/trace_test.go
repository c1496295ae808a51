package trace_test

import (
	"strings"
	"testing"

	"recordbridge/shared/words/trace"
)

const id = "1-5759e988-bd862e3fe1be46a994272793"

func TestTraceIDReturnsRootFromHeader(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]string{
		"Root=" + id: id,
		"Root=" + id + ";Parent=53995c3f42cd8ad8;Sampled=1;Lineage=1:a87bd80c:0": id,
		"Self=1-67891234-12456789abcdef012345678;Root=" + id:                     id,
		"":                       "",
		id:                       "",
		"Root=1-5759e988":        "",
		"Root=" + id + ";":       "",
		"Root=" + id + "\nx=y":   "",
		"Root=" + id + ";name=é": "",
		"Root=" + id + ";x=" + strings.Repeat("y", 512): "",
	} {
		ctx := trace.With(t.Context(), header)
		if got := trace.ID(ctx); got != want {
			t.Errorf("%q: id %q, want %q", header, got, want)
		}
		if got := trace.Header(ctx); want != "" && got != header || want == "" && got != "" {
			t.Errorf("%q: header %q", header, got)
		}
	}
}

func TestWithIgnoresMalformedHeader(t *testing.T) {
	t.Parallel()
	if got := trace.ID(trace.With(trace.With(t.Context(), "Root="+id), "Root=mine")); got != id {
		t.Errorf("id %q", got)
	}
}
