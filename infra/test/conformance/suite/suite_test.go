package suite_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"recordbridge/infra/local/aws"
	"recordbridge/infra/test/conformance/corpus"
	"recordbridge/infra/test/conformance/suite"
)

const asServer = "-server-on-port="

// TestMain serves the embedded AWS from this test binary if an argument sets a port.
func TestMain(m *testing.M) {
	for _, argument := range os.Args[1:] {
		if port, ok := strings.CutPrefix(argument, asServer); ok {
			os.Exit(serve(port))
		}
	}
	os.Exit(m.Run())
}

func serve(port string) int {
	cloud, err := aws.New(aws.Options{})
	if err != nil {
		return 1
	}
	server := &http.Server{Addr: "127.0.0.1:" + port, Handler: cloud, ReadHeaderTimeout: time.Second}
	_ = server.ListenAndServe()
	return 0
}

// scripts returns an SQS script that the server passes, one that it fails, and an S3 script that is not run.
func scripts() []corpus.Script {
	return []corpus.Script{
		{
			ID: "sqs/send/right", Service: "sqs",
			Steps: []corpus.Step{{Call: "CreateQueue", In: map[string]any{"QueueName": "${id}"}, Status: 200}},
		},
		{
			ID: "sqs/send/wrong", Service: "sqs",
			Steps: []corpus.Step{{Call: "CreateQueue", In: map[string]any{"QueueName": "${id}"}, Fails: "Nonsense"}},
		},
		{ID: "s3/put/of no interest", Service: "s3", Steps: []corpus.Step{{Call: "PUT /${id}", Fails: "Nonsense"}}},
	}
}

func runSuite(t *testing.T, list string, change func(*suite.Options)) (string, error) {
	t.Helper()
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "installed"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	o := suite.Options{
		Folder: folder, Scripts: scripts(),
		List: list, Out: &out, Servers: []suite.Server{{
			Name: "itself", Services: []string{"sqs"}, File: "installed",
			Command: func(ctx context.Context, _, port string) *exec.Cmd {
				return exec.CommandContext(ctx, os.Args[0], asServer+port)
			},
		}},
	}
	if change != nil {
		change(&o)
	}
	err := suite.Run(t.Context(), o)
	return out.String(), err
}

func TestRunReportsUnexpectedDifferences(t *testing.T) {
	t.Parallel()
	const excuse = "itself:\n  sqs/send/wrong: the script is nonsense\n"
	tests := map[string]struct {
		list   string
		change func(*suite.Options)
		out    string
		fails  bool
	}{
		"an unlisted difference": {"", nil, "UNLISTED: sqs/send/wrong, itself: step 1, CreateQueue: answers 200", true},
		"the count of an unlisted": {
			"", nil,
			"itself         played   2 scripts: agrees on 1, 0 listed differences, 1 unlisted", true,
		},
		"what nobody agrees on": {
			excuse, nil,
			"3 scripts, 1 servers, 0 problems; at least one server agrees on 1 scripts", false,
		},
		"a listed difference": {
			excuse, nil,
			"played   2 scripts: agrees on 1, 1 listed differences, 0 unlisted", false,
		},
		"listed with a star": {
			"itself: {sqs/send/*: all of it is nonsense}", nil,
			"1 listed differences, 0 unlisted", false,
		},
		"listed for another server": {"other: {sqs/send/wrong: nonsense}", nil, "UNLISTED: sqs/send/wrong", true},
		"a row that excuses nothing": {
			excuse + "  sqs/send/right: nothing\n", nil,
			"STALE: sqs/send/right, itself", true,
		},
		"a row of no interest today": {
			excuse + "  sqs/purge/old: nothing\n",
			func(o *suite.Options) { o.Part = "send" }, "0 unlisted", false,
		},
		"told on demand": {
			excuse, func(o *suite.Options) { o.Verbose = true },
			"listed: sqs/send/wrong, itself: step 1", false,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := runSuite(t, tt.list, tt.change)
			if !strings.Contains(out, tt.out) {
				t.Errorf("the report lacks %q:\n%s", tt.out, out)
			}
			if (err != nil) != tt.fails {
				t.Errorf("ended with %v", err)
			}
		})
	}
}

func TestRunFailsWhenServerCannotStart(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		list   string
		change func(*suite.Options)
		want   string
	}{
		"a server that is not installed": {
			"", func(o *suite.Options) { o.Servers[0].File = "missing" },
			"itself is not installed",
		},
		"a server that ends at once": {"", func(o *suite.Options) {
			o.Servers[0].Command = func(ctx context.Context, _, _ string) *exec.Cmd { return exec.CommandContext(ctx, "true") }
		}, "it ended at once"},
		"a list of another form":        {"- sqs/send/wrong", nil, "read the listed differences"},
		"a script that is listed twice": {"itself: {sqs/a: x, sqs/a: y}", nil, "already defined"},
		"an entry without a reason":     {"itself: {sqs/send/wrong: }", nil, "an entry names"},
		"an entry without a server":     {"'': {sqs/send/wrong: whatever}", nil, "an entry names"},
		"an entry without a script":     {"itself: {'': whatever}", nil, "an entry names"},
		"an entry for everything":       {"itself: {'*': whatever}", nil, "an entry names"},
		"a server whose program cannot start": {
			"", func(o *suite.Options) { o.Servers[0].Command = missing },
			"start itself",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := runSuite(t, tt.list, tt.change); err == nil || !strings.Contains(fmt.Sprint(err), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func missing(ctx context.Context, folder, _ string) *exec.Cmd {
	return exec.CommandContext(ctx, filepath.Join(folder, "no-such-program"))
}
