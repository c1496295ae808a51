package org_test

import (
	"testing"

	"recordbridge/shared/words/org"
)

func TestMailSenderIsFounderUntilLiveApproval(t *testing.T) {
	t.Parallel()
	for access, want := range map[org.LiveAccess]string{
		org.LiveNone: "founder", org.LiveRequested: "founder", org.LiveWithdrawn: "founder", org.LiveGranted: "own",
	} {
		if got := (org.Organisation{ID: "own", FoundedBy: "founder", LiveAccess: access}).MailSender(); got != want {
			t.Errorf("%s: counted as %s, want %s", access, got, want)
		}
	}
	if got := (org.Organisation{ID: "own", LiveAccess: org.LiveNone}).MailSender(); got != "own" {
		t.Errorf("without a founder: counted as %s", got)
	}
}
