package e2e_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/infra/local/aws/ses"
	"recordbridge/infra/local/faults"
	"recordbridge/shared/manage/account"
)

// mailsTo returns the replies to inquiries that were emailed to an address.
func mailsTo(s *stack, email string) []ses.Mail {
	return slices.DeleteFunc(s.cloud.SES().Sent(), func(m ses.Mail) bool {
		return m.To[0] != email || !strings.HasPrefix(m.Subject, "Reply from")
	})
}

// useInbox sends two of a patient's inquiries: a request for help, and a request to add a health system. An owner
// reads, answers and closes the help request. useInbox returns the request's path.
func (c *console) useInbox() (path string) {
	c.t.Helper()
	c.verifyAddress("help@alder.example")
	c.patient.askSupport("")
	c.patient.askHealthSystem("")
	system := entryWith(c.do(http.MethodGet, "/inquiries", nil), "inquiries", "kind", "health_system")
	one := "/inquiries/" + text(entryWith(
		c.do(http.MethodGet, "/inquiries?kind=support&status=open", nil), "inquiries", "name",
		"Juniper Vale"), "inquiry_id")
	if got := c.do(http.MethodGet, one, nil); text(got, "email") != patientsAddress ||
		!strings.Contains(text(got, "body"), "my cardiologist") || text(got, "health_system") != "Cedar Clinic" ||
		got["email_verified"] != false {
		c.t.Errorf("who needs help is %v", got)
	}
	if got := c.do(http.MethodGet, "/inquiries/"+text(system, "inquiry_id"), nil); text(got,
		"website") != "https://alder.example" || text(got, "street_address") != "1 Elm Street" {
		c.t.Errorf("the health system is %v", got)
	}
	got := c.do(http.MethodPost, one+"/answers", inboxAnswer())
	answer := entryWith(got, "answers", "delivery", "sent")
	if text(got, "status") != "answered" || text(answer, "by") != account.Actor(c.owner.account) ||
		text(answer, "text") != inboxAnswer()["text"] || text(answer, "at") == "" {
		c.t.Errorf("answered it is %v", got)
	}
	if sent := mailsTo(c.stack, patientsAddress); len(sent) != 1 || sent[0].ReplyTo[0] != "help@alder.example" ||
		sent[0].From != "notices@example.com" || !strings.Contains(sent[0].Text, "new password") {
		c.t.Errorf("the patient got %+v", sent)
	}
	if got := c.do(http.MethodPatch, one, map[string]any{"status": "closed"}); text(got, "status") != "closed" {
		c.t.Errorf("closed it is %v", got)
	}
	return one
}

func inboxAnswer() map[string]any {
	return map[string]any{"text": "Ask your portal for a new password."}
}

func TestInboxEmailsReplyOnceWithoutLoggingIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(newStack(t, options{}))
		answered := c.useInbox()
		// a client retries if it does not receive the first response
		again := c.do(http.MethodPost, answered+"/answers", inboxAnswer())
		if all, _ := again["answers"].([]any); len(all) != 1 || len(mailsTo(c.stack, patientsAddress)) != 1 {
			t.Errorf("repeated: %v, %d mails", again, len(mailsTo(c.stack, patientsAddress)))
		}
		if got := c.do(http.MethodGet, answered, nil); len(entryWith(got, "answers", "delivery", "sent")) != 4 {
			t.Errorf("shown: %v", got)
		}
		audited := text(c.at(http.MethodGet, "/dashboard/organisations/"+c.own+"/audit/export", nil), "ndjson")
		for _, action := range []string{`"inquiry.answered"`, `"inquiry.moved"`} {
			if strings.Count(audited, action) != 1 {
				t.Errorf("%s is %d times in the audit log", action, strings.Count(audited, action))
			}
		}
		for what, kept := range map[string]string{"the audit log": audited, "the log": c.logs.String()} {
			for _, personal := range []string{patientsAddress, "Juniper", "cardiologist", "new password"} {
				if strings.Contains(kept, personal) {
					t.Errorf("%s has %q", what, personal)
				}
			}
		}
		open := "/inquiries/" + text(entryWith(c.do(http.MethodGet, "/inquiries?status=open", nil), "inquiries", "kind",
			"health_system"), "inquiry_id")
		reply := map[string]any{"text": "We have asked for it."}
		if got := c.do(http.MethodPatch, open, map[string]any{"status": "answered"}); text(got, "website") == "" ||
			text(got, "street_address") == "" {
			t.Errorf("moved: %v", got)
		}
		c.at(http.MethodPatch, "/dashboard/organisations/"+c.own, map[string]any{"emails": []string{}})
		c.want(http.MethodPost, open+"/answers", reply, http.StatusConflict, "svc_conflict")
		c.verifyAddress("help@alder.example")
		for n := range 5 {
			c.do(http.MethodPost, open+"/answers", map[string]any{"text": fmt.Sprintf("Answer %d.", n)})
		}
		c.want(http.MethodPost, open+"/answers", reply, http.StatusTooManyRequests, "svc_rate_limited")
		c.want(http.MethodPost, open+"/answers", map[string]any{"text": " "}, http.StatusBadRequest, "svc_invalid_request")
		c.want(http.MethodPatch, open, map[string]any{"status": "done"}, http.StatusBadRequest, "svc_invalid_request")
		c.want(http.MethodGet, "/inquiries?kind=help", nil, http.StatusBadRequest, "svc_invalid_request")
	})
}

// TestInboxReportsUndeliveredReply checks that a member who replies to an inquiry gets an error if the email can't be
// sent. A retry one minute later must succeed.
func TestInboxReportsUndeliveredReply(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		plan := faults.New(faults.Options{Rules: []faults.Rule{{Service: "ses", Kind: faults.FailedBefore}}})
		c := newConsole(newStack(t, options{plan: plan}))
		c.verifyAddress("help@alder.example")
		c.patient.askSupport("")
		all := c.do(http.MethodGet, "/inquiries", nil)
		one := "/inquiries/" + text(entryWith(all, "inquiries", "kind", "support"), "inquiry_id")
		plan.Pause(false)
		c.want(http.MethodPost, one+"/answers", inboxAnswer(), http.StatusServiceUnavailable, "svc_unavailable")
		plan.Pause(true)
		c.want(http.MethodPost, one+"/answers", inboxAnswer(), http.StatusServiceUnavailable, "svc_unavailable")
		if got := c.do(http.MethodGet, one, nil); text(got, "status") != "open" ||
			entryWith(got, "answers", "delivery", "sending") == nil {
			t.Errorf("meanwhile it is %v", got)
		}
		<-time.After(time.Minute)
		if got := c.do(http.MethodPost, one+"/answers", inboxAnswer()); text(got, "status") != "answered" ||
			len(mailsTo(c.stack, patientsAddress)) != 1 {
			t.Errorf("then it is %v, with %d mails", got, len(mailsTo(c.stack, patientsAddress)))
		}
	})
}

func TestInboxPaginatesWithoutDuplicates(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(newStack(t, options{}))
		for n := range 60 {
			asked := supportForm("")
			asked["request_key"] = fmt.Sprintf("page-%d", n)
			for c.patient.form("/support/request", asked).status == http.StatusTooManyRequests {
				<-time.After(10 * time.Minute)
			}
		}
		c.signInAgain()
		all := c.pages("/inquiries", "inquiries", "inquiry_id")
		slices.Sort(all)
		if len(slices.Compact(all)) != 60 {
			t.Errorf("%d inquiries", len(all))
		}
	})
}
