package dashboardorg

import (
	"context"

	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/manage/account"
	"recordbridge/shared/manage/operator"
	"recordbridge/shared/words/timestamp"
)

type codeWanted struct {
	Network string `client:"network"`
	Email   string `json:"email" required:"true"`
}

type codeTyped struct {
	Email string `json:"email" required:"true"`
	ID    string `json:"verification_id" required:"true"`
	Code  string `json:"code" required:"true"`
}

// codeSent is the response to a request for a code. Times are in RFC 3339 format.
type codeSent struct {
	ID          string `json:"verification_id"`
	ExpiresAt   string `json:"expires_at"`
	ResendAfter string `json:"resend_after"`
}

func (d Deps) sendCode(ctx context.Context, v httpapi.Visitor, in codeWanted) (codeSent, error) {
	asked := operator.NoticeCode{Email: in.Email, AccountID: v.Account, Network: in.Network}
	sent, err := d.Notices.As(account.Actor(v.Account)).Send(ctx, liveTenant(v), asked)
	if err != nil {
		return codeSent{}, err
	}
	return codeSent{
		ID: sent.ID, ExpiresAt: timestamp.Of(sent.ExpiresAt), ResendAfter: timestamp.Of(sent.ResendAfter),
	}, nil
}

// verify marks a notice address as verified if the submitted code matches the one sent to it.
func (d Deps) verify(ctx context.Context, v httpapi.Visitor, in codeTyped) (organisation, error) {
	changed, err := d.Notices.As(account.Actor(v.Account)).Verify(ctx, liveTenant(v), in.Email, in.ID, in.Code)
	if err != nil {
		return organisation{}, err
	}
	return organisationOf(changed, v.Role), nil
}
