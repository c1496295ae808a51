package e2e_test

import (
	"net/http"
	"strings"
	"time"
)

// exported returns a stage that exports a patient's record from a portal. If isLate is set, the export starts two hours
// after the patient signs in.
func exported(with string, isLate bool) stage { return exportedWithin(3, with, isLate) }

func exportedWithin(minutes int, with string, isLate bool) stage {
	return func(s *stack, _ *awsFailure) {
		id := s.ehr.connectTo(quirk{with: with}).Get("org_connection_id")
		if isLate {
			<-time.After(2 * time.Hour)
		}
		s.org.startExport(id)
		s.clock.advance(minutes)
	}
}

func failedExports() map[string]stage {
	return map[string]stage{
		"export: consent withdrawn":         exported("refresh-fails:invalid_grant", true),
		"export: scope without the Patient": exported("no-patient-scope", false),
		"export: Patient refused":           exported("deny:Patient", false),
		"export: Patient requires sign-in":  exported("deny-401-html:Patient", false),
		"export: Patient unreadable":        exported("patient-broken", false),
		"export: Patient deferred":          unavailable(1, func(*http.Request) bool { return true }),
		"export: facility without documents": func(s *stack, _ *awsFailure) {
			id, _ := s.ehr.connectFacility(nil, nil)
			s.org.startExport(id)
			s.clock.advance(1)
		},
		"export: all documents lost": func(s *stack, _ *awsFailure) {
			id, _ := s.ehr.connectFacility(nil, map[string]int{"unavailable": 1})
			s.org.startExport(id)
			s.clock.advance(1)
		},
		"export: types missing":         exported("deny:Observation", false),
		"export: deferred":              exported("refresh-fails:500", true),
		"export: token endpoint down":   exportedWithin(6, "refresh-fails:500", true),
		"export: client not authorised": exported("refresh-fails:unauthorized_client", true),
		"export: wrong client secret": func(s *stack, _ *awsFailure) {
			id := s.ehr.connectionOfWrongClient()
			<-time.After(2 * time.Hour)
			s.org.startExport(id)
			s.clock.advance(3)
		},
		"export: token endpoint moved": func(s *stack, _ *awsFailure) {
			id := s.patient.connect(crashPersona, "approve").Get("org_connection_id")
			tokenEndpointElsewhere(s)
			<-time.After(2 * time.Hour)
			s.org.startExport(id)
			s.clock.advance(3)
		},
		"export: searches deferred": unsearchable(2),
		"export: rate limit":        exported("leave-alone:1h", false),
		"export: wait too long":     exported("leave-alone:7h", false),
		"export: server down":       unsearchable(120),
	}
}

// unsearchable returns a stage that exports from a server on which every search fails, and advances the clock by the
// given number of minutes.
func unsearchable(minutes int) stage {
	return unavailable(minutes, func(r *http.Request) bool {
		return !strings.Contains(r.URL.Path, "/Patient/") && !strings.HasSuffix(r.URL.Path, "/metadata")
	})
}

// unavailable returns a stage that exports from a FHIR server on which the chosen requests fail, and advances the clock
// by the given number of minutes.
func unavailable(minutes int, fails func(r *http.Request) bool) stage {
	return func(s *stack, _ *awsFailure) {
		id := s.patient.connect(crashPersona, "approve").Get("org_connection_id")
		s.intercept = func(r *http.Request) *http.Response {
			if !isFHIR(r) || !fails(r) {
				return nil
			}
			return &http.Response{
				StatusCode: http.StatusServiceUnavailable, Header: http.Header{},
				Body: http.NoBody, Request: r,
			}
		}
		s.org.startExport(id)
		s.clock.advance(minutes)
	}
}
