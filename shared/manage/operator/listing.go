package operator

import (
	"strings"
	"time"

	"recordbridge/shared/words/fault"
)

const (
	// mostListed is how many rows one page shows at most, and usuallyListed when nobody says how many.
	mostListed, usuallyListed = 100, 50
	// mostRead bounds the rows that are read for one page, however few of them are wanted.
	mostRead = 500
)

// Paging says which part of a list is wanted, newest first.
type Paging struct {
	After string // the position that the page before ended with; empty for the first page
	Limit int    // how many a page shows, 1 to 100; 0 for 50
}

// stamp writes times in places, as rows do.
const stamp = "2006-01-02T15:04:05.000000Z"

func placeOf(made time.Time, id string) string { return made.UTC().Format(stamp) + "#" + id }

// checked is p with its default; fault.Invalid.
func (p Paging) checked() (Paging, error) {
	if p.Limit < 0 || p.Limit > mostListed {
		return p, fault.BadRequest("The limit must be from 1 to 100.").About("limit")
	}
	if p.Limit == 0 {
		p.Limit = usuallyListed
	}
	at, id, _ := strings.Cut(p.After, "#")
	if _, err := time.Parse(stamp, at); p.After != "" && (err != nil || id == "") {
		return p,
			fault.BadRequest(
				"The cursor is not valid for this list. Use next from the previous page.").About("after")
	}
	return p, nil
}

// places lists where rows stand behind a place, newest first: their creation, a # and their id.
type places func(after string, limit int) (found []string, more bool, err error)

// collect reads rows at places until a page is full or too many were read for it. It returns those that are
// wanted and the position to go on after, which is empty when there are no more. read reports whether a row,
// which may have gone, is wanted.
func collect[T any](p Paging, list places,
	read func(id string) (row T, isWanted bool, err error),
) (rows []T, next string, err error) {
	rows, next = []T{}, p.After
	for count := 0; count < mostRead; {
		found, more, err := list(next, p.Limit)
		if err != nil {
			return nil, "", err
		}
		for i, place := range found {
			_, id, _ := strings.Cut(place, "#")
			row, isWanted, err := read(id)
			if err != nil {
				return nil, "", err
			}
			count, next = count+1, place
			if isWanted {
				rows = append(rows, row)
			}
			if isLast := !more && i == len(found)-1; len(rows) == p.Limit && !isLast {
				return rows, next, nil
			}
		}
		if !more {
			return rows, "", nil
		}
	}
	return rows, next, nil
}
