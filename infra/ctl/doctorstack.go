package main

import (
	"context"
	"net/http"
	"strings"
	"time"

	awskms "github.com/aws/aws-sdk-go-v2/service/kms"

	"recordbridge/shared/adapters/kms"
	"recordbridge/shared/catalog"
	"recordbridge/shared/platform/config/awssecret"
	"recordbridge/shared/words/org"
)

func checkOutputs(_ context.Context, s session) []finding {
	var missing []string
	for _, name := range []string{
		"BaseUrl", "ControlTable", "WorkTable", "AuditTable", "ConnectionTable", "TokensTable", "CatalogTable",
		"CatalogBucket", "KeyHashingSecret", "SecretsKey",
		"ClientKeys", "ExportQueueUrl", "DeliveryQueueUrl", "RefreshQueueUrl", "TefcaQueueUrl", "ExportDeadLetterQueueUrl",
		"DeliveryDeadLetterQueueUrl", "RefreshDeadLetterQueueUrl", "TefcaDeadLetterQueueUrl",
	} {
		if s.stack.Outputs[name] == "" {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		return []finding{amiss("Deploy the stack's current template.", "The stack has no outputs %s.",
			strings.Join(missing, ", "))}
	}
	return []finding{fine("All outputs are present.")}
}

// checkKeys reads KeyHashingSecret, the only secret that operators may read, and encrypts and decrypts test data with
// SecretsKey, the only key that they may use.
func checkKeys(ctx context.Context, s session) []finding {
	found := append(s.describeKeys(ctx), notInspected(
		"Search the logs for start.failed: functions that can't read their secrets and keys don't start.",
		"Operators can't read CursorSecret, DownloadSecret or LimitSecret."))
	if _, err := awssecret.Keyring(ctx, s.stack.Config, time.Now, s.stack.Outputs["KeyHashingSecret"]); err != nil {
		found = append(found, amiss("See docs/operate/secrets.md, Rotate a versioned secret.", "KeyHashingSecret can't be "+
			"read: %v.", err))
	} else {
		found = append(found, fine("KeyHashingSecret is readable and has its current version."))
	}
	sealer := kms.New(awskms.NewFromConfig(s.stack.Config), kms.SecretsKey(s.stack.Outputs["SecretsKey"]),
		catalog.ClientSecretPurpose, time.Now)
	sealed, err := sealer.Seal(ctx, org.Tenant{}, "doctor", []byte("doctor"))
	if err == nil {
		_, err = sealer.Open(ctx, org.Tenant{}, "doctor", sealed)
	}
	if err != nil {
		return append(found, amiss("Check that the key is enabled (docs/operate/runbooks/keys.md).",
			"SecretsKey can't encrypt and decrypt: %v.", err))
	}
	if s.Operator == nil {
		return append(found, fine("SecretsKey encrypts and decrypts."))
	}
	if _, err = s.ClientKeys.PublicKeys(ctx, false); err != nil {
		return append(found, amiss("Check that the client keys are enabled (docs/operate/runbooks/keys.md).",
			"The service publishes no client keys: %v.", err))
	}
	return append(found, fine("SecretsKey encrypts and decrypts, and the service publishes its client keys."))
}

// tolerated is the largest clock difference that doctor accepts. AWS rejects a signature whose time is off by 5 minutes
// or more, but portals reject assertions with smaller clock errors.
const tolerated = 30 * time.Second

// checkService sends a request to the running service, whose functions read their parameters at startup.
func checkService(ctx context.Context, s session) []finding {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet,
		s.stack.Outputs["BaseUrl"]+"/.well-known/jwks.json", http.NoBody)
	if err != nil {
		return []finding{amiss("Deploy the stack with a valid BaseUrl.", "BaseUrl is not a valid URL: %v.", err)}
	}
	client := http.Client{
		Timeout:       maxAnswer,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	before := time.Now()
	response, err := client.Do(request)
	if err != nil {
		return []finding{amiss("See docs/operate/runbooks/api-errors.md.", "The service does not respond: %v.", err)}
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return []finding{amiss("See docs/operate/runbooks/api-errors.md. A missing parameter is logged as start.failed.",
			"The service responds with status %d.", response.StatusCode)}
	}
	there, err := http.ParseTime(response.Header.Get("Date"))
	if err != nil {
		return []finding{fine("The service responds."), notInspected("", "The service's response has no Date header.")}
	}
	if skew := there.Sub(before.Add(time.Since(before) / 2)).Abs(); skew > tolerated {
		return []finding{amiss("Set this machine's clock (NTP): AWS rejects signatures whose time is minutes off.",
			"The clocks of this machine and the service differ by %v.", skew.Round(time.Second))}
	}
	return []finding{fine("The service responds, and the clocks agree.")}
}

const maxAnswer = 20 * time.Second
