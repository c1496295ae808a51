package lambda_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/local/lambda"
)

func TestRemoteCallsLambdaInvokeAPI(t *testing.T) {
	t.Parallel()
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch r.Method + " " + r.URL.Path {
		case "POST /2015-03-31/functions/EchoFunction/invocations":
			_, _ = w.Write(body)
		case "POST /2015-03-31/functions/FailFunction/invocations":
			w.Header().Set("X-Amz-Function-Error", "Unhandled")
			_, _ = io.WriteString(w, `{"errorType":"errorString","errorMessage":"the portal is closed"}`)
		case "POST /2015-03-31/functions/LateFunction/invocations":
			_, _ = io.WriteString(w, "Task timed out after 3.00 seconds")
		case "POST /2015-03-31/functions/DeadFunction/invocations":
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(endpoint.Close)
	functions := lambda.NewRemote(endpoint.URL + "/")

	body, err := functions.Invoke(t.Context(), "EchoFunction", []byte(`{"a":1}`))
	if err != nil || string(body) != `{"a":1}` {
		t.Errorf("got %q, %v, want the payload back", body, err)
	}
	_, err = functions.Invoke(t.Context(), "FailFunction", []byte(`{}`))
	failure, ok := errors.AsType[*lambda.FunctionError](err)
	want := &lambda.FunctionError{Type: "errorString", Message: "the portal is closed"}
	if diff := cmp.Diff(want, failure); !ok || diff != "" {
		t.Errorf("error (-want +got):\n%s", diff)
	}
	for name, message := range map[string]string{"LateFunction": "Task timed out after 3.00 seconds", "DeadFunction": ""} {
		_, err = functions.Invoke(t.Context(), name, []byte(`{}`))
		if failure, ok := errors.AsType[*lambda.FunctionError](err); !ok || failure.Message != message {
			t.Errorf("%s: got %v, want the function's failure %q", name, err, message)
		}
	}
	_, err = functions.Invoke(t.Context(), "NoFunction", []byte(`{}`))
	if _, ok := errors.AsType[*lambda.FunctionError](err); err == nil || ok {
		t.Errorf("got %v, want an error that blames no function", err)
	}
	endpoint.Close()
	if _, err = functions.Invoke(t.Context(), "EchoFunction", nil); err == nil {
		t.Error("a closed endpoint answered")
	}
}
