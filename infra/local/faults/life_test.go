package faults_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"recordbridge/infra/local/faults"
)

// world is a fake Doer that responds to every request, and counts requests and closed bodies.
type world struct{ calls, closed int }

func (w *world) Do(*http.Request) (*http.Response, error) {
	w.calls++
	return &http.Response{StatusCode: http.StatusOK, Body: body{strings.NewReader("x"), w}}, nil
}

type body struct {
	io.Reader

	world *world
}

func (b body) Close() error {
	b.world.closed++
	return nil
}

func undescribed(*http.Request) faults.Call { return faults.Call{} }

func ask(t *testing.T, through faults.Doer) bool {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://example.com/", http.NoBody)
	check(t, err)
	answer, err := through.Do(r)
	if err != nil {
		if !errors.Is(err, faults.ErrCrashed) {
			t.Fatalf("got %v", err)
		}
		return false
	}
	check(t, answer.Body.Close())
	return true
}

func TestCrashHappensAfterNthCall(t *testing.T) {
	t.Parallel()
	one, other := &world{}, &world{}
	life := faults.NewLife(3)
	first, second := life.Through(one, undescribed), life.Through(other, undescribed)
	for i, way := range []faults.Doer{first, second} {
		if !ask(t, way) {
			t.Fatalf("call %d failed", i+1)
		}
	}
	if life.Dead() || ask(t, first) || !life.Dead() {
		t.Error("the third call did not end it")
	}
	if one.calls != 2 || one.closed != 2 {
		t.Errorf("the third call had no effect, or its answer stays open: %+v", one)
	}
	if ask(t, second) || other.calls != 1 {
		t.Error("a call after the end had an effect")
	}
	next := life.Next()
	if next.Calls() != 3 || next.Dead() || !ask(t, next.Through(one, undescribed)) || next.Calls() != 4 {
		t.Errorf("the next life begins with %d calls, dead: %v", next.Calls(), next.Dead())
	}
}

func TestPendingCrashCanBeCancelledOrForced(t *testing.T) {
	t.Parallel()
	spared := faults.NewLife(1)
	spared.Disarm()
	if !ask(t, spared.Through(&world{}, undescribed)) || spared.Dead() {
		t.Error("a disarmed crash happened")
	}
	ended := faults.NewLife(0)
	ended.End()
	w := &world{}
	if ask(t, ended.Through(w, undescribed)) || w.calls != 0 || ended.Calls() != 0 {
		t.Errorf("a life that was ended made %d calls", w.calls)
	}
}

// failing is a Doer that always returns an error.
type failing struct{}

func (failing) Do(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF }

func TestCrashCountIncludesCallWithoutResponse(t *testing.T) {
	t.Parallel()
	life := faults.NewLife(2)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://example.com/", http.NoBody)
	check(t, err)
	_, err = life.Through(failing{}, undescribed).Do(r) //nolint:bodyclose // there is none
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got %v", err)
	}
	if ask(t, life.Through(failing{}, undescribed)) || !life.Dead() {
		t.Error("the second call did not end it")
	}
}
