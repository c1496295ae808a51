package identity

import (
	_ "embed"
	"log/slog"
	"net/http"
	"strings"

	"recordbridge/infra/sandbox/page"
	"recordbridge/shared/tefca/people"
)

// Template of the choice page, which is a single HTML document (package page).
var (
	//go:embed page/identity.html
	pageHTML []byte
	//go:embed page/identity.js
	pageJS []byte
)

// view is the JSON data embedded in the page. Kind determines which other fields are set.
type view struct {
	Kind     string   `json:"kind"` // "choice" or "error"
	Language string   `json:"language"`
	People   []choice `json:"people,omitempty"`
	Shapes   []string `json:"shapes,omitempty"`
	Faults   []string `json:"faults,omitempty"`
}

// choice is a patient listed on the page.
type choice struct {
	Subject string `json:"subject"`
	Name    string `json:"name"`
	Born    string `json:"born"`
	Home    string `json:"home"`
	Story   string `json:"story"`
}

func (s *Server) choicePage(w http.ResponseWriter, r *http.Request) {
	patients := people.All()
	all := make([]choice, 0, len(patients))
	for _, p := range patients {
		home := p.Person.Addresses[0]
		all = append(all, choice{
			Subject: p.Subject, Name: p.Person.Given + " " + p.Person.Family, Born: p.Person.BirthDate,
			Home: home.City + ", " + home.State, Story: p.Story,
		})
	}
	s.writePage(w, http.StatusOK, view{Kind: "choice", Language: language(r), People: all, Shapes: shapes, Faults: faults})
}

// errorPage shows an error that must not cause a redirect. The page does not contain any client input.
func (s *Server) errorPage(w http.ResponseWriter, r *http.Request) {
	s.writePage(w, http.StatusBadRequest, view{Kind: "error", Language: language(r)})
}

func (s *Server) writePage(w http.ResponseWriter, status int, v view) {
	if err := page.Write(w, status, pageHTML, v); err != nil {
		s.Logger.Error("write page", slog.Any("error", err))
		w.WriteHeader(http.StatusInternalServerError)
	}
}

func asset(w http.ResponseWriter, _ *http.Request) {
	page.WriteAsset(w, "text/javascript; charset=utf-8", pageJS)
}

// language returns the first language in Accept-Language that the page supports, or "en" if there is none.
func language(r *http.Request) string {
	for one := range strings.SplitSeq(strings.ToLower(r.Header.Get("Accept-Language")), ",") {
		for _, spoken := range []string{"en", "es"} {
			if strings.HasPrefix(strings.TrimSpace(one), spoken) {
				return spoken
			}
		}
	}

	return "en"
}
