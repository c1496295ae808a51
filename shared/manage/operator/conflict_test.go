package operator_test

import (
	"crypto/rand"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"recordbridge/infra/ctl/wiring"
	"recordbridge/infra/local/aws"
	"recordbridge/infra/local/aws/wire"
	"recordbridge/infra/local/provision"
	"recordbridge/infra/local/template"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/catalog"
	"recordbridge/shared/manage/audit"
	"recordbridge/shared/manage/operator"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

// fixture holds two operators. The second operator makes a change just before the first operator's next write.
type fixture struct {
	operator  *wiring.Operator
	control   store.Control
	meanwhile func()
	servers   fakeServers
	log       audit.Log
	audited   func() []string // actions and targets in the shared audit log, in order
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	r := &fixture{servers: fakeServers{}}
	cloud, err := aws.New(aws.Options{Middleware: []wire.Middleware{func(next wire.Handler) wire.Handler {
		return func(w http.ResponseWriter, request *http.Request, c wire.Call) {
			if first := r.meanwhile; first != nil && slices.Contains([]string{"PutItem", "TransactWriteItems"}, c.Operation) &&
				c.Caller == "first" {
				r.meanwhile = nil
				first()
			}
			next(w, request, c)
		}
	}}})
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := template.Load("../../../template.yaml",
		template.Options{BaseURL: "http://127.0.0.1:4566", StackName: "ctl"})
	if err != nil {
		t.Fatal(err)
	}
	if err = provision.Apply(t.Context(), cloud.Config("provision"), loaded); err != nil {
		t.Fatal(err)
	}
	r.operator, err = wiring.Open(t.Context(), cloud.Config("first"), loaded.Outputs, wiring.Options{
		Now: func() time.Time { return time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC) }, NewID: ids.Random, Random: rand.Reader,
		Actor: "first", HTTP: r.servers,
	})
	if err != nil {
		t.Fatal(err)
	}
	r.control = store.Control{DB: dynamodb.NewFromConfig(cloud.Config("second")), Table: loaded.Outputs["ControlTable"]}
	r.log = wiring.AuditLog(cloud.Config("second"), loaded.Outputs)
	r.audited = func() []string { return auditRows(t, r.log, "") }
	return r
}

func wantConflict(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "at the same time, so nothing was saved") {
		t.Errorf("the later one's change: %v, want fault.Conflict", err)
	}
}

func TestRotateConflictsWithConcurrentRotation(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	id, err := r.operator.Clients.Create(t.Context(), org.Tenant{},
		catalog.ClientAuth{Method: catalog.AuthSecretBasic, Origins: []string{"https://auth.example"}}, secret.New("first"))
	if err != nil {
		t.Fatal(err)
	}
	theirs := catalog.ClientAuth{ID: id, Method: catalog.AuthSecretPost, Secret: []byte("sealed"), Rev: 1}
	r.meanwhile = func() {
		if saving := store.Clients(r.control).SaveClientAuth(t.Context(), org.Tenant{}, theirs); saving != nil {
			t.Error(saving)
		}
	}
	wantConflict(t, r.operator.Clients.Rotate(t.Context(), org.Tenant{}, id,
		operator.Rotation{Secret: secret.New("second")}))
	kept, err := store.Clients(r.control).ClientAuthOf(t.Context(), org.Tenant{}, id)
	if err != nil || kept.Method != theirs.Method || kept.Rev != 2 {
		t.Errorf("kept %+v (%v), want what the other one wrote", kept, err)
	}
}

func TestRegistrationConflictsWithConcurrentRegistration(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	place := catalog.Place{Mode: "test", PlatformType: "epic"}
	r.meanwhile = func() {
		if err := store.Portals(r.control).SaveRegistration(t.Context(), org.Tenant{},
			catalog.Registration{Place: place, ClientID: "theirs"}); err != nil {
			t.Error(err)
		}
	}
	_, err := r.operator.Registrations.Set(t.Context(), org.Tenant{}, place, operator.Change{ClientID: new("ours")})
	wantConflict(t, err)
	kept, err := store.Portals(r.control).RegistrationAt(t.Context(), org.Tenant{}, place)
	if err != nil || kept.ClientID != "theirs" {
		t.Errorf("kept %+v (%v), want what the other one wrote", kept, err)
	}
}

func TestRegistrationInEffectReportsMissingClient(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	place := catalog.Place{Mode: "test", PlatformType: "epic"}
	if err := store.Portals(r.control).SaveRegistration(t.Context(), org.Tenant{},
		catalog.Registration{Place: place, ClientID: "ours", AuthID: "gone"}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.operator.Registrations.InEffect(t.Context(), org.Tenant{}, place); !errors.Is(err, fault.NotFound) ||
		!strings.Contains(err.Error(), `"gone"`) {
		t.Errorf("the registration: %v, want fault.NotFound that names the client", err)
	}
}
