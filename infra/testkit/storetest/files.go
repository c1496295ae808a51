package storetest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/export"
	"recordbridge/shared/words/fault"
)

// beyondAPart is a size in bytes that exceeds one part of an S3 upload.
const beyondAPart = 9 << 20

// Files tests an implementation of export.Files.
func Files(t *testing.T, open func(testing.TB) export.Files) {
	t.Helper()
	run(t, open, map[string]func(subject[export.Files]){
		"an object is there once it is closed":               thereOnceClosed,
		"an aborted object is never there":                   neverAfterAbort,
		"a later object takes the place of an earlier one":   laterTakesThePlace,
		"what was written since the mark is taken back":      takenBack,
		"a composed object is its parts in their order":      composedInOrder,
		"nothing is composed of a part that is missing":      composedOfNothingMissing,
		"a deleted object is gone, and can be deleted again": deletedTwice,
		"whose time has ended closes nothing":                closedTooLate,
	})
}

func thereOnceClosed(c subject[export.Files]) {
	s := objects{c}
	w := s.begin("a")
	s.write(w, "one ")
	s.write(w, "two")
	s.missing("a")
	expect.NoError(s.t, w.Close(s.t.Context()))
	s.holds("a", "one two")
}

func neverAfterAbort(c subject[export.Files]) {
	s := objects{c}
	w := s.begin("a")
	s.write(w, "one")
	w.Abort(s.t.Context())
	s.missing("a")
}

func laterTakesThePlace(c subject[export.Files]) {
	s := objects{c}
	s.made("a", "old")
	s.made("a", "new")
	s.holds("a", "new")
}

func takenBack(c subject[export.Files]) {
	s := objects{c}
	large := string(bytes.Repeat([]byte("x"), beyondAPart))
	w := s.begin("a")
	s.write(w, "kept ")
	w.Mark()
	s.write(w, large)
	expect.NoError(s.t, w.Rewind(s.t.Context()))
	s.write(w, "and ")
	expect.NoError(s.t, w.Rewind(s.t.Context()))
	s.write(w, "more")
	expect.NoError(s.t, w.Close(s.t.Context()))
	s.holds("a", "kept more")
}

func composedInOrder(c subject[export.Files]) {
	s := objects{c}
	s.made("a", "one ")
	s.made("b", "two ")
	expect.NoError(s.t, s.store.Compose(s.t.Context(), "whole", "text/plain", []string{"b", "a", "b"}))
	s.holds("whole", "two one two ")
}

func composedOfNothingMissing(c subject[export.Files]) {
	s := objects{c}
	s.made("a", "one")
	if err := s.store.Compose(s.t.Context(), "whole", "text/plain", []string{"a", "none"}); err == nil {
		s.t.Error("an object was composed of a part that is missing")
	}
	s.missing("whole")
}

func deletedTwice(c subject[export.Files]) {
	s := objects{c}
	s.made("a", "one")
	for range 2 {
		expect.NoError(s.t, s.store.Delete(s.t.Context(), "a"))
		s.missing("a")
	}
}

func closedTooLate(c subject[export.Files]) {
	s := objects{c}
	w := s.begin("a")
	s.write(w, "one")
	over, cancel := context.WithCancel(s.t.Context())
	cancel()
	if err := w.Close(over); err == nil {
		s.t.Error("Close with a context that has ended = nil")
	}
	s.missing("a")
}

type objects struct{ subject[export.Files] }

func (s objects) begin(key string) export.Writer {
	s.t.Helper()
	w, err := s.store.Create(s.t.Context(), key, "text/plain")
	expect.NoError(s.t, err)
	return w
}

func (s objects) write(w io.Writer, text string) {
	s.t.Helper()
	_, err := io.WriteString(w, text)
	expect.NoError(s.t, err)
}

func (s objects) made(key, text string) {
	s.t.Helper()
	w := s.begin(key)
	s.write(w, text)
	expect.NoError(s.t, w.Close(s.t.Context()))
}

func (s objects) holds(key, text string) {
	s.t.Helper()
	body, err := s.store.Open(s.t.Context(), key)
	expect.NoError(s.t, err)
	got, err := io.ReadAll(body)
	expect.NoError(s.t, errors.Join(err, body.Close()))
	if string(got) != text {
		s.t.Errorf("%s holds %.40q, want %.40q", key, got, text)
	}
}

func (s objects) missing(key string) {
	s.t.Helper()
	if _, err := s.store.Open(s.t.Context(), key); !errors.Is(err, fault.NotFound) {
		s.t.Errorf("Open of %s = %v, want fault.NotFound", key, err)
	}
}
