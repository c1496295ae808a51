package smart

import (
	"bytes"
	"net/http"

	"recordbridge/shared/fhir"
	"recordbridge/shared/fhir/plan"
	"recordbridge/shared/platform/safehttp"
)

// maxRefusal is the maximum number of bytes read from an error response's body.
const maxRefusal = 64 << 10

// refused reads and closes a non-2xx response and returns a corresponding error. From the body, the error retains only
// the reason for the refusal.
func refused(response *http.Response, denials []plan.Denial) *fhir.RequestError {
	body, _ := safehttp.ReadAll(response, maxRefusal) // if the body is truncated or missing, the status is sufficient
	failure := &fhir.RequestError{
		Class:      classOf(response.StatusCode),
		Status:     response.StatusCode,
		RetryAfter: waitOf(response),
	}
	if response.StatusCode >= 400 {
		failure.Refusal = refusalOf(response.StatusCode, body, denials)
	}
	return failure
}

// refusalOf returns the reason for a rejected request. A denial defined by the platform normally takes precedence over
// the response body. However, a response body takes precedence over a denial that matches any body if it explains how
// to correct the request or reports that there is no data.
func refusalOf(status int, body []byte, denials []plan.Denial) fhir.Refusal {
	explained := fhir.ParseRefusal(bytes.TrimPrefix(body, []byte(byteOrderMark)))
	telling := explained == fhir.NeedsMore || explained == fhir.NoCount || explained == fhir.Missing
	for _, denial := range denials {
		if denial.Status != status {
			continue
		}
		if denial.Body == "" && !telling || denial.Body != "" && bytes.Contains(body, []byte(denial.Body)) {
			return fhir.Denied
		}
	}
	return explained
}

// classOf returns the class of a non-2xx status.
func classOf(status int) fhir.Class {
	switch {
	case status == http.StatusUnauthorized:
		return fhir.Unauthorized
	case status == http.StatusForbidden:
		return fhir.Forbidden
	case status == http.StatusNotFound:
		return fhir.NotFound
	case status == http.StatusGone:
		return fhir.Gone
	case status == http.StatusTooManyRequests:
		return fhir.Limited
	case status == http.StatusRequestEntityTooLarge: // a GET has no body, so the requested data is too large
		return fhir.TooLarge
	case status == http.StatusRequestTimeout || status >= 500:
		return fhir.ServerFault
	default:
		return fhir.Rejected
	}
}
