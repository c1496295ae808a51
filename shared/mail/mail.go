// Package mail sends e-mails over SES (version 1): plain text, from the one address of the operator. What a mail says, to
// whom it goes and whether it has gone already is its caller's matter.
package mail

import (
	"context"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ses"
	"github.com/aws/aws-sdk-go-v2/service/ses/types"
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

// Message is one e-mail.
type Message struct {
	To      []string // addresses, at most 50; each sees the others
	Subject string   // one line
	Text    string
}

// Send hands a message to SES. It may be sent twice when an answer is lost: SES knows no idempotency.
func (s Sender) Send(ctx context.Context, m Message) error {
	_, err := s.Client.SendEmail(ctx, &ses.SendEmailInput{
		Source:      &s.From,
		Destination: &types.Destination{ToAddresses: m.To},
		Message: &types.Message{
			Subject: content(oneLine(m.Subject)),
			Body:    &types.Body{Text: content(m.Text)},
		},
	})
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
