package tally_test

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/measured"
	"recordbridge/shared/connect/tally"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/logx"
)

func of(kind fault.Kind, cause string) error {
	failure := fault.New(kind, "svc_x", "X.")
	failure.Cause = cause
	return failure
}

func TestFailureIsCountedByCauseOrKind(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err              error
		start, afterward string // outcomes; empty if nothing is counted
	}{
		"the patient's cause":    {of(fault.Upstream, "declined"), "patient", "patient"},
		"the portal's cause":     {of(fault.Unavailable, "portal_unavailable"), "portal", "portal"},
		"the service's cause":    {of(fault.Upstream, "invalid_client"), "service", "service"},
		"an unclassified cause":  {of(fault.Upstream, "new"), "service", "service"},
		"a wrong connection ID":  {of(fault.Invalid, "connection_unknown"), "", "patient"},
		"a cancellation":         {of(fault.Invalid, "cancelled"), "", ""},
		"an error without kind":  {errors.New("x"), "service", "service"},
		"unavailable":            {of(fault.Unavailable, ""), "service", "service"},
		"a portal without cause": {of(fault.Upstream, ""), "portal", "portal"},
		"a missing row":          {fault.NotFound, "service", "service"},
		"a lost write":           {fault.Stale(), "service", "service"},
		"a taken attempt ID":     {fault.New(fault.Conflict, fault.CodeInvalidRequest, "X."), "", ""},
		"a wrong parameter":      {fault.BadRequest("X."), "", ""},
		"an unknown public ID":   {of(fault.Unauthenticated, ""), "", ""},
		"a plan":                 {of(fault.Forbidden, ""), "", ""},
		"a rate limit":           {of(fault.Limited, ""), "", ""},
	} {
		want := map[string]int{}
		if c.start != "" {
			want = map[string]int{"SignIns started": 1, "SignIns " + c.start: 1}
		}
		if diff := cmp.Diff(want, counted(t, tally.NotStarted, c.err)); diff != "" {
			t.Errorf("%s at the start (-want +got):\n%s", name, diff)
		}
		want = map[string]int{}
		if c.afterward != "" {
			want = map[string]int{"SignIns " + c.afterward: 1}
		}
		if diff := cmp.Diff(want, counted(t, tally.Failed, c.err)); diff != "" {
			t.Errorf("%s afterwards (-want +got):\n%s", name, diff)
		}
	}
}

func counted(t *testing.T, count func(context.Context, error), failure error) map[string]int {
	t.Helper()
	var log bytes.Buffer
	ctx, event := logx.Begin(t.Context())
	count(ctx, failure)
	event.Emit(ctx, logx.New(&log), "test")
	return measured.In(t, log.Bytes())
}
