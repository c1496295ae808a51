package exporttest_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"recordbridge/infra/sandbox/switches"
	"recordbridge/shared/export"
)

func TestEverySandboxSwitchHasExpectation(t *testing.T) {
	t.Parallel()
	expected, elsewhere := expectations(), notSeenHere()
	known := map[string]bool{}
	for _, one := range switches.Table() {
		known[one.Name] = true
		if len(expected[one.Name]) == 0 && !slices.Contains(elsewhere, one.Name) {
			t.Errorf("%s: nothing says what an export has to make of it", one.Name)
		}
		if len(expected[one.Name]) > 0 && slices.Contains(elsewhere, one.Name) {
			t.Errorf("%s is expected here and elsewhere", one.Name)
		}
	}
	for name, list := range expected {
		for _, one := range list {
			set, err := switches.Parse(one.set)
			if err != nil || !known[name] || !set.Has(name) && one.platform == "" {
				t.Errorf("%s: %q does not set it: %v", name, one.set, err)
			}
		}
	}
	for _, name := range elsewhere {
		if !known[name] {
			t.Errorf("there is no switch %s", name)
		}
	}
}

func TestGenericProfileExportsAsMuchAsVendorProfiles(t *testing.T) {
	t.Parallel()
	all := slices.Concat(slices.Collect(maps.Values(expectations()))...)
	for _, vendors := range all {
		if vendors.platform == "" || vendors.ending != whole {
			continue
		}
		if !slices.ContainsFunc(all, func(one expectation) bool {
			return one.platform == "" && one.set == vendors.set && one.ending == whole &&
				(one.only == nil || slices.Equal(one.only, vendors.only))
		}) {
			t.Errorf("%s is expected whole under %s, and not so under the generic platform", vendors.platform, vendors.set)
		}
	}
}

func TestExportIsCompleteOrReportsLossesUnderEverySwitch(t *testing.T) {
	t.Parallel()
	all := expectations()
	for i, name := range slices.Sorted(maps.Keys(all)) {
		if testing.Short() && i%3 > 0 { // a sample suffices for the race detector, as all switches run the same code
			continue
		}
		for number, one := range all[name] {
			if one.heavy && !soaking() {
				continue
			}
			persons := one.only
			if persons == nil {
				persons = paged
				if soaking() {
					persons = slices.Concat(paged, unusual, []string{"rowan-birch"})
				}
			}
			for _, person := range persons {
				title := fmt.Sprintf("%s/%s/%s/%d", name, strings.ReplaceAll(one.set, "/", "-"), person, number)
				t.Run(title, func(t *testing.T) {
					t.Parallel()
					synctest.Test(t, func(t *testing.T) {
						s := scenario{
							person: named(t, person), switches: withoutLabel(one.set), platform: one.platform,
							label: fmt.Sprintf("switch-%s-%d", name, number),
						}
						if one.known {
							s.known = newLearned(t)
						}
						one.check(t, s.run(t))
					})
				})
			}
		}
	}
}

// withoutLabel removes a label switch from set because every scenario adds its own.
func withoutLabel(set string) string {
	if strings.HasPrefix(set, label+":") {
		return ""
	}
	return set
}

func (e expectation) check(t *testing.T, r result) {
	t.Helper()
	switch e.ending {
	case whole:
		checkWhole(t, r)
	case partly:
		v := checkHonest(t, r)
		for _, resourceType := range e.loses {
			if !slices.ContainsFunc(v.missing, func(name string) bool { return strings.HasPrefix(name, resourceType+"/") }) {
				t.Errorf("no %s is missing: the switch does nothing", resourceType)
			}
		}
	case fails:
		checkFailed(t, r, e.reason)
	}
}

// checkFailed checks that a task failed for the given reason and that exactly one event reported the failure.
func checkFailed(t *testing.T, r result, reason export.Reason) {
	t.Helper()
	checkConduct(t, r)
	if r.task.Status != export.Failed || r.task.FailureReason != reason || len(r.task.Files) > 0 {
		t.Errorf("status %s, reason %q, files %+v; want failed with %s", r.task.Status, r.task.FailureReason,
			r.task.Files, reason)
	}
	if len(r.events) != 1 || r.events[0].Type != "patient.ehi_export_failed" {
		t.Errorf("%d events: %v", len(r.events), r.events)
	}
}
