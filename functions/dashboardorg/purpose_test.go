package dashboardorg_test

import (
	"net/http"
	"strings"
	"testing"

	"recordbridge/infra/test/managed"
	"recordbridge/infra/testkit/membertest"
	"recordbridge/shared/words/org"
)

func TestPurposeChangeAppliesToBothModes(t *testing.T) {
	t.Parallel()
	s := managed.New(t)
	h := handler(s)
	for _, c := range []struct {
		body string
		want org.Purpose
	}{
		{`{"purpose":" We plan your care. "}`, org.Purpose{English: "We plan your care."}},
		{
			`{"purpose_es":"Planificamos su atención."}`,
			org.Purpose{English: "We plan your care.", Spanish: "Planificamos su atención."},
		},
		{`{"accent":"#1a5fb4"}`, org.Purpose{English: "We plan your care.", Spanish: "Planificamos su atención."}},
		{`{"purpose":""}`, org.Purpose{Spanish: "Planificamos su atención."}},
		{`{"purpose":"","purpose_es":" "}`, org.Purpose{}},
	} {
		got := data[shown](t, patch(c.body).Send(t, oneRoute, h))
		if got.English != c.want.English || got.Spanish != c.want.Spanish {
			t.Errorf("%s: shown %+v", c.body, got)
		}
		for _, mode := range []org.Mode{org.Test, org.Live} {
			kept, err := s.Operator.Organisations.Show(t.Context(), managed.Tenant(membertest.OrgA, mode))
			if kept.Purpose != c.want || err != nil {
				t.Errorf("%s: stored in %s mode: %+v (%v)", c.body, mode, kept.Purpose, err)
			}
		}
	}
	got := data[shown](t, membertest.Exchange{Path: onePath, As: membertest.Viewer}.Send(t, oneRoute, h))
	if got.English != "" || got.Spanish != "" {
		t.Errorf("shown after removal: %+v", got)
	}
}

func TestPurposeChangeIsRejectedWhenAnyTextIsInvalid(t *testing.T) {
	t.Parallel()
	s := managed.New(t)
	h := handler(s)
	before := len(s.Audited(t, membertest.OrgA))
	for _, member := range []string{
		`"purpose":"<b>Care</b>"`, `"purpose":"See https://evil.example"`, `"purpose":"See www.evil"`, `"purpose":"a\nb"`,
		`"purpose":"Care.” We also"`, `"purpose":1`, `"purpose":"` + strings.Repeat("x", 161) + `"`,
		`"purpose":"Care.","purpose_es":"Atención.» Nosotros"`, `"purpose_es":"\u202eb"`, `"purpose_es":{}`,
	} {
		got := patch(`{"accent":"#1a5fb4",`+member+`}`).Send(t, oneRoute, h)
		if got.Code != http.StatusBadRequest || !strings.Contains(got.Body.String(), `"svc_invalid_request"`) {
			t.Errorf("%s: %d %s", member, got.Code, got.Body)
		}
	}
	kept, err := s.Operator.Organisations.Show(t.Context(), managed.Tenant(membertest.OrgA, org.Live))
	if kept.Accent != "" || kept.Purpose != (org.Purpose{}) || err != nil {
		t.Errorf("stored %+v (%v)", kept, err)
	}
	if rows := s.Audited(t, membertest.OrgA)[before:]; len(rows) != 0 {
		t.Errorf("audited %q", rows)
	}
}
