package wiring

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awskms "github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/ses"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"recordbridge/shared/account/members"
	"recordbridge/shared/audit"
	"recordbridge/shared/blob"
	"recordbridge/shared/catalog"
	"recordbridge/shared/catalog/snapshot"
	"recordbridge/shared/config/awssecret"
	"recordbridge/shared/deletion"
	"recordbridge/shared/deliverylog"
	"recordbridge/shared/erase"
	"recordbridge/shared/ids"
	"recordbridge/shared/inquiry"
	"recordbridge/shared/kms"
	"recordbridge/shared/mail"
	"recordbridge/shared/operator"
	"recordbridge/shared/queue"
	"recordbridge/shared/safehttp"
	"recordbridge/shared/smart"
	"recordbridge/shared/smart/survey"
	"recordbridge/shared/store"
	"recordbridge/shared/webhook"
	"recordbridge/shared/weburl"
)

const (
	// getTimeout bounds a request to the service.
	getTimeout = 20 * time.Second
	// maxDocument bounds its answer in bytes. A set of four RSA keys is below 2 KiB.
	maxDocument = 64 << 10
)

// Options are what an operator takes from its surroundings.
type Options struct {
	Now    func() time.Time
	NewID  ids.Source
	Random io.Reader
	Actor  string // who the audit rows name
	// HTTP reaches health systems, with the guard that the functions have; nil for an operator who asks none.
	HTTP smart.Doer
}

// Open makes the operator of the stack with these outputs (see Outputs in template.yaml).
func Open(ctx context.Context, cfg aws.Config, outputs map[string]string, o Options) (*operator.Operator, error) {
	for _, name := range []string{
		"ControlTable", "WorkTable", "AuditTable", "ConnectionTable", "CatalogTable", "CatalogBucket", "KeyHashingSecret", "SecretsKey", "DeliveryQueueUrl",
	} {
		if outputs[name] == "" {
			return nil, fmt.Errorf("the stack has no output %s", name)
		}
	}
	// Signed by the time of this machine, as every other call, whatever time the rules are asked at.
	hashing, err := awssecret.Keyring(ctx, cfg, time.Now, outputs["KeyHashingSecret"])
	if err != nil {
		return nil, fmt.Errorf("open stack: %w", err)
	}
	own, err := OwnURLs(outputs)
	if err != nil {
		return nil, fmt.Errorf("open stack: %w", err)
	}
	db, keys := store.NewClient(cfg), awskms.NewFromConfig(cfg)
	control := store.Control{DB: db, Table: outputs["ControlTable"]}
	vault := kms.New(keys, outputs["SecretsKey"], webhook.SecretPurpose, o.Now)
	deps := operator.Deps{
		Store:       control,
		Work:        store.Work{DB: db, Table: outputs["WorkTable"]},
		Connections: store.Connections{DB: db, Table: outputs["ConnectionTable"]},
		Audit:       AuditLog(cfg, outputs),
		Queue:       queue.NewDeliveries(sqs.NewFromConfig(cfg), outputs["DeliveryQueueUrl"]),
		Log: deliverylog.Log{
			Rows: store.DeliveryLog{DB: db, Table: outputs["WorkTable"]}, Subscriptions: control, Answers: vault, Now: o.Now,
		},
		Hashing: hashing, Vault: vault, Reach: safehttp.Options{Allow: PrivateRanges(outputs)}, Clients: kms.New(keys, outputs["SecretsKey"], catalog.ClientSecretPurpose, o.Now),
		Members: Members(cfg, outputs, o),
		Get:     get, BaseURL: outputs["BaseUrl"], Own: own, Now: o.Now, NewID: o.NewID, Random: o.Random, Actor: o.Actor,
	}
	deps.Erasures = erase.Requests{Rows: store.Work{DB: db, Table: outputs["WorkTable"]}, Connections: store.Connections{DB: db, Table: outputs["ConnectionTable"]}, Now: o.Now}
	deps.Deletions = deletion.Requests{Rows: store.Work{DB: db, Table: outputs["WorkTable"]}, Now: o.Now}
	deps.Inquiries = inquiryParts(cfg, outputs, o)
	if deps.Catalog, err = catalogParts(cfg, outputs, o, control, own); err != nil {
		return nil, err
	}
	deps.Health = operator.HealthParts{
		Rows: store.CatalogHealth{DB: db, Table: outputs["CatalogTable"]}, Pointers: store.Catalog{DB: db, Table: outputs["CatalogTable"]},
		Snapshots: snapshot.Snapshots{Files: blob.Bucket{Client: s3.NewFromConfig(cfg), Name: outputs["CatalogBucket"]}},
	}
	if o.HTTP != nil {
		deps.Servers = survey.Servers{HTTP: o.HTTP}
	}
	return operator.New(deps), nil
}

// OwnURLs returns the hosts of the stack with these outputs. A stack of an earlier release names fewer of them.
func OwnURLs(outputs map[string]string) (weburl.Own, error) {
	return weburl.NewOwn(cmp.Or(outputs["OwnUrls"], strings.Join([]string{outputs["BaseUrl"], outputs["DashboardUrl"], outputs["SdkUrl"]}, " ")))
}

// Members changes members of the stack with these outputs. Without an address that e-mails come
// from nobody can be invited.
func Members(cfg aws.Config, outputs map[string]string, o Options) members.Service {
	made := members.Service{
		Rows: store.Accounts{DB: store.NewClient(cfg), Table: outputs["ControlTable"]}, Audit: AuditLog(cfg, outputs),
		Dashboard: cmp.Or(outputs["DashboardUrl"], outputs["BaseUrl"]+"/dashboard"), Random: o.Random, NewID: o.NewID, Now: o.Now,
	}
	if from := outputs["MailFrom"]; from != "" {
		made.Mailer = mail.Sender{Client: ses.NewFromConfig(cfg), From: from}
	}
	return made
}

// inquiryParts are what inquiries to the stack with these outputs are answered with. Without an address that
// e-mails come from nobody is.
func inquiryParts(cfg aws.Config, outputs map[string]string, o Options) operator.InquiryParts {
	rows := store.Work{DB: store.NewClient(cfg), Table: outputs["WorkTable"]}
	made := operator.InquiryParts{Rows: rows, Inbox: inquiry.Inbox{Rows: rows, Support: outputs["SupportMail"], Now: o.Now}}
	if from := outputs["MailFrom"]; from != "" {
		made.Inbox.Mailer = mail.Sender{Client: ses.NewFromConfig(cfg), From: from}
	}
	return made
}

// AuditLog reads who has changed what in the stack with these outputs.
func AuditLog(cfg aws.Config, outputs map[string]string) audit.Log {
	return audit.Log{Rows: store.Audit{DB: store.NewClient(cfg), Table: outputs["AuditTable"]}}
}

// PrivateRanges are the addresses outside the public internet that health systems and webhooks of the stack with these
// outputs may have: those of this machine for a stack that runs on it (AllowedPrivateRanges of make run), else none.
func PrivateRanges(outputs map[string]string) []netip.Prefix {
	base, err := url.Parse(outputs["BaseUrl"])
	if err != nil || base.Scheme != "http" {
		return nil
	}
	if at, err := netip.ParseAddr(base.Hostname()); base.Hostname() != "localhost" && (err != nil || !at.IsLoopback()) {
		return nil
	}
	return []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}
}

// get follows no redirect: what is registered at health systems comes from the address that they would ask themselves.
func get(ctx context.Context, address string) ([]byte, error) {
	client := http.Client{Timeout: getTimeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, err
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("status %d", response.StatusCode)
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxDocument+1))
	if err != nil {
		return nil, err
	}
	if len(body) > maxDocument {
		return nil, fmt.Errorf("more than %d bytes", maxDocument)
	}
	return body, nil
}
