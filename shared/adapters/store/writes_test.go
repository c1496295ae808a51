package store_test

import (
	"net/http"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"recordbridge/infra/local/aws/wire"
)

// writes counts calls that changed a row. Tests use it to check that other calls changed nothing.
type writes struct {
	atomic.Int64
}

func (w *writes) middleware(next wire.Handler) wire.Handler {
	return func(out http.ResponseWriter, r *http.Request, c wire.Call) {
		status := &statusWriter{ResponseWriter: out}
		next(status, r, c)
		switch c.Operation {
		case "PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems":
			if status.code == 0 || status.code == http.StatusOK {
				w.Add(1)
			}
		}
	}
}

type statusWriter struct {
	http.ResponseWriter

	code int
}

func (w *statusWriter) WriteHeader(code int) {
	w.code = code
	w.ResponseWriter.WriteHeader(code)
}

func plain(row map[string]types.AttributeValue) map[string]any {
	values := map[string]any{}
	for name, value := range row {
		switch v := value.(type) {
		case *types.AttributeValueMemberS:
			values[name] = v.Value
		case *types.AttributeValueMemberN:
			values[name] = "number " + v.Value
		case *types.AttributeValueMemberB:
			values[name] = v.Value
		case *types.AttributeValueMemberBOOL:
			values[name] = v.Value
		default:
			values[name] = value
		}
	}
	return values
}
