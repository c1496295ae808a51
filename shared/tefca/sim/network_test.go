package sim_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/shared/tefca"
	"recordbridge/shared/tefca/people"
	"recordbridge/shared/tefca/sim"
	"recordbridge/shared/words/secret"
)

var _ tefca.Network = sim.Network{}

// timed returns a network that responds in the virtual time of a testing/synctest bubble.
func timed() sim.Network { return sim.Network{Now: start, Wait: sim.Pass} }

func TestLocateIgnoresUnverifiedAttributes(t *testing.T) {
	t.Parallel()
	const known = "3 found, 16 found"
	for name, change := range map[string]struct {
		to   func(*tefca.Assertion)
		want string
	}{
		"as the patient is": {func(*tefca.Assertion) {}, known},
		"another subject":   {func(a *tefca.Assertion) { a.Subject, a.Issuer = "p01", "https://other.example" }, known},
		"other contacts": {func(a *tefca.Assertion) {
			a.Person.Email, a.Person.Phone = "x@tefca.example", "1"
		}, known},
		"other letters": {func(a *tefca.Assertion) {
			a.Person.Given, a.Person.Family = "LAUREL",
				"iverbrook "
		}, known},
		"a second given name": {func(a *tefca.Assertion) {
			a.Person.Given, a.Person.Middle = "Laurel Ann",
				"Ann"
		}, known},
		"a nine-digit postal code": {func(a *tefca.Assertion) { a.Person.Addresses[0].PostalCode += "-1234" }, known},
		"no postal codes": {func(a *tefca.Assertion) {
			a.Person.Addresses[0].PostalCode,
				a.Person.Addresses[1].PostalCode = "", ""
		}, known},
		"no streets": {func(a *tefca.Assertion) {
			a.Person.Addresses[0].Street,
				a.Person.Addresses[1].Street = "", ""
		}, known},
		"no former address":       {func(a *tefca.Assertion) { a.Person.Addresses = a.Person.Addresses[:1] }, "3 found"},
		"only the former address": {func(a *tefca.Assertion) { a.Person.Addresses = a.Person.Addresses[1:] }, "16 found"},
		"another street": {
			func(a *tefca.Assertion) { a.Person.Addresses[0].Street = "2 Example Street" },
			"16 found",
		},
		"a short postal code":   {func(a *tefca.Assertion) { a.Person.Addresses[0].PostalCode = "606" }, "16 found"},
		"no address":            {func(a *tefca.Assertion) { a.Person.Addresses = nil }, ""},
		"another date of birth": {func(a *tefca.Assertion) { a.Person.BirthDate = "1988-02-28" }, ""},
		"another family name":   {func(a *tefca.Assertion) { a.Person.Family = "Iverbrooke" }, ""},
		"another given name":    {func(a *tefca.Assertion) { a.Person.Given = "Laura" }, ""},
		"only the subject":      {func(a *tefca.Assertion) { a.Person = tefca.Person{Email: a.Person.Email} }, ""},
	} {
		who := vouched(t, "Laurel")
		change.to(&who)
		if got := matches(t, who); got != change.want {
			t.Errorf("%s: %q, not %q", name, got, change.want)
		}
	}
}

func TestLocateOmitsTwin(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ given, middle, sex, want string }{
		"one":                       {"Holly Ann", "", "female", "13 found"},
		"the other":                 {"Holly", "Beth", "female", "19 found"},
		"an initial":                {"Holly", "B.", "", "19 found"},
		"a third":                   {"Holly Claire", "", "female", ""},
		"a brother":                 {"Holly Ann", "", "male", ""},
		"a provider of first names": {"Holly", "", "female", "13 found, 19 found"},
	} {
		who := vouched(t, "Holly Ann")
		who.Person.Given, who.Person.Middle, who.Person.Sex = test.given, test.middle, test.sex
		if got := matches(t, who); got != test.want {
			t.Errorf("%s: %q, not %q", name, got, test.want)
		}
	}
}

func TestNetworkRejectsInvalidAssertion(t *testing.T) {
	t.Parallel()
	good := vouched(t, "Sorrel")
	last, _ := located(t, t.Context(), instant(), good)
	list, err := instant().Documents(t.Context(), good, last["4"])
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*tefca.Assertion){
		"has expired":     func(a *tefca.Assertion) { a.ExpiresAt = start() },
		"has no token":    func(a *tefca.Assertion) { a.Token = secret.Text{} },
		"is of level 1":   func(a *tefca.Assertion) { a.Level = 1 },
		"is no one's":     func(a *tefca.Assertion) { *a = tefca.Assertion{} },
		"ends long since": func(a *tefca.Assertion) { a.ExpiresAt = start().Add(-time.Hour) },
	} {
		who := good
		change(&who)
		located := instant().Locate(t.Context(), who,
			func(tefca.Facility) error { t.Errorf("%s: somebody is found", name); return nil })
		_, listed := instant().Documents(t.Context(), who, last["4"])
		_, retrieved := instant().Retrieve(t.Context(), who, last["4"], list[0], limit)
		for _, err := range []error{located, listed, retrieved} {
			if !errors.Is(err, tefca.ErrIdentity) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	who := good
	who.ExpiresAt = start().Add(time.Nanosecond)
	if _, err := instant().Documents(t.Context(), who, last["4"]); err != nil {
		t.Errorf("at its last moment: %v", err)
	}
}

// TestNetworkRejectsRequestForRecordsOfAnotherPatient checks that knowing the IDs of a facility and its documents
// doesn't grant access.
func TestNetworkRejectsRequestForRecordsOfAnotherPatient(t *testing.T) {
	t.Parallel()
	n := instant()
	maple, laurel := vouched(t, "Maple"), vouched(t, "Laurel")
	ofMaple, _ := located(t, t.Context(), n, maple)
	ofLaurel, _ := located(t, t.Context(), n, laurel)
	list, err := n.Documents(t.Context(), maple, ofMaple["3"])
	if err != nil {
		t.Fatal(err)
	}
	both := ofLaurel["3"]
	both.Local = secret.New(both.Local.Reveal() + " " + ofMaple["3"].Local.Reveal())
	nameless := ofLaurel["3"]
	nameless.Local = secret.Text{}
	for name, at := range map[string]tefca.Facility{
		"another's": ofMaple["3"], "one's own and another's": both,
		"no local id": nameless, "where one is not known": ofMaple["1"], "no facility": {ID: "urn:oid:2.999.1.99"},
	} {
		if _, err := n.Documents(t.Context(), laurel, at); !errors.Is(err, tefca.ErrRefused) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := n.Retrieve(t.Context(), laurel, at, list[0], limit); !errors.Is(err, tefca.ErrRefused) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := n.Retrieve(t.Context(), laurel, ofLaurel["3"], list[0], limit); !errors.Is(err, tefca.ErrNotFound) {
		t.Errorf("another's document: %v", err)
	}
	willow := vouched(t, "Willow")
	unclear, _ := located(t, t.Context(), n, willow)
	if _, err := n.Documents(t.Context(), willow, unclear["6"]); !errors.Is(err, tefca.ErrRefused) ||
		!unclear["6"].Local.Empty() {
		t.Errorf("where the patient is one of two: %v", err)
	}
}

func TestLocateSimulatesResponseTimes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, p := range people.All() {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			begun, first, last := time.Now(), map[string]time.Duration{}, map[string]time.Duration{}
			err := timed().Locate(ctx, assertion(p), func(f tefca.Facility) error {
				if _, again := first[number(f)]; !again {
					first[number(f)] = time.Since(begun)
				}
				last[number(f)] = time.Since(begun)
				return nil
			})
			cancel()
			if err != nil {
				t.Fatal(err)
			}
			for at, took := range first {
				least, most := 200*time.Millisecond, 6*time.Second
				switch p.Person.Given + " " + at {
				case "Cedar 17", "Cedar 18":
					least, most = 10*time.Second, 20*time.Second
				case "Rowan 8", "Rowan 20":
					least, most = 12*time.Second, 12*time.Second
				}
				if took < least || took > most || last[at] > most+time.Second {
					t.Errorf("%s at %s: %s, and %s", p.Person.Given, at, took, last[at])
				}
			}
		}
	})
}

func TestNetworkStopsWhenContextIsDone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		who := vouched(t, "Alder")
		answered, _ := located(t, t.Context(), instant(), who)
		for _, after := range []time.Duration{0, time.Second, 3 * time.Second, 5 * time.Second} {
			ctx, cancel := context.WithTimeout(t.Context(), after)
			begun := time.Now()
			told, words := located(t, ctx, timed(), who)
			if took := time.Since(begun); took > after {
				t.Errorf("it goes on for %s after %s", took, after)
			}
			silent := 0
			for at, f := range told {
				if f.Match == tefca.Unanswered {
					silent++
				} else if answered[at].Match != f.Match {
					t.Errorf("after %s, %s is %s", after, at, f.Match)
				}
			}
			if silent == 0 || after == 0 && silent != 20 || len(words) < silent {
				t.Errorf("after %s, %d of 20 have not answered", after, silent)
			}
			_, listed := timed().Documents(ctx, who, answered["11"])
			_, retrieved := timed().Retrieve(ctx, who, answered["11"], tefca.Document{}, limit)
			cancel()
			for _, err := range []error{listed, retrieved} {
				if !errors.Is(err, tefca.ErrUnavailable) || !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("afterwards: %v", err)
				}
			}
			if took := time.Since(begun); took > after {
				t.Errorf("it goes on for %s after %s", took, after)
			}
		}
	})
}

// TestLocateReportsEveryFacility checks how many facilities have responded by a given time. Facilities without a match
// also respond.
func TestLocateReportsEveryFacility(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, p := range people.All() {
			before := 21
			for after := time.Duration(0); after < 8*time.Second; after += 500 * time.Millisecond {
				ctx, cancel := context.WithTimeout(t.Context(), after)
				told, words := located(t, ctx, timed(), assertion(p))
				cancel()
				silent := 0
				for _, f := range told {
					if f.Match == tefca.Unanswered {
						silent++
					}
				}
				if silent > before {
					t.Errorf("%s: %d have not answered after %s, %d before", p.Person.Given, silent, after, before)
				}
				for i, word := range words { // a facility that has responded must not become Unanswered
					if at, _, _ := strings.Cut(word, " "); strings.Contains(word, "unanswered") &&
						slices.ContainsFunc(words[:i], func(w string) bool { return strings.HasPrefix(w, at+" ") }) {
						t.Errorf("%s: %s after an answer", p.Person.Given, word)
					}
				}
				before = silent
			}
		}
	})
}

func TestLocateStopsWhenCallbackFails(t *testing.T) {
	t.Parallel()
	full, calls := errors.New("enough"), 0
	err := instant().Locate(t.Context(), vouched(t, "Maple"), func(tefca.Facility) error { calls++; return full })
	if !errors.Is(err, full) || calls != 1 {
		t.Errorf("%v after %d calls", err, calls)
	}
}

func TestDirectoryHasTwentyFacilities(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	all, _ := located(t, ctx, instant(), vouched(t, "Linden"))
	if len(all) != 20 {
		t.Errorf("it has %d", len(all))
	}
	names := map[string]bool{}
	for _, f := range all {
		if names[f.Name] || f.Name == "" || f.City == "" || len(f.State) != 2 || f.Access != tefca.Documents ||
			!strings.HasPrefix(f.ID, "urn:oid:2.999.") {
			t.Errorf("%+v", f)
		}
		names[f.Name] = true
	}
}
