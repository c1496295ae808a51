package kms_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/rsa"
	"crypto/sha512"
	"crypto/x509"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/kms/types"

	"recordbridge/infra/local/aws"
)

func TestSignReturnsSignatureThatPublicKeyVerifies(t *testing.T) {
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
