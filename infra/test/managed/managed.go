// Package managed sets up a complete operator on an embedded AWS, for tests of the dashboard's functions. Handlers in
// these tests therefore run with the service's own rules and rows. The embedded AWS contains the organisations in
// membertest. Only tests import this package.
package managed

import (
	"context"
	"crypto/rand"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"recordbridge/infra/ctl/wiring"
	cloud "recordbridge/infra/local/aws"
	"recordbridge/infra/local/aws/ses"
	"recordbridge/infra/local/provision"
	"recordbridge/infra/local/template"
	"recordbridge/infra/testkit/keyedtest"
	"recordbridge/infra/testkit/membertest"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/manage/audit"
	"recordbridge/shared/manage/operator"
	"recordbridge/shared/platform/config/awssecret"
	"recordbridge/shared/webhook/deliverylog"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

const stackName = "managed"

// Stack holds the service's stores and operator, but none of its functions.
type Stack struct {
	Operator *wiring.Operator
	Outputs  map[string]string
	AWS      aws.Config
	Audit    audit.Log
	Mail     func() []ses.Mail // Mail returns all sent emails

	flow string // name of the Flow table
}

// New returns a stack whose clock is set to keyedtest.Moment. The stack contains two active organisations,
// membertest.OrgA and membertest.OrgB.
func New(tb testing.TB) *Stack {
	tb.Helper()
	var s Stack
	embedded, err := cloud.New(cloud.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	loaded, err := template.Load("../../template.yaml",
		template.Options{
			BaseURL: "http://127.0.0.1:4566", StackName: stackName,
			Parameters: map[string]string{"MailFrom": "notices@recordbridge.example"},
		})
	if err != nil {
		tb.Fatal(err)
	}
	if err = provision.Apply(tb.Context(), embedded.Config("provision"), loaded); err != nil {
		tb.Fatal(err)
	}
	for _, table := range loaded.Tables {
		if table.LogicalID == "FlowTable" {
			s.flow = table.Name
		}
	}
	s.AWS, s.Outputs = embedded.Config("test"), loaded.Outputs
	s.Operator, err = wiring.Open(tb.Context(), s.AWS, s.Outputs, wiring.Options{
		Now: keyedtest.Moment, NewID: ids.Random, Random: rand.Reader, Actor: "operator", HTTP: nil,
	})
	if err != nil {
		tb.Fatal(err)
	}
	s.Audit, s.Mail = wiring.AuditLog(s.AWS, s.Outputs), embedded.SES().Sent
	for id, name := range map[string]string{
		membertest.OrgA: "Alder Maple Clinic",
		membertest.OrgB: "Birch Hill Practice",
	} {
		made := org.Organisation{
			ID: id, Name: name, Plan: org.Free, Status: org.Active, LiveAccess: org.LiveGranted,
			Emails:         []string{"ops@alder.example.org"},
			VerifiedEmails: []string{"ops@alder.example.org"}, CreatedAt: keyedtest.Moment().Add(-time.Hour),
		}
		if err := store.Organisations(s.Control()).CreateOrganisation(tb.Context(), made); err != nil {
			tb.Fatal(err)
		}
	}
	return &s
}

// Control returns the stack's Control table.
func (s *Stack) Control() store.Control {
	return store.Control{DB: store.NewClient(s.AWS), Table: s.Outputs["ControlTable"]}
}

// Flow returns the stack's Flow table.
func (s *Stack) Flow() store.Flow { return store.Flow{DB: store.NewClient(s.AWS), Table: s.flow} }

// Setup returns a reader of tenants' setup progress.
func (s *Stack) Setup() operator.Setup {
	db := store.NewClient(s.AWS)
	tasks, connections := store.Tasks{DB: db, Table: s.Outputs["WorkTable"]}, store.Connections{
		DB: db, Table: s.Outputs["ConnectionTable"],
	}
	log := deliverylog.Log{
		Rows: store.DeliveryLog{DB: db, Table: s.Outputs["WorkTable"]}, Subscriptions: store.Hooks(s.Control()),
		Now: keyedtest.Moment,
	}
	return operator.NewSetup(store.NewSetup(s.Control()), connections, tasks, log)
}

// Tenant returns the tenant for an organisation and a mode.
func Tenant(orgID string, mode org.Mode) org.Tenant { return org.Tenant{Mode: mode, OrgID: orgID} }

// Audited returns an organisation's audit log as "actor action target" lines, oldest first.
func (s *Stack) Audited(tb testing.TB, orgID string) []string {
	tb.Helper()
	rows, _, err := s.Audit.List(tb.Context(), orgID, 0, 100)
	if err != nil {
		tb.Fatal(err)
	}
	told := make([]string, len(rows))
	for i, row := range rows {
		told[len(rows)-1-i] = row.Actor + " " + row.Action + " " + row.Target
	}
	return told
}

// Hashing returns the keyring for hashing the private keys of credentials.
func (s *Stack) Hashing(ctx context.Context) (secret.Keyring, error) {
	return awssecret.Keyring(ctx, s.AWS, time.Now, s.Outputs["KeyHashingSecret"])
}
