package plan_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/fhir/plan"
)

func TestFilledReplacesPlaceholdersAndOmitsUnknownOnes(t *testing.T) {
	t.Parallel()
	query := map[string]string{"p": "Organization/{practice}", "both": "{site}{practice}", "plain": "all", "hole": "{}"}
	for name, test := range map[string]struct{ extra, want map[string]string }{
		"all": {
			map[string]string{"practice": "a-1", "site": "s", "more": "m"},
			map[string]string{"p": "Organization/a-1", "both": "sa-1", "plain": "all"},
		},
		"one": {
			map[string]string{"practice": "a-1", "site": ""},
			map[string]string{"p": "Organization/a-1", "plain": "all"},
		},
		"one of two": {map[string]string{"site": "s"}, map[string]string{"plain": "all"}},
		"none":       {nil, map[string]string{"plain": "all"}},
		"a false place": {
			map[string]string{"practice": "{site}", "site": "{practice}&x=1"},
			map[string]string{"p": "Organization/{site}", "both": "{practice}&x=1{site}", "plain": "all"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			profile := plan.Profile{Query: query, OnceNext: true}
			got := profile.Filled(test.extra)
			if diff := cmp.Diff(test.want, got.Query); diff != "" || !got.OnceNext || len(profile.Query) != 4 {
				t.Errorf("query (-want +got):\n%s", diff)
			}
		})
	}
	if got := (plan.Profile{}).Filled(map[string]string{"a": "b"}); got.Query != nil {
		t.Errorf("got %v out of nothing", got.Query)
	}
}
