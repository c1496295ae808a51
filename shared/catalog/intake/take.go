package intake

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"recordbridge/shared/catalog/listing"
	"recordbridge/shared/words/fault"
)

// Outcome is the result of reading a source.
type Outcome string

// Outcomes of reading a source.
const (
	Accepted  Outcome = "accepted"
	Waiting   Outcome = "waiting" // the list awaits an operator's approval
	Unchanged Outcome = "unchanged"
	Failed    Outcome = "failed" // State.Reason contains the reason for the failure
)

// Refresh fetches a source and processes its list. Refresh reports failures of the list or its server as an Outcome. An
// error is either an internal failure or fault.Conflict if the row has changed in the meantime.
func (i Intake) Refresh(ctx context.Context, row Row) (Row, Outcome, error) {
	if err := i.clean(ctx, &row.State); err != nil {
		return row, Failed, err
	}
	latest := row.State.latest()
	known := Known{}
	if latest != nil {
		known = Known{ETag: latest.ETag, Modified: latest.Modified}
	}
	answer, err := i.Lists.Fetch(ctx, row.Source.URL, known)
	if err != nil {
		return i.fail(ctx, row, err)
	}
	if answer.IsUnchanged {
		if latest == nil { // an unconditional request must not yield "unchanged"
			return i.fail(ctx, row, &listing.Refused{Reason: listing.Empty})
		}
		return i.same(ctx, row, latest, answer.Known)
	}
	defer func() { _ = answer.Body.Close() }()
	return i.take(ctx, row, answer.Body, answer.Known)
}

// Take processes a list that an operator supplies as a file.
func (i Intake) Take(ctx context.Context, row Row, list io.Reader) (Row, Outcome, error) {
	if err := i.clean(ctx, &row.State); err != nil {
		return row, Failed, err
	}
	return i.take(ctx, row, list, Known{})
}

// Approve accepts the pending version. It returns fault.NotFound if the source has no pending version.
func (i Intake) Approve(ctx context.Context, row Row) (Row, error) {
	if row.State.Pending == nil {
		return row, fault.Missing("No snapshot of this source is waiting for approval.")
	}
	row.State.accept(row.State.Pending)
	row.State.Unpublished = true
	return i.save(ctx, row)
}

func (s *State) latest() *Version {
	if s.Pending != nil {
		return s.Pending
	}
	return s.Accepted
}

func (s *State) accept(version *Version) {
	s.replace(s.Accepted, version)
	s.replace(s.Pending, version)
	s.Accepted, s.Pending, s.Guards = version, nil, nil
	s.confirm()
}

// confirm records that the list is identical to the accepted version. The change must be published because patients see
// whether a record is unconfirmed.
func (s *State) confirm() {
	s.Failures, s.Reason = 0, ""
	s.Unpublished = s.Unpublished || !s.UnconfirmedSince.IsZero()
	s.UnconfirmedSince = time.Time{}
}

// take reads a list and decides whether to accept it.
func (i Intake) take(ctx context.Context, row Row, list io.Reader, known Known) (Row, Outcome, error) {
	body := sha256.New()
	listings, report, err := read(ctx, row.Source, io.TeeReader(list, body))
	if err != nil {
		return i.fail(ctx, row, err)
	}
	version := &Version{
		Body: hex.EncodeToString(body.Sum(nil)), ETag: known.ETag, Modified: known.Modified,
		Timestamp: report.Timestamp, ReadAt: i.Now().UTC(), Report: report,
	}
	for _, seen := range []*Version{row.State.Accepted, row.State.Pending} {
		if seen != nil && seen.Body == version.Body {
			return i.same(ctx, row, seen, known)
		}
	}
	accepted := row.State.Accepted
	if accepted != nil && !version.Timestamp.IsZero() && version.Timestamp.Before(accepted.Timestamp) {
		return i.failed(ctx, row, Older)
	}
	if version.Diff, err = i.compare(ctx, accepted, listings); err != nil {
		return row, Failed, err
	}
	if err := i.keep(ctx, row.Source, version, listings); err != nil {
		return row, Failed, err
	}
	if speak := guards(&report, len(listings), accepted); len(speak) > 0 {
		row.State.replace(row.State.Pending, version)
		row.State.Pending, row.State.Guards = version, speak
		return i.wait(ctx, row)
	}
	row.State.accept(version)
	row.State.Unpublished = row.State.Unpublished || accepted == nil || !version.Diff.IsEmpty()
	return i.done(ctx, row, Accepted)
}

// read returns the listings in a source's list. If the source has a Brand, read returns only that brand and its parts.
func read(ctx context.Context, source Source, list io.Reader) ([]listing.Listing, listing.Report, error) {
	var listings []listing.Listing
	report, err := listing.Read(ctx, source.Format, list, func(l listing.Listing) error {
		listings = append(listings, l)
		return nil
	})
	if err != nil {
		return nil, report, err
	}
	if source.Brand != nil {
		listings = ofBrand(listings, *source.Brand)
	}
	return listings, report, nil
}

// ofBrand returns the listings of a brand and all its parts.
func ofBrand(listings []listing.Listing, brand listing.Identifier) []listing.Listing {
	above := make(map[string]string, len(listings))
	isOwn := make(map[string]bool)
	for _, l := range listings {
		above[l.Key] = l.PartOf
		isOwn[l.Key] = slices.Contains(l.Identifiers, brand)
	}
	return slices.DeleteFunc(listings, func(l listing.Listing) bool {
		key := l.Key
		for range listings {
			if isOwn[key] {
				isOwn[l.Key] = true
				return false
			}
			if key = above[key]; key == "" {
				return true
			}
		}
		return true
	})
}

func (i Intake) keep(ctx context.Context, source Source, version *Version, listings []listing.Listing) error {
	var packed bytes.Buffer
	if err := listing.Write(&packed, slices.Values(listings)); err != nil {
		return err
	}
	sum := sha256.Sum256(packed.Bytes())
	version.Key = "sources/" + source.ID + "/" + version.ReadAt.Format("20060102T150405Z") + "-" +
		hex.EncodeToString(sum[:]) + ".ndjson.gz"
	if err := i.Objects.Put(ctx, version.Key, "application/gzip", packed.Bytes()); err != nil {
		return fmt.Errorf("store listings: %w", err)
	}
	return nil
}

// same records that a list has not changed since it was last read.
func (i Intake) same(ctx context.Context, row Row, seen *Version, known Known) (Row, Outcome, error) {
	isPending := seen == row.State.Pending
	if known != (Known{}) {
		named := *seen
		named.ETag, named.Modified = known.ETag, known.Modified
		seen = &named
	}
	if isPending {
		row.State.Pending = seen
		return i.wait(ctx, row)
	}
	row.State.accept(seen)
	return i.done(ctx, row, Unchanged)
}

// fail records a failure that a list or its server caused, and returns any other error.
func (i Intake) fail(ctx context.Context, row Row, err error) (Row, Outcome, error) {
	if errors.Is(err, context.Canceled) {
		return row, Failed, err
	}
	reason, theirs := reasonOf(err)
	if !theirs {
		return row, Failed, err
	}
	return i.failed(ctx, row, reason)
}
