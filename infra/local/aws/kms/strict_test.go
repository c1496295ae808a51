package kms_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/kms/types"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/local/aws/kms"
	"recordbridge/infra/local/aws/wire"
)

// The scripts in infra/test/conformance cover KMS's other error responses.
func TestKMSRejectsMalformedRequests(t *testing.T) {
	t.Parallel()
	client := newClient(t)
	id := newKey(t, client, &sdk.CreateKeyInput{})
	sealed, err := client.GenerateDataKey(t.Context(),
		&sdk.GenerateDataKeyInput{KeyId: &id, KeySpec: types.DataKeySpecAes256})
	if err != nil {
		t.Fatal(err)
	}
	damaged := bytes.Clone(sealed.CiphertextBlob)
	damaged[len(damaged)-1] ^= 1
	describe := func(name string) func() error {
		return func() error {
			_, err := client.DescribeKey(t.Context(), &sdk.DescribeKeyInput{KeyId: &name})
			return err
		}
	}
	dataKey := func(in sdk.GenerateDataKeyInput) func() error {
		return func() error {
			in.KeyId = &id
			_, err := client.GenerateDataKey(t.Context(), &in)
			return err
		}
	}
	decrypt := func(in sdk.DecryptInput) func() error {
		return func() error {
			_, err := client.Decrypt(t.Context(), &in)
			return err
		}
	}
	create := func(spec types.KeySpec) func() error {
		return func() error {
			_, err := client.CreateKey(t.Context(), &sdk.CreateKeyInput{KeySpec: spec, KeyUsage: types.KeyUsageTypeSignVerify})
			return err
		}
	}
	for name, test := range map[string]struct {
		call func() error
		want string
	}{
		"a key ARN without its kind": {describe("arn:aws:kms:us-east-1:000000000000:" + id), "NotFoundException"},
		"an ARN of another region":   {describe("arn:aws:kms:eu-west-1:000000000000:key/" + id), "NotFoundException"},
		"an ARN of another account":  {describe("arn:aws:kms:us-east-1:111111111111:key/" + id), "NotFoundException"},
		"so many bytes": {
			dataKey(sdk.GenerateDataKeyInput{NumberOfBytes: awssdk.Int32(32)}),
			"ValidationException",
		},
		"a small data key": {
			dataKey(sdk.GenerateDataKeyInput{KeySpec: types.DataKeySpecAes128}),
			"ValidationException",
		},
		"a damaged ciphertext":       {decrypt(sdk.DecryptInput{CiphertextBlob: damaged}), "InvalidCiphertextException"},
		"half a ciphertext":          {decrypt(sdk.DecryptInput{CiphertextBlob: damaged[:20]}), "InvalidCiphertextException"},
		"a ciphertext of 6145 bytes": {decrypt(sdk.DecryptInput{CiphertextBlob: make([]byte, 6145)}), "ValidationException"},
		"an asymmetric algorithm": {
			decrypt(sdk.DecryptInput{
				CiphertextBlob:      sealed.CiphertextBlob,
				EncryptionAlgorithm: types.EncryptionAlgorithmSpecRsaesOaepSha256,
			}), "InvalidKeyUsageException",
		},
		"a curve left out":  {create(types.KeySpecEccSecgP256k1), "UnsupportedOperationException"},
		"a length left out": {create(types.KeySpecRsa4096), "UnsupportedOperationException"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			failure, ok := errors.AsType[smithy.APIError](test.call())
			if !ok || failure.ErrorCode() != test.want {
				t.Errorf("got %v, want %s", failure, test.want)
			}
		})
	}
}

func TestDisabledKeyCannotBeUsed(t *testing.T) {
	t.Parallel()
	client := newClient(t)
	id := newKey(t, client, &sdk.CreateKeyInput{})
	signing := newKey(t, client, &sdk.CreateKeyInput{
		KeySpec:  types.KeySpecEccNistP384,
		KeyUsage: types.KeyUsageTypeSignVerify,
	})
	calls := callsWith(t, client, id, signing)
	for _, key := range []string{id, signing} {
		if _, err := client.DisableKey(t.Context(), &sdk.DisableKeyInput{KeyId: &key}); err != nil {
			t.Fatal(err)
		}
	}
	described, err := client.DescribeKey(t.Context(), &sdk.DescribeKeyInput{KeyId: &id})
	if err != nil || described.KeyMetadata.Enabled || described.KeyMetadata.KeyState != types.KeyStateDisabled {
		t.Errorf("got %+v (%v), want a disabled key", described, err)
	}
	for name, call := range calls {
		if _, ok := errors.AsType[*types.DisabledException](call()); !ok {
			t.Errorf("%s with a disabled key: got %v, want *types.DisabledException", name, call())
		}
	}
}

func callsWith(t *testing.T, client *sdk.Client, id, signing string) map[string]func() error {
	t.Helper()
	sealed, failure := client.GenerateDataKey(t.Context(),
		&sdk.GenerateDataKeyInput{KeyId: &id, KeySpec: types.DataKeySpecAes256})
	if failure != nil {
		t.Fatal(failure)
	}
	return map[string]func() error{
		"Decrypt": func() error {
			_, err := client.Decrypt(t.Context(), &sdk.DecryptInput{CiphertextBlob: sealed.CiphertextBlob})
			return err
		},
		"GenerateDataKey": func() error {
			_, err := client.GenerateDataKey(t.Context(),
				&sdk.GenerateDataKeyInput{KeyId: &id, KeySpec: types.DataKeySpecAes256})
			return err
		},
		"Sign": func() error {
			_, err := client.Sign(t.Context(), &sdk.SignInput{
				KeyId: &signing, Message: []byte("x"),
				SigningAlgorithm: types.SigningAlgorithmSpecEcdsaSha384,
			})
			return err
		},
		"GetPublicKey": func() error {
			_, err := client.GetPublicKey(t.Context(), &sdk.GetPublicKeyInput{KeyId: &signing})
			return err
		},
	}
}

func TestDumpContainsKeysWithStatesAndAliases(t *testing.T) {
	t.Parallel()
	server := kms.New(wire.Discard{})
	for _, record := range []string{
		`{"key":{"id":"0d9a3c8e-0000-4000-8000-000000000001","spec":"SYMMETRIC_DEFAULT","usage":"ENCRYPT_DECRYPT",` +
			`"created":"2026-11-21T00:00:00Z","material":"MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="}}`,
		`{"key":{"id":"0d9a3c8e-0000-4000-8000-000000000001","spec":"SYMMETRIC_DEFAULT","usage":"ENCRYPT_DECRYPT",` +
			`"created":"2026-11-21T00:00:00Z","disabled":true,"material":"MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="}}`,
		`{"alias":"alias/b","target":"0d9a3c8e-0000-4000-8000-000000000001"}`,
	} {
		if err := server.Replay(json.RawMessage(record)); err != nil {
			t.Fatal(err)
		}
	}
	dump := func(from *kms.Server) (records []string) {
		err := from.Dump(func(record any) error {
			raw, err := json.Marshal(record)
			records = append(records, string(raw))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return records
	}
	again := kms.New(wire.Discard{})
	first := dump(server)
	for _, record := range slices.Clone(first) {
		if err := again.Replay(json.RawMessage(record)); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(first, dump(again)); diff != "" || len(first) != 2 {
		t.Errorf("%d records, want 2; the dump of a dump (-want +got):\n%s", len(first), diff)
	}
}
