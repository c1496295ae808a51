package dashboardorg_test

import (
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/test/managed"
	"recordbridge/infra/testkit/membertest"
	"recordbridge/shared/words/org"
)

func patch(body string) membertest.Exchange {
	return membertest.Exchange{Method: "PATCH", Path: onePath, As: membertest.Admin, Body: body}
}

func TestBrandingChangeIsStoredShownAndAudited(t *testing.T) {
	t.Parallel()
	s := managed.New(t)
	h := handler(s)
	before := len(s.Audited(t, membertest.OrgA))
	for _, c := range []struct {
		body string
		want org.Look
	}{
		{`{"name":"Alder Maple Clinic"}`, org.Look{}},
		{`{"radius":0,"font":"'Segoe UI',serif"}`, org.Look{Radius: new(0), Font: `"Segoe UI", serif`}},
		{
			`{"color_scheme":"dark"}`,
			org.Look{Radius: new(0), Font: `"Segoe UI", serif`, ColorScheme: org.Dark},
		},
		{`{"radius":null,"font":""}`, org.Look{ColorScheme: org.Dark}},
		{`{"radius":24,"color_scheme":"auto"}`, org.Look{Radius: new(24)}},
	} {
		got := data[shown](t, patch(c.body).Send(t, oneRoute, h))
		if got.Scheme != c.want.ColorScheme.String() || got.Font != c.want.Font || !cmp.Equal(got.Radius, c.want.Radius) {
			t.Errorf("%s: shown %+v", c.body, got)
		}
		kept, err := s.Operator.Organisations.Show(t.Context(), managed.Tenant(membertest.OrgA, org.Test))
		if diff := cmp.Diff(c.want, kept.Look); diff != "" || err != nil {
			t.Errorf("%s: stored (-want +got):\n%s (%v)", c.body, diff, err)
		}
	}
	rows := s.Audited(t, membertest.OrgA)[before:]
	changes := func(row string) bool { return strings.HasSuffix(row, " organisation.changed "+membertest.OrgA) }
	if len(rows) != 5 || slices.ContainsFunc(rows, func(row string) bool { return !changes(row) }) {
		t.Errorf("audited %q", rows)
	}
}

func TestBrandingChangeIsRejectedWhenAnySettingIsInvalid(t *testing.T) {
	t.Parallel()
	s := managed.New(t)
	h := handler(s)
	before := len(s.Audited(t, membertest.OrgA))
	for _, member := range []string{
		`"radius":25`, `"radius":-1`, `"radius":1.5`, `"radius":1e1`, `"radius":"12"`, `"radius":{}`, `"radius":true`,
		`"font":"serif;color:red"`, `"font":"}"`, `"font":"url(x)"`, `"font":"a\nb"`, `"font":"\u202eserif"`, `"font":1`,
		`"color_scheme":"night"`, `"color_scheme":true`,
	} {
		got := patch(`{"accent":"#1a5fb4",`+member+`}`).Send(t, oneRoute, h)
		if got.Code != http.StatusBadRequest || !strings.Contains(got.Body.String(), `"svc_invalid_request"`) {
			t.Errorf("%s: %d %s", member, got.Code, got.Body)
		}
	}
	kept, err := s.Operator.Organisations.Show(t.Context(), managed.Tenant(membertest.OrgA, org.Live))
	if kept.Accent != "" || kept.Look != (org.Look{}) || err != nil {
		t.Errorf("stored %+v (%v)", kept, err)
	}
	if rows := s.Audited(t, membertest.OrgA)[before:]; len(rows) != 0 {
		t.Errorf("audited %q", rows)
	}
}

func TestContrastCoversOnlyBackgroundsOfColorScheme(t *testing.T) {
	t.Parallel()
	h := handler(managed.New(t))
	for body, want := range map[string][2]float64{
		`{"accent":"#1a5fb4","color_scheme":"auto"}`:  {6.3, 2.6},
		`{"accent":"#1a5fb4","color_scheme":"light"}`: {6.3, 0},
		`{"accent":"#ffffff","color_scheme":"dark"}`:  {0, 16.1},
		`{"accent":"","color_scheme":"auto"}`:         {0, 0},
	} {
		if got := data[shown](t, patch(body).Send(t, oneRoute, h)); got.Contrast != want[0] || got.OnDark != want[1] {
			t.Errorf("%s: %v and %v, want %v", body, got.Contrast, got.OnDark, want)
		}
	}
	// The expected contrast ratios assume the pages' background colours.
	colours, err := os.ReadFile("../../shared/ui/kit/colour.ts")
	if err != nil || !strings.Contains(string(colours), `sheets = { light: "#ffffff", dark: "#1a2229" }`) {
		t.Errorf("the pages have other backgrounds: %v", err)
	}
}
