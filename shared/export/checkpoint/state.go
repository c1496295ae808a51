// Package checkpoint owns the progress of an export as data: the queries, references and attachments that wait, the
// resources already written, the facts learned about the server, and the account of what could not be read. It saves
// that state between two runs and keeps it within the bounds of docs/develop/architecture.md ("Bounds"). It sends no
// requests.
package checkpoint

import (
	"recordbridge/shared/export"
	"recordbridge/shared/webhook"
)

// State holds everything that a later run needs to continue an export. It contains resource ids, so it is stored with
// the files and not in a table.
type State struct {
	Server   Server
	Patient  Patient
	Work     Work
	Accounts Accounts
	Output   Output
	Spent    []string // keys of the checkpoints before this one

	seen seen
}

// Server holds the facts known about the server.
type Server struct {
	Planned    bool       `json:"planned"`      // the plan is complete
	Listed     bool       `json:"listed"`       // the server lists its types
	Version    string     `json:"fhir_version"` // as the server states it; empty if it does not
	ByURL      bool       `json:"by_url"`       // a Questionnaire can be searched by its URL
	Own        string     `json:"own"`          // the server's own base URL in its links, see fhir.Base
	Resolved   bool       `json:"settled"`      // whether a search has revealed it, or none will
	Unresolved Unresolved `json:"unsure"`

	Learned Learned `json:"learned,omitzero"`
}

// Patient holds the ids and identifiers by which the server knows the patient.
type Patient struct {
	IDs         []string `json:"patients"`    // ids of the Patient resource and of those linked as the same person
	Identifiers []uint64 `json:"identifiers"` // marks of the business identifiers
}

// AddID records another id of the patient, as far as there is room.
func (p *Patient) AddID(id string) {
	if len(p.IDs) < maxKnownAs {
		p.IDs = append(p.IDs, id)
	}
}

// Output describes the data written so far.
type Output struct {
	Segments   []Segment    `json:"segments"` // in order
	Digest     []byte       `json:"digest"`   // state of the SHA-256 of the segments
	Renderings []*Rendering `json:"renderings"`
}

// Segment is one object with a run's part of a file.
type Segment struct {
	Key   string `json:"key"`
	Bytes int64  `json:"bytes"`
}

// Rendering is the record in a format other than JSON lines: one part for each segment, created after all segments
// exist.
type Rendering struct {
	Format export.Format `json:"format"`
	Parts  []Segment     `json:"parts"`
	Digest []byte        `json:"digest"`
}

// Rendering returns the rendering of a format and creates it if needed.
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

// Replaced returns the keys of the objects that are obsolete once the finished files exist.
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

// Progress returns the export's progress. bytes counts the data that is not yet in a segment.
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
