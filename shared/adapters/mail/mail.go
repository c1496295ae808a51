// Package mail sends e-mails over SES (version 1): plain text, and HTML beside it, from the one address of the
// operator. What a mail says, to whom it goes and whether it has gone already is its caller's matter.
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

// Client is the part of the SES client that is used.
type Client interface {
	SendEmail(ctx context.Context, in *ses.SendEmailInput, o ...func(*ses.Options)) (*ses.SendEmailOutput, error)
}

// Sender sends as From, an address or a domain that SES has verified.
type Sender struct {
	Client Client
	From   string
}

// Send hands a plain text, and the same as HTML where there is one, to SES, for at most 50 addresses that each see the
// others. It may be sent twice when an answer is lost: SES knows no idempotency. The error does not repeat what SES
// says, which names addresses; it is fault.Invalid when SES takes none of them for one.
func (s Sender) Send(ctx context.Context, to []string, subject, text, html string) error {
	return s.SendReplyTo(ctx, to, "", subject, text, html)
}

// SendReplyTo is Send with another address than From that readers reply to; empty for none.
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
		return told
	}
	if err != nil {
		return fmt.Errorf("send e-mail: %w", err)
	}
	return nil
}

func content(text string) *types.Content {
	return &types.Content{Data: &text, Charset: aws.String("UTF-8")}
}

// oneLine keeps what others have named, such as an organisation, from becoming headers.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, text)
}
