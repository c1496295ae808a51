package callback

import (
	"context"
	"embed"
	"net/http"

	"recordbridge/shared/fault"
	"recordbridge/shared/httpapi"
	"recordbridge/shared/logx"
)

//go:embed sheets
var sheets embed.FS

// sheet is one of our pages in the visitor's language, with scripts that run one after the other.
func sheet(visit httpapi.Visit, name string, mood httpapi.Mood, scripts ...string) (httpapi.Sheet, error) {
	body, err := sheets.ReadFile("sheets/" + name + "." + visit.Language() + ".html")
	made := httpapi.Sheet{Language: visit.Language(), Mood: mood, Body: string(body)}
	for _, script := range scripts {
		var text []byte
		if err == nil {
			text, err = sheets.ReadFile("sheets/" + script + ".js")
		}
		made.Script += string(text)
	}
	return made, err //nolint:wrapcheck // what is embedded is there
}

// inWindow is what a person sees in the window that a widget opened, while the widget itself learns the same from the
// attempt, for which the window nudges it. Nothing that the portal sent is on it. A window that tells of a failure stays: its
// reference is to be read.
func inWindow(ctx context.Context, visit httpapi.Visit, failure error, cookie *http.Cookie) (httpapi.Answer, error) {
	if failure == nil {
		s, err := sheet(visit, "done", httpapi.Good, "nudge", "close")
		return httpapi.Document(s, cookie), err
	}
	logx.Fail(ctx, failure)
	shown := fault.Of(failure)
	if shown.Kind == fault.Internal {
		shown = fault.Of(nil)
	}
	s, err := sheet(visit, "failed", httpapi.Bad, "nudge")
	s.Values = map[string]string{"description": shown.Public, "request_id": logx.RequestID(ctx)}
	return httpapi.Document(s, cookie), err
}
