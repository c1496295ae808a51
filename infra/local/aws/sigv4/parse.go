package sigv4

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// signature holds the unverified parameters of a request's signature.
type signature struct {
	service       string // service for which the signature must be valid
	accessKey     string
	scope         string // credential scope, such as "20261121/us-east-1/s3/aws4_request"
	date          string // X-Amz-Date header as sent
	signed        time.Time
	signedHeaders []string
	value         string
	payload       string // payload hash in the canonical request

	presigned bool
	life      time.Duration // validity period of a presigned URL
}

// parse extracts the signature from the header or the query and checks its form.
func parse(r *http.Request, query url.Values, service string) (*signature, *Error) {
	inHeader, inQuery := r.Header.Get("Authorization"), query.Has("X-Amz-Algorithm") || query.Has("X-Amz-Signature")
	switch {
	case inHeader != "" && inQuery:
		return nil, refuse(service, twoMechanisms, "only one authentication mechanism is allowed")
	case inQuery:
		return parseQuery(r, query, service)
	case inHeader != "":
		return parseHeader(r, inHeader, service)
	default:
		return nil, refuse(service, notSigned, "Request is missing Authentication Token")
	}
}

func parseHeader(r *http.Request, authorization, service string) (*signature, *Error) {
	fields, ok := strings.CutPrefix(authorization, algorithm+" ")
	if !ok {
		return nil, refuse(service, wrongMechanism, "unsupported authorization type")
	}
	sig := &signature{service: service, date: r.Header.Get("X-Amz-Date"), payload: r.Header.Get(contentHash)}
	var credential string
	for field := range strings.SplitSeq(fields, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(field), "=")
		switch name {
		case "Credential":
			credential = value
		case "SignedHeaders":
			sig.signedHeaders = strings.Split(value, ";")
		case "Signature":
			sig.value = value
		default:
			return nil, refuse(service, malformedHeader, "the authorization header has an unknown member")
		}
	}
	if sig.value == "" || sig.signedHeaders == nil {
		return nil, refuse(service, malformedHeader,
			"Authorization header requires 'Credential', 'SignedHeaders' and 'Signature'.")
	}
	if !sig.setCredential(credential) {
		return nil, refuse(service, malformedHeader,
			"the credential must have the form access key/date/region/service/aws4_request")
	}
	if !sig.setDate() {
		return nil, refuse(service, noDate, "Authorization header requires existence of a valid 'X-Amz-Date' header.")
	}
	if service == serviceS3 && sig.payload == "" {
		return nil, refuse(service, noPayloadHash, "missing required header for this request: x-amz-content-sha256")
	}
	return sig, nil
}

func parseQuery(r *http.Request, query url.Values, service string) (*signature, *Error) {
	for _, name := range []string{"Algorithm", "Credential", "Date", "Expires", "SignedHeaders", "Signature"} {
		if len(query["X-Amz-"+name]) != 1 {
			return nil, refuse(service, malformedQuery, "query-string authentication requires X-Amz-%s once", name)
		}
	}
	if query.Get("X-Amz-Algorithm") != algorithm {
		return nil, refuse(service, malformedQuery, "X-Amz-Algorithm only supports %s", algorithm)
	}
	sig := &signature{
		service:       service,
		date:          query.Get("X-Amz-Date"),
		signedHeaders: strings.Split(query.Get("X-Amz-SignedHeaders"), ";"),
		value:         query.Get("X-Amz-Signature"),
		payload:       unsignedPayload,
		presigned:     true,
	}
	if sig.signs(contentHash) {
		sig.payload = r.Header.Get(contentHash)
	}
	if !sig.setDate() {
		return nil, refuse(service, malformedQuery, "X-Amz-Date must have the form yyyyMMddTHHmmssZ")
	}
	seconds, err := strconv.ParseUint(query.Get("X-Amz-Expires"), 10, 31)
	if err != nil {
		return nil, refuse(service, malformedQuery, "X-Amz-Expires must be a non-negative number")
	}
	sig.life = time.Duration(seconds) * time.Second
	if sig.life > maxExpires {
		return nil, refuse(service, malformedQuery, "X-Amz-Expires must be at most a week (604800 seconds)")
	}
	if !sig.setCredential(query.Get("X-Amz-Credential")) {
		return nil, refuse(service, malformedQuery,
			"the credential must have the form access key/date/region/service/aws4_request")
	}
	return sig, nil
}

// setCredential parses a credential of the form "access key/date/region/service/aws4_request".
func (s *signature) setCredential(credential string) bool {
	s.accessKey, s.scope, _ = strings.Cut(credential, "/")
	return s.accessKey != "" && strings.Count(s.scope, "/") == 3
}

func (s *signature) setDate() bool {
	signed, err := time.Parse(timeFormat, s.date)
	s.signed = signed
	return err == nil
}
