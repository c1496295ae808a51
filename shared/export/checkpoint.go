package export

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"recordbridge/shared/export/plan"
	"recordbridge/shared/webhook"
)

// checkpoint is all that a later run needs to go on where this one stopped. It holds ids of resources, so it is kept
// with the files, not in a table.
type checkpoint struct {
	Planned     bool           `json:"planned"`
	Version     string         `json:"fhir_version"` // as the server states it; empty when it does not
	Queries     []plan.Query   `json:"queries"`      // not begun, or under way when first
	Next        string         `json:"next"`         // next page of the first query, empty to begin it
	Pages       int            `json:"pages"`        // pages read of the first query
	Links       []uint64       `json:"links"`        // marks of the next links that the first query had
	Lost        int            `json:"lost"`         // entries of the first query that were no usable resource
	Tried       int            `json:"tried"`        // how often the request that comes next was tried
	Refs        []reference    `json:"refs"`         // to be read
	Binaries    []reference    `json:"binaries"`     // to be read after all others
	Attachments []attachment   `json:"attachments"`  // to be read last
	Written     []byte         `json:"written"`      // marks of what is in the segments, eight bytes each
	Segments    []segment      `json:"segments"`     // in order
	Digest      []byte         `json:"digest"`       // of the segments, see newDigest
	Renderings  []*rendering   `json:"renderings"`
	Later       later          `json:"later"`
	Round       int            `json:"round"`    // how often what is put off has been tried again
	Oversize    int            `json:"oversize"` // documents that were too large
	Down        bool           `json:"down"`     // the server has answered nothing of late
	Patients    []string       `json:"patients"` // ids by which the server knows the patient
	Done        int            `json:"done"`     // queries, reads and attachments that have ended
	Counts      map[string]int `json:"counts"`   // by resource type
	Accounts    []*account     `json:"accounts"`
	Spent       []string       `json:"spent"` // keys of the checkpoints before this one
	written     map[uint64]struct{}
	queued      map[string]struct{}
}

// maxCheckpoint bounds what a checkpoint may take in memory when it is read.
const maxCheckpoint = 64 << 20

func loadCheckpoint(ctx context.Context, files Files, key string) (*checkpoint, error) {
	state := &checkpoint{Counts: map[string]int{}, written: map[uint64]struct{}{}, queued: map[string]struct{}{}}
	if key == "" {
		return state, nil
	}
	body, err := files.Open(ctx, key)
	if err != nil {
		return nil, fmt.Errorf("open checkpoint: %w", err)
	}
	defer func() { _ = body.Close() }()
	if err := json.NewDecoder(io.LimitReader(body, maxCheckpoint)).Decode(state); err != nil {
		return nil, fmt.Errorf("decode checkpoint: %w", err)
	}
	for mark := range slices.Chunk(state.Written, 8) {
		if len(mark) == 8 {
			state.written[binary.BigEndian.Uint64(mark)] = struct{}{}
		}
	}
	for _, r := range slices.Concat(state.Refs, state.Binaries) {
		state.queued[r.name()] = struct{}{}
	}
	for _, a := range state.Attachments {
		state.queued["Binary/"+a.ID] = struct{}{}
	}
	return state, nil
}

func (c *checkpoint) save(ctx context.Context, files Files, key string) error {
	c.Written = make([]byte, 0, 8*len(c.written))
	for mark := range c.written {
		c.Written = binary.BigEndian.AppendUint64(c.Written, mark)
	}
	body, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("encode checkpoint: %w", err)
	}
	w, err := files.Create(ctx, key, "application/json")
	if err != nil {
		return fmt.Errorf("create checkpoint: %w", err)
	}
	if _, err := w.Write(body); err != nil {
		w.Abort(ctx)
		return fmt.Errorf("write checkpoint: %w", err)
	}
	if err := w.Close(ctx); err != nil {
		return fmt.Errorf("close checkpoint: %w", err)
	}
	return nil
}

// firstTime marks a resource as written; it is false when it was before.
func (c *checkpoint) firstTime(name string) bool {
	mark := markOf(name)
	if _, known := c.written[mark]; known {
		return false
	}
	c.written[mark] = struct{}{}
	return true
}

func (c *checkpoint) isWritten(name string) bool {
	_, known := c.written[markOf(name)]
	return known
}

// turn makes link the next page of the first query; it is false when the query has been there before.
func (c *checkpoint) turn(link string) bool {
	mark := markOf(link)
	if slices.Contains(c.Links, mark) {
		return false
	}
	c.Links = append(c.Links, mark)
	c.Next = link
	return true
}

// markOf is what is kept of a name or a link: enough to tell it from all others.
func markOf(text string) uint64 {
	sum := sha256.Sum256([]byte(text))
	return binary.BigEndian.Uint64(sum[:8])
}

// queue notes that something is to be read; it is false when it was noted or written before.
func (c *checkpoint) queue(name string) bool {
	if _, known := c.queued[name]; known || c.isWritten(name) {
		return false
	}
	c.queued[name] = struct{}{}
	return true
}

func (c *checkpoint) stats() webhook.Stats {
	stats := webhook.Stats{TotalByResourceType: c.Counts}
	for _, n := range c.Counts {
		stats.TotalResources += n
	}
	return stats
}

// objectKey names an object of a task. The tenant stands in front, so that access can be granted and data deleted
// by prefix.
func objectKey(task Task, name string) string {
	return string(task.Tenant.Mode) + "/" + task.Tenant.OrgID + "/" + task.ID + "/" + name
}

// The objects that a run writes, each named after its generation: what it collects, where it stopped, and the files that
// are made of all segments. Parts of other formats are named after their segment.
func segmentKey(task Task) string        { return generationKey(task, "segment", ".ndjson") }
func checkpointKey(task Task) string     { return generationKey(task, "checkpoint", ".json") }
func fileKey(task Task, f Format) string { return generationKey(task, "export", f.suffix()) }

func generationKey(task Task, name, suffix string) string {
	return objectKey(task, name+"-"+strconv.FormatInt(task.Generation, 10)+suffix)
}

// lingers is how long after its task has failed a run may still be at work and write: longer than a function may run.
const lingers = 20 * time.Minute

// Objects are the keys of all that the task's runs can have left in the bucket, its files among them.
func (t Task) Objects() []string {
	var keys []string
	for _, f := range t.Files {
		keys = append(keys, f.Key)
	}
	for run := t; run.Generation > 0; run.Generation-- {
		keys = append(keys, segmentKey(run), checkpointKey(run), fileKey(run, JSONLines))
		for _, f := range t.Options.Formats {
			keys = append(keys, fileKey(run, f), segmentKey(run)+f.suffix())
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}
