// Package checkpoint owns what an export has done and what it has left to do, as data: the queries, references
// and attachments that wait, what is written already, what the server is known by, and the account of what could
// not be read. It saves all that between two runs, and keeps it within the bounds of docs/develop/architecture.md
// ("Bounds"). It asks no server.
package checkpoint

import (
	"recordbridge/shared/export"
	"recordbridge/shared/webhook"
)

// State is all that a later run needs to go on where this one stopped. It holds ids of resources, so it is stored with
// the files, not in a table.
type State struct {
	Server   Server
	Patient  Patient
	Work     Work
	Accounts Accounts
	Output   Output
	Spent    []string // keys of the checkpoints before this one

	seen seen
}

// Server is what is known of the server.
type Server struct {
	Planned  bool   `json:"planned"`      // the plan is made
	Listed   bool   `json:"listed"`       // the server says which types it has
	Version  string `json:"fhir_version"` // as the server states it; empty when it does not
	ByURL    bool   `json:"by_url"`       // a Questionnaire can be searched by its URL
	Own      string `json:"own"`          // address by which the server knows itself, see fhir.Base
	Resolved bool   `json:"settled"`      // whether a search has told it, or none will
	Unsure   Unsure `json:"unsure"`

	Learned Learned `json:"learned,omitzero"`
}

// Patient is by what the server knows the patient.
type Patient struct {
	IDs         []string `json:"patients"`    // of the patient's resource, and of those that it says are the same person's
	Identifiers []uint64 `json:"identifiers"` // marks of the business identifiers
}

// AddID notes another id of the patient, as far as there is room.
func (p *Patient) AddID(id string) {
	if len(p.IDs) < maxKnownAs {
		p.IDs = append(p.IDs, id)
	}
}

// Output is what has been written.
type Output struct {
	Segments   []Segment    `json:"segments"` // in order
	Digest     []byte       `json:"digest"`   // state of the SHA-256 of the segments
	Renderings []*Rendering `json:"renderings"`
}

// Segment is one object with a run's share of a file.
type Segment struct {
	Key   string `json:"key"`
	Bytes int64  `json:"bytes"`
}

// Rendering is the record in another format than JSON lines: one part for each segment, made
// after all of them are there.
type Rendering struct {
	Format export.Format `json:"format"`
	Parts  []Segment     `json:"parts"`
	Digest []byte        `json:"digest"`
}

// Rendering finds the rendering of a format, or begins it.
func (o *Output) Rendering(f export.Format) *Rendering {
	for _, made := range o.Renderings {
		if made.Format == f {
			return made
		}
	}
	made := &Rendering{Format: f}
	o.Renderings = append(o.Renderings, made)
	return made
}

// Replaced are the keys of the objects that are of no use once the finished files are there.
func (s *State) Replaced(kept []export.File) []string {
	isKept := map[string]bool{}
	for _, f := range kept {
		isKept[f.Key] = true
	}
	parts := s.Output.Segments
	for _, made := range s.Output.Renderings {
		parts = append(parts, made.Parts...)
	}
	var keys []string
	for _, part := range parts {
		if !isKept[part.Key] {
			keys = append(keys, part.Key)
		}
	}
	return append(keys, s.Spent...)
}

// Progress is how far the export is. bytes are those that are not in a segment yet.
func (s *State) Progress(bytes int64) webhook.Progress {
	p := webhook.Progress{
		QueriesDone: s.Work.Ended, QueriesPlanned: s.Work.Ended + len(s.Work.Queries) + s.Work.waiting() + s.Work.Cached.Left,
		Resources: s.Accounts.Stats().TotalResources, Bytes: bytes,
	}
	for _, segment := range s.Output.Segments {
		p.Bytes += segment.Bytes
	}
	return p
}
