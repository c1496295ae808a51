package kms_test

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/rsa"
	"crypto/sha512"
	"crypto/x509"
	"errors"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/kms/types"
	"github.com/aws/smithy-go"

	"recordbridge/infra/local/aws"
)

func TestSealedBytesOpenOnlyInTheirContext(t *testing.T) {
	t.Parallel()
	client := newClient(t)
	id := newKey(t, client, &sdk.CreateKeyInput{})
	tokens := map[string]string{"purpose": "tokens", "connection": "c-1"}
	sealed, err := client.Encrypt(t.Context(), &sdk.EncryptInput{KeyId: &id, Plaintext: []byte("secret"), EncryptionContext: tokens})
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(sealed.CiphertextBlob, []byte("secret")) {
		t.Error("the blob shows the plaintext")
	}
	opened, err := client.Decrypt(t.Context(), &sdk.DecryptInput{CiphertextBlob: sealed.CiphertextBlob, EncryptionContext: tokens})
	if err != nil || string(opened.Plaintext) != "secret" {
		t.Errorf("got %v, %v", opened, err)
	}

	damaged := bytes.Clone(sealed.CiphertextBlob)
	damaged[len(damaged)-1] ^= 1
	tests := map[string]sdk.DecryptInput{
		"another context":   {CiphertextBlob: sealed.CiphertextBlob, EncryptionContext: map[string]string{"purpose": "tokens", "connection": "c-2"}},
		"part of a context": {CiphertextBlob: sealed.CiphertextBlob, EncryptionContext: map[string]string{"purpose": "tokens"}},
		"no context":        {CiphertextBlob: sealed.CiphertextBlob},
		"a damaged blob":    {CiphertextBlob: damaged, EncryptionContext: tokens},
		"half a blob":       {CiphertextBlob: sealed.CiphertextBlob[:20], EncryptionContext: tokens},
		"no blob of ours":   {CiphertextBlob: []byte("x"), EncryptionContext: tokens},
	}
	for name, in := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := client.Decrypt(t.Context(), &in)
			if _, ok := errors.AsType[*types.InvalidCiphertextException](err); !ok {
				t.Errorf("got %v, want *types.InvalidCiphertextException", err)
			}
		})
	}
}

func TestAKeyIsFoundByIDARNAndAlias(t *testing.T) {
	t.Parallel()
	client := newClient(t)
	id := newKey(t, client, &sdk.CreateKeyInput{Description: awssdk.String("tokens")})
	alias := "alias/recordbridge/tokens"
	if _, err := client.CreateAlias(t.Context(), &sdk.CreateAliasInput{AliasName: &alias, TargetKeyId: &id}); err != nil {
		t.Fatal(err)
	}
	_, err := client.CreateAlias(t.Context(), &sdk.CreateAliasInput{AliasName: &alias, TargetKeyId: &id})
	if _, ok := errors.AsType[*types.AlreadyExistsException](err); !ok {
		t.Errorf("a second alias: got %v, want *types.AlreadyExistsException", err)
	}
	prefix := "arn:aws:kms:us-east-1:000000000000:"
	for _, name := range []string{id, prefix + "key/" + id, alias, prefix + alias} {
		out, err := client.GenerateDataKey(t.Context(), &sdk.GenerateDataKeyInput{KeyId: &name, KeySpec: types.DataKeySpecAes256})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		opened, err := client.Decrypt(t.Context(), &sdk.DecryptInput{KeyId: &name, CiphertextBlob: out.CiphertextBlob})
		if err != nil || len(opened.Plaintext) != 32 || !bytes.Equal(opened.Plaintext, out.Plaintext) {
			t.Errorf("%s: the wrapped data key gave %v, %v", name, opened, err)
		}
		described, err := client.DescribeKey(t.Context(), &sdk.DescribeKeyInput{KeyId: &name})
		if err != nil || *described.KeyMetadata.KeyId != id || *described.KeyMetadata.Description != "tokens" {
			t.Errorf("%s: DescribeKey gave %v, %v", name, described, err)
		}
	}
	for _, name := range []string{"alias/nothing", "0d9a3c8e-0000-4000-8000-000000000000"} {
		_, err := client.DescribeKey(t.Context(), &sdk.DescribeKeyInput{KeyId: &name})
		if _, ok := errors.AsType[*types.NotFoundException](err); !ok {
			t.Errorf("%s: got %v, want *types.NotFoundException", name, err)
		}
	}
}

func TestKMSRefusesWhatAWSRefuses(t *testing.T) {
	t.Parallel()
	client := newClient(t)
	id, other := newKey(t, client, &sdk.CreateKeyInput{}), newKey(t, client, &sdk.CreateKeyInput{})
	signing := newKey(t, client, &sdk.CreateKeyInput{KeySpec: types.KeySpecEccNistP384, KeyUsage: types.KeyUsageTypeSignVerify})
	sealed, err := client.Encrypt(t.Context(), &sdk.EncryptInput{KeyId: &id, Plaintext: []byte("x")})
	if err != nil {
		t.Fatal(err)
	}
	checkRefusals(t, map[string]refusal{
		"4097 bytes": {func() error {
			_, err := client.Encrypt(t.Context(), &sdk.EncryptInput{KeyId: &id, Plaintext: make([]byte, 4097)})
			return err
		}, "ValidationException"},
		"a data key without a size": {func() error {
			_, err := client.GenerateDataKey(t.Context(), &sdk.GenerateDataKeyInput{KeyId: &id})
			return err
		}, "ValidationException"},
		"a data key of 1025 bytes": {func() error {
			_, err := client.GenerateDataKey(t.Context(), &sdk.GenerateDataKeyInput{KeyId: &id, NumberOfBytes: awssdk.Int32(1025)})
			return err
		}, "ValidationException"},
		"the wrong key named": {func() error {
			_, err := client.Decrypt(t.Context(), &sdk.DecryptInput{KeyId: &other, CiphertextBlob: sealed.CiphertextBlob})
			return err
		}, "IncorrectKeyException"},
		"sealing with a signing key": {func() error {
			_, err := client.Encrypt(t.Context(), &sdk.EncryptInput{KeyId: &signing, Plaintext: []byte("x")})
			return err
		}, "InvalidKeyUsageException"},
		"signing with a sealing key": {func() error {
			_, err := client.Sign(t.Context(), &sdk.SignInput{KeyId: &id, Message: []byte("x"), SigningAlgorithm: types.SigningAlgorithmSpecEcdsaSha384})
			return err
		}, "InvalidKeyUsageException"},
		"an algorithm of another key": {func() error {
			_, err := client.Sign(t.Context(), &sdk.SignInput{KeyId: &signing, Message: []byte("x"), SigningAlgorithm: types.SigningAlgorithmSpecRsassaPkcs1V15Sha384})
			return err
		}, "InvalidKeyUsageException"},
		"a digest of the wrong length": {func() error {
			_, err := client.Sign(t.Context(), &sdk.SignInput{
				KeyId: &signing, Message: []byte("x"), MessageType: types.MessageTypeDigest, SigningAlgorithm: types.SigningAlgorithmSpecEcdsaSha384,
			})
			return err
		}, "ValidationException"},
		"a key spec left out": {func() error {
			_, err := client.CreateKey(t.Context(), &sdk.CreateKeyInput{KeySpec: types.KeySpecEccSecgP256k1, KeyUsage: types.KeyUsageTypeSignVerify})
			return err
		}, "UnsupportedOperationException"},
		"an alias without prefix": {func() error {
			_, err := client.CreateAlias(t.Context(), &sdk.CreateAliasInput{AliasName: awssdk.String("tokens"), TargetKeyId: &id})
			return err
		}, "ValidationException"},
	})
}

// refusal is a call and the error that it has to end with.
type refusal struct {
	call func() error
	want string
}

func checkRefusals(t *testing.T, all map[string]refusal) {
	t.Helper()
	for name, r := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			failure, ok := errors.AsType[smithy.APIError](r.call())
			if !ok || failure.ErrorCode() != r.want {
				t.Errorf("got %v, want %s", failure, r.want)
			}
		})
	}
}

func TestSignaturesVerifyWithThePublicKey(t *testing.T) {
	t.Parallel()
	message := []byte("header.claims")
	digest := sha512.Sum384(message)
	tests := []struct {
		spec      types.KeySpec
		algorithm types.SigningAlgorithmSpec
		verify    func(public any, signature []byte) bool
	}{
		{types.KeySpecEccNistP384, types.SigningAlgorithmSpecEcdsaSha384, func(public any, signature []byte) bool {
			key, ok := public.(*ecdsa.PublicKey)
			return ok && ecdsa.VerifyASN1(key, digest[:], signature)
		}},
		{types.KeySpecRsa2048, types.SigningAlgorithmSpecRsassaPkcs1V15Sha384, func(public any, signature []byte) bool {
			key, ok := public.(*rsa.PublicKey)
			return ok && rsa.VerifyPKCS1v15(key, crypto.SHA384, digest[:], signature) == nil
		}},
	}
	for _, test := range tests {
		t.Run(string(test.spec), func(t *testing.T) {
			t.Parallel()
			client := newClient(t)
			id := newKey(t, client, &sdk.CreateKeyInput{KeySpec: test.spec, KeyUsage: types.KeyUsageTypeSignVerify})
			published, err := client.GetPublicKey(t.Context(), &sdk.GetPublicKeyInput{KeyId: &id})
			if err != nil {
				t.Fatal(err)
			}
			public, err := x509.ParsePKIXPublicKey(published.PublicKey)
			if err != nil {
				t.Fatal(err)
			}
			for kind, content := range map[string][]byte{"RAW": message, "DIGEST": digest[:]} {
				out, err := client.Sign(t.Context(), &sdk.SignInput{
					KeyId: &id, Message: content, MessageType: types.MessageType(kind), SigningAlgorithm: test.algorithm,
				})
				if err != nil {
					t.Fatal(err)
				}
				if !test.verify(public, out.Signature) {
					t.Errorf("%s: the signature does not verify", kind)
				}
			}
		})
	}
}

func newClient(t *testing.T) *sdk.Client {
	t.Helper()
	cloud, err := aws.New(aws.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return sdk.NewFromConfig(cloud.Config("test"))
}

func newKey(t *testing.T, client *sdk.Client, in *sdk.CreateKeyInput) string {
	t.Helper()
	out, err := client.CreateKey(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return *out.KeyMetadata.KeyId
}
