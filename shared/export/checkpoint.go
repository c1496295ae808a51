package export

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"
	"time"

	"recordbridge/shared/export/plan"
	"recordbridge/shared/webhook"
)

// checkpoint is all that a later run needs to go on where this one stopped. It holds ids of resources, so it is kept
// with the files, not in a table.
type checkpoint struct {
	lists

	Planned     bool           `json:"planned"`
	Listed      bool           `json:"listed"`       // the server says which types it has
	Version     string         `json:"fhir_version"` // as the server states it; empty when it does not
	Queries     []plan.Query   `json:"queries"`      // not begun, or under way when first
	Next        string         `json:"next"`         // next page of the first query, empty to begin it
	Pages       int            `json:"pages"`        // pages read of the first query
	Links       []uint64       `json:"links"`        // marks of the next links that the first query had
	Hits        int            `json:"hits"`         // resources that the first query has found
	Lost        int            `json:"lost"`         // entries of the first query that were no usable resource
	Tried       int            `json:"tried"`        // how often the request that comes next was tried
	Segments    []segment      `json:"segments"`     // in order
	Digest      []byte         `json:"digest"`       // of the segments, see newDigest
	Renderings  []*rendering   `json:"renderings"`
	Round       int            `json:"round"`       // how often what is put off has been tried again
	Oversize    int            `json:"oversize"`    // documents that were too large
	Down        bool           `json:"down"`        // the server has answered nothing of late
	Patients    []string       `json:"patients"`    // ids by which the server knows the patient
	Identifiers []uint64       `json:"identifiers"` // marks of the patient's business identifiers
	ByURL       bool           `json:"by_url"`      // a Questionnaire can be searched by its URL
	Own         string         `json:"own"`         // address by which the server knows itself, see fhir.Base
	Settled     bool           `json:"settled"`     // whether a search has told it, or none will
	Unsure      unsure         `json:"unsure"`
	Done        int            `json:"done"`   // queries, reads and attachments that have ended
	Counts      map[string]int `json:"counts"` // by the name that a type is counted under
	Accounts    []*account     `json:"accounts"`
	Spent       []string       `json:"spent"` // keys of the checkpoints before this one

	written marks // of what is in the segments, or was found and left out
	noted   marks // of what was found to refer to
	weight  int   // bytes of addresses that this run has begun with or noted
}

// lists are the parts of a checkpoint that can be long.
type lists struct {
	Refs        []reference  `json:"refs,omitempty"`        // to be read
	Binaries    []reference  `json:"binaries,omitempty"`    // to be read after all others
	Attachments []attachment `json:"attachments,omitempty"` // to be read last
	Later       later        `json:"later,omitzero"`
	Written     []byte       `json:"written,omitempty"` // marks, only while it is stored
	Noted       []byte       `json:"noted,omitempty"`   // the same
}

const (
	// maxCheckpoint bounds a checkpoint that is read, in bytes: twice what the bounds of its lists allow.
	maxCheckpoint = 128 << 20
	// chunk is how many elements of a list one document of a checkpoint holds, and chunkBytes how many bytes of marks.
	chunk      = 1000
	chunkBytes = 64 << 10
)

// loadCheckpoint reads a sequence of JSON documents: the checkpoint, and behind it what its lists hold besides, so that neither
// writing nor reading takes more memory than the lists themselves.
func loadCheckpoint(ctx context.Context, files Files, key string) (*checkpoint, error) {
	state := &checkpoint{Counts: map[string]int{}, written: marks{}, noted: marks{}}
	if key == "" {
		return state, nil
	}
	body, err := files.Open(ctx, key)
	if err != nil {
		return nil, fmt.Errorf("open checkpoint: %w", err)
	}
	defer func() { _ = body.Close() }()
	reader := json.NewDecoder(io.LimitReader(body, maxCheckpoint))
	err = reader.Decode(state)
	part := state.lists
	state.lists = lists{}
	for err == nil {
		state.join(part)
		part = lists{}
		err = reader.Decode(&part)
	}
	if !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("decode checkpoint: %w", err)
	}
	for _, r := range slices.Concat(state.Refs, state.Binaries, state.Later.Refs) {
		state.notedBefore(r.name(), len(r.ID))
	}
	for _, a := range slices.Concat(state.Attachments, state.Later.Attachments) {
		state.notedBefore("Binary/"+a.ID, len(a.URL)+len(a.ContentType))
	}
	return state, nil
}

func (c *checkpoint) notedBefore(name string, weight int) {
	c.noted.add(markOf(name))
	c.weight += weight
}

// join adds a part of the lists.
func (c *checkpoint) join(part lists) {
	c.Refs = append(c.Refs, part.Refs...)
	c.Binaries = append(c.Binaries, part.Binaries...)
	c.Attachments = append(c.Attachments, part.Attachments...)
	c.Later.Queries = append(c.Later.Queries, part.Later.Queries...)
	c.Later.Refs = append(c.Later.Refs, part.Later.Refs...)
	c.Later.Attachments = append(c.Later.Attachments, part.Later.Attachments...)
	c.written.unpack(part.Written)
	c.noted.unpack(part.Noted)
}

// parts cuts the lists into what one document holds each.
func (c *checkpoint) parts() []iter.Seq[lists] {
	return []iter.Seq[lists]{
		each(slices.Chunk(c.Refs, chunk), func(part []reference) lists { return lists{Refs: part} }),
		each(slices.Chunk(c.Binaries, chunk), func(part []reference) lists { return lists{Binaries: part} }),
		each(slices.Chunk(c.Later.Refs, chunk), func(part []reference) lists { return lists{Later: later{Refs: part}} }),
		each(slices.Chunk(c.Attachments, chunk), func(part []attachment) lists { return lists{Attachments: part} }),
		each(slices.Chunk(c.Later.Attachments, chunk), func(part []attachment) lists { return lists{Later: later{Attachments: part}} }),
		each(c.written.pack(chunkBytes), func(part []byte) lists { return lists{Written: part} }),
		each(c.noted.pack(chunkBytes), func(part []byte) lists { return lists{Noted: part} }),
	}
}

func each[T any](parts iter.Seq[T], as func(T) lists) iter.Seq[lists] {
	return func(yield func(lists) bool) {
		for part := range parts {
			if !yield(as(part)) {
				return
			}
		}
	}
}

func (c *checkpoint) save(ctx context.Context, files Files, key string) error {
	w, err := files.Create(ctx, key, "application/json")
	if err != nil {
		return fmt.Errorf("create checkpoint: %w", err)
	}
	if err := c.encode(w); err != nil {
		w.Abort(ctx)
		return err
	}
	if err := w.Close(ctx); err != nil {
		return fmt.Errorf("close checkpoint: %w", err)
	}
	return nil
}

// encode writes what loadCheckpoint reads.
func (c *checkpoint) encode(w io.Writer) error {
	short := *c
	short.lists = lists{Later: later{Queries: c.Later.Queries}}
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	if err := out.Encode(short); err != nil {
		return fmt.Errorf("encode checkpoint: %w", err)
	}
	for _, parts := range c.parts() {
		for part := range parts {
			if err := out.Encode(part); err != nil {
				return fmt.Errorf("encode checkpoint: %w", err)
			}
		}
	}
	return nil
}

// restart forgets how far the first query has come.
func (c *checkpoint) restart() {
	c.Next, c.Pages, c.Links, c.Lost, c.Hits = "", 0, nil, 0, 0
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
