// Package checkpoint represents an export's progress as data. The state includes queued queries, references and
// attachments, the resources already written, facts learned about the server, and recorded failures. The package saves
// the state between runs and enforces the limits in docs/develop/architecture.md ("Bounds"), but sends no requests.
package checkpoint

import (
	"recordbridge/shared/export"
	"recordbridge/shared/webhook"
)

// State holds everything that a later run needs to continue an export. A State contains resource ids, so it is stored
// with the files rather than in a database table.
type State struct {
	Server   Server
	Patient  Patient
	Work     Work
	Accounts Accounts
	Output   Output
	Spent    []string // object keys of earlier checkpoints

	seen seen
}

// Server holds known facts about the FHIR server.
type Server struct {
	Planned    bool       `json:"planned"`
	Listed     bool       `json:"listed"`             // whether the server's CapabilityStatement lists resource types
	Version    string     `json:"fhir_version"`       // FHIR version stated by the server; may be empty
	Software   string     `json:"software,omitempty"` // name and version of the server's software; may be empty
	ByURL      bool       `json:"by_url"`             // whether Questionnaires can be searched by URL
	Own        string     `json:"own"`                // server's base URL as used in its links; see fhir.Base
	Resolved   bool       `json:"settled"`            // whether the attempt to determine Own has ended
	Unresolved Unresolved `json:"unsure"`

	Learned Learned `json:"learned,omitzero"`
}

// Patient holds the ids and business identifiers that the patient has on the server.
type Patient struct {
	IDs         []string `json:"patients"`    // ids of the Patient resource and of linked resources for the same person
	Identifiers []uint64 `json:"identifiers"` // hashes of the business identifiers (MarkOf)
}

// AddID records an additional id for the patient, unless the limit on ids has been reached.
func (p *Patient) AddID(id string) {
	if len(p.IDs) < maxKnownAs {
		p.IDs = append(p.IDs, id)
	}
}

// Output describes the data that the export has written so far.
type Output struct {
	Segments   []Segment    `json:"segments"` // segments in file order
	Digest     []byte       `json:"digest"`   // SHA-256 hash state after all segments
	Renderings []*Rendering `json:"renderings"`
}

// Segment is a stored object that contains the part of a file written by one run.
type Segment struct {
	Key   string `json:"key"`
	Bytes int64  `json:"bytes"`
}

// Rendering is the record in a format other than NDJSON. A Rendering has one part per segment. The parts are created
// once all segments exist.
type Rendering struct {
	Format export.Format `json:"format"`
	Parts  []Segment     `json:"parts"`
	Digest []byte        `json:"digest"`
}

// Rendering returns the rendering for a format, creating it if needed.
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

// Replaced returns the keys of objects that become obsolete once the finished files exist.
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

// Progress returns the export's progress in queries, resources and bytes. The bytes argument is the number of bytes
// that no segment contains yet.
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
