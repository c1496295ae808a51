package kms_test

import (
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/json"
	"errors"
	"slices"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/kms/types"
	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/local/aws/kms"
	"recordbridge/infra/local/aws/wire"
)

func TestKMSRefusesMalformedRequests(t *testing.T) {
	t.Parallel()
	client := newClient(t)
	id := newKey(t, client, &sdk.CreateKeyInput{})
	alias := "alias/tokens"
	if _, err := client.CreateAlias(t.Context(), &sdk.CreateAliasInput{AliasName: &alias, TargetKeyId: &id}); err != nil {
		t.Fatal(err)
	}
	rsaKey := newKey(t, client, &sdk.CreateKeyInput{KeySpec: types.KeySpecRsa2048, KeyUsage: types.KeyUsageTypeSignVerify})
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
	sign := func(in sdk.SignInput) func() error {
		return func() error {
			in.KeyId = &rsaKey
			_, err := client.Sign(t.Context(), &in)
			return err
		}
	}
	decrypt := func(in sdk.DecryptInput) func() error {
		return func() error {
			_, err := client.Decrypt(t.Context(), &in)
			return err
		}
	}
	rs256 := types.SigningAlgorithmSpecRsassaPkcs1V15Sha256
	checkRefusals(t, map[string]refusal{
		"an empty key id":             {describe(""), "ValidationException"},
		"a key id of another form":    {describe("key/" + id), "NotFoundException"},
		"a key ARN without its kind":  {describe("arn:aws:kms:us-east-1:000000000000:" + id), "NotFoundException"},
		"an ARN of another region":    {describe("arn:aws:kms:eu-west-1:000000000000:key/" + id), "NotFoundException"},
		"an ARN of another account":   {describe("arn:aws:kms:us-east-1:111111111111:key/" + id), "NotFoundException"},
		"no bytes":                    {dataKey(sdk.GenerateDataKeyInput{NumberOfBytes: awssdk.Int32(0)}), "ValidationException"},
		"bytes and a spec":            {dataKey(sdk.GenerateDataKeyInput{NumberOfBytes: awssdk.Int32(32), KeySpec: types.DataKeySpecAes256}), "ValidationException"},
		"an unknown spec":             {dataKey(sdk.GenerateDataKeyInput{KeySpec: "AES_512"}), "ValidationException"},
		"nothing to sign":             {sign(sdk.SignInput{Message: []byte{}, SigningAlgorithm: rs256}), "ValidationException"},
		"4097 bytes to sign":          {sign(sdk.SignInput{Message: make([]byte, 4097), SigningAlgorithm: rs256}), "ValidationException"},
		"an unknown kind of message":  {sign(sdk.SignInput{Message: []byte("x"), MessageType: "HASH", SigningAlgorithm: rs256}), "ValidationException"},
		"an unknown algorithm":        {sign(sdk.SignInput{Message: []byte("x"), SigningAlgorithm: "RS256"}), "ValidationException"},
		"an algorithm of a curve":     {sign(sdk.SignInput{Message: []byte("x"), SigningAlgorithm: types.SigningAlgorithmSpecEcdsaSha256}), "InvalidKeyUsageException"},
		"no ciphertext":               {decrypt(sdk.DecryptInput{CiphertextBlob: []byte{}}), "ValidationException"},
		"a ciphertext of 6145 bytes":  {decrypt(sdk.DecryptInput{CiphertextBlob: make([]byte, 6145)}), "ValidationException"},
		"an unknown key for nonsense": {decrypt(sdk.DecryptInput{CiphertextBlob: []byte("x"), KeyId: awssdk.String("alias/none")}), "NotFoundException"},
		"nonsense with a key": {
			decrypt(sdk.DecryptInput{CiphertextBlob: []byte("x"), KeyId: &id}), "InvalidCiphertextException",
		},
		"an asymmetric algorithm": {
			decrypt(sdk.DecryptInput{CiphertextBlob: []byte("x"), EncryptionAlgorithm: types.EncryptionAlgorithmSpecRsaesOaepSha256}), "InvalidKeyUsageException",
		},
		"the public key of a symmetric key": {func() error {
			_, err := client.GetPublicKey(t.Context(), &sdk.GetPublicKeyInput{KeyId: &id})
			return err
		}, "UnsupportedOperationException"},
		"an alias of an alias": {func() error {
			_, err := client.CreateAlias(t.Context(), &sdk.CreateAliasInput{AliasName: awssdk.String("alias/second"), TargetKeyId: &alias})
			return err
		}, "ValidationException"},
		"an alias of AWS": {func() error {
			_, err := client.CreateAlias(t.Context(), &sdk.CreateAliasInput{AliasName: awssdk.String("alias/aws/s3"), TargetKeyId: &id})
			return err
		}, "NotAuthorizedException"},
	})
}

func TestTheOrderOfAContextDoesNotMatterAndItsCaseDoes(t *testing.T) {
	t.Parallel()
	client := newClient(t)
	id := newKey(t, client, &sdk.CreateKeyInput{})
	out, err := client.GenerateDataKey(t.Context(), &sdk.GenerateDataKeyInput{
		KeyId: &id, KeySpec: types.DataKeySpecAes256, EncryptionContext: map[string]string{"a": "1", "b": "2", "c": "3"},
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 10 { // a map is sent in another order every time
		again := map[string]string{"c": "3", "b": "2", "a": "1"}
		opened, err := client.Decrypt(t.Context(), &sdk.DecryptInput{CiphertextBlob: out.CiphertextBlob, EncryptionContext: again})
		if err != nil || string(opened.Plaintext) != string(out.Plaintext) {
			t.Fatalf("got %v, %v", opened, err)
		}
	}
	for _, context := range []map[string]string{
		{"A": "1", "b": "2", "c": "3"}, {"a": "1", "b": "2"}, {"a": "1", "b": "2", "c": "3", "d": ""}, {"a": "12", "b": "", "c": "3"},
	} {
		_, err := client.Decrypt(t.Context(), &sdk.DecryptInput{CiphertextBlob: out.CiphertextBlob, EncryptionContext: context})
		if _, ok := errors.AsType[*types.InvalidCiphertextException](err); !ok {
			t.Errorf("%v: got %v, want *types.InvalidCiphertextException", context, err)
		}
	}
}

func TestADisabledKeyDoesNothingUntilItIsEnabled(t *testing.T) {
	t.Parallel()
	client := newClient(t)
	id := newKey(t, client, &sdk.CreateKeyInput{})
	signing := newKey(t, client, &sdk.CreateKeyInput{KeySpec: types.KeySpecEccNistP384, KeyUsage: types.KeyUsageTypeSignVerify})
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
	for _, key := range []string{id, signing} {
		if _, err := client.EnableKey(t.Context(), &sdk.EnableKeyInput{KeyId: &key}); err != nil {
			t.Fatal(err)
		}
	}
	for name, call := range calls {
		if err := call(); err != nil {
			t.Errorf("%s with the key enabled again: %v", name, err)
		}
	}
}

// callsWith are all calls that use a key, one that seals or one that signs.
func callsWith(t *testing.T, client *sdk.Client, id, signing string) map[string]func() error {
	t.Helper()
	sealed, failure := client.Encrypt(t.Context(), &sdk.EncryptInput{KeyId: &id, Plaintext: []byte("x")})
	if failure != nil {
		t.Fatal(failure)
	}
	return map[string]func() error{
		"Encrypt": func() error {
			_, err := client.Encrypt(t.Context(), &sdk.EncryptInput{KeyId: &id, Plaintext: []byte("x")})
			return err
		},
		"Decrypt": func() error {
			_, err := client.Decrypt(t.Context(), &sdk.DecryptInput{CiphertextBlob: sealed.CiphertextBlob})
			return err
		},
		"GenerateDataKey": func() error {
			_, err := client.GenerateDataKey(t.Context(), &sdk.GenerateDataKeyInput{KeyId: &id, KeySpec: types.DataKeySpecAes256})
			return err
		},
		"Sign": func() error {
			_, err := client.Sign(t.Context(), &sdk.SignInput{KeyId: &signing, Message: []byte("x"), SigningAlgorithm: types.SigningAlgorithmSpecEcdsaSha384})
			return err
		},
		"GetPublicKey": func() error {
			_, err := client.GetPublicKey(t.Context(), &sdk.GetPublicKeyInput{KeyId: &signing})
			return err
		},
	}
}

func TestAnRSAKeySignsInEveryWayItOffers(t *testing.T) {
	t.Parallel()
	client := newClient(t)
	id := newKey(t, client, &sdk.CreateKeyInput{KeySpec: types.KeySpecRsa2048, KeyUsage: types.KeyUsageTypeSignVerify})
	published, err := client.GetPublicKey(t.Context(), &sdk.GetPublicKeyInput{KeyId: &id})
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParsePKIXPublicKey(published.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	public, ok := parsed.(*rsa.PublicKey)
	if !ok || len(published.SigningAlgorithms) != 6 {
		t.Fatalf("got %T with %v, want an RSA key with six algorithms", parsed, published.SigningAlgorithms)
	}
	for _, algorithm := range published.SigningAlgorithms {
		if _, err = client.Sign(t.Context(), &sdk.SignInput{KeyId: &id, Message: []byte("x"), SigningAlgorithm: algorithm}); err != nil {
			t.Errorf("%s: %v", algorithm, err)
		}
	}
	out, err := client.Sign(t.Context(), &sdk.SignInput{KeyId: &id, Message: []byte("x"), SigningAlgorithm: types.SigningAlgorithmSpecRsassaPssSha256})
	if err != nil {
		t.Fatal(err)
	}
	digest := sha256.Sum256([]byte("x"))
	if err := rsa.VerifyPSS(public, crypto.SHA256, digest[:], out.Signature, &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash}); err != nil {
		t.Error(err)
	}
}

func TestADumpHoldsKeysTheirStateAndAliases(t *testing.T) {
	t.Parallel()
	server := kms.New(wire.Discard{})
	for _, record := range []string{
		`{"key":{"id":"0d9a3c8e-0000-4000-8000-000000000001","spec":"SYMMETRIC_DEFAULT","usage":"ENCRYPT_DECRYPT","created":"2026-11-21T00:00:00Z","material":"MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="}}`,
		`{"key":{"id":"0d9a3c8e-0000-4000-8000-000000000001","spec":"SYMMETRIC_DEFAULT","usage":"ENCRYPT_DECRYPT","created":"2026-11-21T00:00:00Z","disabled":true,"material":"MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="}}`,
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
