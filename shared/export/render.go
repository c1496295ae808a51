package export

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"

	"recordbridge/shared/export/format"
	"recordbridge/shared/webhook"
)

// rendering is the record in another format than JSON lines: one part for each segment, made after all of them are there.
type rendering struct {
	Format Format    `json:"format"`
	Parts  []segment `json:"parts"`
	Digest []byte    `json:"digest"`
}

// render makes what is missing of the other formats that were asked for.
func (c *collector) render(ctx context.Context) error {
	for _, f := range c.task.Options.chosen() {
		if f != Gzipped && f != OneBundle {
			continue
		}
		made := c.state.rendering(f)
		for len(made.Parts) < len(c.state.Segments) {
			if err := c.checkTime(); err != nil {
				return err
			}
			if err := c.renderPart(ctx, made); err != nil {
				return err
			}
		}
	}
	return nil
}

// rendering finds the rendering of a format, or begins it.
func (c *checkpoint) rendering(f Format) *rendering {
	for _, made := range c.Renderings {
		if made.Format == f {
			return made
		}
	}
	made := &rendering{Format: f}
	c.Renderings = append(c.Renderings, made)
	return made
}

// renderPart makes the part of the first segment that has none. Parts of the same segment have the same bytes, whoever
// makes them, so that they need no names of their own.
func (c *collector) renderPart(ctx context.Context, made *rendering) error {
	at := len(made.Parts)
	source := c.state.Segments[at]
	body, err := c.worker.Files.Open(ctx, source.Key)
	if err != nil {
		return fmt.Errorf("open segment: %w", err)
	}
	defer func() { _ = body.Close() }()
	key := source.Key + made.Format.suffix()
	digest, err := newDigest(made.Digest)
	if err != nil {
		return err
	}
	out, err := c.worker.Files.Create(ctx, key, made.Format.contentType(c.state.Version))
	if err != nil {
		return fmt.Errorf("create part: %w", err)
	}
	counted := &tally{Writer: out, digest: digest}
	if err = c.convert(counted, body, made.Format, format.Part{First: at == 0, Last: at == len(c.state.Segments)-1}); err != nil {
		out.Abort(context.WithoutCancel(ctx))
		return err
	}
	if err = out.Close(ctx); err != nil {
		return fmt.Errorf("close part: %w", err)
	}
	if made.Digest, err = counted.digest.state(); err != nil {
		return err
	}
	made.Parts = append(made.Parts, segment{Key: key, Bytes: counted.bytes})
	return nil
}

func (c *collector) convert(dst io.Writer, src io.Reader, f Format, part format.Part) error {
	if f == Gzipped {
		return format.Gzip(dst, src)
	}
	return format.Bundle(dst, src, c.current.FHIRBase, part)
}

// assemble joins the parts of a file and describes it.
func (c *collector) assemble(ctx context.Context, f Format, parts []segment, state []byte) (File, error) {
	digest, err := newDigest(state)
	if err != nil {
		return File{}, err
	}
	file := c.describe(f)
	file.SHA256 = hex.EncodeToString(digest.Sum(nil))
	keys := make([]string, 0, len(parts))
	for _, part := range parts {
		file.Bytes += part.Bytes
		keys = append(keys, part.Key)
	}
	if len(keys) == 1 {
		file.Key = keys[0]
		return file, nil
	}
	file.Key = fileKey(c.task, f)
	if err := c.worker.Files.Compose(ctx, file.Key, file.ContentType, keys); err != nil {
		return File{}, fmt.Errorf("compose file: %w", err)
	}
	return file, nil
}

func (c *collector) describe(f Format) File {
	return File{Format: f, ContentType: f.contentType(c.state.Version), Name: c.task.ID + f.suffix()}
}

// report is the content of the file with the outcome.
type report struct {
	TaskID            string        `json:"task_id"`
	OrgConnectionID   string        `json:"org_connection_id"`
	FHIRVersion       string        `json:"fhir_version,omitempty"`
	Scope             Scope         `json:"scope"`
	Options           Options       `json:"options"`
	Stats             webhook.Stats `json:"stats"`
	Outcome           []TypeOutcome `json:"outcome"`
	Files             []FileSummary `json:"files"`
	webhook.Shortfall               //nolint:embeddedstructfieldcheck // members are written in this order
}

// writeReport writes the file with the outcome of a task whose other files are there.
func (c *collector) writeReport(ctx context.Context, task Task) (File, error) {
	body, err := json.Marshal(report{
		TaskID: task.ID, OrgConnectionID: task.ConnectionID, FHIRVersion: c.state.Version, Scope: task.Scope,
		Options: task.Options, Stats: task.Stats, Outcome: task.Outcome, Files: task.Summaries(),
		Shortfall: task.Shortfall(),
	})
	if err != nil {
		return File{}, fmt.Errorf("encode outcome: %w", err)
	}
	file := c.describe(Report)
	file.Key = fileKey(task, Report)
	out, err := c.worker.Files.Create(ctx, file.Key, file.ContentType)
	if err != nil {
		return File{}, fmt.Errorf("create outcome: %w", err)
	}
	digest, err := newDigest(nil)
	if err != nil {
		return File{}, err
	}
	counted := &tally{Writer: out, digest: digest}
	if _, err := counted.Write(body); err != nil {
		out.Abort(context.WithoutCancel(ctx))
		return File{}, err
	}
	if err := out.Close(ctx); err != nil {
		return File{}, fmt.Errorf("close outcome: %w", err)
	}
	file.Bytes, file.SHA256 = counted.bytes, hex.EncodeToString(counted.digest.Sum(nil))
	return file, nil
}
