package e2e_test

import (
	"encoding/csv"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/infra/testkit/expect"
)

func number(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

// TestPracticeCanSignUpAndInviteColleague signs up a member of a practice, sets the practice's colour and invites a
// colleague. The invited colleague can't create another organisation with the same email domain. Members and people
// already invited can't be invited again.
func TestPracticeCanSignUpAndInviteColleague(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, options{})
		founder, colleague := s.staff.newPerson("ada@cedar.example"), s.staff.newPerson("bob@cedar.example")
		founder.signIn()
		var made struct {
			ID, Role string
			Contrast float64 `json:"accent_contrast"`
		}
		founder.do(http.MethodPost, "/dashboard/organisations", map[string]string{"name": "Cedar Practice"}, &made)
		own := "/dashboard/organisations/" + made.ID
		if made.Role != "owner" || made.Contrast != 0 {
			t.Errorf("founded %+v", made)
		}
		look := map[string]any{"accent": "#1a5fb4", "radius": 0, "font": "Georgia, serif"}
		founder.do(http.MethodPatch, own, look, &made)
		if made.Contrast != 6.3 {
			t.Errorf("its colour has a contrast of %v", made.Contrast)
		}
		made.Contrast = 0
		founder.do(http.MethodGet, own, nil, &made)
		if made.Contrast != 6.3 {
			t.Errorf("its colour is shown with a contrast of %v", made.Contrast)
		}
		var created struct {
			Credential struct {
				PublicID string `json:"public_id"`
			}
		}
		founder.do(http.MethodPost, own+"/test/credentials",
			map[string]any{"redirect_uris": []string{"https://cedar.example/return"}}, &created)
		var shown struct {
			Accent, Font string
			Radius       *int
		}
		answered := s.call(http.MethodGet, "/bridge/org?public_id="+created.Credential.PublicID, "", "", nil)
		expect.NoError(t, json.Unmarshal(answered.Data, &shown))
		if shown.Accent != "#1a5fb4" || shown.Font != "Georgia, serif" || shown.Radius == nil || *shown.Radius != 0 {
			t.Errorf("patients see %+v", shown)
		}
		colleague.signIn()
		if status := colleague.ask(http.MethodPost, "/dashboard/organisations", map[string]string{"name": "Cedar too"},
			nil); status != http.StatusConflict {
			t.Errorf("a second organisation at the domain: %d", status)
		}
		founder.do(http.MethodPost, own+"/invitations", map[string]string{"email": colleague.email, "role": "developer"}, nil)
		for _, when := range []string{"invited", "a member"} {
			if status := founder.ask(http.MethodPost, own+"/invitations",
				map[string]string{"email": "Bob@Cedar.example", "role": "developer"}, nil); status != http.StatusConflict {
				t.Errorf("who is %s was invited again: %d", when, status)
			}
			if when == "invited" {
				colleague.accept()
			}
		}
	})
}

func TestUsageDownloadCoversDisplayedMonths(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(newStack(t, options{}))
		c.org.startExport(c.patient.connect(crashPersona, "approve").Get("org_connection_id"))
		c.clock.advance(5)
		<-time.After(6 * time.Minute)
		shown := c.do(http.MethodGet, "/usage?from=1999-12&to=2000-01&format=csv", nil)
		months, _ := shown["months"].([]any)
		lines, err := csv.NewReader(strings.NewReader(text(shown, "csv"))).ReadAll()
		expect.NoError(t, err)
		if len(months) != 2 || len(lines) != 3 {
			t.Fatalf("%v", shown)
		}
		for i, column := range lines[0] {
			for m, month := range months {
				of, _ := month.(map[string]any)
				got, isText := of[column].(string)
				if count, isCount := of[column].(float64); isCount {
					got = number(count)
				} else if !isText {
					t.Errorf("there is no %s", column)
				}
				if lines[m+1][i] != got {
					t.Errorf("%s is %s in the file, %s is shown", column, lines[m+1][i], got)
				}
			}
		}
		if now, _ := months[1].(map[string]any); now["connections"] != 1.0 || now["exports_succeeded"] != 1.0 {
			t.Errorf("this month is %v", now)
		}
	})
}
