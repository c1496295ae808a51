package template_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/local/template"
)

const mainTemplate = "../../../template.yaml"

// loadMain loads the project's own template with the runner's stack name and URL.
func loadMain(t *testing.T, parameters map[string]string) *template.Template {
	t.Helper()
	tpl, err := template.Load(mainTemplate, template.Options{
		Parameters: parameters, BaseURL: "http://127.0.0.1:4566", StackName: "recordbridge",
	})
	if err != nil {
		t.Fatal(err)
	}
	return tpl
}

func asOnALaptop() map[string]string {
	return map[string]string{
		"PublicBaseUrl": "http://127.0.0.1:4566/v1", "EnableSandbox": "true", "AllowedPrivateRanges": "127.0.0.0/8, ::1/128",
		"MailFrom": "notices@localhost.example", "SupportMail": "support@localhost.example",
	}
}

func functionNamed(t *testing.T, tpl *template.Template, id string) template.Function {
	t.Helper()
	i := slices.IndexFunc(tpl.Functions, func(f template.Function) bool { return f.LogicalID == id })
	if i < 0 {
		t.Fatalf("there is no %s", id)
	}
	return tpl.Functions[i]
}

func TestLoadResolvesWorkerFunction(t *testing.T) {
	t.Parallel()
	got := functionNamed(t, loadMain(t, asOnALaptop()), "WebhookWorkerFunction")
	const tables = "arn:aws:dynamodb:us-east-1:000000000000:table/recordbridge-"
	const queue = "arn:aws:sqs:us-east-1:000000000000:recordbridge-DeliveryQueue"
	want := template.Function{
		LogicalID: "WebhookWorkerFunction", Name: "recordbridge-WebhookWorkerFunction", Folder: "webhookworker",
		Timeout: 5 * time.Minute, MemoryMB: 512,
		Environment: map[string]string{
			"CONTROL_TABLE":          "recordbridge-ControlTable",
			"WORK_TABLE":             "recordbridge-WorkTable",
			"SECRETS_KEY":            "arn:aws:kms:us-east-1:000000000000:alias/recordbridge-SecretsKey",
			"SUPPORT_MAIL":           "support@localhost.example",
			"DOWNLOAD_SECRET":        "arn:aws:secretsmanager:us-east-1:000000000000:secret:recordbridge-DownloadSecret",
			"DELIVERY_QUEUE_URL":     "http://127.0.0.1:4566/000000000000/recordbridge-DeliveryQueue",
			"ALLOWED_PRIVATE_RANGES": "127.0.0.0/8,::1/128",
			"WORKER_LEASE":           "60s",
			"SERVICE":                "recordbridge",
			"RELEASE":                "",
			"MAIL_FROM":              "notices@localhost.example",
			"DASHBOARD_URL":          "http://127.0.0.1:4566/v1/dashboard",
			"FLOW_TABLE":             "recordbridge-FlowTable",
			"LIMIT_SECRET":           "arn:aws:secretsmanager:us-east-1:000000000000:secret:recordbridge-LimitSecret",
		},
		LogGroup: "/recordbridge/recordbridge/webhookworker",
		QueueTriggers: []template.QueueTrigger{{
			LogicalID: "WebhookWorkerFunctionDelivery",
			QueueURL:  "http://127.0.0.1:4566/000000000000/recordbridge-DeliveryQueue", QueueARN: queue, BatchSize: 10,
			MaxConcurrency: 50, PartialFailures: true,
		}},
		Statements: []template.Statement{
			{
				Sid: "Control", Actions: []string{"dynamodb:Query", "dynamodb:UpdateItem"},
				Resources: []string{tables + "ControlTable"},
				Condition: leading("test#*#HOOKS", "live#*#HOOKS"),
			},
			{
				Sid: "Organisation", Actions: []string{"dynamodb:GetItem"}, Resources: []string{tables + "ControlTable"},
				Condition: leading("test#????????-????-????-????-????????????", "live#????????-????-????-????-????????????"),
			},
			{
				Sid: "Work", Actions: []string{"dynamodb:UpdateItem"}, Resources: []string{tables + "WorkTable"},
				Condition: leading("test#*#EVENT#*", "live#*#EVENT#*", "test#*#DELIV#*", "live#*#DELIV#*", "test#*#NOTICE#*",
					"live#*#NOTICE#*"),
			},
			{
				Sid: "Event", Actions: []string{"dynamodb:GetItem", "dynamodb:BatchGetItem"},
				Resources: []string{tables + "WorkTable"},
				Condition: leading("test#*#EVENT#*", "live#*#EVENT#*"),
			},
			{
				Sid: "NewDelivery", Actions: []string{"dynamodb:PutItem"}, Resources: []string{tables + "WorkTable"},
				Condition: leading("test#*#DELIV#*", "live#*#DELIV#*", "test#*#FIND#*", "live#*#FIND#*", "test#*#NOTICE#*",
					"live#*#NOTICE#*"),
			},
			{
				Sid: "OpenWebhookSecret", Actions: []string{"kms:Decrypt"},
				Resources: []string{"arn:aws:kms:us-east-1:000000000000:alias/recordbridge-SecretsKey"},
				Condition: map[string]map[string][]string{"StringEquals": {"kms:EncryptionContext:purpose": {"webhook-secret"}}},
			},
			{
				Sid: "DownloadSecret", Actions: []string{"secretsmanager:GetSecretValue"},
				Resources: []string{"arn:aws:secretsmanager:us-east-1:000000000000:secret:recordbridge-DownloadSecret"},
			},
			{
				Sid: "LimitSecret", Actions: []string{"secretsmanager:GetSecretValue"},
				Resources: []string{"arn:aws:secretsmanager:us-east-1:000000000000:secret:recordbridge-LimitSecret"},
			},
			{
				Sid: "MailLimits", Actions: []string{"dynamodb:UpdateItem"}, Resources: []string{tables + "FlowTable"},
				Condition: leading("RL#mail-*"),
			},
			{
				Sid:     "ConsumeDelivery",
				Actions: []string{"sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"}, Resources: []string{queue},
			},
			{Sid: "EnqueueDelivery", Actions: []string{"sqs:SendMessage"}, Resources: []string{queue}},
			{
				Sid: "SendNotice", Actions: []string{"ses:SendEmail"},
				Resources: []string{"arn:aws:ses:us-east-1:000000000000:identity/notices@localhost.example"},
			},
			{
				Sid: "Logs", Actions: []string{"logs:CreateLogStream", "logs:PutLogEvents"},
				Resources: []string{"arn:aws:logs:us-east-1:000000000000:log-group:/recordbridge/recordbridge/webhookworker:*"},
			},
			{Sid: "Trace", Actions: []string{"xray:PutTraceSegments", "xray:PutTelemetryRecords"}, Resources: []string{"*"}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("WebhookWorkerFunction (-want +got):\n%s", diff)
	}
}

// leading returns a policy condition that restricts a request's partition keys.
func leading(keys ...string) map[string]map[string][]string {
	return map[string]map[string][]string{"ForAllValues:StringLike": {"dynamodb:LeadingKeys": keys}}
}

func TestScheduleNameMatchesNameGeneratedBySAM(t *testing.T) {
	t.Parallel()
	got := functionNamed(t, loadMain(t, asOnALaptop()), "SweeperFunction").Schedules
	want := []template.Schedule{{Name: "SweeperFunctionEveryMinute", Every: time.Minute}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("schedules (-want +got):\n%s", diff)
	}
}

func TestGlobalsProvideFunctionDefaults(t *testing.T) {
	t.Parallel()
	tpl := loadMain(t, asOnALaptop())
	if got, want := functionNamed(t, tpl, "CreateExportFunction").Timeout, 10*time.Second; got != want {
		t.Errorf("Timeout from Globals: got %v, want %v", got, want)
	}
	if got, want := functionNamed(t, tpl, "ConnectFunction").Timeout, 28*time.Second; got != want {
		t.Errorf("Timeout of its own: got %v, want %v", got, want)
	}
	if got, want := functionNamed(t, tpl, "ConnectFunction").MemoryMB, 256; got != want {
		t.Errorf("MemorySize from Globals: got %v, want %v", got, want)
	}
}

// ownURLs lists the URLs of the service's hosts, except for the base URL.
const ownURLs = "https://recordbridge-api.execute-api.us-east-1.amazonaws.com " +
	"https://recordbridge-exportsbucket.s3.us-east-1.amazonaws.com " +
	"https://recordbridge-exportsbucket.s3.dualstack.us-east-1.amazonaws.com " +
	"https://recordbridge-exportsbucket.s3.amazonaws.com " +
	"https://recordbridge-catalogbucket.s3.us-east-1.amazonaws.com " +
	"https://recordbridge-widgetbucket.s3.us-east-1.amazonaws.com " +
	"https://recordbridge-documentsbucket.s3.us-east-1.amazonaws.com "

func TestLoadOmitsSandboxResourcesWhenDisabled(t *testing.T) {
	t.Parallel()
	tpl := loadMain(t, nil)
	for _, f := range tpl.Functions {
		if f.LogicalID == "SandboxEhrFunction" {
			t.Error("SandboxEhrFunction is there")
		}
	}
	for _, table := range tpl.Tables {
		if table.LogicalID == "SandboxTable" {
			t.Error("SandboxTable is there")
		}
	}
	// If no public URL is configured, the base URL is the execute-api URL.
	want := []template.Parameter{{
		LogicalID: "BaseUrlParameter", Name: "/recordbridge/recordbridge/base-url",
		Value: "https://recordbridge-api.execute-api.us-east-1.amazonaws.com/v1",
	}, {
		LogicalID: "OwnUrlsParameter", Name: "/recordbridge/recordbridge/own-urls",
		Value: "https://recordbridge-api.execute-api.us-east-1.amazonaws.com/v1 " + ownURLs,
	}}
	if diff := cmp.Diff(want, tpl.Parameters); diff != "" {
		t.Errorf("parameters (-want +got):\n%s", diff)
	}
}

func TestLoadStoresPublicURLInBaseURLParameter(t *testing.T) {
	t.Parallel()
	tpl := loadMain(t, asOnALaptop())
	want := []template.Parameter{{
		LogicalID: "BaseUrlParameter", Name: "/recordbridge/recordbridge/base-url", Value: "http://127.0.0.1:4566/v1",
	}, {
		LogicalID: "OwnUrlsParameter", Name: "/recordbridge/recordbridge/own-urls",
		Value: "http://127.0.0.1:4566/v1 " + ownURLs,
	}}
	if diff := cmp.Diff(want, tpl.Parameters); diff != "" {
		t.Errorf("parameters (-want +got):\n%s", diff)
	}
	if got, want := tpl.Outputs["BaseUrl"], "http://127.0.0.1:4566/v1"; got != want {
		t.Errorf("the output BaseUrl: got %q, want %q", got, want)
	}
	if got, want := tpl.Outputs["WorkTable"], "recordbridge-WorkTable"; got != want {
		t.Errorf("the output WorkTable: got %q, want %q", got, want)
	}
}

func TestLoadReadsTableKeysIndexesAndTTL(t *testing.T) {
	t.Parallel()
	tpl := loadMain(t, nil)
	i := slices.IndexFunc(tpl.Tables, func(t template.Table) bool { return t.LogicalID == "WorkTable" })
	want := template.Table{
		LogicalID: "WorkTable", Name: "recordbridge-WorkTable",
		ARN: "arn:aws:dynamodb:us-east-1:000000000000:table/recordbridge-WorkTable",
		Attributes: map[string]string{
			"pk": "S", "sk": "S", "org_list": "S", "org_order": "S", "due_shard": "S", "due_at": "S",
			"filter_list": "S",
		},
		Key: template.KeySchema{Hash: "pk", Range: "sk"},
		Indexes: []template.Index{
			{Name: "byOrg", Key: template.KeySchema{Hash: "org_list", Range: "org_order"}, Projection: "KEYS_ONLY"},
			{Name: "byDue", Key: template.KeySchema{Hash: "due_shard", Range: "due_at"}, Projection: "KEYS_ONLY"},
			{Name: "byFilter", Key: template.KeySchema{Hash: "filter_list", Range: "org_order"}, Projection: "KEYS_ONLY"},
		},
		TTLAttribute: "ttl",
	}
	if diff := cmp.Diff(want, tpl.Tables[i]); diff != "" {
		t.Errorf("WorkTable (-want +got):\n%s", diff)
	}
}

func TestLoadListsDeadLetterQueueBeforeItsSource(t *testing.T) {
	t.Parallel()
	tpl := loadMain(t, nil)
	got := make([]string, 0, len(tpl.Queues))
	for _, q := range tpl.Queues {
		got = append(got, q.LogicalID)
	}
	want := []string{
		"ExportDeadLetterQueue", "ExportQueue", "DeliveryDeadLetterQueue", "DeliveryQueue",
		"RefreshDeadLetterQueue", "RefreshQueue", "TefcaDeadLetterQueue", "TefcaQueue",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("queues (-want +got):\n%s", diff)
	}
	attributes := map[string]string{
		"VisibilityTimeout": "5400", "MessageRetentionPeriod": "345600",
		"RedrivePolicy": `{"deadLetterTargetArn":"arn:aws:sqs:us-east-1:000000000000:recordbridge-ExportDeadLetterQueue",` +
			`"maxReceiveCount":5}`,
	}
	if diff := cmp.Diff(attributes, tpl.Queues[1].Attributes); diff != "" {
		t.Errorf("attributes of ExportQueue (-want +got):\n%s", diff)
	}
}

func TestPhysicalNamesDeriveFromStackAndLogicalID(t *testing.T) {
	t.Parallel()
	tpl := loadMain(t, nil)
	wantSecret := template.Secret{
		LogicalID: "KeyHashingSecret", Name: "recordbridge-KeyHashingSecret",
		ARN:            "arn:aws:secretsmanager:us-east-1:000000000000:secret:recordbridge-KeyHashingSecret",
		StringTemplate: `{"current":"1"}`, StringKey: "1", Length: 43, ExcludePunctuation: true,
	}
	if diff := cmp.Diff(wantSecret, tpl.Secrets[0]); diff != "" {
		t.Errorf("KeyHashingSecret (-want +got):\n%s", diff)
	}
	wantKey := template.Key{
		LogicalID: "TokensKey", Alias: "alias/recordbridge-TokensKey",
		ARN: "arn:aws:kms:us-east-1:000000000000:alias/recordbridge-TokensKey",
	}
	if diff := cmp.Diff(wantKey, tpl.Keys[0]); diff != "" {
		t.Errorf("TokensKey (-want +got):\n%s", diff)
	}
	wantBucket := []template.Bucket{{
		LogicalID: "ExportsBucket", Name: "recordbridge-exportsbucket", ARN: "arn:aws:s3:::recordbridge-exportsbucket",
		KeyARN: "arn:aws:kms:us-east-1:000000000000:alias/recordbridge-FilesKey",
	}, {
		LogicalID: "DocumentsBucket", Name: "recordbridge-documentsbucket", ARN: "arn:aws:s3:::recordbridge-documentsbucket",
		KeyARN: "arn:aws:kms:us-east-1:000000000000:alias/recordbridge-FilesKey",
	}, {
		LogicalID: "CatalogBucket", Name: "recordbridge-catalogbucket", ARN: "arn:aws:s3:::recordbridge-catalogbucket",
	}, {
		LogicalID: "WidgetBucket", Name: "recordbridge-widgetbucket", ARN: "arn:aws:s3:::recordbridge-widgetbucket",
	}}
	if diff := cmp.Diff(wantBucket, tpl.Buckets); diff != "" {
		t.Errorf("buckets (-want +got):\n%s", diff)
	}
}

func TestLoadReadsAPIStageTypesAndGatewayResponses(t *testing.T) {
	t.Parallel()
	api := loadMain(t, nil).API
	if api.Stage != "v1" || !slices.Equal(api.BinaryMediaTypes, []string{"*/*"}) {
		t.Errorf("got stage %q and binary types %q, want v1 and */*", api.Stage, api.BinaryMediaTypes)
	}
	got := api.GatewayResponses["MISSING_AUTHENTICATION_TOKEN"]
	want := template.GatewayResponse{
		StatusCode: 404,
		Headers: map[string]string{
			"x-request-id": "context.requestId", "Cache-Control": "'no-store'", "Access-Control-Allow-Origin": "'*'",
		},
		Body: `{"success":false,"error":"svc_not_found","error_description":"There is nothing at this path.",` +
			`"request_id":"$context.requestId"}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("MISSING_AUTHENTICATION_TOKEN (-want +got):\n%s", diff)
	}
	types := strings.Join(slices.Sorted(maps.Keys(api.GatewayResponses)), " ")
	if want := "DEFAULT_4XX DEFAULT_5XX INTEGRATION_FAILURE INTEGRATION_TIMEOUT MISSING_AUTHENTICATION_TOKEN " +
		"REQUEST_TOO_LARGE RESOURCE_NOT_FOUND THROTTLED UNSUPPORTED_MEDIA_TYPE"; types != want {
		t.Errorf("types: got %s, want %s", types, want)
	}
}

// TestAllowedPrivateRangesAreEmptyByDefault checks that private address ranges must be set explicitly. Default ranges
// would let an attacker trick a deployed stack into sending requests to its own network.
func TestAllowedPrivateRangesAreEmptyByDefault(t *testing.T) {
	t.Parallel()
	callers := 0
	for _, f := range loadMain(t, nil).Functions {
		ranges, declared := f.Environment["ALLOWED_PRIVATE_RANGES"]
		if declared {
			callers++
		}
		if ranges != "" {
			t.Errorf("%s may reach %q", f.LogicalID, ranges)
		}
	}
	if callers != 13 {
		t.Errorf("%d functions make outbound calls, want 13: connect, reconnect, createattempt, callback, identity, "+
			"identitycallback, catalogsync, catalogprobe, four workers, and dashboardwebhooks, which judges addresses", callers)
	}
}

func TestLoadOmitsDistributionUnlessEnabled(t *testing.T) {
	t.Parallel()
	if got, want := loadMain(t, map[string]string{"EnableDistribution": "true"}).Outputs["SdkUrl"],
		"https://ddistribution.cloudfront.net"; got != want {
		t.Errorf("the output SdkUrl: got %q, want %q", got, want)
	}
	if got, ok := loadMain(t, nil).Outputs["SdkUrl"]; ok {
		t.Errorf("the output SdkUrl: got %q, want none", got)
	}
}
