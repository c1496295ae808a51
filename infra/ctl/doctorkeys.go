package main

import (
	"context"
	"fmt"
	"strings"

	awskms "github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/kms/types"
)

// describeKeys checks whether the stack's keys are enabled.
func (s session) describeKeys(ctx context.Context) []finding {
	client := awskms.NewFromConfig(s.stack.Config)
	var found []finding
	for _, key := range []struct{ output, without string }{
		{"TokensKey", "sign-ins, token refreshes and exports fail"},
		{"SecretsKey", "webhook deliveries and client secrets fail"},
		{"FilesKey", "exports and downloads fail"},
		{"ClientKeys", "sign-ins and refreshes at institutions that require signed assertions fail"},
		{"ManifestKeys", "exports wait, and fail after six hours"},
	} {
		if s.stack.Outputs[key.output] == "" {
			found = append(found, notInspected("Deploy the stack's current template.", "The stack has no output %s.",
				key.output))
			continue
		}
		for id := range strings.SplitSeq(s.stack.Outputs[key.output], ",") {
			found = append(found, describeKey(ctx, client, key.output, id, key.without))
		}
	}
	return found
}

// describeKey checks a key. without describes what fails if the key can't be used.
func describeKey(ctx context.Context, client *awskms.Client, name, id, without string) finding {
	out, err := client.DescribeKey(ctx, &awskms.DescribeKeyInput{KeyId: &id})
	if err != nil {
		return notInspected("Allow kms:DescribeKey on the key "+id+".", "%s can't be described: %v.", name, summary(err))
	}
	key := out.KeyMetadata
	if key.KeyState == types.KeyStatePendingDeletion {
		return amiss(fmt.Sprintf("Run aws kms cancel-key-deletion --key-id %s, then aws kms enable-key --key-id %[1]s.", id),
			"%s is scheduled for deletion: %s.", name, without)
	}
	if key.KeyState != types.KeyStateEnabled {
		return amiss("Run aws kms enable-key --key-id "+id+" (docs/operate/runbooks/keys.md).", "%s is %s: %s.", name,
			key.KeyState, without)
	}
	return fine("%s %s is enabled.", name, id)
}
