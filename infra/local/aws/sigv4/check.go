package sigv4

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

// check validates the signature's scope, time and signed headers, but not its value.
func (s *signature) check(r *http.Request, region string, now time.Time) *Error {
	if refusal := s.checkScope(region); refusal != nil {
		return refusal
	}
	if refusal := s.checkTime(now); refusal != nil {
		return refusal
	}
	return s.checkHeaders(r.Header)
}

// checkScope returns an error if the credential scope has a wrong date, region, service or terminator.
func (s *signature) checkScope(region string) *Error {
	p := wrongScope
	if s.presigned {
		p = wrongScopeInQuery
	}
	parts := strings.Split(s.scope, "/")
	if date, _, _ := strings.Cut(s.date, "T"); parts[0] != date {
		return refuse(s.service, p, "Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from "+
			"HTTP.")
	}
	if parts[1] != region {
		return refuse(s.service, p, "Credential should be scoped to a valid region; expecting '%s'.", region)
	}
	if parts[2] != s.service {
		return refuse(s.service, p, "Credential should be scoped to correct service: '%s'.", s.service)
	}
	if parts[3] != "aws4_request" {
		return refuse(s.service, p, "Credential should be scoped with a valid terminator: 'aws4_request'.")
	}
	return nil
}

// checkTime returns an error if the signature has expired or its time is in the future, allowing for clock skew.
func (s *signature) checkTime(now time.Time) *Error {
	now = now.UTC()
	skew, p := maxSkew, wrongTime
	if s.service == serviceS3 {
		skew = maxSkewS3
	}
	oldest := now.Add(-skew)
	if s.presigned {
		p, oldest = expired, now.Add(-s.life)
	}
	switch newest := now.Add(skew); {
	case s.signed.After(newest):
		return refuse(s.service, p, "Signature not yet current: %s is still later than %s (%s + %d min.)",
			s.date, newest.Format(timeFormat), now.Format(timeFormat), skew/time.Minute)
	case s.signed.Before(oldest) && s.presigned:
		return refuse(s.service, p, "Request has expired")
	case s.signed.Before(oldest):
		return refuse(s.service, p, "Signature expired: %s is now earlier than %s (%s - %d min.)",
			s.date, oldest.Format(timeFormat), now.Format(timeFormat), skew/time.Minute)
	}
	return nil
}

// checkHeaders returns an error if Host or an X-Amz-* header is unsigned. In a presigned request, the content hash may
// be unsigned.
func (s *signature) checkHeaders(headers http.Header) *Error {
	if !s.signs("Host") {
		return refuse(s.service, unsignedHeader, "'Host' must be a 'SignedHeader' in the AWS Authorization.")
	}
	for name := range headers {
		if strings.HasPrefix(name, "X-Amz-") && !s.signs(name) && (!s.presigned || name != contentHash) {
			return refuse(s.service, unsignedHeader, "'%s' must be a 'SignedHeader' in the AWS Authorization.", name)
		}
	}
	return nil
}

func (s *signature) signs(header string) bool {
	return slices.Contains(s.signedHeaders, strings.ToLower(header))
}
