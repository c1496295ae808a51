package flow_test

import (
	"strings"
	"testing"

	"recordbridge/shared/connect/flow"
	"recordbridge/shared/words/fault"
)

func TestCheckLengthsRejectsLongValues(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		limit int
		set   func(r *flow.Request, value string)
	}{
		"external_id":    {512, func(r *flow.Request, value string) { r.ExternalID = value }},
		"external_state": {1024, func(r *flow.Request, value string) { r.ExternalState = value }},
		"request_id":     {128, func(r *flow.Request, value string) { r.RequestID = value }},
	} {
		w, r := newWorld(), request(t)
		c.set(&r, strings.Repeat("x", c.limit))
		if _, err := w.starter().Start(t.Context(), r); err != nil {
			t.Errorf("%s of %d bytes: %v", name, c.limit, err)
		}
		c.set(&r, strings.Repeat("x", c.limit-1)+"ö")
		_, startErr := w.starter().Start(t.Context(), r)
		_, createErr := w.creator().Create(t.Context(), r)
		for _, err := range []error{startErr, createErr} {
			wantFault(t, err, fault.Invalid, fault.CodeInvalidRequest)
			if !strings.HasPrefix(fault.Of(err).Public, name+" must not be longer") {
				t.Errorf("%s of %d bytes: %v", name, c.limit+1, err)
			}
		}
	}
}

// TestResultURLIsBoundedForAnyGrantedScope combines the longest values that a caller can supply with scopes of any
// length. A scope that fits is included in the URL. A longer scope is omitted from the URL but remains available in the
// record and the event.
func TestResultURLIsBoundedForAnyGrantedScope(t *testing.T) {
	t.Parallel()
	const most = 8192
	for name, c := range map[string]struct {
		scopes   int
		external string // one byte of the external ID
		returned bool
	}{
		"a usual answer":                {60, "x", true},
		"9,000 scopes":                  {9000, "x", false},
		"a usual one, and odd own ones": {60, "\xff", false},
	} {
		w, r := newWorld(), request(t)
		r.ExternalID, r.ExternalState, r.RequestID = strings.Repeat(c.external, 512), strings.Repeat(c.external, 1024),
			strings.Repeat(c.external, 128)
		w.set.Scope = strings.TrimSpace(strings.Repeat("patient/Patient.rs ", c.scopes))
		done, err := w.completer(t).Complete(t.Context(), w.start(t, r).back())
		if err != nil {
			t.Fatal(err)
		}
		if address := done.Redirect.With(done.Result); len(address) > most || done.Result.Has("scope") != c.returned {
			t.Errorf("%s: an address of %d bytes, with the scope: %v", name, len(address), done.Result.Has("scope"))
		}
		if got := conclusionOf(t, w).Connection.Scope; got != w.set.Scope {
			t.Errorf("%s: the record keeps %d of %d bytes", name, len(got), len(w.set.Scope))
		}
	}
}
