package audit

import (
	"context"
	"strconv"
	"unicode/utf8"
)

// Change describes a setting that changed. Old or New is empty if the setting was added or removed. JSON names are
// sorted, because Change is part of the hashed text.
type Change struct {
	Field string `json:"field"`
	New   string `json:"new"`
	Old   string `json:"old"`
}

// Hidden stands for a value that audit rows must not contain. A change from Hidden to Hidden replaces a hidden value.
const Hidden = "hidden"

const (
	maxChanges = 25
	maxText    = 200 // maximum length of a changed value, in characters
	// moreField is the field of the last change if there are more than maxChanges. Its new value is the number of
	// omitted changes.
	moreField = "more"
)

// bounded returns changes in the form in which rows contain them: at most maxChanges, with values of at most maxText
// characters. Audit rows are permanent, so their size must be limited.
func bounded(changes []Change) []Change {
	if len(changes) == 0 {
		return nil
	}
	kept := make([]Change, 0, min(len(changes), maxChanges))
	for i, c := range changes {
		if left := len(changes) - i; i == maxChanges-1 && left > 1 {
			return append(kept, Change{Field: moreField, New: strconv.Itoa(left), Old: ""})
		}
		kept = append(kept, Change{Field: plain(c.Field), New: short(plain(c.New)), Old: short(plain(c.Old))})
	}
	return kept
}

// short truncates text to maxText characters, of which the last is then an ellipsis.
func short(text string) string {
	if utf8.RuneCountInString(text) <= maxText {
		return text
	}
	return string([]rune(text)[:maxText-1]) + "…"
}

type sourceKey struct{}

// WithSource returns a context for requests from the given source: "ctl" or a truncated network. Rows appended with the
// context contain the source.
func WithSource(ctx context.Context, source string) context.Context {
	return context.WithValue(ctx, sourceKey{}, source)
}

func sourceOf(ctx context.Context) string {
	source, _ := ctx.Value(sourceKey{}).(string) // functions without a client have no source
	return source
}
