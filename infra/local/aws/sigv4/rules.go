package sigv4

import (
	"fmt"
	"time"
)

// problem is a reason to reject a signature. Each family of services uses its own error codes for these problems.
type problem int

const (
	malformedURL problem = iota
	twoMechanisms
	notSigned
	wrongMechanism
	malformedHeader
	malformedQuery
	noDate
	noPayloadHash
	wrongTime // invalid time of a signature in the Authorization header
	expired   // expired presigned URL, or one that is not valid yet
	wrongScope
	wrongScopeInQuery
	unsignedHeader
	unknownKey
	wrongSignature
)

// serviceS3 is the only service whose path is encoded once and not normalised, and whose signature covers only the
// body's declared hash.
const serviceS3 = "s3"

// Maximum clock differences between the signer and this process.
const (
	maxSkewS3 = 15 * time.Minute
	maxSkew   = 5 * time.Minute
)

// Error is the reason for rejecting a request: the service's error code and a message for the developer. It never
// contains a secret or the expected signature.
type Error struct {
	Code    string
	Message string
}

// Error implements error.
func (e *Error) Error() string { return e.Code + ": " + e.Message }

func refuse(service string, p problem, format string, args ...any) *Error {
	code := jsonCode(p)
	switch service {
	case serviceS3:
		code = s3Code(p)
	case "ses":
		code = QueryCode(code)
	}
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// s3Code returns a problem's code from the list "Error responses" in the S3 API reference.
func s3Code(p problem) string {
	switch p {
	case malformedURL:
		return "InvalidURI"
	case twoMechanisms, wrongMechanism:
		return "InvalidArgument"
	case malformedHeader, wrongScope:
		return "AuthorizationHeaderMalformed"
	case malformedQuery, wrongScopeInQuery:
		return "AuthorizationQueryParametersError"
	case notSigned, noDate, expired, unsignedHeader:
		return "AccessDenied"
	case noPayloadHash:
		return "InvalidRequest"
	case wrongTime:
		return "RequestTimeTooSkewed"
	case unknownKey:
		return "InvalidAccessKeyId"
	case wrongSignature:
		return "SignatureDoesNotMatch"
	}
	return "InternalError"
}

// jsonCode returns the error code for a problem, as listed in "Error handling with DynamoDB". All services with a JSON
// protocol share these codes.
func jsonCode(p problem) string {
	switch p {
	case notSigned:
		return "MissingAuthenticationTokenException"
	case malformedURL, twoMechanisms, wrongMechanism, malformedHeader, malformedQuery, noDate, noPayloadHash:
		return "IncompleteSignatureException"
	case wrongTime, expired, wrongScope, wrongScopeInQuery, unsignedHeader, wrongSignature:
		return "InvalidSignatureException"
	case unknownKey:
		return "UnrecognizedClientException"
	}
	return "InternalFailure"
}

// QueryCode returns the Query protocol's name for an error code of the JSON protocol ("Common errors" of the SES API
// reference). SES responses contain only the Query protocol's code; SQS responses contain both codes.
func QueryCode(code string) string {
	switch code {
	case "MissingAuthenticationTokenException":
		return "MissingAuthenticationToken"
	case "IncompleteSignatureException":
		return "IncompleteSignature"
	case "InvalidSignatureException":
		return "SignatureDoesNotMatch"
	case "UnrecognizedClientException":
		return "InvalidClientTokenId"
	default:
		return code
	}
}
