package faults

import (
	"encoding/json"
	"encoding/xml"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"

	"recordbridge/infra/local/aws/wire"
)

// Error messages in AWS's wording, so that people who read the logs recognise them. Clients rely only on the error
// codes.
const (
	rateExceeded = "Rate exceeded"
	ongoing      = "Transaction is ongoing for the item"
	ddbNamespace = "com.amazonaws.dynamodb.v20120810#"
)

// throttling returns the service's error for a caller that exceeds its rate limit. The API references list these errors
// under Common Errors and under each operation. cancelled is the number of items in a transaction, or 0 for any other
// call.
func throttling(c wire.Call, random *rand.Rand, cancelled int) *wire.Error {
	switch c.Service {
	case "dynamodb":
		return ddbThrottling(random, cancelled)
	case "sqs":
		code := pickOne(random, "RequestThrottled", "ThrottlingException")
		return &wire.Error{Code: code, Message: rateExceeded}
	case "s3":
		return &wire.Error{
			Code: "SlowDown", Message: "Please reduce your request rate.",
			Status: http.StatusServiceUnavailable,
		}
	case "ses":
		return &wire.Error{Code: "Throttling", Message: "Maximum sending rate exceeded."}
	default: // the remaining services: "kms", "secretsmanager" and "ssm"
		return &wire.Error{Code: "ThrottlingException", Message: rateExceeded}
	}
}

// ddbThrottling returns one of DynamoDB's three throttling codes or, for a transaction, a cancellation with a
// throttling reason. https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.Errors.html
func ddbThrottling(random *rand.Rand, cancelled int) *wire.Error {
	code := pickOne(random, "ProvisionedThroughputExceededException", "ThrottlingException", "RequestLimitExceeded")
	if cancelled == 0 || code == "RequestLimitExceeded" {
		return &wire.Error{
			Code:    ddbNamespace + code,
			Message: "The level of configured provisioned throughput for the table was exceeded.",
		}
	}
	reason := "ThrottlingError"
	if code == "ProvisionedThroughputExceededException" {
		reason = "ProvisionedThroughputExceeded"
	}
	return cancellation(random, cancelled, reason, rateExceeded)
}

// conflict returns the error for a write that conflicts with a transaction in flight on the same row.
func conflict(random *rand.Rand, cancelled int) *wire.Error {
	if cancelled > 0 {
		return cancellation(random, cancelled, "TransactionConflict", ongoing)
	}
	return &wire.Error{Code: ddbNamespace + "TransactionConflictException", Message: ongoing}
}

// cancellation returns a TransactionCanceledException in which a randomly chosen item has the given reason.
func cancellation(random *rand.Rand, members int, code, message string) *wire.Error {
	reasons := make([]map[string]string, members)
	codes := make([]string, members)
	for i := range reasons {
		reasons[i], codes[i] = map[string]string{"Code": "None"}, "None"
	}
	at := random.IntN(members)
	reasons[at], codes[at] = map[string]string{"Code": code, "Message": message}, code
	text := "Transaction cancelled, please refer cancellation reasons for specific reasons [" +
		strings.Join(codes, ", ") + "]"
	return &wire.Error{
		Code: ddbNamespace + "TransactionCanceledException", Message: text,
		Fields: map[string]any{"CancellationReasons": reasons, "Message": text},
	}
}

func internal(c wire.Call) *wire.Error {
	failure := &wire.Error{
		Message: "We encountered an internal error. Please try again.",
		Status:  http.StatusInternalServerError,
	}
	switch c.Service {
	case "dynamodb":
		failure.Code = ddbNamespace + "InternalServerError"
	case "s3":
		failure.Code = "InternalError"
	case "kms":
		failure.Code = "KMSInternalException"
	case "secretsmanager":
		failure.Code = "InternalServiceError"
	case "ssm":
		failure.Code = "InternalServerError"
	default: // the remaining services: "sqs" and "ses"
		failure.Code = "InternalFailure"
	}
	return failure
}

func pickOne(random *rand.Rand, all ...string) string { return all[random.IntN(len(all))] }

func refuse(w http.ResponseWriter, r *http.Request, c wire.Call, failure *wire.Error) {
	switch c.Service {
	case "s3":
		refuseXML(w, r, failure, struct {
			XMLName xml.Name `xml:"Error"`
			Code    string
			Message string
		}{Code: failure.Code, Message: failure.Message})
	case "ses":
		refuseXML(w, r, failure, struct {
			XMLName xml.Name `xml:"http://ses.amazonaws.com/doc/2010-12-01/ ErrorResponse"`
			Code    string   `xml:"Error>Code"`
			Message string   `xml:"Error>Message"`
		}{Code: failure.Code, Message: failure.Message})
	case "sqs":
		fault := "Sender"
		if failure.Status >= http.StatusInternalServerError {
			fault = "Receiver"
		}
		w.Header().Set("X-Amzn-Query-Error", failure.Code+";"+fault)
		wire.WriteJSONError(w, "1.0", failure)
	case "dynamodb":
		wire.WriteJSONError(w, "1.0", failure)
	default:
		wire.WriteJSONError(w, "1.1", failure)
	}
}

func refuseXML(w http.ResponseWriter, r *http.Request, failure *wire.Error, body any) {
	text, err := xml.Marshal(body)
	if err != nil || r.Method == http.MethodHead {
		text = nil
	}
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(max(failure.Status, http.StatusBadRequest))
	_, _ = w.Write(text) // the client may have disconnected
}

// members returns the number of items in a transaction, or 0 for any other call. A cancelled transaction has one
// cancellation reason per item.
func members(r *http.Request, c wire.Call) int {
	if c.Service != "dynamodb" || !strings.HasPrefix(c.Operation, "Transact") {
		return 0
	}
	var request struct{ TransactItems []json.RawMessage }
	if json.NewDecoder(io.LimitReader(r.Body, largestTransaction)).Decode(&request) != nil {
		return 0
	}
	return len(request.TransactItems)
}

// largestTransaction is the maximum number of request bytes to read. It exceeds DynamoDB's limit of 4 MB for a
// transaction's items.
const largestTransaction = 16 << 20
