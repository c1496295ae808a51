package fetch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"recordbridge/shared/fhir/ccda"
	"recordbridge/shared/tefca"
	"recordbridge/shared/words/logx"
)

// reading is one facility's documents.
type reading struct {
	facility string

	mu    sync.Mutex
	room  *sync.Cond // some has come free
	set   ccda.Set
	bytes int64 // of what is taken
	asked int64 // how much may come of what is on its way
	taken int
	lost  map[string]int
	last  error // the last document's that could not be had
}

func newReading(who tefca.Person, facility string) *reading {
	r := &reading{facility: facility, lost: map[string]int{}, set: ccda.Set{Is: who.Is}}
	r.room = sync.NewCond(&r.mu)
	return r
}

// convertible leaves out the documents that are no CDA by what the facility says, and counts them: a list has scans and
// pictures as well, and asking for one can make the facility write it.
func (r *reading) convertible(listed []tefca.Document) []tefca.Document {
	return slices.DeleteFunc(listed, func(d tefca.Document) bool {
		kind := strings.ToLower(d.Type)
		if kind == "" || strings.Contains(kind, "xml") || strings.Contains(kind, "octet-stream") {
			return false
		}
		r.lost["unsupported"]++
		return true
	})
}

// reserve waits until there is room for a document of a listed size, and says how large it may be; nothing where it
// cannot fit, which is counted.
func (r *reading) reserve(listed int64) (room int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	most := atMost(listed)
	for r.asked > 0 && r.bytes+r.asked+most > maxBytes {
		r.room.Wait()
	}
	room = min(most, maxBytes-r.bytes-r.asked)
	if room <= 0 || listed > maxBytes-r.bytes {
		r.lost["limit"]++
		return 0
	}
	r.asked += room
	return room
}

// atMost is how large a document may be that is listed with a size, which may not be known (0) and need not be exact.
func atMost(listed int64) int64 {
	const small = 1 << 20
	if listed <= 0 || listed > maxDocument/4 {
		return maxDocument
	}
	return max(small, 4*listed)
}

// take adds a document for which there was room, or counts that it could not be had.
func (r *reading) take(document tefca.Document, room int64, body []byte, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked -= room
	r.room.Broadcast()
	if errors.Is(err, tefca.ErrTooLarge) && room < atMost(document.Size) { // beside the others, and not by itself
		r.lost["limit"]++
		return
	}
	if err == nil {
		err = r.set.Add(body)
	}
	if err != nil {
		r.lose(err)
		return
	}
	r.bytes += int64(len(body))
	r.taken++
}

// loseListed counts what the facility's list lacks; without a tefca.ListError the number of entries is unknown. It logs
// the attribute at fault, which the facility has to correct, and no id of a document or patient.
func (r *reading) loseListed(ctx context.Context, err error) {
	list, ok := errors.AsType[*tefca.ListError](err)
	if !ok {
		r.lose(err)
		return
	}
	r.last = err
	for _, l := range list.Lost {
		r.lost[lossOf(l.Err)] += l.Count
		if !errors.Is(l.Err, tefca.ErrOtherPerson) { // logged by tellOthers
			r.tell(ctx, l)
		}
	}
}

// tellOthers logs how many documents are another person's, by the list or by their own header.
func (r *reading) tellOthers(ctx context.Context) {
	if others := r.lost["other_person"]; others > 0 {
		r.tell(ctx, tefca.Loss{Err: tefca.ErrOtherPerson, Attribute: "", Count: others})
	}
}

func (r *reading) tell(ctx context.Context, lost tefca.Loss) {
	line := []slog.Attr{
		logx.Failed(), slog.String("directory_id", r.facility), slog.String("class", tefca.ClassOf(lost.Err)),
		slog.Int("documents", lost.Count),
	}
	if lost.Attribute != "" {
		line = append(line, slog.String("field", lost.Attribute))
	}
	logx.Note(ctx, "tefca.document", line...)
}

// lose counts what could not be had.
func (r *reading) lose(err error) {
	switch {
	case errors.Is(err, ccda.ErrSubject):
		err = tefca.ErrOtherPerson
	case errors.Is(err, ccda.ErrInvalid):
		err = fmt.Errorf("%w: %w", tefca.ErrContent, err)
	}
	r.last = err
	r.lost[lossOf(err)]++
}

// lossOf classes why a document is missing from a record (export.LossReason).
func lossOf(err error) string {
	for _, of := range []struct {
		err    error
		reason string
	}{
		{tefca.ErrRefused, "refused"},
		{tefca.ErrNotFound, "not_found"},
		{tefca.ErrTooLarge, "too_large"},
		{tefca.ErrOtherPerson, "other_person"},
		{tefca.ErrContent, "invalid_content"},
	} {
		if errors.Is(err, of.err) {
			return of.reason
		}
	}
	return "unavailable" // also where the identity has ended meanwhile, or time is up
}
