package iam_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"recordbridge/infra/local/aws/wire"
	"recordbridge/infra/local/iam"
	"recordbridge/infra/local/template"
)

// BenchmarkPutItem is what the decision adds to one write, of about 450 bytes.
func BenchmarkPutItem(b *testing.B) {
	condition := map[string]map[string][]string{"ForAllValues:StringLike": {"dynamodb:LeadingKeys": {"A-*"}}}
	own := allow("dynamodb:PutItem", visitsARN)
	own.Condition = condition
	for name, statement := range map[string]template.Statement{
		"plain":          allow("dynamodb:PutItem", visitsARN),
		"by leading key": own,
	} {
		b.Run(name, func(b *testing.B) {
			authority, err := iam.New(world(statement))
			if err != nil {
				b.Fatal(err)
			}
			passed := 0
			handle := authority.Middleware()(func(http.ResponseWriter, *http.Request, wire.Call) { passed++ })
			content := []byte(`{"TableName":"visits","Item":{"pk":{"S":"A-1"},"sk":{"S":"1"},"note":{"S":"` +
				strings.Repeat("x", 350) + `"}}}`)
			r := httptest.NewRequestWithContext(b.Context(), http.MethodPost, "/", http.NoBody)
			r.Body = known{bytes.NewReader(content), content}
			call, answer := wire.Call{Service: "dynamodb", Operation: "PutItem", Caller: worker}, httptest.NewRecorder()
			b.ReportAllocs()
			for b.Loop() {
				handle(answer, r, call)
			}
			if passed == 0 {
				b.Error("the write was refused")
			}
		})
	}
}

// known is a body as package sigv4 leaves it.
type known struct {
	*bytes.Reader

	content []byte
}

func (k known) Bytes() []byte { return k.content }
func (known) Close() error    { return nil }
