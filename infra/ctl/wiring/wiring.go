// Package wiring creates an Operator for a running stack from the types in shared/manage/operator. The stack may run on
// a laptop, on LocalStack or on AWS. As in the functions, the outputs of template.yaml determine the adapters. The
// package is used by ctl, by tests, and by the runner that seeds a new stack. No Lambda function links the package.
package wiring

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ses"

	"recordbridge/shared/adapters/mail"
	"recordbridge/shared/adapters/smart"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/manage/account/members"
	"recordbridge/shared/manage/audit"
	"recordbridge/shared/manage/inquiry"
	"recordbridge/shared/platform/config/awssecret"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/weburl"
)

const (
	// getTimeout limits the duration of a request to the service.
	getTimeout = 20 * time.Second
	// maxDocument limits the size of the service's response in bytes. A set of four RSA keys is smaller than 2 KiB.
	maxDocument = 64 << 10
)

// Options holds an operator's name and HTTP client, a clock, and sources of IDs and random data.
type Options struct {
	Now    func() time.Time
	NewID  ids.Source
	Random io.Reader
	Actor  string // actor name recorded in audit rows
	// HTTP sends requests to health systems through the same network guard that the functions use. HTTP is nil if the
	// operator doesn't contact health systems.
	HTTP smart.Doer
}

// Open returns an Operator for the stack with the given outputs (see Outputs in template.yaml).
func Open(ctx context.Context, cfg aws.Config, outputs map[string]string, o Options) (*Operator, error) {
	for _, name := range []string{
		"ControlTable", "WorkTable", "AuditTable", "ConnectionTable", "CatalogTable", "CatalogBucket", "KeyHashingSecret",
		"SecretsKey", "DeliveryQueueUrl",
	} {
		if outputs[name] == "" {
			return nil, fmt.Errorf("the stack has no output %s", name)
		}
	}
	// AWS requests are signed with this machine's time, regardless of o.Now.
	hashing, err := awssecret.Keyring(ctx, cfg, time.Now, outputs["KeyHashingSecret"])
	if err != nil {
		return nil, fmt.Errorf("open stack: %w", err)
	}
	own, err := OwnURLs(outputs)
	if err != nil {
		return nil, fmt.Errorf("open stack: %w", err)
	}
	parts, err := catalogParts(cfg, outputs, o, own)
	if err != nil {
		return nil, err
	}
	return newOperator(newAdapters(cfg, outputs, o, own, hashing), parts), nil
}

// OwnURLs returns the service's own URLs on the stack with the given outputs.
func OwnURLs(outputs map[string]string) (weburl.Own, error) { return weburl.NewOwn(outputs["OwnUrls"]) }

// Members returns the service that manages members on the stack with the given outputs. If the stack has no sender
// address for email, inviting members fails.
func Members(cfg aws.Config, outputs map[string]string, o Options) members.Service {
	made := members.Service{
		Rows: store.Accounts{DB: store.NewClient(cfg), Table: outputs["ControlTable"]}, Audit: AuditLog(cfg, outputs),
		Dashboard: cmp.Or(outputs["DashboardUrl"], outputs["BaseUrl"]+"/dashboard"), Random: o.Random,
		NewID: o.NewID, Now: o.Now,
	}
	if from := outputs["MailFrom"]; from != "" {
		made.Mailer = mail.Sender{Client: ses.NewFromConfig(cfg), From: from}
	}
	return made
}

// inbox returns the service for replying to inquiries on the stack with the given outputs. If the stack has no sender
// address for email, sending replies fails.
func inbox(cfg aws.Config, outputs map[string]string, o Options) inquiry.Inbox {
	made := inquiry.Inbox{
		Rows: store.Inquiries{DB: store.NewClient(cfg), Table: outputs["WorkTable"]}, Support: outputs["SupportMail"],
		Now: o.Now,
	}
	if from := outputs["MailFrom"]; from != "" {
		made.Mailer = mail.Sender{Client: ses.NewFromConfig(cfg), From: from}
	}
	return made
}

// AuditLog returns the audit log of the stack with the given outputs.
func AuditLog(cfg aws.Config, outputs map[string]string) audit.Log {
	return audit.Log{Rows: store.Audit{DB: store.NewClient(cfg), Table: outputs["AuditTable"]}}
}

// PrivateRanges returns the private address ranges that the stack's health systems and webhooks may use. Only a local
// stack has such ranges; make run passes them to it as AllowedPrivateRanges.
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

// get fetches a document without following redirects, because registered keys must be served at the exact URL that
// health systems request.
func get(ctx context.Context, address string) ([]byte, error) {
	client := http.Client{
		Timeout:       getTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
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
