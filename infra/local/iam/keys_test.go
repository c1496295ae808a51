package iam_test

import (
	"context"
	"errors"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	kmstypes "github.com/aws/aws-sdk-go-v2/service/kms/types"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/ses"
	sestypes "github.com/aws/aws-sdk-go-v2/service/ses/types"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/smithy-go"

	"recordbridge/infra/local/template"
)

func wantCode(t *testing.T, err error, want string) {
	t.Helper()
	if failure, ok := errors.AsType[smithy.APIError](err); !ok || failure.ErrorCode() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func seal(key string, pairs map[string]string) step {
	return func(ctx context.Context, cfg awssdk.Config) error {
		_, err := kms.NewFromConfig(cfg).GenerateDataKey(ctx, &kms.GenerateDataKeyInput{
			KeyId: &key, KeySpec: kmstypes.DataKeySpecAes256, EncryptionContext: pairs,
		})
		return err
	}
}

// sealed returns two steps: one that generates a data key as the administrator, and one that decrypts it. If named is
// not nil, the decrypting step also specifies that key.
func sealed(key string, named *string) (prepare, do step) {
	var blob []byte
	prepare = func(ctx context.Context, cfg awssdk.Config) error {
		out, err := kms.NewFromConfig(cfg).GenerateDataKey(ctx,
			&kms.GenerateDataKeyInput{KeyId: &key, KeySpec: kmstypes.DataKeySpecAes256})
		if err == nil {
			blob = out.CiphertextBlob
		}
		return err
	}
	do = func(ctx context.Context, cfg awssdk.Config) error {
		_, err := kms.NewFromConfig(cfg).Decrypt(ctx, &kms.DecryptInput{KeyId: named, CiphertextBlob: blob})
		return err
	}
	return prepare, do
}

func keyOperations() map[string]operation {
	prepare, do := sealed("alias/files", new(filesKey))
	return map[string]operation{
		"Decrypt by the ARN of it":     {needs: one("kms:Decrypt", filesKey), prepare: prepare, do: do},
		"GenerateDataKey by the alias": {needs: one("kms:GenerateDataKey", filesKey), do: seal("alias/files", nil)},
		"GenerateDataKey by its ARN":   {needs: one("kms:GenerateDataKey", filesKey), do: seal(filesKey, nil)},
	}
}

func TestKMSKeyMatchesByIDAndARN(t *testing.T) {
	t.Parallel()
	cloud, authority := start(t, world(allow("kms:GenerateDataKey", filesKey), allow("kms:Decrypt", filesKey)))
	operator := kms.NewFromConfig(cloud.Config("operator"))
	names := map[string][]string{}
	for _, alias := range []string{"alias/files", "alias/other"} {
		out, err := operator.DescribeKey(t.Context(), &kms.DescribeKeyInput{KeyId: &alias})
		if err != nil {
			t.Fatal(err)
		}
		names[alias] = []string{*out.KeyMetadata.KeyId, *out.KeyMetadata.Arn}
	}
	for i, name := range names["alias/files"] {
		wantAllowed(t, cloud, seal(name, nil))
		wantDenied(t, cloud, authority, seal(names["alias/other"][i], nil), "kms:GenerateDataKey", names["alias/other"][1])
	}
	wantDenied(t, cloud, authority, seal("alias/other", nil), "kms:GenerateDataKey", "arn:aws:kms"+here+"alias/other")
	wantDenied(t, cloud, authority, seal("alias/none", nil), "kms:GenerateDataKey", "arn:aws:kms"+here+"alias/none")

	prepare, do := sealed("alias/files", nil)
	foreign, doForeign := sealed("alias/other", nil)
	for _, p := range []step{prepare, foreign} {
		if err := p(t.Context(), cloud.Config("operator")); err != nil {
			t.Fatal(err)
		}
	}
	wantAllowed(t, cloud, do)
	wantDenied(t, cloud, authority, doForeign, "kms:Decrypt", names["alias/other"][1])
	_, err := kms.NewFromConfig(cloud.Config(worker)).Decrypt(t.Context(),
		&kms.DecryptInput{CiphertextBlob: []byte("no blob of anybody")})
	wantCode(t, err, "InvalidCiphertextException")
}

func TestEncryptionContextConditionIsolatesTenants(t *testing.T) {
	t.Parallel()
	own := map[string]string{"tenant": "A-1", "class": "tokens"}
	tests := map[string]struct {
		condition map[string]map[string][]string
		other     map[string]string
	}{
		"one pair": {
			map[string]map[string][]string{"StringLike": {"kms:EncryptionContext:tenant": {"A-*"}}},
			map[string]string{"tenant": "B-1", "class": "tokens"},
		},
		"one pair, not given": {
			map[string]map[string][]string{"StringEquals": {"kms:EncryptionContext:tenant": {"A-1"}}},
			nil,
		},
		"two pairs": {
			map[string]map[string][]string{"StringEquals": {
				"kms:EncryptionContext:class":  {"tokens"},
				"kms:EncryptionContext:Tenant": {"A-1"},
			}},
			map[string]string{"tenant": "A-1", "class": "files"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sealing := allow("kms:GenerateDataKey", filesKey)
			sealing.Condition = tt.condition
			cloud, authority := start(t, world(sealing))
			wantAllowed(t, cloud, seal(filesKey, own))
			wantDenied(t, cloud, authority, seal(filesKey, tt.other), "kms:GenerateDataKey", filesKey)
		})
	}
}

func TestS3RequiresCallerKeyPermission(t *testing.T) {
	t.Parallel()
	forS3 := allow("kms:GenerateDataKey", filesKey)
	forS3.Condition = map[string]map[string][]string{"StringEquals": {
		"kms:ViaService": {"s3.us-east-1.amazonaws.com"}, "kms:EncryptionContext:aws:s3:arn": {sealedARN},
	}}
	cloud, authority := start(t, world(allow("s3:PutObject", sealedARN+"/*"), forS3))
	wantAllowed(t, cloud, putObject("sealed", "k"))
	wantDenied(t, cloud, authority, seal("alias/files", nil), "kms:GenerateDataKey", filesKey)
}

func mailFrom(source string) step {
	return func(ctx context.Context, cfg awssdk.Config) error {
		_, err := ses.NewFromConfig(cfg).SendEmail(ctx, &ses.SendEmailInput{
			Source: &source, Destination: &sestypes.Destination{ToAddresses: []string{"alder@example.org"}},
			Message: &sestypes.Message{
				Subject: &sestypes.Content{Data: new("Hello")}, Body: &sestypes.Body{Text: &sestypes.Content{Data: new("Text")}},
			},
		})
		return err
	}
}

func secretBy(id string) step {
	return func(ctx context.Context, cfg awssdk.Config) error {
		_, err := secretsmanager.NewFromConfig(cfg).GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: &id})
		return err
	}
}

func otherOperations() map[string]operation {
	alder := "arn:aws:ses" + here + "identity/alder@example.com"
	return map[string]operation{
		"SendEmail":              {needs: one("ses:SendEmail", alder), do: mailFrom("Alder <alder@example.com>")},
		"GetSecretValue by name": {needs: one("secretsmanager:GetSecretValue", secretARN), do: secretBy("hashing")},
		"GetSecretValue by ARN":  {needs: one("secretsmanager:GetSecretValue", secretARN), do: secretBy(secretARN)},
		"GetParameter":           {needs: one("ssm:GetParameter", paramARN), do: parameter},
	}
}

func parameter(ctx context.Context, cfg awssdk.Config) error {
	_, err := ssm.NewFromConfig(cfg).GetParameter(ctx, &ssm.GetParameterInput{Name: new("/recordbridge/base-url")})
	return err
}

func TestDomainIdentityCoversItsAddresses(t *testing.T) {
	t.Parallel()
	cloud, authority := start(t, world(allow("ses:SendEmail", "arn:aws:ses"+here+"identity/example.com")))
	wantAllowed(t, cloud, mailFrom("alder@example.com"))
	wantDenied(t, cloud, authority, mailFrom("alder@example.net"), "ses:SendEmail",
		"arn:aws:ses"+here+"identity/alder@example.net")
}

func TestSecretARNMatchesWithAndWithoutSuffix(t *testing.T) {
	t.Parallel()
	reading := func(resource string) template.Statement { return allow("secretsmanager:GetSecretValue", resource) }
	cloud, _ := start(t, world(reading(secretARN)))
	out, err := secretsmanager.NewFromConfig(cloud.Config("operator")).GetSecretValue(t.Context(),
		&secretsmanager.GetSecretValueInput{SecretId: new("hashing")})
	if err != nil {
		t.Fatal(err)
	}
	wantAllowed(t, cloud, secretBy(*out.ARN))

	for _, resource := range []string{secretARN + "-??????", secretARN + "-*"} {
		cloud, _ = start(t, world(reading(resource)))
		wantAllowed(t, cloud, secretBy("hashing"))
	}
	cloud, authority := start(t, world(reading(secretARN+"-other")))
	wantDenied(t, cloud, authority, secretBy("hashing"), "secretsmanager:GetSecretValue", secretARN)
}
