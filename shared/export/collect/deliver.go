package collect

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"recordbridge/shared/export"
	"recordbridge/shared/export/checkpoint"
	"recordbridge/shared/export/format"
	"recordbridge/shared/export/source"
	"recordbridge/shared/fhir"
	"recordbridge/shared/fhir/plan"
	"recordbridge/shared/webhook"
)

// delivery creates a task's files from the segments of the complete record.
type delivery struct {
	files   export.Files
	task    export.Task
	session *source.Session
	state   *checkpoint.State
	pace    pace
}

func (d delivery) all(ctx context.Context) (End, error) {
	if stop, err := d.render(ctx); err != nil || stop.Stops() {
		return End{Result: stop, Task: d.task}, err
	}
	task, set := d.task, d.session.Tokens()
	task.Stats, task.Outcome, task.Progress = d.state.Accounts.Stats(), d.outcome(), d.state.Progress(0)
	task.Scope = export.Scope{Asked: set.AskedScope, Granted: set.Scope}
	for _, f := range task.Options.Chosen() {
		file, err := d.file(ctx, task, f)
		if err != nil {
			return End{}, err
		}
		task.Files = append(task.Files, file)
	}
	return End{Task: task, Replaced: d.state.Replaced(task.Files)}, nil
}

// render creates the missing parts of the export's other requested formats.
func (d delivery) render(ctx context.Context) (export.Result, error) {
	for _, f := range d.task.Options.Chosen() {
		if f != export.Gzipped && f != export.OneBundle {
			continue
		}
		made := d.state.Output.Rendering(f)
		for len(made.Parts) < len(d.state.Output.Segments) {
			if stop := d.pace.isDue(); stop.Stops() {
				return stop, nil
			}
			if err := d.renderPart(ctx, made); err != nil {
				return export.Result{}, err
			}
		}
	}
	return export.Result{}, nil
}

// renderPart renders the first segment that has no part yet. A segment is always rendered the same way, so part names
// need not depend on the run.
func (d delivery) renderPart(ctx context.Context, made *checkpoint.Rendering) error {
	at, segments := len(made.Parts), d.state.Output.Segments
	body, err := d.files.Open(ctx, segments[at].Key)
	if err != nil {
		return fmt.Errorf("open segment: %w", err)
	}
	defer func() { _ = body.Close() }()
	out, err := newSegment(
		ctx, d.files, export.PartKey(segments[at].Key, made.Format), d.contentType(made.Format), made.Digest,
	)
	if err != nil {
		return err
	}
	if err = d.convert(out, body, made.Format, format.Part{First: at == 0, Last: at == len(segments)-1}); err != nil {
		out.abort(ctx)
		return err
	}
	part, digest, err := out.close(ctx)
	if err != nil {
		return err
	}
	made.Parts, made.Digest = append(made.Parts, part), digest
	return nil
}

func (d delivery) convert(dst io.Writer, src io.Reader, f export.Format, part format.Part) error {
	if f == export.Gzipped {
		return format.Gzip(dst, src)
	}
	return format.Bundle(dst, src, d.session.Tokens().FHIRBase, part)
}

// outcome lists the outcome of each requested or found type, in plan order. The remaining types of the patient
// compartment follow, to show that they were not requested.
func (d delivery) outcome() []export.TypeOutcome {
	list := d.state.Accounts.Outcome()
	if d.session.Tokens().Records != nil { // an export of a cached record requests every type
		return list
	}
	told := map[string]bool{"Patient": true}
	for _, o := range list {
		told[o.Type] = true
	}
	for _, resourceType := range slices.Concat(plan.Compartment(d.state.Server.Version), d.task.Options.Types) {
		if told[resourceType] || !d.task.Options.Wants(resourceType) || !plan.Searched(resourceType) {
			continue
		}
		told[resourceType] = true
		unasked := export.TypeOutcome{Type: resourceType, Result: export.OutcomeUnsupported, Reason: export.LossUnsupported}
		if !d.state.Server.Listed && !d.session.Allows(resourceType, fhir.Search) {
			unasked.Result, unasked.Reason = export.OutcomeDenied, d.session.Withheld(resourceType, fhir.Search)
		}
		list = append(list, unasked)
	}
	return list
}

func (d delivery) file(ctx context.Context, task export.Task, f export.Format) (export.File, error) {
	switch f {
	case export.JSONLines:
		return d.assemble(ctx, f, d.state.Output.Segments, d.state.Output.Digest)
	case export.Report:
		return d.writeReport(ctx, task)
	case export.Gzipped, export.OneBundle:
	}
	made := d.state.Output.Rendering(f)
	return d.assemble(ctx, f, made.Parts, made.Digest)
}

// assemble joins a file's parts and returns a description of the file.
func (d delivery) assemble(ctx context.Context, f export.Format, parts []checkpoint.Segment,
	digest []byte,
) (export.File, error) {
	file := d.describe(f)
	keys := make([]string, 0, len(parts))
	for _, part := range parts {
		file.Bytes += part.Bytes
		keys = append(keys, part.Key)
	}
	var err error
	if file.SHA256, err = sumOf(digest); err != nil {
		return export.File{}, err
	}
	if len(keys) == 1 {
		file.Key = keys[0]
		return file, nil
	}
	file.Key = d.task.FileKey(f)
	if err := d.files.Compose(ctx, file.Key, file.ContentType, keys); err != nil {
		return export.File{}, fmt.Errorf("compose file: %w", err)
	}
	return file, nil
}

func (d delivery) describe(f export.Format) export.File {
	return export.File{Format: f, ContentType: d.contentType(f), Name: d.task.ID + f.Suffix()}
}

func (d delivery) contentType(f export.Format) string {
	return f.ContentType(d.state.Server.Version)
}

type report struct {
	TaskID            string               `json:"task_id"`
	OrgConnectionID   string               `json:"org_connection_id"`
	FHIRVersion       string               `json:"fhir_version,omitempty"`
	Scope             export.Scope         `json:"scope"`
	Options           export.Options       `json:"options"`
	Stats             webhook.Stats        `json:"stats"`
	Outcome           []export.TypeOutcome `json:"outcome"`
	Files             []export.FileSummary `json:"files"`
	webhook.Shortfall                      //nolint:embeddedstructfieldcheck // members are written in this order
}

// writeReport writes a task's outcome file after its other files.
func (d delivery) writeReport(ctx context.Context, task export.Task) (export.File, error) {
	body, err := json.Marshal(report{
		TaskID: task.ID, OrgConnectionID: task.ConnectionID, FHIRVersion: d.state.Server.Version, Scope: task.Scope,
		Options: task.Options, Stats: task.Stats, Outcome: task.Outcome, Files: task.Summaries(),
		Shortfall: task.Shortfall(),
	})
	if err != nil {
		return export.File{}, fmt.Errorf("encode outcome: %w", err)
	}
	file := d.describe(export.Report)
	out, err := newSegment(ctx, d.files, task.FileKey(export.Report), file.ContentType, nil)
	if err != nil {
		return export.File{}, err
	}
	if _, err = out.Write(body); err != nil {
		out.abort(ctx)
		return export.File{}, err
	}
	made, digest, err := out.close(ctx)
	if err != nil {
		return export.File{}, err
	}
	file.Key, file.Bytes = made.Key, made.Bytes
	file.SHA256, err = sumOf(digest)
	return file, err
}
