package identity_test

import (
	"encoding/json"
	"maps"
	"testing"

	"recordbridge/shared/tefca/identity"
)

func TestAssertAcceptsAssuranceLevelSpellings(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]int{
		`2`: 2, `3`: 3, `2.0`: 2, `"2"`: 2, `"3"`: 3, `"IAL2"`: 2, `"ial2"`: 2, `"IAL-2"`: 2, `"ial_2"`: 2, `"IAL 3"`: 3,
		`"IAL_3"`: 3,
		`1`:       0, `0`: 0, `"1"`: 0, `"IAL1"`: 0, `4`: 0, `22`: 0, `-2`: 0, `2.5`: 0, `"22"`: 0, `"high"`: 0,
		`""`: 0, `"AAL2"`: 0,
		`"2 of 3"`: 0, `" 2"`: 0, `"-2"`: 0, `"_2"`: 0, `"IAL--2"`: 0, `"IAL2 "`: 0, `"IAL:2"`: 0, `"IAL"`: 0, `"IAL22"`: 0,
		`null`: 0, `true`: 0, `[2]`: 0, `{"level":2}`: 0, `1e999`: -1,
	} {
		var value any
		if err := json.Unmarshal([]byte(said), &value); err != nil {
			if want >= 0 {
				t.Fatal(err)
			}
			continue
		}
		for _, claim := range []string{"", "https://id.example/level"} {
			claims := shapes()["CMS-aligned"]
			a := authority()
			a.Provider.Assurance = identity.Assurance{Claim: claim, Implied: true, ACR: []string{"known"}}
			delete(claims, "identity_assurance_level")
			if claim == "" {
				claim = "identity_assurance_level"
			}
			claims[claim], claims["acr"] = value, "known" // A stated level takes precedence over an implied level.
			made, err := assert(a, token(t, claims), now)
			if want == 0 {
				refused(t, err, "level_too_low", "")
			} else if err != nil || made.Level != want {
				t.Errorf("%s: level %d, %v", said, made.Level, err)
			}
		}
	}
}

func TestAssertRequiresClaimedOrConfiguredAssuranceLevel(t *testing.T) {
	t.Parallel()
	framework := func(trust string, level any) object {
		verification := object{"trust_framework": trust}
		if level != nil {
			verification["assurance_level"] = level
		}
		return object{
			"verification": verification,
			"claims":       cloned(t, shapes()["OIDC4IDA"])["verified_claims"].(object)["claims"],
		}
	}
	acr, known := identity.Assurance{ACR: []string{"ial2"}}, identity.Assurance{Frameworks: []string{"us_state"}}
	implied, nist := identity.Assurance{Implied: true}, identity.Assurance{Frameworks: []string{"nist_800_63A"}}
	for name, test := range map[string]struct {
		shape   string
		changes object
		means   identity.Assurance
		want    int
	}{
		"nothing says it":                       {"SOP", nil, identity.Assurance{}, 0},
		"the contract says it":                  {"SOP", nil, implied, 2},
		"the contract, but the token denies it": {"SOP", object{"identity_assurance_level": 1}, implied, 0},
		"the configured acr":                    {"SOP", object{"acr": "ial2"}, acr, 2},
		"another acr":                           {"SOP", object{"acr": "ial1"}, acr, 0},
		"no acr":                                {"SOP", nil, acr, 0},
		"an acr that is a list":                 {"SOP", object{"acr": []any{"ial2"}}, acr, 0},
		"an acr that nobody configured":         {"SOP", object{"acr": "ial2"}, identity.Assurance{}, 0},
		"a framework with its level":            {"OIDC4IDA", nil, identity.Assurance{}, 2},
		"a framework with level 3": {
			"OIDC4IDA",
			object{"verified_claims": framework("NIST_800_63A", "3")},
			identity.Assurance{},
			3,
		},
		"a framework with level 1": {
			"OIDC4IDA",
			object{"verified_claims": framework("nist_800_63A", "ial1")},
			implied, 0,
		},
		"a framework without a level": {
			"OIDC4IDA",
			object{"verified_claims": framework("nist_800_63A", nil)},
			implied, 0,
		},
		"a framework that is a level": {
			"OIDC4IDA",
			object{"verified_claims": framework("nist_800_63A_ial_2", nil)},
			identity.Assurance{},
			2,
		},
		"a framework that is a low level": {
			"OIDC4IDA",
			object{"verified_claims": framework("nist_800_63A_ial_1", nil)},
			implied, 0,
		},
		"a framework whose levels differ": {
			"OIDC4IDA",
			object{"verified_claims": framework("nist_800_63A_ial_1", "2")},
			implied, 0,
		},
		"the other way round": {
			"OIDC4IDA",
			object{"verified_claims": framework("nist_800_63A_ial_2", "ial1")},
			implied, 0,
		},
		"a framework whose levels agree": {
			"OIDC4IDA",
			object{"verified_claims": framework("NIST_800_63A_IAL_3", "ial2")},
			implied, 2,
		},
		"a revision that looks like a level": {
			"OIDC4IDA",
			object{"verified_claims": framework("nist_800_63A-3", nil)},
			implied, 0,
		},
		"a revision behind an underline": {
			"OIDC4IDA",
			object{"verified_claims": framework("nist_800_63A_3", nil)},
			implied, 0,
		},
		"a revision with its level": {
			"OIDC4IDA",
			object{"verified_claims": framework("nist_800_63A-3", "ial2")},
			implied, 0,
		},
		"a level in two spellings": {
			"OIDC4IDA",
			object{"verified_claims": framework("nist_800_63A_ial_ial2", nil)},
			implied, 0,
		},
		"a framework that begins like it": {
			"OIDC4IDA",
			object{"verified_claims": framework("nist_800_63Ax", nil)},
			implied, 0,
		},
		"a framework of other levels": {
			"OIDC4IDA",
			object{"verified_claims": framework("de_aml", "2")},
			implied, 0,
		},
		"a configured framework": {
			"OIDC4IDA",
			object{"verified_claims": framework("us_state", nil)},
			known, 2,
		},
		"NIST's own, configured": {
			"OIDC4IDA",
			object{"verified_claims": framework("nist_800_63A", nil)},
			nist, 2,
		},
		"NIST's own, configured, but low": {
			"OIDC4IDA",
			object{"verified_claims": framework("nist_800_63A", "ial1")},
			nist, 0,
		},
		"no framework": {
			"OIDC4IDA",
			object{"verified_claims": object{"claims": object{}}},
			known, 0,
		},
		"several, the second is good": {
			"OIDC4IDA",
			object{"verified_claims": []any{framework("de_aml", nil), framework("nist_800_63A", "ial2")}},
			identity.Assurance{},
			2,
		},
		"several, the low one is first": {
			"OIDC4IDA",
			object{"verified_claims": []any{framework("nist_800_63A", "ial1"), framework("nist_800_63A", "ial2")}},
			identity.Assurance{},
			2,
		},
		"several, the first good one counts": {
			"OIDC4IDA",
			object{"verified_claims": []any{framework("nist_800_63A", "ial2"), framework("nist_800_63A", "ial3")}},
			identity.Assurance{},
			2,
		},
		"several, none is good": {
			"OIDC4IDA",
			object{"verified_claims": []any{framework("de_aml", nil)}},
			implied, 0,
		},
		"no verified claims in verified_claims": {"SOP", object{"verified_claims": nil}, implied, 0},
		"verified claims, and the token denies": {"OIDC4IDA", object{"identity_assurance_level": 1}, implied, 0},
		"verified claims, and the token says so": {
			"OIDC4IDA",
			object{"identity_assurance_level": 3},
			identity.Assurance{},
			2,
		},
		"verified claims without claims": {
			"OIDC4IDA",
			object{"verified_claims": object{"verification": object{
				"trust_framework": "nist_800_63A",
				"assurance_level": "ial2",
			}}},
			implied, 0,
		},
		"flat claims beside unverified ones": {
			"CMS-aligned",
			object{"verified_claims": framework("de_aml", nil)},
			implied, 0,
		},
		"a level in the flat claims of the token": {"CMS-aligned", nil, identity.Assurance{}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			said := cloned(t, shapes()[test.shape])
			maps.Copy(said, test.changes)
			a := authority()
			a.Provider.Assurance = test.means
			made, err := assert(a, token(t, said), now)
			if test.want == 0 {
				refused(t, err, "level_too_low", "")
			} else if err != nil || made.Level != test.want {
				t.Errorf("level %d, %v", made.Level, err)
			}
		})
	}
}

// TestAssertDoesNotMixVerifiedClaimsElements checks that an element's claims are never combined with another element's
// level.
func TestAssertDoesNotMixVerifiedClaimsElements(t *testing.T) {
	t.Parallel()
	said := cloned(t, shapes()["OIDC4IDA"])
	high := said["verified_claims"].(object)
	low := object{
		"verification": object{"trust_framework": "nist_800_63A", "assurance_level": "ial1"},
		"claims":       object{"given_name": "Mallory", "middle_name": "M", "email": "mallory@tefca.example"},
	}
	for _, name := range []string{"middle_name", "email"} {
		delete(high["claims"].(object), name)
	}
	for _, elements := range [][]any{{low, high}, {high, low}} {
		said["verified_claims"] = elements
		made, err := assert(authority(), token(t, said), now)
		if err != nil || made.Person.Given != "Maple" || made.Person.Middle != "" || made.Person.Email != "" {
			t.Errorf("%+v, %v", made.Person, err)
		}
	}
}
