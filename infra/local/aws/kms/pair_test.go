package kms_test

import (
	"bytes"
	"sync"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/kms/types"

	"recordbridge/infra/local/aws"
)

// TestPrivateKeySurvivesRestart checks that concurrent first uses generate only one private key, which survives a
// restart. A key that is not used until after the restart must also work.
func TestPrivateKeySurvivesRestart(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	open := func() (*sdk.Client, func()) {
		cloud, err := aws.New(aws.Options{Dir: folder})
		if err != nil {
			t.Fatal(err)
		}
		return sdk.NewFromConfig(cloud.Config("test")), func() { _ = cloud.Close() }
	}
	published := func(client *sdk.Client, id string) []byte {
		out, err := client.GetPublicKey(t.Context(), &sdk.GetPublicKeyInput{KeyId: &id})
		if err != nil {
			t.Error(err)
			return nil
		}
		return out.PublicKey
	}
	client, end := open()
	pair := &sdk.CreateKeyInput{KeySpec: types.KeySpecEccNistP384, KeyUsage: types.KeyUsageTypeSignVerify}
	used, unused := newKey(t, client, pair), newKey(t, client, pair)
	var asking sync.WaitGroup
	answers := make([][]byte, 8)
	for i := range answers {
		asking.Go(func() { answers[i] = published(client, used) })
	}
	asking.Wait()
	for _, answer := range answers {
		if !bytes.Equal(answer, answers[0]) {
			t.Fatal("there are two private keys")
		}
	}
	end()

	client, end = open()
	defer end()
	if !bytes.Equal(published(client, used), answers[0]) {
		t.Error("after a restart it is another key")
	}
	if other := published(client, unused); len(other) == 0 || bytes.Equal(other, answers[0]) {
		t.Error("a key that nobody asked for before the restart cannot be used")
	}
}
