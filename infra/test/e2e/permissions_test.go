package e2e_test

import (
	"cmp"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"recordbridge/infra/local/iam"
	"recordbridge/infra/local/template"
)

// TestEveryPermissionIsUsedAndNeeded runs scenarios that together use every permission in the template. For each
// permission, it checks that a scenario that uses it fails without it. A long soak test covers all permissions; a short
// one covers a fifth. Other runs cover a fixed sample of the permissions, chosen from those that cheap scenarios use.
func TestEveryPermissionIsUsedAndNeeded(t *testing.T) {
	t.Parallel()
	users, unused := performScenarios(t)
	for _, g := range unused {
		if !isSoak() && g.Action == "s3:AbortMultipartUpload" { // only large-record scenarios use this action
			continue
		}
		t.Errorf("no scenario uses this permission: %s %s %s %s %s", g.Function, g.Sid, g.Action, g.Resource, g.Rows)
	}
	stride := 61
	switch {
	case isLongSoak():
		stride = 1
	case isSoak():
		stride = 5
	default:
		maps.DeleteFunc(users, func(_ iam.Grant, e scenario) bool { return e.costly })
	}
	order := slices.SortedFunc(maps.Keys(users),
		func(a, b iam.Grant) int { return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	for i := 0; i < len(order); i += stride {
		t.Run(fmt.Sprintf("without permission %d", i), func(t *testing.T) {
			t.Parallel()
			checkNeeded(t, order[i], users[order[i]])
		})
	}
}

// performScenarios runs all scenarios and returns the first one that uses each permission, and the permissions that
// none uses.
func performScenarios(t *testing.T) (users map[iam.Grant]scenario, unused []iam.Grant) {
	t.Helper()
	all := scenarios(t)
	uses := make([][]iam.Use, len(all))
	grants := make([][]iam.Grant, len(all)) // each scenario's permissions, which are the same in every stack
	t.Run("scenarios", func(t *testing.T) { // t.Run returns when all subtests have finished
		for i, e := range slices.Backward(all) { // the longest scenarios start first
			t.Run(e.name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					s := newStack(t, e.options)
					e.run(s)
					synctest.Wait() // wait for background work, which also uses permissions
					uses[i], grants[i] = s.authority.Uses(), iam.Grants(s.template.Functions)
				})
			})
		}
	})
	users = map[iam.Grant]scenario{}
	for i, e := range all {
		for _, use := range uses[i] {
			if _, known := users[use.Grant]; !known {
				users[use.Grant] = e
			}
		}
	}
	return users, slices.DeleteFunc(grants[0], func(g iam.Grant) bool { return users[g].run != nil })
}

func checkNeeded(t *testing.T, g iam.Grant, e scenario) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		o := e.options
		o.grants = func(functions []template.Function) []template.Function { return iam.Without(functions, g) }
		if !fails(t, func(tb testing.TB) {
			tb.Helper()
			e.run(newStack(tb, o))
		}) {
			t.Errorf("%s succeeds without %s %s %s %s %s", e.name, g.Function, g.Sid, g.Action, g.Resource, g.Rows)
		}
	})
}

// TestLogsAndTracesRequireFunctionPermissions checks that a function's role needs permissions for logs and traces.
// Lambda writes logs and traces with the function's role, and reports no error if a permission is missing.
func TestLogsAndTracesRequireFunctionPermissions(t *testing.T) {
	t.Parallel()
	for sid, want := range map[string]struct{ lines, traces bool }{
		"": {true, true}, "Logs": {false, true},
		"Trace": {true, false},
	} {
		t.Run("without "+sid, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newStack(t, options{grants: func(functions []template.Function) []template.Function {
					kept := slices.Clone(functions)
					for i, f := range kept {
						kept[i].Statements = slices.DeleteFunc(slices.Clone(f.Statements),
							func(s template.Statement) bool { return s.Sid == sid })
					}
					return kept
				}})
				s.expectDenials = true
				s.patient.connect(crashPersona, "approve")
				lines, traces := strings.Contains(s.logs.String(), "/bridge/callback"),
					s.functions["CallbackFunction"].traced.Load() > 0
				if lines != want.lines || traces != want.traces {
					t.Errorf("lines: %v, traces: %v; want %v and %v", lines, traces, want.lines, want.traces)
				}
			})
		})
	}
}

// trial is a nested test that is expected to fail.
type trial struct {
	testing.TB

	mu       sync.Mutex
	failed   bool
	cleanups []func()
}

// fails runs a test and its clean-up, and reports whether the test failed.
func fails(t *testing.T, test func(tb testing.TB)) bool {
	t.Helper()
	inner := &trial{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		test(inner)
	}()
	<-done
	for _, clean := range slices.Backward(inner.cleanups) {
		clean()
	}
	return inner.failed
}

func (t *trial) Errorf(string, ...any) { t.Fail() }
func (t *trial) Error(...any)          { t.Fail() }
func (t *trial) Fatalf(string, ...any) { t.FailNow() }
func (t *trial) Fatal(...any)          { t.FailNow() }
func (t *trial) Cleanup(clean func())  { t.cleanups = append(t.cleanups, clean) }

func (t *trial) Fail() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failed = true
}

func (t *trial) FailNow() {
	t.Fail()
	runtime.Goexit()
}

func (t *trial) Failed() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.failed
}

// checkNothingDenied checks that no call was denied for lack of permissions. Every test runs checkNothingDenied.
func (s *stack) checkNothingDenied(tb testing.TB) {
	tb.Helper()
	if s.expectDenials {
		return
	}
	for _, d := range s.authority.Denials() {
		tb.Errorf("%s may not %s on %s", d.Function, d.Action, strings.TrimPrefix(d.Resource, "arn:aws:"))
	}
}
