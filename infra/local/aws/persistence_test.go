package aws_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/local/aws"
)

func TestServicesRestoreDataAfterRestart(t *testing.T) {
	t.Parallel()
	for _, p := range probes() {
		t.Run(p.service, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			first := newCloud(t, aws.Options{Dir: dir})
			if err := p.fill(t.Context(), first.Config("test")); err != nil {
				t.Fatal(err)
			}
			for _, start := range []string{"reads changes", "reads a snapshot"} {
				copied := afterKill(t, dir)
				cloud := newCloud(t, aws.Options{Dir: copied})
				dir = afterKill(t, copied) // copied before the check changes any data
				if err := p.check(t.Context(), cloud.Config("test")); err != nil {
					t.Errorf("a start that %s: %v", start, err)
				}
			}
			empty := newCloud(t, aws.Options{})
			if err := p.check(t.Context(), empty.Config("test")); err == nil {
				t.Error("the check passes on an empty cloud as well")
			}
		})
	}
	t.Run("ses", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		first := newCloud(t, aws.Options{Dir: dir})
		if err := sendMail(t.Context(), first.Config("test")); err != nil {
			t.Fatal(err)
		}
		second := newCloud(t, aws.Options{Dir: afterKill(t, dir)})
		if diff := cmp.Diff(first.SES().Sent(), second.SES().Sent()); diff != "" {
			t.Errorf("mail (-before +after):\n%s", diff)
		}
		if got := len(second.SES().Sent()); got != 1 {
			t.Errorf("%d mails came back, want 1", got)
		}
	})
}

// TestRestartDropsExpiredRows checks that the data file no longer contains expired rows after a restart rewrites it.
func TestRestartDropsExpiredRows(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := newCloud(t, aws.Options{Dir: dir})
	if err := fillTable(t.Context(), first.Config("test")); err != nil {
		t.Fatal(err)
	}
	db := dynamodb.NewFromConfig(first.Config("test"))
	if _, err := db.UpdateTimeToLive(t.Context(), &dynamodb.UpdateTimeToLiveInput{
		TableName: awssdk.String("items"),
		TimeToLiveSpecification: &ddbtypes.TimeToLiveSpecification{
			AttributeName: awssdk.String("ttl"),
			Enabled:       awssdk.Bool(true),
		},
	}); err != nil {
		t.Fatal(err)
	}
	ends := time.Now().Add(time.Hour)
	for i, name := range []string{"short-lived", "long-lived"} {
		ttl := strconv.FormatInt(ends.Add(time.Duration(i)*time.Hour).Unix(), 10)
		if _, err := db.PutItem(t.Context(), &dynamodb.PutItemInput{
			TableName: awssdk.String("items"),
			Item: map[string]ddbtypes.AttributeValue{
				"pk": &ddbtypes.AttributeValueMemberS{Value: name}, "ttl": &ddbtypes.AttributeValueMemberN{Value: ttl},
			},
		}); err != nil {
			t.Fatal(err)
		}
	}
	if got := first.DynamoDB().Expire(ends.Add(time.Minute)); got != 1 {
		t.Fatalf("%d rows expired, want 1", got)
	}
	dir = afterKill(t, dir)
	newCloud(t, aws.Options{Dir: dir})
	content, err := os.ReadFile(filepath.Join(dir, "journal.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(content), "short-lived") || !strings.Contains(string(content), "long-lived") {
		t.Errorf("the data is %s, want the row that has not expired, and not the other", content)
	}
}

// TestStateSurvivesSecondRestart checks that a second start, which reads the snapshot that the first start wrote, does
// not lose any data.
func TestStateSurvivesSecondRestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cloud := newCloud(t, aws.Options{Dir: dir})
	for _, p := range probes() {
		if err := p.fill(t.Context(), cloud.Config("test")); err != nil {
			t.Fatal(err)
		}
	}
	if err := sendMail(t.Context(), cloud.Config("test")); err != nil {
		t.Fatal(err)
	}
	snapshots := make([]string, 2)
	for i := range snapshots {
		dir = afterKill(t, dir)
		newCloud(t, aws.Options{Dir: dir})
		content, err := os.ReadFile(filepath.Join(dir, "journal.ndjson"))
		if err != nil {
			t.Fatal(err)
		}
		snapshots[i] = string(content)
	}
	if diff := cmp.Diff(snapshots[0], snapshots[1]); diff != "" || strings.Count(snapshots[0], "\n") < len(probes())+2 {
		t.Errorf("got %d records (-first +second):\n%s", strings.Count(snapshots[0], "\n")-1, diff)
	}
}

func TestNewFailsWhenDataFolderIsUnreadable(t *testing.T) {
	t.Parallel()
	header := `{"journal":"recordbridge embedded AWS","format":2}` + "\n"
	tests := map[string]struct{ line, want string }{
		"a foreign service": {`{"service":"lambda","record":{}}`, `no service "lambda"`},
		"a record that its service cannot use": {
			`{"service":"sqs","record":{"kind":"purge","queue":"nowhere"}}`,
			`no queue "nowhere"`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, "journal.ndjson")
			if err := os.WriteFile(path, []byte(header+test.line+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := aws.New(aws.Options{Dir: dir})
			for _, want := range []string{path + ", line 2", test.want} {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("got %v, want an error with %q", err, want)
				}
			}
		})
	}
}

func TestNewFailsWhenObjectFileIsMissing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cloud := newCloud(t, aws.Options{Dir: dir})
	if err := fillBucket(t.Context(), cloud.Config("test")); err != nil {
		t.Fatal(err)
	}
	copied := afterKill(t, dir)
	if err := os.RemoveAll(filepath.Join(copied, "s3")); err != nil {
		t.Fatal(err)
	}
	if _, err := aws.New(aws.Options{Dir: copied}); err == nil ||
		!strings.Contains(err.Error(), filepath.Join(copied, "s3")) {
		t.Errorf("got %v, want an error that names the file", err)
	}
}

func TestCloudRejectsChangesAfterClose(t *testing.T) {
	t.Parallel()
	cloud := newCloud(t, aws.Options{Dir: t.TempDir()})
	if err := cloud.Close(); err != nil {
		t.Fatal(err)
	}
	cfg := cloud.Config("test")
	cfg.RetryMaxAttempts = 1
	if err := fillParameter(t.Context(), cfg); err == nil {
		t.Error("a change was accepted that is stored nowhere")
	}
	if err := checkParameter(t.Context(), cfg); err == nil {
		t.Error("a change that could not be stored is visible")
	}
}

// afterKill returns a copy of dir as it would be if its process were killed now.
func afterKill(t *testing.T, dir string) string {
	t.Helper()
	copied := t.TempDir()
	if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return copied
}
