package replay_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/test/conformance/corpus"
	"recordbridge/infra/test/conformance/replay"
)

// server is an HTTP client that returns scripted responses in order and records all requests.
type server struct {
	answers  []func(w http.ResponseWriter)
	requests []*http.Request
	bodies   []string
}

func (s *server) Do(r *http.Request) (*http.Response, error) {
	body := ""
	if r.Body != nil {
		read, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		body = string(read)
	}
	s.requests, s.bodies = append(s.requests, r), append(s.bodies, body)
	if len(s.answers) == 0 {
		return nil, errors.New("nothing left to answer")
	}
	recorder := httptest.NewRecorder()
	s.answers[0](recorder)
	s.answers = s.answers[1:]
	return recorder.Result(), nil
}

func says(status int, body string, headers ...string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func (s *server) party() replay.Target {
	return replay.Target{
		Name: "fake", URL: "http://127.0.0.1:1", AccessKey: "conformance", SecretKey: "local", Client: s,
		NewID: func() string { return "j1" },
	}
}

func TestPlaySignsExpandedJSONCall(t *testing.T) {
	t.Parallel()
	s := &server{answers: []func(http.ResponseWriter){says(200, `{"QueueUrl":"u"}`), says(200, `{}`)}}
	err := replay.Play(t.Context(), s.party(), corpus.Script{Service: "sqs", Steps: []corpus.Step{
		{Call: "CreateQueue", In: map[string]any{"QueueName": "${id}"}, Save: map[string]string{"queue": "QueueUrl"}},
		{Call: "PurgeQueue", In: map[string]any{"QueueUrl": "${queue}"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{`{"QueueName":"j1"}`, `{"QueueUrl":"u"}`}, s.bodies); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	first := s.requests[0]
	if got := first.Header.Get("X-Amz-Target"); got != "AmazonSQS.CreateQueue" {
		t.Errorf("target %q", got)
	}
	if got := first.Header.Get("Authorization"); !strings.Contains(got, "Credential=conformance/") ||
		!strings.Contains(got, "/us-east-1/sqs/aws4_request") {
		t.Errorf("authorization %q", got)
	}
}

func TestPlaySendsS3AndSESRequests(t *testing.T) {
	t.Parallel()
	s := &server{answers: []func(http.ResponseWriter){says(200, ""), says(200, ""), says(200, "<R><A>1</A></R>")}}
	put := corpus.Step{Call: "PUT /${id}/a%2Fb", Headers: map[string]string{"If-None-Match": "*"}, Body: "hello"}
	signed := put
	signed.Sign = corpus.Sign{How: "url", Expires: time.Minute, Tamper: "method"}
	if err := replay.Play(t.Context(), s.party(),
		corpus.Script{Service: "s3", Steps: []corpus.Step{put, signed}}); err != nil {
		t.Fatal(err)
	}
	first, second := s.requests[0], s.requests[1]
	if first.Method != http.MethodPut || first.URL.EscapedPath() != "/j1/a%2Fb" || s.bodies[0] != "hello" ||
		first.Header.Get("If-None-Match") != "*" ||
		first.Header.Get("X-Amz-Content-Sha256") == "" {
		t.Errorf("sent %s %s %v %q", first.Method, first.URL, first.Header, s.bodies[0])
	}
	if q := second.URL.Query(); second.Method != http.MethodDelete || q.Get("X-Amz-Expires") != "60" ||
		q.Get("X-Amz-Signature") == "" ||
		second.Header.Get("Authorization") != "" {
		t.Errorf("presigned %s %s %v", second.Method, second.URL, second.Header)
	}
	send := corpus.Step{
		Call: "SendEmail", In: map[string]any{"Source": "a@example.org"}, Response: map[string]any{"A": "1"},
	}
	if err := replay.Play(t.Context(), s.party(), corpus.Script{Service: "ses", Steps: []corpus.Step{send}}); err != nil {
		t.Fatal(err)
	}
	if got := s.bodies[2]; got != "Action=SendEmail&Source=a%40example.org&Version=2010-12-01" {
		t.Errorf("form %q", got)
	}
}

func TestTamperInvalidatesSignedRequest(t *testing.T) {
	t.Parallel()
	for _, part := range []string{"path", "query", "header", "body", "method"} {
		s := &server{answers: []func(http.ResponseWriter){says(200, ""), says(200, "")}}
		step := corpus.Step{Call: "PUT /b/k", Body: "hello"}
		spoiled := step
		spoiled.Sign.Tamper = part
		synctest.Test(t, func(t *testing.T) { // virtual time, so that both signatures have the same time
			if err := replay.Play(t.Context(), s.party(),
				corpus.Script{Service: "s3", Steps: []corpus.Step{step, spoiled}}); err != nil {
				t.Fatal(err)
			}
		})
		a, b := s.requests[0], s.requests[1]
		same := a.URL.String() == b.URL.String() && a.Method == b.Method && s.bodies[0] == s.bodies[1] &&
			a.Header.Get("X-Amz-Date") == b.Header.Get("X-Amz-Date")
		if same || a.Header.Get("Authorization") != b.Header.Get("Authorization") {
			t.Errorf("%s: %s %s %v", part, b.Method, b.URL, b.Header)
		}
	}
}

func TestPlayReportsUnexpectedResponse(t *testing.T) {
	t.Parallel()
	failure := says(400, `{"__type":"com.amazonaws#NoSuch","message":"no"}`)
	s3failure := says(404, `<?xml version="1.0"?><Error><Code>NoSuchKey</Code></Error>`)
	tests := map[string]struct {
		step   corpus.Step
		answer func(http.ResponseWriter)
		want   string
	}{
		"success as expected": {
			corpus.Step{Call: "GET /b/k", Response: map[string]any{"A": "1"}},
			says(200, `{"A":"1"}`), "",
		},
		"an error as expected":     {corpus.Step{Call: "GET /b/k", Fails: "NoSuch", Status: 400}, failure, ""},
		"an error of S3":           {corpus.Step{Call: "GET /b/k", Fails: "NoSuchKey"}, s3failure, ""},
		"an error instead":         {corpus.Step{Call: "GET /b/k", Response: map[string]any{}}, failure, "want success"},
		"success instead":          {corpus.Step{Call: "GET /b/k", Fails: "NoSuch"}, says(200, "{}"), "want NoSuch"},
		"another error":            {corpus.Step{Call: "GET /b/k", Fails: "Other"}, failure, "want Other"},
		"another status":           {corpus.Step{Call: "GET /b/k", Fails: "NoSuch", Status: 404}, failure, "status 400"},
		"an error without body":    {corpus.Step{Call: "HEAD /b/k", Fails: "Not Found"}, says(404, ""), ""},
		"a redirect is no success": {corpus.Step{Call: "GET /b/k", Status: 200}, says(307, ""), "status 307"},
		"a header as expected": {
			corpus.Step{Call: "GET /b/k", Answers: map[string]string{"ETag": "<re:.+>"}},
			says(200, "", "ETag", "x"), "",
		},
		"a header that is missing": {
			corpus.Step{Call: "GET /b/k", Answers: map[string]string{"ETag": "<any>"}},
			says(200, ""), "header ETag",
		},
		"a body as expected": {corpus.Step{Call: "GET /b/k", Text: "hello"}, says(200, "hello"), ""},
		"another body":       {corpus.Step{Call: "GET /b/k", Text: "hello"}, says(200, "bye"), "the body is bye"},
		"a list in XML": {
			corpus.Step{Call: "GET /b", Response: map[string]any{"C": []any{"1", "2"}}},
			says(200, "<R><C>1</C><C>2</C></R>"), "",
		},
		"three elements in XML": {
			corpus.Step{Call: "GET /b", Response: map[string]any{"C": map[string]any{"$count": 3}}},
			says(200, "<R><C>1</C><C>2</C><C/></R>"), "",
		},
		"what is to be saved lacks": {
			corpus.Step{Call: "GET /b", Status: 200, Save: map[string]string{"x": "A.B"}},
			says(200, "{}"), "there is no A.B",
		},
		"a header to be saved lacks": {
			corpus.Step{Call: "GET /b", Status: 200, Save: map[string]string{"x": "header ETag"}},
			says(200, ""), "there is no header ETag",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &server{answers: []func(http.ResponseWriter){tt.answer}}
			err := replay.Play(t.Context(), s.party(), corpus.Script{Service: "s3", Steps: []corpus.Step{tt.step}})
			difference, differs := errors.AsType[*replay.DifferenceError](err)
			if differs != (tt.want != "") || err != nil && !differs || differs &&
				!strings.Contains(difference.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestPlayRepeatsStepForEachString(t *testing.T) {
	t.Parallel()
	s := &server{answers: []func(http.ResponseWriter){
		says(400, `{"__type":"A"}`), says(400, `{"__type":"A"}`),
		says(200, `{}`),
	}}
	err := replay.Play(t.Context(), s.party(), corpus.Script{Service: "dynamodb", Steps: []corpus.Step{
		{Call: "PutItem", In: map[string]any{"Word": "${each}"}, Each: []string{"ABORT", "ZONE", "other"}, Fails: "A"},
	}})
	if difference, differs := errors.AsType[*replay.DifferenceError](err); !differs ||
		!strings.Contains(difference.Error(), "other") {
		t.Errorf("got %v, want a difference that names the text", err)
	}
	if diff := cmp.Diff([]string{`{"Word":"ABORT"}`, `{"Word":"ZONE"}`, `{"Word":"other"}`}, s.bodies); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

func TestPlayIgnoresFailureOfSetupStep(t *testing.T) {
	t.Parallel()
	s := &server{answers: []func(http.ResponseWriter){says(400, `{"__type":"Unknown"}`)}}
	err := replay.Play(t.Context(), s.party(),
		corpus.Script{Service: "sqs", Steps: []corpus.Step{{Call: "Verify", Prepares: true}}})
	if err != nil {
		t.Error(err)
	}
}

func TestPlaySendsBodyUnmodified(t *testing.T) {
	t.Parallel()
	s := &server{answers: []func(http.ResponseWriter){says(400, `{"__type":"SerializationException"}`)}}
	step := corpus.Step{Call: "PutItem", Body: "{broken ${id}", Fails: "SerializationException"}
	if err := replay.Play(t.Context(), s.party(),
		corpus.Script{Service: "dynamodb", Steps: []corpus.Step{step}}); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{"{broken j1"}, s.bodies); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

func TestPlayReturnsErrorWhenServerIsUnreachable(t *testing.T) {
	t.Parallel()
	s := &server{}
	err := replay.Play(t.Context(), s.party(),
		corpus.Script{Service: "sqs", Steps: []corpus.Step{{Call: "ListQueues", Status: 200}}})
	if _, differs := errors.AsType[*replay.DifferenceError](err); err == nil || differs {
		t.Errorf("got %v", err)
	}
}

func TestPlaySleepsDuringWaitStep(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		s := &server{}
		if err := replay.Play(t.Context(), s.party(),
			corpus.Script{Service: "sqs", Steps: []corpus.Step{{Wait: 3 * time.Second}}}); err != nil {
			t.Fatal(err)
		}
		if got := time.Since(began); got != 3*time.Second {
			t.Errorf("waited %s", got)
		}
	})
}
