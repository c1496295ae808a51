package main

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"recordbridge/shared/adapters/store"
	"recordbridge/shared/words/org"
)

// putOutput sets or removes a stack output.
func putOutput(t *testing.T, file, name, value string) {
	t.Helper()
	outputs := outputsOf(t, file)
	if outputs[name] = value; value == "" {
		delete(outputs, name)
	}
	text, err := json.Marshal(outputs)
	if err == nil {
		err = os.WriteFile(file, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestDoctorReportsEachFault(t *testing.T) {
	put := func(name, value string) func(*testing.T, string) {
		return func(t *testing.T, outputs string) {
			t.Helper()
			putOutput(t, outputs, name, value)
		}
	}
	for name, fault := range map[string]struct {
		make     func(t *testing.T, outputs string)
		want, do string
	}{
		"an output is missing": {
			put("RefreshDeadLetterQueueUrl", ""), "has no outputs RefreshDeadLetterQueueUrl",
			"Deploy the stack's current template",
		},
		"an output is missing that every other command needs": {
			put("CatalogBucket", ""), "has no outputs CatalogBucket",
			"Fix the outputs",
		},
		"the hashing secret is gone": {
			put("KeyHashingSecret", "gone"),
			"KeyHashingSecret can't be read", "Rotate a versioned secret",
		},
		"the key for secrets is gone": {
			put("SecretsKey", "arn:aws:kms:us-east-1:000000000000:key/00000000-0000-4000-8000-000000000000"),
			"SecretsKey can't encrypt and decrypt", "docs/operate/runbooks/keys.md",
		},
		"no client keys are published": {publishNothing, "publishes no client keys", "client keys are enabled"},
		"nobody answers": {
			put("BaseUrl", "http://127.0.0.1:1/v1"), "The service does not respond",
			"api-errors.md",
		},
		"a webhook fails for two hours": {failForHours, "has been failing since", "ctl webhook log -org"},
		"an institution is down": {
			func(t *testing.T, outputs string) {
				t.Helper()
				fareIn(t, openStored(t, outputs))
			}, "1 endpoints in live mode are down", "ctl catalog health -mode live -state down",
		},
	} {
		t.Run(name, func(t *testing.T) {
			outputs, _, _ := newPublisher(t)
			fault.make(t, outputs)
			if told, code := examined(t, outputs); code != 1 || !strings.Contains(told, fault.want) ||
				!strings.Contains(told, fault.do) {
				t.Errorf("exit code %d, %s", code, told)
			}
		})
	}
}

func publishNothing(t *testing.T, outputs string) {
	t.Helper()
	empty := httptest.NewServer(http.HandlerFunc(
		func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"keys":[]}`) }))
	t.Cleanup(empty.Close)
	putOutput(t, outputs, "BaseUrl", empty.URL+"/v1")
}

func failForHours(t *testing.T, outputs string) {
	t.Helper()
	do := doer(t, outputs)
	id := do("organisation", "create", "-name", "Alder")["id"].(string)
	hook := do("webhook", "create", "-org", id, "-mode", "live", "-url", "https://hooks.alder.example/in")["id"].(string)
	tenant, hooks := org.Tenant{Mode: org.Live, OrgID: id}, store.Hooks(openStored(t, outputs).control)
	if _, err := hooks.CountFailure(t.Context(), tenant, hook, time.Now().Add(-2*time.Hour)); err != nil {
		t.Fatal(err)
	}
}

// TestDoctorQueriesCloudWatchAndSES covers CloudWatch alarms and the SES sandbox, which the embedded AWS server lacks.
func TestDoctorQueriesCloudWatchAndSES(t *testing.T) {
	newPublisher(t)
	quota, alarms := "", `<member><AlarmName>ctl-ExportDeadLetters</AlarmName></member>`
	behind := os.Getenv("AWS_ENDPOINT_URL")
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		form := string(body)
		switch {
		case strings.Contains(r.Header.Get("Authorization"), "/monitoring/aws4_request"):
			if !strings.Contains(form, "Action=DescribeAlarms&AlarmNamePrefix=ctl-&StateValue=ALARM") {
				t.Errorf("asked for %s", form)
			}
			_, _ = io.WriteString(w, `<DescribeAlarmsResponse><DescribeAlarmsResult><MetricAlarms>`+alarms+
				`</MetricAlarms></DescribeAlarmsResult></DescribeAlarmsResponse>`)
		case quota != "" && strings.Contains(form, "Action=GetSendQuota"):
			_, _ = io.WriteString(w,
				`<GetSendQuotaResponse xmlns="http://ses.amazonaws.com/doc/2010-12-01/"><GetSendQuotaResult><Max24HourSend>`+quota+
					`</Max24HourSend><MaxSendRate>1</MaxSendRate><SentLast24Hours>0</SentLast24Hours></GetSendQuotaResult>`+
					`</GetSendQuotaResponse>`)
		default:
			pass(w, r, behind, body)
		}
	}))
	t.Cleanup(front.Close)
	t.Setenv("AWS_ENDPOINT_URL", front.URL)
	look := func() (string, int) {
		var out bytes.Buffer
		err := run(t.Context(), []string{"-stack", "ctl", "doctor"}, to(&out))
		return out.String(), exitCode(err)
	}
	if told, code := look(); code != 1 || !strings.Contains(told, "ctl-ExportDeadLetters is in ALARM") ||
		!strings.Contains(told, "See the alarm's runbook") || !strings.Contains(told, "SES account is out of the sandbox") {
		t.Errorf("with an alarm: exit code %d, %s", code, told)
	}
	alarms = ""
	if told, code := look(); code != 0 || !strings.Contains(told, "No alarm is in ALARM") {
		t.Errorf("with none: exit code %d, %s", code, told)
	}
	quota = "200"
	if told, code := look(); code != 1 || !strings.Contains(told, "SES account is in the sandbox") ||
		!strings.Contains(told, "production access") {
		t.Errorf("in SES's sandbox: exit code %d, %s", code, told)
	}
}

func pass(w http.ResponseWriter, r *http.Request, to string, body []byte) {
	on, err := http.NewRequestWithContext(r.Context(), r.Method, to+r.URL.RequestURI(), bytes.NewReader(body))
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	on.Header, on.Host = r.Header, r.Host
	answer, err := http.DefaultClient.Do(on)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	defer func() { _ = answer.Body.Close() }()
	maps.Copy(w.Header(), answer.Header)
	w.WriteHeader(answer.StatusCode)
	_, _ = io.Copy(w, answer.Body)
}
