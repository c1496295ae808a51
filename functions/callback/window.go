package callback

import (
	"context"
	_ "embed"
	"html"
	"net/http"
	"strings"

	"recordbridge/shared/fault"
	"recordbridge/shared/httpapi"
	"recordbridge/shared/logx"
)

//go:embed done.html
var donePage string

//go:embed failed.html
var failedPage string

// inWindow is what a person sees in the window that a widget opened, while the widget itself learns the same from the
// attempt. Nothing that the portal sent is on it.
func inWindow(ctx context.Context, err error, cookie *http.Cookie) httpapi.Answer {
	if err == nil {
		return httpapi.Document([]byte(donePage), "", cookie)
	}
	logx.Fail(ctx, err)
	shown := fault.Of(err)
	if shown.Kind == fault.Internal {
		shown = fault.Of(nil)
	}
	page := strings.NewReplacer(
		"{{description}}", html.EscapeString(shown.Public),
		"{{request_id}}", html.EscapeString(logx.RequestID(ctx)),
	).Replace(failedPage)
	return httpapi.Document([]byte(page), "", cookie)
}
