package dashboardsession

import (
	"context"
	"encoding/json"

	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/words/secret"
)

type offer struct {
	Secret string `json:"secret"`
	URI    string `json:"uri"`
}

type codes struct {
	RecoveryCodes []string `json:"recovery_codes"`
}

type named struct {
	Name     string          `json:"name" required:"true"`
	Response json.RawMessage `json:"response" required:"true"` // result of PublicKeyCredential.toJSON()
}

type onePasskey struct {
	ID string `path:"passkeyId"`
}

type restoring struct {
	Token string `json:"token" required:"true"`
}

func (d Deps) offerTOTP(ctx context.Context, v httpapi.Visitor, _ nothing) (offer, error) {
	made, err := d.Service.OfferTOTP(ctx, v.Session)
	return offer{Secret: made.Secret.Reveal(), URI: made.URI.Reveal()}, err
}

func (d Deps) confirmTOTP(ctx context.Context, v httpapi.Visitor, in typed) (httpapi.WithCookies, error) {
	return d.enter(ctx)(d.Service.ConfirmTOTP(ctx, d.browserOf(v), v.Session, in.Code))
}

func (d Deps) removeTOTP(ctx context.Context, v httpapi.Visitor, _ nothing) (httpapi.WithCookies, error) {
	return d.enter(ctx)(d.Service.RemoveTOTP(ctx, d.browserOf(v), v.Session))
}

func (d Deps) makeRecoveryCodes(ctx context.Context, v httpapi.Visitor, _ nothing) (codes, error) {
	made, err := d.Service.MakeRecoveryCodes(ctx, v.Session)
	return codes{RecoveryCodes: revealed(made)}, err
}

func revealed(all []secret.Text) []string {
	shown := make([]string, 0, len(all))
	for _, one := range all {
		shown = append(shown, one.Reveal())
	}
	return shown
}

func (d Deps) registerPasskey(ctx context.Context, v httpapi.Visitor, _ nothing) (asked, error) {
	begun, err := d.Service.RegisterPasskey(ctx, v.Session)
	return asked{Options: begun.Options}, err
}

func (d Deps) addPasskey(ctx context.Context, v httpapi.Visitor, in named) (httpapi.WithCookies, error) {
	return d.enter(ctx)(d.Service.AddPasskey(ctx, d.browserOf(v), v.Session, in.Name, in.Response))
}

func (d Deps) removePasskey(ctx context.Context, v httpapi.Visitor, in onePasskey) (httpapi.WithCookies, error) {
	return d.enter(ctx)(d.Service.RemovePasskey(ctx, d.browserOf(v), v.Session, in.ID))
}

func (d Deps) askAddress(ctx context.Context, v httpapi.Visitor, in addressed) (sent, error) {
	return sentOf(d.Service.RequestAddressChange(ctx, d.browserAt(v, in.Network), v.Session, in.Email))
}

func (d Deps) changeAddress(ctx context.Context, v httpapi.Visitor, in proof) (httpapi.WithCookies, error) {
	return d.enter(ctx)(d.Service.ChangeAddress(ctx, d.browserOf(v), v.Session, in.Email, in.VerificationID, in.Code))
}

func (d Deps) restoreAddress(ctx context.Context, _ httpapi.Visitor, in restoring) (httpapi.NoData, error) {
	return httpapi.NoData{}, d.Service.RestoreAddress(ctx, secret.New(in.Token))
}
