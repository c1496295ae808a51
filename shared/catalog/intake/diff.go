package intake

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/maphash"

	"recordbridge/shared/catalog/listing"
)

// Diff describes the difference between two versions of a list. Listings are compared by key.
type Diff struct {
	Before  int     `json:"before"` // number of listings in the old version
	After   int     `json:"after"`
	Added   Changes `json:"added"`
	Removed Changes `json:"removed"`
	Changed Changes `json:"changed"`
}

// Changes counts the listings that were added, removed or changed, and names the first few of them.
type Changes struct {
	Count int      `json:"count"`
	Names []string `json:"names,omitempty"`
}

const (
	toldNames = 20
	toldRunes = 120 // maximum length of a name in runes
)

func (c *Changes) add(name string) {
	c.Count++
	if len(c.Names) < toldNames {
		if runes := []rune(name); len(runes) > toldRunes {
			name = string(runes[:toldRunes]) + "…"
		}
		c.Names = append(c.Names, name)
	}
}

// IsEmpty reports whether the two versions have the same content.
func (d Diff) IsEmpty() bool { return d.Added.Count+d.Removed.Count+d.Changed.Count == 0 }

func (i Intake) compare(ctx context.Context, accepted *Version, now []listing.Listing) (Diff, error) {
	type earlier struct {
		name string
		said uint64
	}
	d := Diff{After: len(now)}
	seed := maphash.MakeSeed()
	before := make(map[string]earlier)
	var order []string
	err := i.stored(ctx, accepted, func(l listing.Listing) error {
		said, err := saying(seed, l)
		before[l.Key] = earlier{l.Name, said}
		order = append(order, l.Key)
		return err
	})
	if err != nil {
		return Diff{}, err
	}
	d.Before = len(before)
	for _, l := range now {
		was, isKnown := before[l.Key]
		delete(before, l.Key)
		said, err := saying(seed, l)
		switch {
		case err != nil:
			return Diff{}, err
		case !isKnown:
			d.Added.add(l.Name)
		case was.said != said:
			d.Changed.add(l.Name)
		}
	}
	for _, key := range order {
		if was, isGone := before[key]; isGone {
			d.Removed.add(was.name)
		}
	}
	return d, nil
}

// saying returns a hash of a listing's entire content.
func saying(seed maphash.Seed, l listing.Listing) (uint64, error) {
	text, err := json.Marshal(l)
	if err != nil {
		return 0, fmt.Errorf("write listing: %w", err)
	}
	return maphash.Bytes(seed, text), nil
}

// stored calls each for every listing of a version. stored does nothing if version is nil.
func (i Intake) stored(ctx context.Context, version *Version, each func(listing.Listing) error) error {
	if version == nil {
		return nil
	}
	object, err := i.Objects.Open(ctx, version.Key)
	if err != nil {
		return fmt.Errorf("open listings: %w", err)
	}
	defer func() { _ = object.Close() }()
	return listing.Stored(object, each)
}
