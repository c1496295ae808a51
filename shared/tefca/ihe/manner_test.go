package ihe_test

import (
	"net/netip"
	"regexp"
	"strings"
	"testing"
	"time"

	peer "recordbridge/infra/test/ihe"
	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/tefca"
	"recordbridge/shared/tefca/ihe"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/secret"
)

// requests lists, for each transaction, the strings that its requests must contain.
type requests struct{ discovery, query, retrieve []string }

// sent returns the requests received by a gateway with the given settings.
func sent(t *testing.T, settings, community ihe.Settings) requests {
	t.Helper()
	p := gateway(t, home)
	leading := leads(home, p.URL)
	if community != nil { // The facility is a community behind the gateway.
		leading = leads("urn:oid:2.999.9", p.URL, ihe.Community{Home: home, Name: "Facility", Settings: community})
	}
	leading.Settings = settings
	n, _ := network(t, leading)
	found := located(t, n)[home]
	if found.Match != tefca.Found {
		found.ID, found.Local = home, secret.New(`{"home":"`+home+`","root":"2.999.2","extension":"1"}`)
	}
	_, _ = n.Documents(t.Context(), asserted(t), found)
	_, _ = n.Retrieve(t.Context(), asserted(t), found,
		tefca.Document{ID: "urn:uuid:6F9619FF-8B86-4D01-B42D-00C04FC964FF", Locator: secret.New(
			`{"home":"` + home + `","patient":"` + patientOf(found) +
				`","repository":"urn:oid:2.999.8","document":"urn:uuid:6F9619FF-8B86-4D01-B42D-00C04FC964FF"}`)}, 10)
	last := func(of peer.Transaction) []string {
		body, _ := p.Last(of)
		return []string{string(body)}
	}
	return requests{last(peer.Discovery), last(peer.Query), last(peer.Retrieve)}
}

// patientOf returns the CX (patient ID) of the patient found at a facility.
func patientOf(f tefca.Facility) string {
	m := regexp.MustCompile(`"root":"([^"]*)","extension":"([^"]*)"`).FindStringSubmatch(f.Local.Reveal())
	return m[2] + `^^^\u0026` + m[1] + `\u0026ISO`
}

func TestRequestsUseGatewaySettings(t *testing.T) {
	t.Parallel()
	const (
		uri   = `NameFormat="urn:oasis:names:tc:SAML:2.0:attrname-format:uri"`
		basic = `NameFormat="urn:oasis:names:tc:SAML:2.0:attrname-format:basic"`
		ias   = `code="T-IAS" codeSystem="2.16.840.1.113883.3.7204.1.5.2.1" codeSystemName="TEFCA Exchange Purposes"`
	)
	usual := requests{
		discovery: []string{
			uri, ias, `<device classCode="DEV" determinerCode="INSTANCE"><id root="2.999.2"/>`,
			`<queryId root="2.999.1"`, `codeSystemName="SNOMED_CT"`,
		},
		query: []string{uri, ias, `home="urn:oid:2.999.2"`},
		retrieve: []string{
			uri, ias, `<HomeCommunityId>urn:oid:2.999.2<`, `<RepositoryUniqueId>urn:oid:2.999.8<`,
			`<DocumentUniqueId>urn:uuid:6F9619FF-8B86-4D01-B42D-00C04FC964FF<`,
		},
	}
	for name, c := range map[string]struct {
		gateway, community ihe.Settings
		want               requests
		never              string
	}{
		"none": {nil, nil, usual, "TimeFrom"},
		"the defaults": {
			ihe.Settings{"id_prefix": "usual", "date_range": "none", "purpose_of_use": "T-IAS"},
			nil,
			usual, "TimeFrom",
		},
		"format of name": {
			ihe.Settings{"attribute_name_format": "basic"},
			nil,
			requests{discovery: []string{basic}, query: []string{basic}, retrieve: []string{basic}},
			uri,
		},
		"ids as URNs": {ihe.Settings{"id_prefix": "urn", "document_id_prefix": "urn"}, nil, requests{
			discovery: []string{`INSTANCE"><id root="urn:oid:2.999.2"/>`, `<queryId root="urn:oid:2.999.1"`},
			query:     []string{`home="urn:oid:2.999.2"`, `^^^&amp;2.999.2&amp;ISO`},
			retrieve: []string{
				`<HomeCommunityId>urn:oid:2.999.2<`, `<RepositoryUniqueId>urn:oid:2.999.8<`,
				`<DocumentUniqueId>urn:uuid:6f9619ff-8b86-4d01-b42d-00c04fc964ff<`,
			},
		}, ""},
		"bare ids": {ihe.Settings{"id_prefix": "none", "document_id_prefix": "none"}, nil, requests{
			discovery: []string{`INSTANCE"><id root="2.999.2"/>`}, query: []string{`home="2.999.2"`},
			retrieve: []string{
				`<HomeCommunityId>2.999.2<`, `<RepositoryUniqueId>2.999.8<`,
				`<DocumentUniqueId>6f9619ff-8b86-4d01-b42d-00c04fc964ff<`,
			},
		}, ""},
		"a range": {ihe.Settings{"date_range": "service_start_time"}, nil, requests{query: []string{
			`<rim:Slot name="$XDSDocumentEntryServiceStartTimeFrom"><rim:ValueList><rim:Value>19830312000000<`,
			`name="$XDSDocumentEntryServiceStartTimeTo"`,
		}}, "CreationTime"},
		"purpose of NHIN": {ihe.Settings{"purpose_of_use": "REQUEST"}, nil, requests{
			query: []string{`code="REQUEST" codeSystem="2.16.840.1.113883.3.18.7.1" codeSystemName="nhin-purpose"`},
		}, "T-IAS"},
		"purpose of HL7": {ihe.Settings{"purpose_of_use": "PATRQT"}, nil, requests{
			query: []string{`code="PATRQT" codeSystem="2.16.840.1.113883.5.8" codeSystemName="ActReason"`},
		}, "T-IAS"},
		"a community's before its gateway's": {
			ihe.Settings{"date_range": "creation_time", "id_prefix": "urn"},
			ihe.Settings{"id_prefix": "none"},
			requests{
				discovery: []string{`INSTANCE"><id root="urn:oid:2.999.9"/>`},
				query:     []string{`home="2.999.2"`, `$XDSDocumentEntryCreationTimeFrom`},
				retrieve:  []string{`<HomeCommunityId>2.999.2<`},
			},
			"",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bodies := sent(t, c.gateway, c.community)
			for i, wants := range [][]string{c.want.discovery, c.want.query, c.want.retrieve} {
				body := [][]string{bodies.discovery, bodies.query, bodies.retrieve}[i][0]
				for _, want := range wants {
					if !strings.Contains(body, want) {
						t.Errorf("request %d lacks %s", i, want)
					}
				}
				if c.never != "" && strings.Contains(body, c.never) {
					t.Errorf("request %d has %s", i, c.never)
				}
			}
		})
	}
}

// TestNewRejectsUnknownSettings checks that the error names the member and its allowed values but doesn't quote the
// configuration.
func TestNewRejectsUnknownSettings(t *testing.T) {
	t.Parallel()
	own := ihe.Identity{Certificate: keys().certificate, Key: secret.New(keys().key)}
	deps := ihe.Deps{Allow: []netip.Prefix{}, Now: time.Now, NewID: ids.Random, Unanswered: nil}
	names := []string{"attribute_name_format", "date_range", "document_id_prefix", "id_prefix", "purpose_of_use"}
	bad := map[string]ihe.Settings{"a member other than " + strings.Join(names, ", "): {"SENTINEL": "urn"}}
	for _, name := range names {
		bad["settings."+name+" is none of "] = ihe.Settings{name: "SENTINEL"}
	}
	bad["none of T-IAS, REQUEST, PATRQT"] = ihe.Settings{"purpose_of_use": "TREATMENT"}
	for want, settings := range bad {
		alone := leads(home, "https://a.example")
		alone.Settings = settings
		for at, config := range map[string]ihe.Config{
			"gateways[0].settings": configured(alone),
			"gateways[0].communities[0].settings": configured(
				leads("urn:oid:2.999.9", "https://a.example", ihe.Community{Home: home, Name: "A", Settings: settings})),
		} {
			_, err := ihe.New(config, own, deps)
			if err == nil || !strings.Contains(err.Error(), at) || !strings.Contains(err.Error(), want) ||
				strings.Contains(err.Error(), "SENTINEL") {
				t.Errorf("%s: %v", want, err)
			}
		}
	}
	good := leads(home, "https://a.example")
	good.Settings = ihe.Settings{"id_prefix": "urn"}
	_, err := ihe.New(configured(good), own, deps)
	expect.NoError(t, err)
}
