package aws_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/local/aws"
	"recordbridge/infra/local/aws/journal"
	"recordbridge/infra/local/aws/wire"
)

// victimVariable names the data directory of a test binary that is started to be killed.
const victimVariable = "RECORDBRIDGE_TEST_VICTIM"

func TestMain(m *testing.M) {
	if dir := os.Getenv(victimVariable); dir != "" {
		fmt.Fprintln(os.Stderr, "victim:", beVictim(dir))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// beVictim serves a cloud on a port, says which, and waits for its end.
func beVictim(dir string) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	cloud, err := aws.New(aws.Options{Dir: dir, URL: "http://" + listener.Addr().String()})
	if err != nil {
		return err
	}
	if _, err := fmt.Println("http://" + listener.Addr().String()); err != nil {
		return err
	}
	var calls atomic.Int64
	return http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		cloud.ServeHTTP(w, r)
		if calls.Add(1)%5 == 0 { // far more often than it would be due, for the kill to meet one
			if err := cloud.Compact(); err != nil {
				fmt.Fprintln(os.Stderr, "victim:", err)
			}
		}
	}))
}

// A kill must not cost anything that a client was told is stored, whether it hits a write or a compaction.
func TestNothingAcknowledgedIsLostByKillingTheProcess(t *testing.T) {
	t.Parallel()
	a := &acknowledged{dir: t.TempDir(), rows: map[string]int{}, tried: map[string]int{}, messages: map[string]bool{}, objects: map[string]string{}}
	const kills = 24
	for round := range kills {
		v := startVictim(t, a.dir)
		if round == 0 {
			if err := errors.Join(fillTable(t.Context(), v.cfg), fillBucket(t.Context(), v.cfg), fillQueue(t.Context(), v.cfg)); err != nil {
				t.Fatal(err)
			}
		} else {
			a.check(t, v.cfg)
		}
		a.writeUntilKilled(t, v, 10+rand.IntN(40))
	}
	v := startVictim(t, a.dir)
	t.Logf("%d kills, %d rows, %d messages and %d objects acknowledged, shrunk in %d rounds", kills, len(a.rows), len(a.messages), len(a.objects), a.shrunk)
	a.check(t, v.cfg)
	a.checkMessages(t, v.cfg)
}

type victim struct {
	cfg  awssdk.Config
	kill func()
}

func startVictim(t *testing.T, dir string) victim {
	t.Helper()
	command := exec.CommandContext(t.Context(), os.Args[0])
	command.Env = append(os.Environ(), victimVariable+"="+dir)
	command.Stderr = t.Output()
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err = command.Start(); err != nil {
		t.Fatal(err)
	}
	kill := sync.OnceFunc(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	t.Cleanup(kill)
	url, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the process did not start: %v", err)
	}
	url = strings.TrimSpace(url)
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return victim{kill: kill, cfg: awssdk.Config{
		Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("test", "local", ""), BaseEndpoint: &url,
		HTTPClient: plainClient{&http.Client{Transport: transport}}, RetryMaxAttempts: 1,
	}}
}

// plainClient hides from net/http what the SDK's bodies can besides being read, which makes it break connections off.
type plainClient struct{ *http.Client }

func (c plainClient) Do(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		r.Body = struct{ io.ReadCloser }{r.Body}
	}
	return c.Client.Do(r)
}

// acknowledged is what clients were told is stored. Every row is overwritten again and again, so that the journal wears.
type acknowledged struct {
	dir string

	mu          sync.Mutex
	rows, tried map[string]int // the revisions that were confirmed and asked for
	messages    map[string]bool
	objects     map[string]string
	size        int64 // of the journal after the last kill
	shrunk      int   // rounds after which it was smaller
}

// writeUntilKilled lets several clients write, one of which kills the process after some calls of all.
func (a *acknowledged) writeUntilKilled(t *testing.T, v victim, calls int) {
	t.Helper()
	var made atomic.Int64
	var clients sync.WaitGroup
	for client := range 3 {
		clients.Go(func() {
			for i := 0; a.write(t.Context(), v.cfg, client, i) == nil; i++ {
				if made.Add(1) == int64(calls) {
					v.kill()
				}
			}
		})
	}
	clients.Wait()
	if got := int(made.Load()); got < calls {
		t.Fatalf("the clients gave up after %d calls of %d", got, calls)
	}
	size := journalSize(t, a.dir)
	if size < a.size {
		a.shrunk++
	}
	a.size = size
}

func (a *acknowledged) write(ctx context.Context, cfg awssdk.Config, client, i int) error {
	switch i % 8 {
	case 6:
		body := strconv.Itoa(rand.Int())
		return a.confirm(func() { a.messages[body] = true }, func() error {
			url := *cfg.BaseEndpoint + "/000000000000/q"
			_, err := sqs.NewFromConfig(cfg).SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: &url, MessageBody: &body})
			return err
		})
	case 7:
		key := strconv.Itoa(rand.Int())
		return a.confirm(func() { a.objects[key] = "content of " + key }, func() error {
			_, err := s3.NewFromConfig(cfg).PutObject(ctx, &s3.PutObjectInput{Bucket: awssdk.String("exports"), Key: &key, Body: strings.NewReader("content of " + key)})
			return err
		})
	default:
		key := fmt.Sprintf("%d-%d", client, i%3)
		a.mu.Lock()
		a.tried[key]++
		revision := a.tried[key]
		a.mu.Unlock()
		return a.confirm(func() { a.rows[key] = revision }, func() error {
			item := row(key, strings.Repeat("x", 3<<10))
			item["revision"] = &ddbtypes.AttributeValueMemberN{Value: strconv.Itoa(revision)}
			_, err := dynamodb.NewFromConfig(cfg).PutItem(ctx, &dynamodb.PutItemInput{TableName: awssdk.String(itemsTable), Item: item})
			return err
		})
	}
}

func (a *acknowledged) confirm(remember func(), call func() error) error {
	if err := call(); err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	remember()
	return nil
}

func (a *acknowledged) check(t *testing.T, cfg awssdk.Config) {
	t.Helper()
	for key, revision := range a.rows {
		out, err := dynamodb.NewFromConfig(cfg).GetItem(t.Context(), &dynamodb.GetItemInput{TableName: awssdk.String(itemsTable), Key: row(key, "")})
		if err != nil {
			t.Fatal(err)
		}
		n, _ := out.Item["revision"].(*ddbtypes.AttributeValueMemberN)
		if n == nil {
			t.Fatalf("row %s is gone", key)
		}
		if got, err := strconv.Atoi(n.Value); err != nil || got < revision || got > a.tried[key] {
			t.Errorf("row %s has revision %s, want %d, or up to %d, which nobody confirmed", key, n.Value, revision, a.tried[key])
		}
	}
	for key, want := range a.objects {
		out, err := s3.NewFromConfig(cfg).GetObject(t.Context(), &s3.GetObjectInput{Bucket: awssdk.String("exports"), Key: &key})
		if err != nil {
			t.Fatalf("object %s: %v", key, err)
		}
		if content, err := io.ReadAll(out.Body); err != nil || string(content) != want {
			t.Errorf("object %s is %q (%v), want %q", key, content, err, want)
		}
	}
}

func (a *acknowledged) checkMessages(t *testing.T, cfg awssdk.Config) {
	t.Helper()
	url := *cfg.BaseEndpoint + "/000000000000/q"
	for {
		out, err := sqs.NewFromConfig(cfg).ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: &url, MaxNumberOfMessages: 10, VisibilityTimeout: 600})
		if err != nil {
			t.Fatal(err)
		}
		if len(out.Messages) == 0 {
			break
		}
		for _, m := range out.Messages {
			delete(a.messages, *m.Body)
		}
	}
	if len(a.messages) > 0 {
		t.Errorf("%d messages were lost", len(a.messages))
	}
}

func TestAKillAtAnyByteOfASessionKeepsEveryWholeRecord(t *testing.T) {
	t.Parallel()
	dir, bodies := t.TempDir(), t.TempDir()
	keep := func(next wire.Handler) wire.Handler {
		return func(w http.ResponseWriter, r *http.Request, c wire.Call) {
			next(w, r, c)
			if err := keepFiles(filepath.Join(dir, "s3"), bodies); err != nil {
				t.Error(err)
			}
		}
	}
	if _, err := newSession(t.Context(), newCloud(t, aws.Options{Dir: dir, Middleware: []wire.Middleware{keep}}).Config("test")); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(filepath.Join(dir, "journal.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	states := statesOf(t, content)
	t.Logf("%d records, %d bytes", len(states)-1, len(content))
	trial := t.TempDir()
	if err := os.Symlink(bodies, filepath.Join(trial, "s3")); err != nil {
		t.Fatal(err)
	}
	for size := range len(content) + 1 {
		cut := content[:size]
		whole := max(0, bytes.Count(cut, []byte("\n"))-1)
		if err := replaysTo(trial, cut, whole); err != nil {
			t.Fatalf("cut at byte %d: %v", size, err)
		}
		// A cloud starts from whatever the journal gives it, so that a part of the bytes is enough for it.
		if size%31 == 0 || bytes.HasSuffix(cut, []byte("\n")) {
			if err := startsWith(t, trial, cut, states[whole]); err != nil {
				t.Fatalf("start, cut at byte %d: %v", size, err)
			}
		}
	}
}

// replaysTo checks how many records a journal gives.
func replaysTo(dir string, content []byte, want int) error {
	if err := os.WriteFile(filepath.Join(dir, "journal.ndjson"), content, 0o600); err != nil {
		return err
	}
	log, err := journal.Open(dir)
	if err != nil {
		return err
	}
	got := 0
	err = log.Replay(func(string, json.RawMessage) error {
		got++
		return nil
	})
	if got != want {
		err = errors.Join(err, fmt.Errorf("%d records came back, want %d", got, want))
	}
	return errors.Join(err, log.Close())
}

// startsWith checks that a cloud starts on a journal, holds want, and keeps what is stored afterwards.
func startsWith(t *testing.T, dir string, content []byte, want string) error {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "journal.ndjson"), content, 0o600); err != nil {
		return err
	}
	for _, write := range []bool{true, false} {
		cloud, err := aws.New(aws.Options{Dir: dir})
		if err != nil {
			return err
		}
		got, err := cloud.State()
		if got != want {
			err = errors.Join(err, errors.New("the state differs (-want +got):\n"+cmp.Diff(want, got)))
		}
		if write {
			err = errors.Join(err, sendMail(t.Context(), cloud.Config("test")))
			want, _ = cloud.State()
		}
		if err = errors.Join(err, cloud.Close()); err != nil {
			return err
		}
	}
	return nil
}

// statesOf returns what the first 0, 1, 2 … records of a journal lead to.
func statesOf(t *testing.T, content []byte) []string {
	t.Helper()
	cloud := newCloud(t, aws.Options{})
	states := []string{state(t, cloud)}
	for i, line := range bytes.Split(bytes.TrimSpace(content), []byte("\n")) {
		var read struct {
			Service string
			Record  json.RawMessage
		}
		if err := json.Unmarshal(line, &read); err != nil {
			t.Fatal(err)
		}
		if i == 0 { // the header
			continue
		}
		if err := cloud.Apply(read.Service, read.Record); err != nil {
			t.Fatal(err)
		}
		states = append(states, state(t, cloud))
	}
	return states
}
