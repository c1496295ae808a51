package smart

import (
	"bytes"
	"net/http"

	"recordbridge/shared/fhir"
	"recordbridge/shared/fhir/plan"
	"recordbridge/shared/platform/safehttp"
)

// maxRefusal is how much of the body of a refused answer is read.
const maxRefusal = 64 << 10

// refused reads an answer that is not 2xx, closes it and makes its error. Nothing of the body is kept but what kind of
// refusal it is.
func refused(response *http.Response, denials []plan.Denial) *fhir.RequestError {
	body, _ := safehttp.ReadAll(response, maxRefusal) // cut off, or not there at all: the status says enough
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

// refusalOf says why a request was refused. A platform's denial wins over what the body says, except that one which
// any body means gives way to a body that tells how to ask better, or that there is nothing.
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

// classOf translates a status that is not 2xx.
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
	case status == http.StatusRequestEntityTooLarge: // of what was asked for: a GET has no content of its own
		return fhir.TooLarge
	case status == http.StatusRequestTimeout || status >= 500:
		return fhir.ServerFault
	default:
		return fhir.Rejected
	}
}
