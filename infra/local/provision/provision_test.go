package provision_test

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	kmstypes "github.com/aws/aws-sdk-go-v2/service/kms/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/local/aws"
	"recordbridge/infra/local/provision"
	"recordbridge/infra/local/template"
)

const address = "http://127.0.0.1:4566"

func load(t *testing.T, publicURL string) *template.Template {
	t.Helper()
	tpl, err := template.Load("../../../template.yaml", template.Options{
		Parameters: map[string]string{"EnableSandbox": "true", "PublicBaseUrl": publicURL}, BaseURL: address, StackName: "rb",
	})
	if err != nil {
		t.Fatal(err)
	}
	return tpl
}

func cloud(t *testing.T, dir string) awssdk.Config {
	t.Helper()
	c, err := aws.New(aws.Options{URL: address, Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c.Config("runner")
}

func apply(t *testing.T, cfg awssdk.Config, tpl *template.Template) {
	t.Helper()
	if err := provision.Apply(t.Context(), cfg, tpl); err != nil {
		t.Fatal(err)
	}
}

func TestApplyCreatesTablesWithIndexesAndTTL(t *testing.T) {
	t.Parallel()
	cfg, tpl := cloud(t, ""), load(t, "")
	apply(t, cfg, tpl)
	client := dynamodb.NewFromConfig(cfg)
	for _, table := range tpl.Tables {
		out, err := client.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: &table.Name})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := len(out.Table.GlobalSecondaryIndexes), len(table.Indexes); got != want {
			t.Errorf("%s: got %d indexes, want %d", table.LogicalID, got, want)
		}
		ttl, err := client.DescribeTimeToLive(t.Context(), &dynamodb.DescribeTimeToLiveInput{TableName: &table.Name})
		if err != nil {
			t.Fatal(err)
		}
		if got := awssdk.ToString(ttl.TimeToLiveDescription.AttributeName); got != table.TTLAttribute {
			t.Errorf("%s: items expire by %q, want %q", table.LogicalID, got, table.TTLAttribute)
		}
	}
}

func TestApplyCreatesQueuesWithDeadLetterQueues(t *testing.T) {
	t.Parallel()
	cfg, tpl := cloud(t, ""), load(t, "")
	apply(t, cfg, tpl)
	client := sqs.NewFromConfig(cfg)
	for _, q := range tpl.Queues {
		out, err := client.GetQueueAttributes(t.Context(), &sqs.GetQueueAttributesInput{
			QueueUrl: &q.URL, AttributeNames: []sqstypes.QueueAttributeName{sqstypes.QueueAttributeNameAll},
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := out.Attributes["QueueArn"]; got != q.ARN {
			t.Errorf("%s: got ARN %q, want %q", q.LogicalID, got, q.ARN)
		}
		for name, want := range q.Attributes {
			if got := out.Attributes[name]; got != want {
				t.Errorf("%s: %s is %q, want %q", q.LogicalID, name, got, want)
			}
		}
	}
}

func TestApplyCreatesResourcesUnderTemplateNames(t *testing.T) {
	t.Parallel()
	cfg, tpl := cloud(t, ""), load(t, address+"/v1")
	apply(t, cfg, tpl)
	keys, pairs := kms.NewFromConfig(cfg), 0
	for _, k := range tpl.Keys {
		var err error
		if k.Spec == "" {
			_, err = keys.GenerateDataKey(t.Context(),
				&kms.GenerateDataKeyInput{KeyId: &k.ARN, KeySpec: kmstypes.DataKeySpecAes256})
		} else {
			var published *kms.GetPublicKeyOutput
			if published, err = keys.GetPublicKey(t.Context(), &kms.GetPublicKeyInput{KeyId: &k.ARN}); err == nil &&
				string(published.KeySpec) == k.Spec {
				pairs++
			}
		}
		if err != nil {
			t.Errorf("%s: %v", k.LogicalID, err)
		}
	}
	if pairs != 3 {
		t.Errorf("%d key pairs of the declared kind, want the client's RSA and elliptic ones and the manifest key", pairs)
	}
	bucket := s3.ListObjectsV2Input{Bucket: &tpl.Buckets[0].Name}
	if _, err := s3.NewFromConfig(cfg).ListObjectsV2(t.Context(), &bucket); err != nil {
		t.Error(err)
	}
	name := "/recordbridge/rb/base-url"
	out, err := ssm.NewFromConfig(cfg).GetParameter(t.Context(), &ssm.GetParameterInput{Name: &name})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := awssdk.ToString(out.Parameter.Value), address+"/v1"; got != want {
		t.Errorf("the base URL is %q, want %q", got, want)
	}
}

func secretValue(t *testing.T, cfg awssdk.Config, arn string) string {
	t.Helper()
	out, err := secretsmanager.NewFromConfig(cfg).GetSecretValue(t.Context(),
		&secretsmanager.GetSecretValueInput{SecretId: &arn})
	if err != nil {
		t.Fatal(err)
	}
	return awssdk.ToString(out.SecretString)
}

func TestApplyGeneratesUniqueSecretsFromTemplate(t *testing.T) {
	t.Parallel()
	cfg, tpl := cloud(t, ""), load(t, "")
	apply(t, cfg, tpl)
	wellFormed := regexp.MustCompile(`^[A-Za-z0-9]{43}$`)
	seen := map[string]bool{}
	for _, s := range tpl.Secrets {
		var value map[string]string
		if err := json.Unmarshal([]byte(secretValue(t, cfg, s.ARN)), &value); err != nil {
			t.Fatal(err)
		}
		if value["current"] != "1" || !wellFormed.MatchString(value["1"]) || len(value) != 2 || seen[value["1"]] {
			t.Errorf("%s has a value of %d keys with %d characters, or one given twice", s.LogicalID, len(value),
				len(value["1"]))
		}
		seen[value["1"]] = true
	}
}

func TestGeneratedSecretContainsPunctuationUnlessExcluded(t *testing.T) {
	t.Parallel()
	cfg := cloud(t, "")
	s := template.Secret{LogicalID: "S", Name: "s", ARN: "s", Length: 4000}
	apply(t, cfg, &template.Template{Secrets: []template.Secret{s}})
	if got := secretValue(t, cfg, "s"); len(got) != 4000 || !strings.ContainsAny(got, "!~\"\\") ||
		!strings.ContainsAny(got, "09azAZ") {
		t.Errorf("got %d characters, want 4000 of all kinds", len(got))
	}
}

func TestRepeatedApplyKeepsDataAndUpdatesBaseURL(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := load(t, "http://127.0.0.1:1/v1")
	secret, row := first.Secrets[0].ARN, map[string]types.AttributeValue{
		"pk": &types.AttributeValueMemberS{Value: "a"}, "sk": &types.AttributeValueMemberS{Value: "b"},
	}
	earlier, err := aws.New(aws.Options{URL: address, Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	cfg := earlier.Config("runner")
	apply(t, cfg, first)
	before := secretValue(t, cfg, secret)
	put := dynamodb.PutItemInput{TableName: &first.Tables[0].Name, Item: row}
	if _, err = dynamodb.NewFromConfig(cfg).PutItem(t.Context(), &put); err != nil {
		t.Fatal(err)
	}
	if err = earlier.Close(); err != nil {
		t.Fatal(err)
	}
	cfg = cloud(t, dir)
	second := load(t, "http://127.0.0.1:2/v1")
	second.Queues[0].Attributes["MessageRetentionPeriod"] = "600"
	apply(t, cfg, second)
	apply(t, cfg, second)
	if secretValue(t, cfg, secret) != before {
		t.Error("the secret has another value")
	}
	out, err := dynamodb.NewFromConfig(cfg).GetItem(t.Context(),
		&dynamodb.GetItemInput{TableName: &second.Tables[0].Name, Key: row})
	if err != nil || len(out.Item) != 2 {
		t.Errorf("the row is %v, %v", out, err)
	}
	name := "/recordbridge/rb/base-url"
	parameter, err := ssm.NewFromConfig(cfg).GetParameter(t.Context(), &ssm.GetParameterInput{Name: &name})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := awssdk.ToString(parameter.Parameter.Value), "http://127.0.0.1:2/v1"; got != want {
		t.Errorf("the base URL is %q, want %q", got, want)
	}
	attributes, err := sqs.NewFromConfig(cfg).GetQueueAttributes(t.Context(), &sqs.GetQueueAttributesInput{
		QueueUrl: &second.Queues[0].URL, AttributeNames: []sqstypes.QueueAttributeName{"MessageRetentionPeriod"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"MessageRetentionPeriod": "600"}, attributes.Attributes); diff != "" {
		t.Errorf("a changed attribute (-want +got):\n%s", diff)
	}
}

func TestApplyFailsWhenTableSchemaDiffers(t *testing.T) {
	t.Parallel()
	cfg, tpl := cloud(t, ""), load(t, "")
	apply(t, cfg, tpl)
	changed := &tpl.Tables[1]
	changed.Indexes = slices.DeleteFunc(changed.Indexes, func(i template.Index) bool { return i.Name != "byOrg" })
	maps.DeleteFunc(changed.Attributes, func(name, _ string) bool {
		return !slices.Contains([]string{"pk", "sk", "org_list", "org_order"}, name)
	})
	err := provision.Apply(t.Context(), cfg, tpl)
	want := "create table ConnectionTable: it exists with other keys or indexes than the template declares: " +
		"start with an empty data folder"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
