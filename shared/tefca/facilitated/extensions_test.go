package facilitated_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/tefca"
	"recordbridge/shared/tefca/facilitated"
	"recordbridge/shared/words/secret"
)

// everybody returns a person with every attribute that an identity provider can state.
func everybody() tefca.Person {
	return tefca.Person{
		Given: "Maple", Middle: "Ann Bee", Family: "Aster", BirthDate: "1984-03-12", Sex: "F", Phone: "+15550100",
		Email: "maple.aster@tefca.example",
		Addresses: []tefca.Address{
			{Street: "1 Example Street", City: "Madison", State: "WI", PostalCode: "53703", Country: "US"},
			{City: "Portland", State: "OR"},
		},
	}
}

func TestTokenRequestContainsOnlyVerifiedAttributes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "")
		var assertion string
		handler := w.wire.handler
		w.wire.instead["/udap/token"] = func(out http.ResponseWriter, r *http.Request) {
			_ = r.ParseForm()
			assertion = r.PostForm.Get("client_assertion")
			handler.ServeHTTP(out, r)
		}
		who := identityProvider().assertion(t, everybody())
		if _, err := w.Open(t.Context(), who, w.facility(0)); err != nil {
			t.Fatal(err)
		}
		var claims struct {
			Extensions map[string]any `json:"extensions"`
		}
		raw, err := base64.RawURLEncoding.DecodeString(strings.Split(assertion, ".")[1])
		expect.NoError(t, err)
		expect.NoError(t, json.Unmarshal(raw, &claims))
		const demographics = `"name": [{"use": "official", "family": "Aster", "given": ["Maple", "Ann", "Bee"]}],
			"gender": "female", "birthDate": "1984-03-12",
			"telecom": [{"system": "phone", "value": "+15550100"}, {"system": "email", "value": "maple.aster@tefca.example"}],
			"address": [{"use": "home", "line": ["1 Example Street"], "city": "Madison", "state": "WI", "postalCode": "53703",
				"country": "US"},
				{"use": "old", "city": "Portland", "state": "OR"}]`
		want := map[string]any{}
		expect.NoError(t, json.Unmarshal([]byte(`{
			"hl7-b2b": {"version": "1", "subject_name": "Maple Ann Bee Aster", "organization_name": "Recordbridge",
				"organization_id": "urn:oid:2.999.1",
				"purpose_of_use": ["urn:oid:2.16.840.1.113883.3.7204.1.5.2.1#T-IAS"]},
			"tefca_ias": {"version": "1", "consent_policy": ["urn:oid:2.999.2"], "id_token": "`+who.Token.Reveal()+`",
				"user_information": {"resourceType": "RelatedPerson",
					"patient": {"type": "Patient", "display": "Maple Ann Bee Aster"},
					"relationship": [{"coding": [{"system": "http://terminology.hl7.org/CodeSystem/v3-RoleCode", "code": "ONESELF"}]}],
					`+demographics+`},
				"patient_information": {"resourceType": "Patient",
					"identifier": [{"system": "`+issuer+`", "value": "sentinel-subject"}], `+demographics+`}}}`), &want))
		if diff := cmp.Diff(want, claims.Extensions); diff != "" {
			t.Errorf("extensions (-want +got):\n%s", diff)
		}
	})
}

// TestExtensionStatesPurposeOfUseWhenFacilityFollowsSOP1 checks that purpose_of_use is sent to facilities that follow
// SOP 1.0 and omitted for SOP 2.0, which does not define it.
func TestExtensionStatesPurposeOfUseWhenFacilityFollowsSOP1(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for sop, want := range map[string]any{"": nil, "2.0": nil, "1.0": "T-IAS"} {
			w := newWorld(t, "")
			n, err := w.network(t, func(c *facilitated.Config) { c.Places[0].SOP = sop })
			expect.NoError(t, err)
			var assertion string
			handler := w.wire.handler
			w.wire.instead["/udap/token"] = func(out http.ResponseWriter, r *http.Request) {
				_ = r.ParseForm()
				assertion = r.PostForm.Get("client_assertion")
				handler.ServeHTTP(out, r)
			}
			_, err = n.Open(t.Context(), identityProvider().assertion(t, maple(t)), w.facility(0))
			expect.NoError(t, err)
			var claims struct {
				Extensions struct {
					IAS map[string]any `json:"tefca_ias"`
				} `json:"extensions"`
			}
			raw, err := base64.RawURLEncoding.DecodeString(strings.Split(assertion, ".")[1])
			expect.NoError(t, err)
			expect.NoError(t, json.Unmarshal(raw, &claims))
			if got, isStated := claims.Extensions.IAS["purpose_of_use"]; got != want || isStated != (want != nil) {
				t.Errorf("SOP %q: purpose_of_use is %v", sop, got)
			}
		}
	})
}

func TestIdentityIsWithheldUnlessExtensionsAreSupported(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for name, change := range map[string]func(map[string]any){
			"not known": func(m map[string]any) { m["udap_authorization_extensions_supported"] = []string{"hl7-b2b"} },
			"another is wanted": func(m map[string]any) {
				m["udap_authorization_extensions_required"] = []string{
					"hl7-b2b",
					"other",
				}
			},
			"no scope of a kind": func(m map[string]any) { m["scopes_supported"] = []string{"system/*.read", "launch"} },
		} {
			w := newWorld(t, "")
			w.wire.instead["/.well-known/udap"] = w.altered(change)
			_, err := w.Open(t.Context(), identityProvider().assertion(t, maple(t)), w.facility(0))
			_, shown := w.wire.hosts()
			if !errors.Is(err, tefca.ErrRefused) || len(shown) > 0 || w.wire.count("/udap/register") > 0 {
				t.Errorf("%s: %v, shown to %v", name, err, shown)
			}
		}
	})
}

func TestTokenRequestUsesOnlySupportedScopes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for name, test := range map[string]struct {
			known []string
			want  string
		}{
			"it does not say": {nil, "patient/*.read"}, "both": {[]string{"patient/*.rs", "patient/*.read"}, "patient/*.read"},
			"version 2": {[]string{"openid", "patient/*.rs"}, "patient/*.rs"},
			"single": {
				[]string{"patient/Patient.read", "system/Patient.read", "patient/Observation.rs"},
				"patient/Patient.read patient/Observation.rs",
			},
		} {
			w := newWorld(t, "")
			w.wire.instead["/.well-known/udap"] = w.altered(func(m map[string]any) { m["scopes_supported"] = test.known })
			set, err := w.Open(t.Context(), identityProvider().assertion(t, maple(t)), w.facility(0))
			if err != nil || set.AskedScope != test.want {
				t.Errorf("%s: asked for %q, %v", name, set.AskedScope, err)
			}
		}
	})
}

// altered returns a handler that serves the sandbox's metadata with changes to its unsigned part.
func (w *world) altered(change func(map[string]any)) http.HandlerFunc {
	handler := w.wire.handler
	return func(out http.ResponseWriter, r *http.Request) {
		var document map[string]any
		answer := recorded(handler, r)
		if json.Unmarshal(answer, &document) == nil {
			change(document)
		}
		_ = json.NewEncoder(out).Encode(document)
	}
}

func TestNewRejectsIncompleteConfiguration(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "")
		for name, change := range map[string]func(*facilitated.Config){
			"no name":               func(c *facilitated.Config) { c.ClientName = "" },
			"no mail":               func(c *facilitated.Config) { c.Contacts = []string{"https://us.example"} },
			"no organisation":       func(c *facilitated.Config) { c.OrganizationID = "2.999.1" },
			"no policy":             func(c *facilitated.Config) { c.ConsentPolicy = nil },
			"a policy that is none": func(c *facilitated.Config) { c.ConsentPolicy = []string{"2.999"} },
			"no anchor":             func(c *facilitated.Config) { c.Anchors = "" },
			"another client":        func(c *facilitated.Config) { c.ClientURI = "https://other.example" },
			"a facility twice":      func(c *facilitated.Config) { c.Places = append(c.Places, c.Places...) },
			"a facility of no name": func(c *facilitated.Config) {
				c.Places = []facilitated.Place{{ID: "urn:oid:2.999", FHIRBase: "https://a.example"}}
			},
			"a facility of no urn": func(c *facilitated.Config) {
				c.Places = []facilitated.Place{{ID: "1", Name: "A", FHIRBase: "https://a.example"}}
			},
			"an origin with a path": func(c *facilitated.Config) {
				c.Places = []facilitated.Place{{
					ID: "urn:oid:2.999", Name: "A", FHIRBase: "https://a.example",
					Origins: []string{"https://auth.example/"},
				}}
			},
			"an origin of no host": func(c *facilitated.Config) {
				c.Places = []facilitated.Place{{
					ID: "urn:oid:2.999", Name: "A", FHIRBase: "https://a.example",
					Origins: []string{"https://"},
				}}
			},
			"an unknown SOP": func(c *facilitated.Config) {
				c.Places = []facilitated.Place{{ID: "urn:oid:2.999", Name: "A", FHIRBase: "https://a.example", SOP: "3.0"}}
			},
			"a facility of no base": func(c *facilitated.Config) {
				c.Places = []facilitated.Place{{
					ID:   "urn:oid:2.999",
					Name: "A",
				}}
			},
		} {
			if _, err := w.network(t, change); err == nil {
				t.Errorf("%s: taken", name)
			}
		}
		_, err := w.network(t, func(c *facilitated.Config) {
			c.Places = []facilitated.Place{{
				ID: "urn:oid:2.999", Name: "A", FHIRBase: "https://a.example",
				Origins: []string{"https://auth.example:8443"},
			}}
		})
		expect.NoError(t, err)
		if _, err := facilitated.New(facilitated.Config{}, secret.Text{}, facilitated.Deps{}); err == nil {
			t.Error("nothing: taken")
		}
	})
}
