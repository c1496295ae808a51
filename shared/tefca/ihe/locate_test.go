package ihe_test

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"testing"
	"time"

	peer "recordbridge/infra/test/ihe"
	"recordbridge/shared/tefca"
	"recordbridge/shared/tefca/ihe"
	"recordbridge/shared/words/secret"
)

const home = "urn:oid:2.999.2"

func TestNetworkLocatesPatientAndRetrievesDocuments(t *testing.T) {
	t.Parallel()
	p := gateway(t, home)
	n, _ := network(t, leads(home, p.URL))
	found := located(t, n)[home]
	if found.Match != tefca.Found || found.Access != tefca.Documents || found.Name != "Facility "+home ||
		found.City != "Madison" || found.Local.Empty() {
		t.Fatalf("found %+v", found)
	}
	documents, err := n.Documents(t.Context(), asserted(t), found)
	if err != nil || len(documents) != 2 {
		t.Fatalf("%d documents, %v", len(documents), err)
	}
	made := time.Date(2024, 1, 2, 3, 4, 5, 0, time.UTC)
	if d := documents[0]; d.ID != "2.999.7.1" || d.Type != "text/xml" || d.Size == 0 || !d.Made.Equal(made) {
		t.Errorf("listed %+v", d)
	}
	if d := documents[1]; d.ID != "2.999.7.2" || d.Size != 0 || !d.Made.IsZero() {
		t.Errorf("listed on demand %+v", d)
	}
	for i, d := range documents {
		for _, as := range []peer.Switch{"", peer.Inline} {
			p.Switch(peer.Retrieve, as)
			data, err := n.Retrieve(t.Context(), asserted(t), found, d, 1000)
			if string(data) != string(papers()[i].Content) || err != nil {
				t.Errorf("%s %s: %q, %v", d.ID, as, data, err)
			}
		}
	}
	if refused := p.Refused(); len(refused) > 0 {
		t.Errorf("the gateway refused: %v", refused)
	}
}

func TestLocateReportsGatewayMatches(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		answers peer.Switch
		match   tefca.Match // empty if the facility is not reported
		why     error       // reason for the rejection
	}{
		{"", tefca.Found, nil},
		{peer.NoMatch, "", nil},
		{peer.Ambiguous, tefca.Ambiguous, nil},
		{peer.Several, tefca.Ambiguous, nil},
		{peer.BusyOnce, tefca.Found, nil},
		{peer.AlwaysBusy, tefca.Unanswered, tefca.ErrUnavailable},
		{peer.Mixed, tefca.Found, tefca.ErrContent},
		{peer.Denied, tefca.Unanswered, tefca.ErrIdentity},
		{peer.Failing, tefca.Unanswered, tefca.ErrUnavailable},
		{peer.Fault, tefca.Unanswered, tefca.ErrUnavailable},
		{peer.Slow, tefca.Unanswered, tefca.ErrUnavailable},
		{peer.Cut, tefca.Unanswered, tefca.ErrUnavailable},
		{peer.Malformed, tefca.Unanswered, tefca.ErrContent},
		{peer.Unrelated, tefca.Unanswered, tefca.ErrContent},
		{peer.Foreign, tefca.Unanswered, tefca.ErrContent},
		{peer.OtherPerson, tefca.Unanswered, tefca.ErrContent},
	} {
		t.Run(string(test.answers), func(t *testing.T) {
			t.Parallel()
			p := gateway(t, home)
			p.Switch(peer.Discovery, test.answers)
			n, heard := network(t, leads(home, p.URL))
			if test.answers == peer.Slow {
				n.Limits(time.Second, 4)
			}
			all := located(t, n)
			if got := all[home]; got.Match != test.match || len(all) > 1 {
				t.Errorf("told %+v", all)
			}
			if got := all[home]; got.Match != tefca.Found && !got.Local.Empty() {
				t.Error("a patient id is kept that must not be used")
			}
			if err := heard.of(home); !errors.Is(err, test.why) || (err == nil) != (test.why == nil) {
				t.Errorf("doubt: %v, want %v", err, test.why)
			}
		})
	}
}

// TestLocateReportsCommunityThatReturnedWrongPatient checks that the operator's report names the community rather than
// its gateway.
func TestLocateReportsCommunityThatReturnedWrongPatient(t *testing.T) {
	t.Parallel()
	const qhin, behind = "urn:oid:2.999.30", "urn:oid:2.999.30.1"
	p := gateway(t, behind)
	p.Switch(peer.Discovery, peer.OtherPerson)
	n, heard := network(t, leads(qhin, p.URL, ihe.Community{Home: behind, Name: "Behind"}))
	all := located(t, n)
	if err := heard.of(behind); all[behind].Match != tefca.Unanswered || tefca.ClassOf(err) != "other_person" ||
		heard.of(qhin) != nil {
		t.Errorf("told %+v, doubt %v", all, heard.all)
	}
}

// TestLocateEvaluatesCommunitiesIndependently checks that one community's error or request for more attributes doesn't
// affect other communities in the response.
func TestLocateEvaluatesCommunitiesIndependently(t *testing.T) {
	t.Parallel()
	const qhin, one, two = "urn:oid:2.999.30", "urn:oid:2.999.30.1", "urn:oid:2.999.30.2"
	from := leads(qhin, "https://qhin.example", ihe.Community{Home: one, Name: "One"},
		ihe.Community{Home: two, Name: "Two"})
	n, _ := network(t, from)
	for name, c := range map[string]struct {
		more     bool
		families map[string]string // family names, keyed by community
		want     map[string]tefca.Match
		doubts   map[string]string // error classes, keyed by community
	}{
		"one is sure, one wants more": {
			true,
			map[string]string{one: "Aster"},
			map[string]tefca.Match{one: tefca.Found, qhin: tefca.Ambiguous},
			map[string]string{},
		},
		"its own, and one wants more": {
			true,
			map[string]string{qhin: "Aster"},
			map[string]tefca.Match{qhin: tefca.Found},
			map[string]string{},
		},
		"one wants more": {true, nil, map[string]tefca.Match{qhin: tefca.Ambiguous}, map[string]string{}},
		"two name another person": {
			false,
			map[string]string{one: "Birch", two: "Calder"},
			map[string]tefca.Match{one: tefca.Unanswered, two: tefca.Unanswered},
			map[string]string{one: "other_person", two: "other_person"},
		},
		"another person, and a stranger's": {
			false,
			map[string]string{one: "Birch", "urn:oid:2.999.666": "Aster"},
			map[string]tefca.Match{one: tefca.Unanswered, qhin: tefca.Unanswered},
			map[string]string{one: "other_person", qhin: "content"},
		},
		"all of it": {
			true,
			map[string]string{one: "Birch", two: "Aster", "urn:oid:2.999.666": "Aster"},
			map[string]tefca.Match{one: tefca.Unanswered, two: tefca.Found, qhin: tefca.Ambiguous},
			map[string]string{one: "other_person", qhin: "content"},
		},
	} {
		facilities, doubts := n.Believe(from, maple(t), c.more, c.families)
		got, classes := map[string]tefca.Match{}, map[string]string{}
		for _, f := range facilities {
			got[f.ID] = f.Match
		}
		for at, err := range doubts {
			classes[at] = tefca.ClassOf(err)
		}
		if !maps.Equal(got, c.want) || len(facilities) != len(got) || !maps.Equal(classes, c.doubts) {
			t.Errorf("%s: %v, doubts %v", name, got, classes)
		}
	}
}

// TestGatewayErrorsAreRetriedOnlyWhenSafe checks that discoveries and queries are retried once and that retrievals,
// which may cause a document to be created, are not.
func TestGatewayErrorsAreRetriedOnlyWhenSafe(t *testing.T) {
	t.Parallel()
	p := gateway(t, home)
	n, _ := network(t, leads(home, p.URL))
	found := located(t, n)[home]
	documents, err := n.Documents(t.Context(), asserted(t), found)
	if err != nil {
		t.Fatal(err)
	}
	times := map[peer.Transaction]int{peer.Discovery: 2, peer.Query: 2, peer.Retrieve: 1}
	for _, answers := range []peer.Switch{peer.AlwaysBusy, peer.Cut} {
		before := make(map[peer.Transaction]int)
		for transaction := range times {
			p.Switch(transaction, answers)
			before[transaction] = p.Seen(transaction)
		}
		_ = located(t, n)
		if _, err := n.Documents(t.Context(), asserted(t), found); !errors.Is(err, tefca.ErrUnavailable) {
			t.Errorf("list: %v", err)
		}
		if _, err := n.Retrieve(t.Context(), asserted(t), found, documents[0], 1000); !errors.Is(err, tefca.ErrUnavailable) {
			t.Errorf("retrieve: %v", err)
		}
		for transaction, want := range times {
			if got := p.Seen(transaction) - before[transaction]; got != want {
				t.Errorf("%s, %s: asked %d times, want %d", answers, transaction, got, want)
			}
		}
	}
}

func TestLocateRejectsQHINOutsideItsCommunities(t *testing.T) {
	t.Parallel()
	const qhin, other = "urn:oid:2.999.10", "urn:oid:2.999.11"
	behind, elsewhere := gateway(t, home), gateway(t, home)
	elsewhere.Switch(peer.Discovery, peer.Foreign)
	n, heard := network(t, leads(qhin, behind.URL, ihe.Community{Home: home, Name: "Behind", City: "Austin", State: "TX"}),
		leads(other, elsewhere.URL))
	all := located(t, n)
	if f := all[home]; f.Match != tefca.Found || f.Name != "Behind" || f.State != "TX" {
		t.Errorf("behind the QHIN: %+v", f)
	}
	if f := all[other]; f.Match != tefca.Unanswered || heard.of(other) == nil {
		t.Errorf("a community that nobody stands for: %+v", f)
	}
	if _, told := all[qhin]; told || len(all) != 2 {
		t.Errorf("told %+v", all)
	}
	// Another gateway returns a record from a community behind the QHIN.
	elsewhere.Switch(peer.Discovery, "")
	for range 5 {
		if f := located(t, n)[other]; f.Match != tefca.Unanswered {
			t.Errorf("a gateway spoke for another's community: %+v", f)
		}
	}
}

func TestNetworkRejectsGatewayWithUntrustedCertificate(t *testing.T) {
	t.Parallel()
	stranger := started(t, keys().strangers, home)
	n, heard := network(t, leads(home, stranger.URL))
	if f := located(t, n)[home]; f.Match != tefca.Unanswered || heard.of(home) == nil {
		t.Errorf("a gateway of an unknown authority: %+v", f)
	}
	p := gateway(t, home)
	n, heard = network(t, leads(home, "https://localhost"+p.URL[len("https://127.0.0.1"):]))
	if f := located(t, n)[home]; f.Match != tefca.Unanswered || heard.of(home) == nil {
		t.Errorf("a certificate of another name: %+v", f)
	}
	if stranger.Seen(peer.Discovery)+p.Seen(peer.Discovery) > 0 {
		t.Error("demographics were sent to somebody else")
	}
}

func TestLocateRejectsUnusableAssertion(t *testing.T) {
	t.Parallel()
	p := gateway(t, home)
	n, _ := network(t, leads(home, p.URL))
	found := located(t, n)[home]
	before := p.Seen(peer.Discovery) + p.Seen(peer.Query)
	for name, spoil := range map[string]func(*tefca.Assertion){
		"ended":      func(a *tefca.Assertion) { a.ExpiresAt = time.Now() },
		"no token":   func(a *tefca.Assertion) { a.Token = secret.New("") },
		"IAL1":       func(a *tefca.Assertion) { a.Level = 1 },
		"no given":   func(a *tefca.Assertion) { a.Person.Given = "" },
		"no birth":   func(a *tefca.Assertion) { a.Person.BirthDate = "" },
		"no address": func(a *tefca.Assertion) { a.Person.Addresses = nil },
		"no city": func(a *tefca.Assertion) {
			a.Person.Addresses = []tefca.Address{{Street: "1", State: "WI", PostalCode: "1"}}
		},
		"no contact": func(a *tefca.Assertion) { a.Person.Email, a.Person.Phone = "", "" },
	} {
		who := asserted(t)
		spoil(&who)
		err := n.Locate(t.Context(), who, func(tefca.Facility) error { return errors.New("told") })
		_, err2 := n.Documents(t.Context(), who, found)
		isLess := !reflect.DeepEqual(who.Person, asserted(t).Person)
		if !errors.Is(err, tefca.ErrIdentity) || !errors.Is(err2, tefca.ErrIdentity) ||
			isLess != errors.Is(err, tefca.ErrDemographics) {
			t.Errorf("%s: %v, %v", name, err, err2)
		}
	}
	if p.Seen(peer.Discovery)+p.Seen(peer.Query) != before {
		t.Error("something was sent")
	}
}

func TestLocateStopsWhenCallbackFails(t *testing.T) {
	t.Parallel()
	stop := errors.New("stop")
	gateways := make([]ihe.Gateway, 0, 3)
	for i := range 3 {
		id := fmt.Sprintf("%s.%d", home, i+1)
		gateways = append(gateways, leads(id, gateway(t, id).URL))
	}
	n, _ := network(t, gateways...)
	calls := 0
	err := n.Locate(t.Context(), asserted(t), func(tefca.Facility) error {
		calls++
		return stop
	})
	if !errors.Is(err, stop) || calls != 1 {
		t.Errorf("%v after %d calls", err, calls)
	}
}

func TestLocateReportsUnansweredFacilitiesLast(t *testing.T) {
	t.Parallel()
	const broken = "urn:oid:2.999.1.1"
	p, answers := gateway(t, broken), gateway(t, home)
	p.Switch(peer.Discovery, peer.Fault)
	n, _ := network(t, leads(broken, p.URL), leads(home, answers.URL))
	n.Limits(30*time.Second, 1) // Gateways are queried one at a time.
	var told []string
	if err := n.Locate(t.Context(), asserted(t), func(f tefca.Facility) error {
		told = append(told, f.ID)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if len(told) != 2 || told[0] != home || told[1] != broken {
		t.Errorf("told %v", told)
	}
}
