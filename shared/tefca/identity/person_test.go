package identity_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/tefca"
	"recordbridge/shared/tefca/identity"
)

func TestAssertReturnsSamePersonForEveryTokenForm(t *testing.T) {
	t.Parallel()
	for shape, said := range shapes() {
		text := token(t, said)
		made, err := assert(authority(), text, now)
		if err != nil {
			t.Errorf("%s: %v", shape, err)
			continue
		}
		if made.Token.Reveal() != text {
			t.Errorf("%s: the token is not kept as it was signed", shape)
		}
		want := tefca.Assertion{
			Provider: "example", Issuer: issuer, Subject: "subject-1", Level: 2, Person: maple(), Token: made.Token,
			IssuedAt: now, ExpiresAt: now.Add(15 * time.Minute),
		}
		if diff := cmp.Diff(fmt.Sprintf("%+v", want), fmt.Sprintf("%+v", made)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", shape, diff)
		}
	}
}

// members lists the members that describe a person. Each entry has the member's path in a shape and the expected result
// if the member's value is unusable.
func members() []struct {
	path     string
	required bool
	without  func(p *tefca.Person)
} {
	return []struct {
		path     string
		required bool
		without  func(p *tefca.Person)
	}{
		{"given_name", true, nil},
		{"family_name", true, nil},
		{"birthdate", true, nil},
		{"address", true, nil},
		{"middle_name", false, func(p *tefca.Person) { p.Middle = "" }},
		{"gender", false, func(p *tefca.Person) { p.Sex = "" }},
		{"phone_number", false, func(p *tefca.Person) { p.Phone = "" }},
		{"email", false, func(p *tefca.Person) { p.Email = "" }},
		{"address street_address", false, func(p *tefca.Person) { p.Addresses[0].Street = "" }},
		{"address locality", false, func(p *tefca.Person) { p.Addresses[0].City = "" }},
		{"address region", false, func(p *tefca.Person) { p.Addresses[0].State = "" }},
		{"address postal_code", false, func(p *tefca.Person) { p.Addresses[0].PostalCode = "" }},
		{"address country", false, func(p *tefca.Person) { p.Addresses[0].Country = "" }},
		{"historical_address", false, func(p *tefca.Person) { p.Addresses = p.Addresses[:1] }},
	}
}

// odd returns values that are invalid for every member. absent represents a missing member.
func odd() []any {
	return []any{
		absent{},
		nil, 42, 4.5, true, "", "  ", "\a", "a\x00b", "\ufffd", strings.Repeat("x", 201),
		[]any{},
		[]any{"text"},
		object{},
		object{"region": 7},
	}
}

type absent struct{}

// TestAssertIgnoresInvalidClaimMembers checks every combination of token form, member and invalid value.
func TestAssertIgnoresInvalidClaimMembers(t *testing.T) {
	t.Parallel()
	for shape, whole := range shapes() {
		for _, member := range members() {
			for _, value := range odd() {
				name := fmt.Sprintf("%s: %s is %.20q", shape, member.path, fmt.Sprint(value))
				said := cloned(t, whole)
				change(t, said, member.path, value)
				made, err := assert(authority(), token(t, said), now)
				if member.required {
					refused(t, err, "demographics_missing", "")
					if err == nil {
						t.Error(name)
					}
					continue
				}
				want := maple()
				member.without(&want)
				if err != nil {
					t.Errorf("%s: %v", name, err)
				} else if diff := cmp.Diff(want, made.Person); diff != "" {
					t.Errorf("%s (-want +got):\n%s", name, diff)
				}
			}
		}
	}
}

func change(t *testing.T, said object, path string, value any) {
	t.Helper()
	if verified, ok := said["verified_claims"].(object); ok {
		said = verified["claims"].(object)
	}
	if path == "historical_address" && said[path] == nil { // Former addresses follow the current address in a list.
		list := said["address"].([]any)
		if _, gone := value.(absent); gone {
			said["address"] = list[:1]
		} else {
			list[1] = value
		}
		return
	}
	first, inner, isInner := strings.Cut(path, " ")
	if isInner {
		home, ok := said[first].(object)
		if !ok {
			home = said[first].([]any)[0].(object)
		}
		said, path = home, inner
	}
	if _, has := said["regionality"]; has && path == "region" {
		path = "regionality"
	}
	if _, has := said[path]; !has {
		t.Fatalf("there is no %s", path)
	}
	if _, gone := value.(absent); gone {
		delete(said, path)
		return
	}
	said[path] = value
}

func TestAssertRequiresCompletePastBirthDate(t *testing.T) {
	t.Parallel()
	for text, good := range map[string]bool{
		"1984-03-12": true, "1988-02-29": true, "1850-01-01": true, "2026-03-01": true, "2026-03-02": true,
		"2026-03-03": false,
		"1849-12-31": false, "1989-02-29": false, "0000-03-12": false, "1984": false, "1984-03": false, "12.03.1984": false,
		"1984-3-12": false, "1984-03-12T00:00:00Z": false, "19840312": false, "１９84-03-12": false,
	} {
		said := shapes()["CMS-aligned"]
		said["birthdate"] = text
		made, err := assert(authority(), token(t, said), now)
		if good && (err != nil || made.Person.BirthDate != text) {
			t.Errorf("%s: %q, %v", text, made.Person.BirthDate, err)
		}
		if !good {
			refused(t, err, "demographics_missing", "")
		}
	}
}

func TestAssertRequiresStateOrPostalCodeInAddress(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]int{
		`{"region":"WI"}`: 1, `{"regionality":"WI"}`: 1, `{"postal_code":"53703"}`: 1, `{"region":"","regionality":"WI"}`: 1,
		`{"locality":"Madison","street_address":"1 Example Street","country":"US"}`: 0,
		`{"formatted":"1 Example Street, Madison, WI"}`:                             0,
		`[]`:                                 0,
		`[{"country":"US"},{"region":"WI"}]`: 0, // A match with a former address alone is not sufficient.
		`[{"region":"WI"},{"country":"US"}]`: 1,
		`[{"region":"WI"},{"region":"AZ"}]`:  2,
		`["text",{"region":"WI"}]`:           1,
		`[` + strings.Repeat(`{"region":"WI"},`, 30) + `{"region":"WI"}]`: 10,
	} {
		claims := shapes()["CMS-aligned"]
		delete(claims, "historical_address")
		var where any
		if err := json.Unmarshal([]byte(said), &where); err != nil {
			t.Fatal(err)
		}
		claims["address"] = where
		made, err := assert(authority(), token(t, claims), now)
		if want == 0 {
			refused(t, err, "demographics_missing", "")
		} else if err != nil || len(made.Person.Addresses) != want {
			t.Errorf("%s: %d addresses, %v", said, len(made.Person.Addresses), err)
		}
	}
}

func TestAssertReadsFormerAddressesFromBothClaims(t *testing.T) {
	t.Parallel()
	said := shapes()["CMS-aligned"]
	said["historical_addresses"] = []any{object{"region": "TX"}, "text", object{"postal_code": "80202"}}
	made, err := assert(authority(), token(t, said), now)
	if err != nil {
		t.Fatal(err)
	}
	want := slices.Concat(maple().Addresses, []tefca.Address{{State: "TX"}, {PostalCode: "80202"}})
	if diff := cmp.Diff(want, made.Person.Addresses); diff != "" {
		t.Errorf("addresses (-want +got):\n%s", diff)
	}
}

// TestAssertOmitsUnverifiedContacts checks that the claims email_verified and phone_number_verified take precedence.
// Without one of these claims, verified_claims or the contract determines whether the contact counts as verified.
func TestAssertOmitsUnverifiedContacts(t *testing.T) {
	t.Parallel()
	contract := authority()
	contract.Provider.Assurance.Contacts = true
	for name, test := range map[string]struct {
		flag                     any
		flat, byContract, nested bool // whether the contact is returned in each case
	}{
		"true":             {true, true, true, true},
		"a text":           {"true", true, true, true},
		"false":            {false, false, false, false},
		"a text of false":  {"false", false, false, false},
		"another spelling": {"True", false, false, false},
		"null":             {nil, false, false, false},
		"0":                {0, false, false, false},
		"1":                {1, false, false, false},
		"a list":           {[]any{true}, false, false, false},
		"nothing":          {absent{}, false, true, true},
	} {
		for way, c := range map[string]struct {
			a     identity.Authority
			shape string
			used  bool
		}{
			"flat": {authority(), "CMS-aligned", test.flat}, "by contract": {contract, "SOP", test.byContract},
			"nested": {authority(), "OIDC4IDA", test.nested},
		} {
			for _, contact := range []string{"email", "phone_number"} {
				said := cloned(t, shapes()[c.shape])
				all := said
				if verified, ok := said["verified_claims"].(object); ok {
					all = verified["claims"].(object)
				}
				delete(all, contact+"_verified")
				if test.flag != any(absent{}) {
					all[contact+"_verified"] = test.flag
				}
				made, err := assert(c.a, token(t, said), now)
				want := maple()
				if contact == "email" && !c.used {
					want.Email = ""
				}
				if contact == "phone_number" && !c.used {
					want.Phone = ""
				}
				if diff := cmp.Diff(want, made.Person); diff != "" || err != nil {
					t.Errorf("%s, %s, %s: %v (-want +got):\n%s", name, way, contact, err, diff)
				}
			}
		}
	}
}

// TestAssertIgnoresClaimsOutsideVerifiedClaims covers top-level claims in a token with verified_claims. Such claims are
// self-asserted.
func TestAssertIgnoresClaimsOutsideVerifiedClaims(t *testing.T) {
	t.Parallel()
	said := cloned(t, shapes()["OIDC4IDA"])
	said["given_name"], said["middle_name"], said["address"] = "Mallory", "M", object{"region": "NY"}
	delete(said["verified_claims"].(object)["claims"].(object), "middle_name")
	made, err := assert(authority(), token(t, said), now)
	if err != nil || made.Person.Given != "Maple" || made.Person.Middle != "" || made.Person.Addresses[0].State != "WI" {
		t.Errorf("%+v, %v", made.Person, err)
	}
	delete(said["verified_claims"].(object)["claims"].(object), "given_name")
	_, err = assert(authority(), token(t, said), now)
	refused(t, err, "demographics_missing", "")
}
