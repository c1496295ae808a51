package sqs

import (
	"errors"
	"regexp"

	"recordbridge/infra/local/aws/wire"
)

const maxBatchEntries = 10

var entryID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,80}$`)

// batchOutput is the response of every batch operation. Each request entry appears in exactly one of the two lists.
type batchOutput struct {
	Successful []any
	Failed     []failedEntry
}

type failedEntry struct {
	ID          string `json:"Id"`
	Code        string
	Message     string
	SenderFault bool
}

// batch calls the function one for each entry. The request itself fails only if the batch is malformed.
func batch[E any](entries []E, id func(E) string, one func(E) (any, error)) (any, error) {
	if len(entries) == 0 {
		return nil, wire.Fail("EmptyBatchRequest", "There should be at least one entry in the request.")
	}
	if len(entries) > maxBatchEntries {
		return nil, wire.Fail("TooManyEntriesInBatchRequest",
			"Maximum number of entries per request are %d. You have sent %d.", maxBatchEntries, len(entries))
	}
	seen := map[string]bool{}
	for _, entry := range entries {
		switch name := id(entry); {
		case !entryID.MatchString(name):
			return nil, wire.Fail("InvalidBatchEntryId",
				"A batch entry id can only contain alphanumeric characters, hyphens and underscores. It can be at most 80 "+
					"letters long.")
		case seen[name]:
			return nil, wire.Fail("BatchEntryIdsNotDistinct", "Id %s repeated.", name)
		default:
			seen[name] = true
		}
	}
	out := batchOutput{Successful: []any{}, Failed: []failedEntry{}}
	for _, entry := range entries {
		result, err := one(entry)
		if failure, ok := errors.AsType[*wire.Error](err); ok {
			out.Failed = append(out.Failed, failedEntry{
				ID: id(entry), Code: failure.Code, Message: failure.Message,
				SenderFault: true,
			})
			continue
		}
		if err != nil {
			out.Failed = append(out.Failed, failedEntry{ID: id(entry), Code: "InternalError", Message: err.Error()})
			continue
		}
		out.Successful = append(out.Successful, result)
	}
	return out, nil
}
