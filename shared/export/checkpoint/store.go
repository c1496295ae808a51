package checkpoint

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"recordbridge/shared/export"
)

// document is a JSON document in a stored State. The first document of a checkpoint holds everything except the lists.
// Each subsequent document holds a chunk of one list.
type document struct {
	lists
	*Server
	*Patient
	*Work
	*Accounts
	*Output

	Spent []string `json:"spent"`
}

// lists holds the parts of a State that can grow large.
type lists struct {
	Refs        []Reference  `json:"refs,omitempty"`
	Binaries    []Reference  `json:"binaries,omitempty"`
	Attachments []Attachment `json:"attachments,omitempty"`
	Deferred    Deferred     `json:"later,omitzero"`
	Written     []byte       `json:"written,omitempty"` // packed marks
	Noted       []byte       `json:"noted,omitempty"`   // packed marks
}

const (
	// maxStored limits how many bytes Load reads. The limit is twice the largest size that the bounds on the lists
	// permit.
	maxStored = 128 << 20
	// chunk is the number of list elements in each document, and chunkBytes is the number of bytes of hashes in each
	// document.
	chunk      = 1000
	chunkBytes = 64 << 10
)

func (s *State) document() document {
	return document{
		Server: &s.Server, Patient: &s.Patient, Work: &s.Work, Accounts: &s.Accounts, Output: &s.Output,
		Spent: s.Spent,
	}
}

// Load reads the State stored under key, or returns the state of a new export if key is empty. The object is a sequence
// of JSON documents, so reading or writing a State needs little memory beyond the State's lists.
func Load(ctx context.Context, files export.Files, key string) (*State, error) {
	state := &State{Accounts: Accounts{Counts: map[string]int{}}, seen: seen{written: marks{}, noted: marks{}}}
	if key == "" {
		return state, nil
	}
	body, err := files.Open(ctx, key)
	if err != nil {
		return nil, fmt.Errorf("open checkpoint: %w", err)
	}
	defer func() { _ = body.Close() }()
	reader := json.NewDecoder(io.LimitReader(body, maxStored))
	first := state.document()
	err = reader.Decode(&first)
	state.Spent = first.Spent
	state.Spent = append(state.Spent, key)
	part := first.lists
	for err == nil {
		state.join(part)
		part = lists{}
		err = reader.Decode(&part)
	}
	if !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("decode checkpoint: %w", err)
	}
	for _, list := range [][]Reference{state.Work.Refs, state.Work.Binaries, state.Work.Deferred.Refs} {
		for _, r := range list {
			state.seen.note(r.Name(), len(r.ID))
		}
	}
	for _, list := range [][]Attachment{state.Work.Attachments, state.Work.Deferred.Attachments} {
		for _, a := range list {
			state.seen.note(a.Name(), len(a.URL)+len(a.ContentType))
		}
	}
	return state, nil
}

func (s *State) join(part lists) {
	w := &s.Work
	w.Refs = append(w.Refs, part.Refs...)
	w.Binaries = append(w.Binaries, part.Binaries...)
	w.Attachments = append(w.Attachments, part.Attachments...)
	w.Deferred.Queries = append(w.Deferred.Queries, part.Deferred.Queries...)
	w.Deferred.Refs = append(w.Deferred.Refs, part.Deferred.Refs...)
	w.Deferred.Attachments = append(w.Deferred.Attachments, part.Deferred.Attachments...)
	s.seen.written.unpack(part.Written)
	s.seen.noted.unpack(part.Noted)
}

// Save stores the State under key, in the format that Load reads.
func (s *State) Save(ctx context.Context, files export.Files, key string) error {
	w, err := files.Create(ctx, key, "application/json")
	if err != nil {
		return fmt.Errorf("create checkpoint: %w", err)
	}
	if err := s.encode(w); err != nil {
		w.Abort(ctx)
		return err
	}
	if err := w.Close(ctx); err != nil {
		return fmt.Errorf("close checkpoint: %w", err)
	}
	return nil
}

func (s *State) encode(w io.Writer) error {
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	first := s.document()
	first.lists = lists{Deferred: Deferred{Queries: s.Work.Deferred.Queries}}
	if err := out.Encode(first); err != nil {
		return fmt.Errorf("encode checkpoint: %w", err)
	}
	return s.encodeLists(out)
}

// encodeLists writes the lists as documents, one chunk of a list per document.
func (s *State) encodeLists(out *json.Encoder) (err error) {
	put := func(part lists) {
		if err == nil {
			err = out.Encode(part)
		}
	}
	w := &s.Work
	for part := range slices.Chunk(w.Refs, chunk) {
		put(lists{Refs: part})
	}
	for part := range slices.Chunk(w.Binaries, chunk) {
		put(lists{Binaries: part})
	}
	for part := range slices.Chunk(w.Deferred.Refs, chunk) {
		put(lists{Deferred: Deferred{Refs: part}})
	}
	for part := range slices.Chunk(w.Attachments, chunk) {
		put(lists{Attachments: part})
	}
	for part := range slices.Chunk(w.Deferred.Attachments, chunk) {
		put(lists{Deferred: Deferred{Attachments: part}})
	}
	for part := range s.seen.written.pack(chunkBytes) {
		put(lists{Written: part})
	}
	for part := range s.seen.noted.pack(chunkBytes) {
		put(lists{Noted: part})
	}
	if err != nil {
		return fmt.Errorf("encode checkpoint: %w", err)
	}
	return nil
}
