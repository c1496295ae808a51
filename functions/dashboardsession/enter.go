package dashboardsession

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/manage/account"
	"recordbridge/shared/manage/account/signin"
	"recordbridge/shared/manage/verification"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
	"recordbridge/shared/words/timestamp"
)

// deviceCookieName is the name of the cookie that identifies a browser, with or without a session.
const deviceCookieName = "recordbridge-device"

type nothing struct{}

type addressed struct {
	Email   string `json:"email" required:"true"`
	Network string `client:"network"`
}

func (d Deps) browserAt(v httpapi.Visitor, network string) signin.Browser {
	b := d.browserOf(v)
	b.Network = network
	return b
}

type sent struct {
	VerificationID string `json:"verification_id"`
	ExpiresAt      string `json:"expires_at"`   // RFC 3339 time
	ResendAfter    string `json:"resend_after"` // RFC 3339 time
}

type proof struct {
	Email          string `json:"email" required:"true"`
	VerificationID string `json:"verification_id" required:"true"`
	Code           string `json:"code" required:"true"`
}

type answered struct {
	Response json.RawMessage `json:"response" required:"true"` // result of PublicKeyCredential.toJSON()
}

type typed struct {
	Code string `json:"code" required:"true"`
}

type asked struct {
	Options json.RawMessage `json:"options"`
}

type shown struct {
	Account       person       `json:"account"`
	CSRFToken     string       `json:"csrf_token"`
	Needs         string       `json:"needs"`       // second_factor or empty
	FreshUntil    string       `json:"fresh_until"` // RFC 3339 time
	EndsAt        string       `json:"ends_at"`     // RFC 3339 time
	Organisations []membership `json:"organisations"`
	// Recovery codes are returned once, when the account's first second factor is added.
	RecoveryCodes []string `json:"recovery_codes,omitempty"`
}

type person struct {
	ID       string    `json:"id"`
	Email    string    `json:"email"`
	TOTP     bool      `json:"totp"`
	Passkeys []passkey `json:"passkeys"`
	Recovery int       `json:"recovery_codes_left"` // remaining codes; 0 until the second factor is verified
}

type passkey struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	CreatedAt string `json:"created_at"`        // RFC 3339 time
	UsedAt    string `json:"used_at,omitempty"` // RFC 3339 time
}

type membership struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Role   string `json:"role"`
	Plan   string `json:"plan"`
	Status string `json:"status"`
}

// browserOf returns the browser's cookies without validating them.
func (d Deps) browserOf(v httpapi.Visitor) signin.Browser {
	return signin.Browser{
		Session: secret.New(v.Cookie(d.Auth.Cookies.Name(httpapi.SessionCookie))),
		Device:  secret.New(v.Cookie(d.Auth.Cookies.Name(deviceCookieName))),
	}
}

func (d Deps) sendCode(ctx context.Context, v httpapi.Visitor, in addressed) (sent, error) {
	return sentOf(d.Service.SendCode(ctx, in.Email, d.browserAt(v, in.Network)))
}

func sentOf(s verification.Sent, err error) (sent, error) {
	return sent{
		VerificationID: s.ID, ExpiresAt: timestamp.Of(s.ExpiresAt), ResendAfter: timestamp.Of(s.ResendAfter),
	}, err
}

func (d Deps) byCode(ctx context.Context, v httpapi.Visitor, in proof) (httpapi.WithCookies, error) {
	return d.enter(ctx)(d.Service.ByCode(ctx, d.browserOf(v), in.Email, in.VerificationID, in.Code))
}

func (d Deps) askPasskey(ctx context.Context, _ httpapi.Visitor, _ nothing) (asked, error) {
	begun, err := d.Service.AskPasskey(ctx)
	return asked{Options: begun.Options}, err
}

func (d Deps) byPasskey(ctx context.Context, v httpapi.Visitor, in answered) (httpapi.WithCookies, error) {
	return d.enter(ctx)(d.Service.ByPasskey(ctx, d.browserOf(v), in.Response))
}

func (d Deps) byTOTP(ctx context.Context, v httpapi.Visitor, in typed) (httpapi.WithCookies, error) {
	return d.enter(ctx)(d.Service.ByTOTP(ctx, d.browserOf(v), v.Session, in.Code))
}

func (d Deps) byRecoveryCode(ctx context.Context, v httpapi.Visitor, in typed) (httpapi.WithCookies, error) {
	return d.enter(ctx)(d.Service.ByRecoveryCode(ctx, d.browserOf(v), v.Session, in.Code))
}

func (d Deps) show(ctx context.Context, v httpapi.Visitor, _ nothing) (shown, error) {
	return d.shownOf(ctx, v.Session, v.Token)
}

func (d Deps) signOut(ctx context.Context, v httpapi.Visitor, _ nothing) (httpapi.WithCookies, error) {
	return d.left(), d.Service.SignOut(ctx, v.Session)
}

func (d Deps) signOutEverywhere(ctx context.Context, v httpapi.Visitor, _ nothing) (httpapi.WithCookies, error) {
	return d.left(), d.Service.SignOutEverywhere(ctx, v.Session)
}

func (d Deps) left() httpapi.WithCookies {
	return httpapi.WithCookies{Data: nil, Cookies: []*http.Cookie{
		d.Auth.Cookies.Strict(httpapi.SessionCookie, secret.Text{}, -time.Second),
	}}
}

// enter adds the new session and the browser's cookies to the response.
func (d Deps) enter(ctx context.Context) func(signin.SignedIn, error) (httpapi.WithCookies, error) {
	return func(e signin.SignedIn, err error) (httpapi.WithCookies, error) {
		if err != nil {
			return httpapi.WithCookies{}, err
		}
		view, err := d.shownOf(ctx, e.Session, e.Token)
		if err != nil {
			return httpapi.WithCookies{}, err
		}
		view.RecoveryCodes = revealed(e.RecoveryCodes)
		cookies := []*http.Cookie{
			d.Auth.Cookies.Strict(httpapi.SessionCookie, e.Token, e.Session.ExpiresAt().Sub(e.Session.StartedAt)),
		}
		if !e.Session.Pending {
			cookies = append(cookies, d.Auth.Cookies.Strict(deviceCookieName, e.Device, signin.DeviceLife))
		}
		return httpapi.WithCookies{Data: view, Cookies: cookies}, nil
	}
}

func (d Deps) shownOf(ctx context.Context, s account.Session, token secret.Text) (shown, error) {
	a, all, err := d.Service.Account(ctx, s)
	if err != nil {
		return shown{}, err
	}
	view := shown{
		Account: person{
			ID: a.ID, Email: a.Email, TOTP: a.TOTP.Sealed != nil,
			Passkeys: make([]passkey, 0, len(a.Passkeys)),
		},
		CSRFToken: account.CSRFToken(token), FreshUntil: timestamp.Of(s.FreshUntil()), EndsAt: timestamp.Of(s.EndsAt()),
		Organisations: make([]membership, 0, len(all)),
	}
	if s.Pending {
		view.Needs = "second_factor"
	} else if view.Account.Recovery, err = d.Service.RecoveryCodesLeft(ctx, a); err != nil {
		return shown{}, err
	}
	for _, k := range a.Passkeys {
		view.Account.Passkeys = append(view.Account.Passkeys, passkey{
			ID: k.ID, Name: k.Name, CreatedAt: timestamp.Of(k.CreatedAt), UsedAt: timestamp.Of(k.UsedAt),
		})
	}
	for _, m := range all {
		o, err := d.Organisations.Organisation(ctx, org.Tenant{Mode: org.Live, OrgID: m.OrgID})
		if errors.Is(err, fault.NotFound) { // an operator has deleted the organisation
			continue
		}
		if err != nil {
			return shown{}, fmt.Errorf("read organisation: %w", err)
		}
		view.Organisations = append(view.Organisations, membership{
			ID: m.OrgID, Name: o.Name, Role: string(m.Role), Plan: string(o.Plan), Status: string(o.Status),
		})
	}
	return view, nil
}
