package export

import (
	"context"
	"io"
	"slices"
	"strconv"
	"time"
)

// File is a finished export file.
type File struct {
	Format      Format
	ContentType string
	Name        string // last segment of the download URL
	Key         string // object key in the exports bucket
	Bytes       int64
	SHA256      string // hex-encoded
}

// FileSummary describes a file without its download link.
type FileSummary struct {
	Name       string `json:"file_name"`
	ExportType Format `json:"export_type"`
	Bytes      int64  `json:"bytes"`
	SHA256     string `json:"sha256"`
}

// Summaries returns summaries of the task's files, in link order.
func (t Task) Summaries() []FileSummary {
	list := make([]FileSummary, 0, len(t.Files))
	for _, f := range t.Files {
		list = append(list, FileSummary{Name: f.Name, ExportType: f.Format, Bytes: f.Bytes, SHA256: f.SHA256})
	}
	return list
}

// Manifest is the stored manifest of a finished export. The zero value means that the export has no manifest, because
// an earlier release finished it.
type Manifest struct {
	Key       string // object key in the exports bucket
	Signature string // detached JWS over the object's bytes
}

// The manifest's file name and MIME type.
const (
	ManifestName = "manifest.json"
	ManifestType = "application/json"
)

// Files stores objects. An object exists only after its Writer's Close method has returned nil. An aborted object is
// never created.
type Files interface {
	Create(ctx context.Context, key, contentType string) (Writer, error)
	Open(ctx context.Context, key string) (io.ReadCloser, error)
	// Compose joins existing objects into one object, in the given order.
	Compose(ctx context.Context, key, contentType string, parts []string) error
	Delete(ctx context.Context, key string) error
}

// Writer writes one object, using bounded memory.
type Writer interface {
	io.Writer
	// Mark records the current end of the object. Rewind discards everything written since the last Mark.
	Mark()
	Rewind(ctx context.Context) error
	Close(ctx context.Context) error
	Abort(ctx context.Context)
}

// objectGrace is the period for which a run may continue writing after its task has failed. This period exceeds the
// maximum duration of a function invocation.
const objectGrace = 20 * time.Minute

// SegmentKey returns the object key for data collected by the task's current run. Every object key contains the run's
// generation, so a run never overwrites another run's objects. Parts in other formats are named after their segment.
func (t Task) SegmentKey() string { return t.generationKey("segment", ".ndjson") }

// CheckpointKey returns the key of the current run's checkpoint.
func (t Task) CheckpointKey() string { return t.generationKey("checkpoint", ".json") }

// FileKey returns the key of the file that joins the segments.
func (t Task) FileKey(f Format) string { return t.generationKey("export", f.Suffix()) }

// ManifestKey returns the key of the current run's manifest. Signatures differ each time, so a later run writes another
// object, and the task names the object that its signature belongs to.
func (t Task) ManifestKey() string { return t.generationKey("manifest", ".json") }

// PartKey returns the key of a segment rendered in format f.
func PartKey(segmentKey string, f Format) string { return segmentKey + f.Suffix() }

func (t Task) generationKey(name, suffix string) string {
	return t.objectKey(name + "-" + strconv.FormatInt(t.Generation, 10) + suffix)
}

// objectKey returns the key of an object that belongs to the task. The key begins with the tenant, so access and
// deletion can be scoped by prefix.
func (t Task) objectKey(name string) string {
	return string(t.Tenant.Mode) + "/" + t.Tenant.OrgID + "/" + t.ID + "/" + name
}

// Objects returns the keys of all objects that the task's runs may have written, including the task's files.
func (t Task) Objects() []string {
	var keys []string
	for _, f := range t.Files {
		keys = append(keys, f.Key)
	}
	for run := t; run.Generation > 0; run.Generation-- {
		keys = append(keys, run.SegmentKey(), run.CheckpointKey(), run.FileKey(JSONLines), run.ManifestKey())
		for _, f := range t.Options.Formats {
			keys = append(keys, run.FileKey(f), PartKey(run.SegmentKey(), f))
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}
