package operator

import (
	"strings"
	"time"

	"recordbridge/shared/words/fault"
)

const (
	// mostListed and usuallyListed are the maximum and the default number of rows on a page.
	mostListed, usuallyListed = 100, 50
	// mostRead limits the number of rows read for a single page, including rows that do not match.
	mostRead = 500
)

// Paging selects a page from a list whose newest items come first.
type Paging struct {
	After string // cursor from the previous page; empty for the first page
	Limit int    // page size, 1 to 100; the default is 50
}

// stamp is the time format used in cursors and rows.
const stamp = "2006-01-02T15:04:05.000000Z"

func placeOf(made time.Time, id string) string { return made.UTC().Format(stamp) + "#" + id }

// checked returns p with defaults applied. It returns fault.Invalid for an invalid limit or cursor.
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

// places returns the cursors of the rows that follow a cursor, newest first. A cursor consists of a row's creation time
// and ID, separated by a #.
type places func(after string, limit int) (found []string, more bool, err error)

// collect reads the rows returned by list until the page is full or the read limit is reached. It returns the matching
// rows and the next page's cursor, or "" if no rows remain. The isWanted result of read reports whether the row exists
// and matches.
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
