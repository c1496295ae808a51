package httpapi_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/words/org"
)

type exportRequest struct {
	ConnectionID string    `json:"org_connection_id" required:"true"`
	Refresh      bool      `json:"refresh"`
	Size         int       `json:"size"`
	Tags         []string  `json:"tags"`
	Fixtures     *fixtures `json:"fixtures"`
	TaskID       string    `path:"taskId"`
	Include      string    `query:"include"`
	Network      string    `client:"network"`
}

type fixtures struct {
	CCDA string `json:"tefca_ccda"`
}

// receive serves a POST and stores the bound request in got.
func receive(got *exportRequest) http.Handler {
	f := func(_ context.Context, _ org.Caller, in exportRequest) (nothing, error) {
		*got = in
		return nothing{}, nil
	}
	mux := http.NewServeMux()
	mux.Handle("/tasks/{taskId}", newEdge().Serve("/tasks/{taskId}", httpapi.Methods{
		"POST": httpapi.Keyed(httpapi.KeyAuth{Keys: directory{}}, f),
	}))
	return mux
}

func TestBinderReadsBodyQueryPathAndClient(t *testing.T) {
	t.Parallel()
	var got exportRequest
	body := `{"org_connection_id":"c-1","refresh":true,"size":3,"fixtures":{"tefca_ccda":"a.xml","more":1},"unknown":[{}],
		"TaskID":"from-body","Network":"from-body","include":"from-body","Include":"x"}`
	body = strings.Replace(body, `,"Include":"x"`, "", 1)
	r := withKey(newRequest("POST", "/tasks/t-1?include=result&other=1", body))
	r.Header.Set("Content-Type", "Application/JSON; charset=UTF-8")
	r.Header.Set("X-Forwarded-For", "198.51.100.7")
	r.RemoteAddr = "[2001:db8::1:2:3:4]:9"
	if w := do(receive(&got), r); w.Code != 200 {
		t.Fatalf("got %d %s", w.Code, w.Body)
	}
	want := exportRequest{
		ConnectionID: "c-1", Refresh: true, Size: 3, Fixtures: &fixtures{CCDA: "a.xml"}, TaskID: "t-1",
		Include: "result", Network: "2001:db8::/64",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("bound (-want +got):\n%s", diff)
	}
}

func TestBinderIgnoresQueryParametersInBody(t *testing.T) {
	t.Parallel()
	var got exportRequest
	r := withKey(newRequest("POST", "/tasks/t-1", `{"org_connection_id":"c","Include":"smuggled","TaskID":"smuggled"}`))
	if w := do(receive(&got), r); w.Code != 200 || got.Include != "" || got.TaskID != "t-1" {
		t.Errorf("got %d %+v", w.Code, got)
	}
}

func TestBinderRejectsInvalidBodyWithOneSentence(t *testing.T) {
	t.Parallel()
	const media = "The request body must be uncompressed UTF-8 and have the content type application/json."
	object := func(extra string) string { return `{"org_connection_id":"c"` + extra + `}` }
	cases := map[string]struct {
		body, contentType string
		status            int
		code, text        string
	}{
		"required missing": {`{}`, "", 400, "svc_invalid_request", "org_connection_id is required."},
		"required empty":   {`{"org_connection_id":""}`, "", 400, "svc_invalid_request", "org_connection_id is required."},
		"required null":    {`{"org_connection_id":null}`, "", 400, "svc_invalid_request", "org_connection_id is required."},
		"string is number": {
			`{"org_connection_id":5}`, "", 400, "svc_invalid_request",
			"org_connection_id must be a string.",
		},
		"bool is string":   {object(`,"refresh":"yes"`), "", 400, "svc_invalid_request", "refresh must be true or false."},
		"int is fraction":  {object(`,"size":1.5`), "", 400, "svc_invalid_request", "size must be a number."},
		"array is object":  {object(`,"tags":{}`), "", 400, "svc_invalid_request", "tags must be an array."},
		"object is string": {object(`,"fixtures":"x"`), "", 400, "svc_invalid_request", "fixtures must be an object."},
		"nested type": {
			object(`,"fixtures":{"tefca_ccda":1}`), "", 400, "svc_invalid_request",
			"fixtures.tefca_ccda must be a string.",
		},
		"no object": {`[]`, "", 400, "svc_invalid_request", "The request body must be a JSON object."},
		"null":      {`null`, "", 400, "svc_invalid_request", "The request body must be a JSON object."},
		"not JSON":  {`{"a":`, "", 400, "svc_invalid_request", "The request body is not valid JSON."},
		"trailing object": {
			object("") + `{}`, "", 400, "svc_invalid_request",
			"The request body must contain exactly one JSON object.",
		},
		"trailing garbage": {
			object("") + `x`, "", 400, "svc_invalid_request",
			"The request body must contain exactly one JSON object.",
		},
		"duplicate": {
			object(`,"org_connection_id":"d"`), "", 400, "svc_invalid_request",
			"The request body contains a duplicate member.",
		},
		"duplicate by case": {
			object(`,"ORG_CONNECTION_ID":"d"`), "", 400, "svc_invalid_request",
			"The request body contains a duplicate member.",
		},
		"duplicate inside": {
			object(`,"x":[{"a":1,"a":2}]`), "", 400, "svc_invalid_request",
			"The request body contains a duplicate member.",
		},
		"deep": {
			object(`,"x":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000)), "", 400,
			"svc_invalid_request", "The request body is nested too deeply.",
		},
		"deep and open": {
			object(`,"x":` + strings.Repeat(`{"a":`, 10_000)), "", 400, "svc_invalid_request",
			"The request body is nested too deeply.",
		},
		"not UTF-8": {object(`,"x":"` + "\xff" + `"`), "", 400, "svc_invalid_request", "The request body must " +
			"be UTF-8."},
		"byte order mark": {"\ufeff" + object(""), "", 400, "svc_invalid_request", "The request body is not valid " +
			"JSON."},
		"white space": {"  \n", "", 400, "svc_invalid_request", "A JSON request body is required."},
		"huge": {
			object(`,"x":"` + strings.Repeat("a", 64<<10) + `"`), "", 413, "svc_payload_too_large",
			"The request body must not exceed 64 KiB.",
		},
		"form":          {"a=b", "application/x-www-form-urlencoded", 415, "svc_unsupported_media_type", media},
		"other charset": {object(""), "application/json; charset=latin1", 415, "svc_unsupported_media_type", media},
		"broken type":   {object(""), "application/json; =", 415, "svc_unsupported_media_type", media},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got exportRequest
			r := withKey(newRequest("POST", "/tasks/1", c.body))
			if c.contentType != "" {
				r.Header.Set("Content-Type", c.contentType)
			}
			wantBody(t, do(receive(&got), r), c.status, errorBody(c.code, c.text))
		})
	}
}

func TestBinderChecksContentHeaders(t *testing.T) {
	t.Parallel()
	var got exportRequest
	empty := withKey(newRequest("POST", "/tasks/1", ""))
	wantBody(t, do(receive(&got), empty), 400, errorBody("svc_invalid_request", "A JSON request body is required."))

	untyped := withKey(newRequest("POST", "/tasks/1", `{}`))
	untyped.Header.Del("Content-Type")
	if w := do(receive(&got), untyped); w.Code != 415 {
		t.Errorf("a body without a type: got %d", w.Code)
	}
	packed := withKey(newRequest("POST", "/tasks/1", `{}`))
	packed.Header.Set("Content-Encoding", "gzip")
	if w := do(receive(&got), packed); w.Code != 415 {
		t.Errorf("a compressed body: got %d", w.Code)
	}
	full := withKey(newRequest("POST", "/tasks/1", `{"org_connection_id":"c","x":"`+strings.Repeat("a", 64<<10-32)+`"}`))
	if full.ContentLength != 64<<10 {
		t.Fatalf("the body has %d bytes", full.ContentLength)
	}
	if w := do(receive(&got), full); w.Code != 200 {
		t.Errorf("a body of exactly 64 KiB: got %d %s", w.Code, w.Body)
	}
}

func TestKeyedEndpointChecksKeyBeforeBody(t *testing.T) {
	t.Parallel()
	var got exportRequest
	wantBody(t, do(receive(&got), newRequest("POST", "/tasks/1", strings.Repeat("x", 1<<20))), 401,
		errorBody("svc_unauthorized_client", badKey))
}

func TestBinderRejectsInvalidQueries(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ query, text string }{
		"twice":     {"include=a&include=b", "include must not be repeated."},
		"not UTF-8": {"include=%ff", "include must be text without control characters."},
		"NUL":       {"include=a%00b", "include must be text without control characters."},
		"CR LF":     {"include=a%0d%0ab", "include must be text without control characters."},
		"escape":    {"include=%4", "The query string is malformed."},
		"semicolon": {"a=1;include=2", "The query string is malformed."},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got exportRequest
			r := withKey(newRequest("POST", "/tasks/1", `{"org_connection_id":"c"}`))
			r.URL.RawQuery = c.query
			wantBody(t, do(receive(&got), r), 400, errorBody("svc_invalid_request", c.text))
		})
	}
}

func TestBinderFailsAllRequestsWhenStructIsInvalid(t *testing.T) {
	t.Parallel()
	type untagged struct{ Name string }
	type number struct {
		Size int `query:"size"`
	}
	type formNumber struct {
		Size int `form:"size"`
	}
	type bothBodies struct {
		Name  string `json:"name"`
		Start string `form:"start"`
	}
	api := newEdge()
	auth := httpapi.KeyAuth{Keys: directory{}}
	for name, endpoint := range map[string]httpapi.Endpoint{
		"untagged": httpapi.Keyed(auth, func(context.Context, org.Caller, untagged) (nothing,
			error,
		) {
			return nothing{}, nil
		}),
		"number": httpapi.Keyed(auth, func(context.Context, org.Caller, number) (nothing,
			error,
		) {
			return nothing{}, nil
		}),
		"both bodies": httpapi.Keyed(auth, func(context.Context, org.Caller, bothBodies) (nothing,
			error,
		) {
			return nothing{}, nil
		}),
		"form number": httpapi.Keyed(auth, func(context.Context, org.Caller, formNumber) (nothing,
			error,
		) {
			return nothing{}, nil
		}),
		"no struct": httpapi.Keyed(auth, func(context.Context, org.Caller, string) (nothing,
			error,
		) {
			return nothing{}, nil
		}),
	} {
		handler := api.Serve("/x", httpapi.Methods{"GET": endpoint})
		if w := do(handler, withKey(newRequest("GET", "/x", ""))); w.Code != 500 {
			t.Errorf("%s: got %d", name, w.Code)
		}
	}
	if !strings.Contains(api.log.String(), "untagged") && !strings.Contains(api.log.String(), "field Name") {
		t.Errorf("the log does not say what is wrong: %s", api.log)
	}
}

// FuzzBody searches for a body that causes a panic or a response without an envelope.
func FuzzBody(f *testing.F) {
	for _, seed := range []string{
		``, `{}`, `{"org_connection_id":"c"}`, `{"a":[[{}]]}`, `{"a":1e999}`, "{\"\\ud800\":1}",
		`{"size":9e99}`,
	} {
		f.Add([]byte(seed))
	}
	var got exportRequest
	handler := receive(&got)
	f.Fuzz(func(t *testing.T, body []byte) {
		r := withKey(newRequest("POST", "/tasks/1", string(body)))
		r.Header.Set("Content-Type", "application/json")
		w := do(handler, r)
		switch w.Code {
		case 200, 400, 413:
		default:
			t.Errorf("body %q: %d %s", body, w.Code, w.Body)
		}
	})
}
