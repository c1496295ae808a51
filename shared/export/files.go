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
	SHA256      string // hex
}

// FileSummary is what is told of a file besides its link.
type FileSummary struct {
	Name       string `json:"file_name"`
	ExportType Format `json:"export_type"`
	Bytes      int64  `json:"bytes"`
	SHA256     string `json:"sha256"`
}

// Summaries describe the task's files, in the order of their links.
func (t Task) Summaries() []FileSummary {
	list := make([]FileSummary, 0, len(t.Files))
	for _, f := range t.Files {
		list = append(list, FileSummary{Name: f.Name, ExportType: f.Format, Bytes: f.Bytes, SHA256: f.SHA256})
	}
	return list
}

// Files keeps objects. A Writer's object exists once Close has returned nil, and never after Abort.
type Files interface {
	Create(ctx context.Context, key, contentType string) (Writer, error)
	Open(ctx context.Context, key string) (io.ReadCloser, error)
	// Compose makes one object of others, in their order.
	Compose(ctx context.Context, key, contentType string, parts []string) error
	Delete(ctx context.Context, key string) error
}

// Writer writes one object in bounded memory.
type Writer interface {
	io.Writer
	// Mark remembers the place after the last byte written; Rewind takes back what was written since.
	Mark()
	Rewind(ctx context.Context) error
	Close(ctx context.Context) error
	Abort(ctx context.Context)
}

// objectGrace is how long after its task has failed a run may still be at work and write: longer
// than a function may run.
const objectGrace = 20 * time.Minute

// SegmentKey names the object with what the task's present run collects. Every object that a run writes is named after
// its generation, so that no run touches another's; parts of other formats are named after their segment.
func (t Task) SegmentKey() string { return t.generationKey("segment", ".ndjson") }

// CheckpointKey names the object with where the present run has stopped.
func (t Task) CheckpointKey() string { return t.generationKey("checkpoint", ".json") }

// FileKey names the file that is made of all segments.
func (t Task) FileKey(f Format) string { return t.generationKey("export", f.Suffix()) }

// PartKey names a segment's part of a file of another format.
func PartKey(segmentKey string, f Format) string { return segmentKey + f.Suffix() }

func (t Task) generationKey(name, suffix string) string {
	return t.objectKey(name + "-" + strconv.FormatInt(t.Generation, 10) + suffix)
}

// objectKey names an object of the task. The tenant stands in front, so that access can be granted
// and data deleted by prefix.
func (t Task) objectKey(name string) string {
	return string(t.Tenant.Mode) + "/" + t.Tenant.OrgID + "/" + t.ID + "/" + name
}

// Objects are the keys of all that the task's runs can have left in the bucket, its files among them.
func (t Task) Objects() []string {
	var keys []string
	for _, f := range t.Files {
		keys = append(keys, f.Key)
	}
	for run := t; run.Generation > 0; run.Generation-- {
		keys = append(keys, run.SegmentKey(), run.CheckpointKey(), run.FileKey(JSONLines))
		for _, f := range t.Options.Formats {
			keys = append(keys, run.FileKey(f), PartKey(run.SegmentKey(), f))
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}
