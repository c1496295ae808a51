package ccda_test

import (
	"strings"
	"testing"

	"recordbridge/infra/testkit/ccdatest"
)

func TestConvertedStatusIsValidFHIRCode(t *testing.T) {
	t.Parallel()
	const code = `<code code="229065009" ` + ccdatest.InSnomed
	const value = `<value xsi:type="CD" code="304253006" ` + ccdatest.InSnomed
	for _, kind := range []struct{ section, element, mood, root, inside, member, statuses string }{
		{
			"18776-5", "act", "INT", "39", code, "ServiceRequest | status",
			"new draft, active active, completed completed, held on-hold, suspended on-hold, aborted revoked, cancelled " +
				"revoked, nullified entered-in-error, sleeping unknown",
		},
		{
			"61146-7", "observation", "GOL", "121", code, "Goal | lifecycleStatus",
			"new proposed, active active, completed completed, held on-hold, suspended on-hold, aborted cancelled, cancelled " +
				"cancelled, nullified entered-in-error, sleeping proposed",
		},
		{
			"42348-3", "observation", "EVN", "48", code + value, "Consent | status",
			"new proposed, active active, completed active, aborted inactive, suspended inactive, nullified entered-in-error, " +
				"sleeping draft",
		},
		{
			"48768-6", "act", "EVN", "61", code, "Coverage | status",
			"new draft, active active, completed active, aborted cancelled, suspended cancelled, nullified entered-in-error, " +
				"sleeping draft",
		},
		{
			"85847-2", "organizer", "EVN", "500", code, "CareTeam | status",
			"new proposed, active active, completed inactive, suspended suspended, aborted inactive, nullified entered-in-error",
		},
		{
			"10157-6", "organizer", "EVN", "45", code, "FamilyMemberHistory | status",
			"active partial, completed completed, nullified entered-in-error, sleeping partial",
		},
		{
			"34109-9", "act", "EVN", "202", code, "DocumentReference | status",
			"active current, completed current, obsolete superseded, nullified entered-in-error, sleeping current",
		},
		{
			"34109-9", "act", "EVN", "202", code, "DocumentReference | docStatus",
			"active preliminary, completed final, nullified entered-in-error",
		},
		{
			"18776-5", "act", "EVN", "141", code, "Communication | status",
			"active in-progress, completed completed, aborted stopped, held on-hold, nullified entered-in-error, sleeping " +
				"unknown",
		},
		{
			"75310-3", "act", "EVN", "136", code, "Condition | clinicalStatus.coding.code",
			"active active, completed inactive, aborted inactive, suspended inactive",
		},
	} {
		for pair := range strings.SplitSeq(kind.statuses, ", ") {
			given, want, _ := strings.Cut(pair, " ")
			resources := ccdatest.Facts(t, kind.section,
				ccdatest.PlannedAs(kind.element, "ACT", kind.mood, kind.root, kind.inside+`<statusCode code="`+given+`"/>`))
			if !ccdatest.Has(resources, kind.member+"="+want) {
				t.Errorf("%s of %s is not %s in %v", kind.member, given, want, ccdatest.Shown(resources))
			}
		}
	}
}
