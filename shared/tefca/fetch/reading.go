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

// reading holds a facility's documents while they are retrieved.
type reading struct {
	facility string

	mu    sync.Mutex
	room  *sync.Cond // signals that space has become available
	set   ccda.Set
	bytes int64 // total size of the retrieved documents
	asked int64 // bytes reserved for documents being retrieved
	taken int
	lost  map[string]int
	last  error // error of the last document that is missing
}

func newReading(who tefca.Person, facility string) *reading {
	r := &reading{facility: facility, lost: map[string]int{}, set: ccda.Set{Is: who.Is}}
	r.room = sync.NewCond(&r.mu)
	return r
}

// convertible returns the documents that the list declares as CDA. All other documents, such as scans and pictures, are
// counted but not retrieved, because retrieving a document may cause the facility to generate it.
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

// reserve waits until there is space for a document of the listed size and returns the maximum size to retrieve. If the
// document is too large to fit, reserve counts it as missing and returns 0.
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

// atMost returns the maximum size to retrieve for a document with the given listed size. The listed size may be unknown
// (0) or inexact.
func atMost(listed int64) int64 {
	const small = 1 << 20
	if listed <= 0 || listed > maxDocument/4 {
		return maxDocument
	}
	return max(small, 4*listed)
}

// take adds a document for which space was reserved, or counts it as missing.
func (r *reading) take(document tefca.Document, room int64, body []byte, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked -= room
	r.room.Broadcast()
	// The document exceeds the space left by other documents, but not the limit for a single document.
	if errors.Is(err, tefca.ErrTooLarge) && room < atMost(document.Size) {
		r.lost["limit"]++
		return
	}
	if err == nil {
		err = r.set.Add(body)
	}
	if err != nil {
		r.countLoss(err)
		return
	}
	r.bytes += int64(len(body))
	r.taken++
}

// loseListed counts the entries missing from an incomplete list of documents. If err is not a tefca.ListError, the
// number of missing entries is unknown. The log names the faulty attribute, which the facility must correct, but does
// not identify a document or patient.
func (r *reading) loseListed(ctx context.Context, err error) {
	list, ok := errors.AsType[*tefca.ListError](err)
	if !ok {
		r.countLoss(err)
		return
	}
	r.last = err
	for _, l := range list.Lost {
		r.lost[lossOf(l.Err)] += l.Count
		if !errors.Is(l.Err, tefca.ErrOtherPerson) { // logOtherPersons logs other persons' documents
			r.tell(ctx, l)
		}
	}
}

// logOtherPersons logs the number of documents that belong to another person according to the list or the document's
// header.
func (r *reading) logOtherPersons(ctx context.Context) {
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

// countLoss counts a missing document by reason.
func (r *reading) countLoss(err error) {
	switch {
	case errors.Is(err, ccda.ErrSubject):
		err = tefca.ErrOtherPerson
	case errors.Is(err, ccda.ErrInvalid):
		err = fmt.Errorf("%w: %w", tefca.ErrContent, err)
	}
	r.last = err
	r.lost[lossOf(err)]++
}

// lossOf returns the reason that a document is missing from the record (export.LossReason).
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
	return "unavailable" // the identity has expired or a time limit was exceeded
}
