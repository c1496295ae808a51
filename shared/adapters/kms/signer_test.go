package kms_test

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha512"
	"crypto/x509"
	"errors"
	"testing"

	awskms "github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/kms/types"

	"recordbridge/shared/adapters/kms"
)

// pair creates a signing key pair in KMS and returns its ARN and public key.
func (v *vault) pair(t *testing.T, spec types.KeySpec) (name string, public crypto.PublicKey) {
	t.Helper()
	created, err := v.client.CreateKey(t.Context(),
		&awskms.CreateKeyInput{KeySpec: spec, KeyUsage: types.KeyUsageTypeSignVerify})
	if err != nil {
		t.Fatal(err)
	}
	name = *created.KeyMetadata.Arn
	public, err = kms.ClientKeys(v.client).Public(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return name, public
}

func TestSignerSignatureIsVerifiableWithPublicKey(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	digest := sha512.Sum384([]byte("claims"))
	for spec, verify := range map[string]func(public crypto.PublicKey, signature []byte) bool{
		"RSA_2048": func(public crypto.PublicKey, signature []byte) bool {
			key, ok := public.(*rsa.PublicKey)
			return ok && rsa.VerifyPKCS1v15(key, crypto.SHA384, digest[:], signature) == nil
		},
		"ECC_NIST_P384": func(public crypto.PublicKey, signature []byte) bool {
			key, ok := public.(*ecdsa.PublicKey)
			return ok && ecdsa.VerifyASN1(key, digest[:], signature)
		},
	} {
		t.Run(spec, func(t *testing.T) {
			t.Parallel()
			name, public := v.pair(t, types.KeySpec(spec))
			signer := kms.ClientKeys(v.client).Signer(t.Context(), name, public)
			signature, err := signer.Sign(rand.Reader, digest[:], crypto.SHA384)
			if err != nil || !verify(signer.Public(), signature) {
				t.Errorf("the signature does not verify: %v", err)
			}
			digest := sha512.Sum384([]byte("others"))
			if signature, err = signer.Sign(rand.Reader, digest[:], crypto.SHA384); err != nil || verify(public, signature) {
				t.Errorf("the signature of something else verifies: %v", err)
			}
		})
	}
}

func TestSignerRejectsDigestsOtherThanSHA384(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	name, public := v.pair(t, types.KeySpecRsa2048)
	signer := kms.ClientKeys(v.client).Signer(t.Context(), name, public)
	digest := make([]byte, crypto.SHA384.Size())
	for what, try := range map[string]struct {
		digest []byte
		opts   crypto.SignerOpts
	}{
		"another hash":   {digest[:crypto.SHA256.Size()], crypto.SHA256},
		"a short digest": {digest[1:], crypto.SHA384},
		"no hash":        {digest, nil},
		"PSS":            {digest, &rsa.PSSOptions{Hash: crypto.SHA384}},
	} {
		if _, err := signer.Sign(rand.Reader, try.digest, try.opts); err == nil {
			t.Errorf("%s was signed", what)
		}
	}
	if got := v.calls["Sign"]; got != 0 {
		t.Errorf("KMS was asked to sign %d times", got)
	}
}

func TestSignerStopsWhenContextIsCanceled(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	name, public := v.pair(t, types.KeySpecEccNistP384)
	ctx, cancel := context.WithCancel(t.Context())
	signer := kms.ClientKeys(v.client).Signer(ctx, name, public)
	cancel()
	if _, err := signer.Sign(rand.Reader, make([]byte, crypto.SHA384.Size()), crypto.SHA384); !errors.Is(err,
		context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
}

func TestSignerFailsWhenKeyIsDisabled(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	name, public := v.pair(t, types.KeySpecEccNistP384)
	if _, err := v.client.DisableKey(t.Context(), &awskms.DisableKeyInput{KeyId: &name}); err != nil {
		t.Fatal(err)
	}
	keys := kms.ClientKeys(v.client)
	_, err := keys.Public(t.Context(), name)
	if _, disabled := errors.AsType[*types.DisabledException](err); !disabled {
		t.Errorf("public half: got %v", err)
	}
	_, err = keys.Signer(t.Context(), name, public).Sign(rand.Reader, make([]byte, crypto.SHA384.Size()), crypto.SHA384)
	if _, disabled := errors.AsType[*types.DisabledException](err); !disabled {
		t.Errorf("signature: got %v", err)
	}
}

// answers is a KMS client that returns a preset public key.
type answers struct{ out awskms.GetPublicKeyOutput }

func (a answers) GetPublicKey(context.Context, *awskms.GetPublicKeyInput,
	...func(*awskms.Options),
) (*awskms.GetPublicKeyOutput, error) {
	return &a.out, nil
}

func (answers) Sign(context.Context, *awskms.SignInput, ...func(*awskms.Options)) (*awskms.SignOutput, error) {
	return &awskms.SignOutput{}, nil
}

func TestPublicRejectsUnsuitableKeys(t *testing.T) {
	t.Parallel()
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	small, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	p256, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	p384, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	edwards, _, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		public any
		usage  types.KeyUsageType
		good   bool
	}{
		"RSA for signing":         {&rsaKey.PublicKey, types.KeyUsageTypeSignVerify, true},
		"P-384 for signing":       {&p384.PublicKey, types.KeyUsageTypeSignVerify, true},
		"RSA for encryption":      {&rsaKey.PublicKey, types.KeyUsageTypeEncryptDecrypt, false},
		"P-384 for key agreement": {&p384.PublicKey, types.KeyUsageTypeKeyAgreement, false},
		"P-256":                   {&p256.PublicKey, types.KeyUsageTypeSignVerify, false},
		"RSA that is too short":   {&small.PublicKey, types.KeyUsageTypeSignVerify, false},
		"Ed25519":                 {edwards, types.KeyUsageTypeSignVerify, false},
	} {
		der, err := x509.MarshalPKIXPublicKey(c.public)
		if err != nil {
			t.Fatal(err)
		}
		keys := kms.ClientKeys(answers{awskms.GetPublicKeyOutput{PublicKey: der, KeyUsage: c.usage}})
		if _, err := keys.Public(t.Context(), "key"); (err == nil) != c.good {
			t.Errorf("%s: %v", name, err)
		}
	}
	keys := kms.ClientKeys(answers{awskms.GetPublicKeyOutput{
		PublicKey: []byte("no key"),
		KeyUsage:  types.KeyUsageTypeSignVerify,
	}})
	if _, err := keys.Public(t.Context(), "key"); err == nil {
		t.Error("what is no public key was read as one")
	}
	if _, err := keys.Signer(t.Context(), "key", &p256.PublicKey).Sign(rand.Reader, make([]byte, crypto.SHA384.Size()),
		crypto.SHA384); err == nil {
		t.Error("a key on P-256 signs")
	}
	symmetric := newVault(t)
	if _, err := kms.ClientKeys(symmetric.client).Public(t.Context(), symmetric.key); err == nil {
		t.Error("a symmetric key has a public half")
	}
}
