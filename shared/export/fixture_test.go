package export_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"recordbridge/shared/connect/connection"
	"recordbridge/shared/export"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

func TestParseFixtureRejectsUnknownNamesAndLiveMode(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		mode org.Mode
		says string
	}{
		"alder.xml": {org.Test, ""},
		"birch.xml": {org.Test, ""},
		"Alder.xml": {org.Test, "must be alder.xml or birch.xml"},
		"../x.xml":  {org.Test, "must be alder.xml or birch.xml"},
		"":          {org.Test, "must be alder.xml or birch.xml"},
	} {
		got, err := export.ParseFixture(c.mode, name)
		switch {
		case c.says == "" && (err != nil || got != name):
			t.Errorf("%q became %q, %v", name, got, err)
		case c.says != "" && (!errors.Is(err, fault.Invalid) || !strings.Contains(fault.Of(err).Public, c.says)):
			t.Errorf("%q in %s mode: %v, want it to say %q", name, c.mode, err, c.says)
		}
	}
	if _, err := export.ParseFixture(org.Live, "alder.xml"); !errors.Is(err, fault.Invalid) {
		t.Errorf("in live mode: %v", err)
	}
}

// TestRegisterRejectsFixtureForNonTEFCAConnection checks that Register rejects a fixture whether or not the connection
// still allows a new task.
func TestRegisterRejectsFixtureForNonTEFCAConnection(t *testing.T) {
	t.Parallel()
	for _, status := range []connection.Status{connection.Authorized, connection.Revoked} {
		synctest.Test(t, func(t *testing.T) {
			l, r := newRegistrar(t)
			first := register(t, r, false)
			l.connection.PlatformType = "epic"
			l.become(status)
			_, err := r.Register(t.Context(), tenant, connectionID, export.Options{Fixture: "alder.xml"}, false)
			if !errors.Is(err, fault.Invalid) || !strings.Contains(fault.Of(err).Public,
				"only for TEFCA connections in test mode") || l.latest(t) != first.ID {
				t.Errorf("%s: %v", status, err)
			}
			l.connection.PlatformType = "tefca"
			if got, err := r.Register(t.Context(), tenant, connectionID, export.Options{Fixture: "alder.xml"},
				false); err != nil || got.ID != first.ID {
				t.Errorf("%s, of TEFCA: %v, want the task that is pending", status, err)
			}
		})
	}
}
