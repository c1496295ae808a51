package e2e_test

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/webhook/deliverylog"
)

// runEchoingReceiver exports to a receiver that echoes all received data. The receiver returns two errors before it
// accepts a delivery. A later request resends the success event before the receiver becomes unavailable.
// runEchoingReceiver returns the success event's bodies in order of receipt.
func runEchoingReceiver(s *stack) []string {
	s.t.Helper()
	var mu sync.Mutex // protects bodies and isGone against concurrent deliveries
	var bodies []string
	isGone := false
	s.intercept = func(r *http.Request) *http.Response {
		if !strings.HasPrefix(r.URL.Path, "/_local/inbox") {
			return nil
		}
		body, err := io.ReadAll(r.Body)
		expect.NoError(s.t, err)
		status := http.StatusOK
		mu.Lock()
		defer mu.Unlock()
		switch {
		case isGone:
			status = http.StatusGone
		case strings.Contains(string(body), `"patient.ehi_export_success"`):
			if bodies = append(bodies, string(body)); len(bodies) < 3 {
				status = http.StatusInternalServerError
			}
		}
		header := http.Header{"X-Echo": {linkIn(string(body))}, "Location": {linkIn(string(body))}}
		return &http.Response{
			StatusCode: status, Header: header,
			Body: io.NopCloser(strings.NewReader(string(body))), Request: r,
		}
	}
	tenant := s.owner()
	expect.NoError(s.t, s.operator.Organisations.SetEmails(s.t.Context(), tenant, []string{"ops@alder.example"}))
	connectionID := s.patient.connect(crashPersona, "approve").Get("org_connection_id")
	s.org.startExport(connectionID)
	s.clock.advance(12)
	s.org.startExport(connectionID)
	s.clock.advance(1)
	mu.Lock()
	isGone = true
	mu.Unlock()
	_, err := s.operator.Deliveries.SendTest(s.t.Context(), tenant)
	expect.NoError(s.t, err)
	s.clock.advance(2)
	if len(bodies) != 4 || len(s.cloud.SES().Sent()) == 0 {
		s.t.Fatalf("the success was sent %d times, want 4, with %d mails", len(bodies), len(s.cloud.SES().Sent()))
	}
	return bodies
}

func linkIn(body string) string {
	var event struct{ Data exportData }
	if json.Unmarshal([]byte(body), &event) != nil || len(event.Data.DownloadLinks) == 0 {
		return ""
	}
	return event.Data.DownloadLinks[0].URL
}

func TestStoredDataContainsNoUsableDownloadToken(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWiretap()
		s := newStack(t, options{tap: w})
		link := linkIn(runEchoingReceiver(s)[0])
		opens := func(address string) bool {
			got, _ := s.patient.browser().open(address, "", "")
			return got.status == http.StatusOK
		}
		if !opens(link) {
			t.Fatal("the link that the receiver got does not open the file")
		}
		for place, text := range everythingAtRest(s, w) {
			before, token, _ := strings.Cut(link, "?token=")
			for _, found := range regexp.MustCompile(`[0-9]+\.[\w-]+(\.[\w-]*)?`).FindAllString(text, -1) {
				if strings.Contains(text, before) && opens(before+"?token="+found) {
					t.Errorf("%s opens the download", place)
				}
			}
			signature := token[strings.LastIndex(token, ".")+1:]
			if strings.Contains(text, signature[:20]) || strings.Contains(text, signature[len(signature)-20:]) {
				t.Errorf("%s has a part of the signature", place)
			}
		}
	})
}

// everythingAtRest returns all stored text by location, including tables, object keys, log lines, queues, emails and
// the output of operator commands.
func everythingAtRest(s *stack, w *wiretap) map[string]string {
	s.t.Helper()
	all := map[string]string{
		"a log": s.logs.String(), "an object's key": strings.Join(s.state.objects(), "\n"),
		"a queue": strings.Join(w.said["a queue"], "\n"),
	}
	for i, mail := range s.cloud.SES().Sent() {
		all[fmt.Sprint("mail ", i)] = mail.Subject + mail.Text
	}
	for _, table := range s.cloud.DynamoDB().Tables() {
		for i, item := range s.state.browse(table.Name) {
			row, err := json.Marshal(item)
			expect.NoError(s.t, err)
			all[fmt.Sprintf("row %d of %s", i, table.Name)] = string(row) + "\n" + binaries(row)
		}
	}
	tenant := s.owner()
	page, err := s.operator.Log.Search(s.t.Context(), tenant, deliverylog.Query{})
	expect.NoError(s.t, err)
	for _, e := range page.Entries {
		detail, err := s.operator.Log.Show(s.t.Context(), tenant, e.ID)
		expect.NoError(s.t, err)
		shown := append(make([]string, 0, 1+len(detail.Attempts)), string(detail.Body))
		for _, a := range detail.Attempts {
			shown = append(shown, fmt.Sprintf("%s %v %v", a.Answer, a.RequestHeader, a.ResponseHeader))
		}
		all["delivery "+e.ID] = strings.Join(shown, "\n")
	}
	if len(page.Entries) < 4 {
		s.t.Errorf("the operator sees %d deliveries, want at least four", len(page.Entries))
	}
	return all
}

// binaries returns the contents of a row's binary attributes.
func binaries(row []byte) string {
	var found []string
	for _, one := range regexp.MustCompile(`\{"B":"([^"]*)"\}`).FindAllSubmatch(row, -1) {
		plain, err := base64.StdEncoding.DecodeString(string(one[1]))
		if err == nil {
			found = append(found, string(plain))
		}
	}
	return strings.Join(found, "\n")
}

func TestDeliveryAttemptsAndEventListReturnIdenticalBodies(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, options{})
		bodies := runEchoingReceiver(s)
		if bodies[0] != bodies[1] || bodies[1] != bodies[2] {
			t.Errorf("the attempts sent\n%s\n%s\n%s", bodies[0], bodies[1], bodies[2])
		}
		if strings.Contains(bodies[0], `"download_link":`) {
			t.Error("download_link is sent although nobody has switched it on")
		}
		if bodies[3] == bodies[0] || linkIn(bodies[3]) != linkIn(bodies[0]) {
			t.Errorf("the success that was sent again is\n%s\nafter\n%s", bodies[3], bodies[0])
		}
		rotateDownloadKey(s)
		if again := replayed(s); !slices.Equal(again, []string{bodies[0], bodies[3]}) {
			t.Errorf("after a rotation of the key was sent\n%s\nwant\n%s\n%s", strings.Join(again, "\n"), bodies[0], bodies[3])
		}
		var list struct{ Events []json.RawMessage }
		expect.NoError(t,
			json.Unmarshal(s.org.request(http.MethodGet, "/bridge/events?types=patient.ehi_export_success", nil).Data, &list))
		told := make([]string, 0, len(list.Events))
		for _, event := range list.Events {
			told = append(told, string(event))
		}
		if want := []string{bodies[0], bodies[3]}; !slices.Equal(told, want) {
			t.Errorf("the list has\n%s\nwant\n%s", strings.Join(told, "\n"), strings.Join(want, "\n"))
		}
	})
}

// rotateDownloadKey rotates the key with which new function instances sign download links.
func rotateDownloadKey(s *stack) {
	s.t.Helper()
	secrets := secretsmanager.NewFromConfig(s.cloud.Config("test"))
	id := s.functions["WebhookWorkerFunction"].declared.Environment["DOWNLOAD_SECRET"]
	found, err := secrets.GetSecretValue(s.t.Context(), &secretsmanager.GetSecretValueInput{SecretId: &id})
	expect.NoError(s.t, err)
	var versions map[string]string
	expect.NoError(s.t, json.Unmarshal([]byte(*found.SecretString), &versions))
	versions["current"], versions["2"] = "2", strings.Repeat("b", 43)
	document, err := json.Marshal(versions)
	expect.NoError(s.t, err)
	_, err = secrets.PutSecretValue(s.t.Context(),
		&secretsmanager.PutSecretValueInput{SecretId: &id, SecretString: awssdk.String(string(document))})
	expect.NoError(s.t, err)
	for _, f := range s.functions {
		if f.life != nil {
			f.replace(f.life)
		}
	}
}

// replayed enables the webhook, replays all of its events to a working receiver, and returns the success events' bodies
// in order.
func replayed(s *stack) []string {
	s.t.Helper()
	tenant := s.owner()
	hooks, err := s.operator.Webhooks.List(s.t.Context(), tenant)
	expect.NoError(s.t, err)
	_, _, err = s.operator.Webhooks.Enable(s.t.Context(), tenant, hooks[0].ID)
	expect.NoError(s.t, err)
	s.intercept = nil
	_, err = s.operator.Deliveries.ReplayRange(s.t.Context(), tenant, hooks[0].ID, time.Time{}, time.Now())
	expect.NoError(s.t, err)
	s.clock.advance(1)
	sent := s.webhooks.events("patient.ehi_export_success")
	bodies := make([]string, 0, len(sent))
	for _, d := range sent {
		bodies = append(bodies, d.Body)
	}
	slices.SortFunc(bodies, func(a, b string) int { return cmp.Compare(dateOf(s.t, a), dateOf(s.t, b)) })
	return bodies
}

func dateOf(tb testing.TB, body string) string {
	tb.Helper()
	var event struct{ Date string }
	expect.NoError(tb, json.Unmarshal([]byte(body), &event))
	return event.Date
}
