// Package mail sends plain-text emails with optional HTML through SES (version 1) from the operator's address. Callers
// choose the content and the recipients, and must prevent duplicates.
package mail

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ses"
	"github.com/aws/aws-sdk-go-v2/service/ses/types"
	"github.com/aws/smithy-go"

	"recordbridge/shared/words/fault"
)

// Client is the part of the SES client that this package uses.
type Client interface {
	SendEmail(ctx context.Context, in *ses.SendEmailInput, o ...func(*ses.Options)) (*ses.SendEmailOutput, error)
}

// Sender sends emails from From. SES must have verified From or its domain.
type Sender struct {
	Client Client
	From   string
}

// Send sends an email as plain text, and as HTML unless html is empty, to at most 50 addresses. Every recipient can see
// all recipients' addresses. If SES's response is lost, a retry may send the email twice, because SES does not support
// idempotency. Errors omit SES's message, which contains addresses. Send returns fault.Invalid if SES rejects an
// address as invalid.
func (s Sender) Send(ctx context.Context, to []string, subject, text, html string) error {
	return s.SendReplyTo(ctx, to, "", subject, text, html)
}

// SendReplyTo is like Send, but adds a Reply-To address unless replyTo is empty.
func (s Sender) SendReplyTo(ctx context.Context, to []string, replyTo, subject, text, html string) error {
	body := &types.Body{Text: content(text)}
	if html != "" {
		body.Html = content(html)
	}
	in := &ses.SendEmailInput{
		Source:      &s.From,
		Destination: &types.Destination{ToAddresses: to},
		Message:     &types.Message{Subject: content(oneLine(subject)), Body: body},
	}
	if replyTo != "" {
		in.ReplyToAddresses = []string{replyTo}
	}
	_, err := s.Client.SendEmail(ctx, in)
	if refusal, ok := errors.AsType[smithy.APIError](err); ok {
		told := fmt.Errorf("send e-mail: SES returned %s", refusal.ErrorCode())
		if refusal.ErrorCode() == "InvalidParameterValue" {
			return fault.BadRequest("We can't send e-mail to this address.").Because(told)
		}
		return fault.SpotOf(err).Failed(told)
	}
	if err != nil {
		return fmt.Errorf("send e-mail: %w", err)
	}
	return nil
}

func content(text string) *types.Content {
	return &types.Content{Data: &text, Charset: aws.String("UTF-8")}
}

// oneLine replaces control characters, including line breaks, to prevent header injection through external names, such
// as an organisation's name.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, text)
}
