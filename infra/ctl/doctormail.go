package main

import (
	"context"
	"errors"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/ses"
	"github.com/aws/aws-sdk-go-v2/service/ses/types"
)

// sandboxQuota is the number of emails per day that SES allows accounts in its sandbox.
const sandboxQuota = 200

// checkMail checks whether the account can send email to any address, from the stack's sender address.
func checkMail(ctx context.Context, s session) []finding {
	client := ses.NewFromConfig(s.stack.Config)
	quota, err := client.GetSendQuota(ctx, &ses.GetSendQuotaInput{})
	if err != nil {
		return []finding{notInspected("Check SES's account dashboard, and whether MailFrom is a verified identity; or "+
			"allow ses:GetSendQuota.", "SES can't be read: %v.", summary(err))}
	}
	found := []finding{checkSending(ctx, client), checkSender(ctx, client, s.stack.Outputs["MailFrom"])}
	if quota.Max24HourSend <= sandboxQuota {
		return append(found, amiss("Ask AWS for production access: in the sandbox, emails reach only verified addresses. "+
			"Run aws sesv2 put-account-details --production-access-enabled --mail-type TRANSACTIONAL --website-url URL.",
			"The SES account is in the sandbox (%v emails in 24 hours).", quota.Max24HourSend))
	}
	return append(found, fine("The SES account is out of the sandbox; %v of %v emails were sent in 24 hours.",
		quota.SentLast24Hours, quota.Max24HourSend))
}

func checkSending(ctx context.Context, client *ses.Client) finding {
	sending, err := client.GetAccountSendingEnabled(ctx, &ses.GetAccountSendingEnabledInput{})
	switch {
	case err != nil:
		return notInspected("Allow ses:GetAccountSendingEnabled.", "Whether SES sends email can't be read: %v.",
			summary(err))
	case !sending.Enabled:
		return amiss("Find the cause in SES's account dashboard, then run aws ses update-account-sending-enabled --enabled.",
			"SES sends no email from this account, because sending is paused.")
	}
	return fine("SES sends email from this account.")
}

func checkSender(ctx context.Context, client *ses.Client, from string) finding {
	if from == "" {
		return notInspected("To send email, deploy with MailFrom.", "The stack has no sender address.")
	}
	out, err := client.GetIdentityVerificationAttributes(ctx,
		&ses.GetIdentityVerificationAttributesInput{Identities: []string{from, domainOf(from)}})
	if err != nil {
		return notInspected("Allow ses:GetIdentityVerificationAttributes.",
			"Whether MailFrom is verified can't be read: %v.",
			summary(err))
	}
	for _, identity := range out.VerificationAttributes {
		if identity.VerificationStatus == types.VerificationStatusSuccess {
			return fine("MailFrom is a verified identity.")
		}
	}
	return amiss("Run aws ses verify-domain-identity --domain "+domainOf(from)+", and publish the record it prints.",
		"MailFrom is not a verified identity, so SES rejects every email.")
}

// domainOf returns the domain of an email address.
func domainOf(address string) string {
	_, domain, _ := strings.Cut(address, "@")
	return strings.TrimSuffix(domain, ">")
}

// summary returns only the innermost error's message, because complete AWS error messages are long.
func summary(err error) string {
	for next := errors.Unwrap(err); next != nil; next = errors.Unwrap(next) {
		err = next
	}
	return err.Error()
}
