package collect

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"recordbridge/shared/export"
	"recordbridge/shared/export/checkpoint"
	"recordbridge/shared/export/format"
	"recordbridge/shared/export/manifest"
	"recordbridge/shared/export/source"
	"recordbridge/shared/fhir"
	"recordbridge/shared/fhir/plan"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/fault"
)

// delivery creates a task's files from the segments of the complete record, and signs their manifest.
type delivery struct {
	files   export.Files
	task    export.Task
	session *source.Session
	state   *checkpoint.State
	pace    pace
	signing signing
}

// object is an object that the delivery stores: either a body or the parts to join. A single part is already stored.
type object struct {
	key, contentType string
	parts            []string
	body             []byte
}

// all signs the manifest before it stores anything, so that a failure to sign leaves nothing behind.
func (d delivery) all(ctx context.Context) (End, error) {
	if stop, err := d.render(ctx); err != nil || stop.Stops() {
		return End{Result: stop, Task: d.task}, err
	}
	task, set := d.task, d.session.Tokens()
	task.Stats, task.Outcome, task.Progress = d.state.Accounts.Stats(), d.outcome(), d.state.Progress(0)
	task.Scope = export.Scope{Asked: set.AskedScope, Granted: set.Scope}
	var objects []object
	for _, f := range task.Options.Chosen() {
		file, made, err := d.file(task, f)
		if err != nil {
			return End{}, err
		}
		task.Files, objects = append(task.Files, file), append(objects, made)
	}
	signed, made, err := d.manifest(ctx, task)
	if fault.Outage(err) {
		return End{Result: export.AfterOutage(err), Task: d.task}, nil
	}
	if err != nil {
		return End{}, err
	}
	task.Manifest = signed
	for _, o := range append(objects, made) {
		if err := d.store(ctx, o); err != nil {
			return End{}, err
		}
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

// file describes a file, and returns the object to store for it.
func (d delivery) file(task export.Task, f export.Format) (export.File, object, error) {
	switch f {
	case export.JSONLines:
		return d.assemble(f, d.state.Output.Segments, d.state.Output.Digest)
	case export.Report:
		return d.report(task)
	case export.Gzipped, export.OneBundle:
	}
	made := d.state.Output.Rendering(f)
	return d.assemble(f, made.Parts, made.Digest)
}

// assemble describes a file that consists of parts.
func (d delivery) assemble(f export.Format, parts []checkpoint.Segment, digest []byte) (export.File, object, error) {
	file := d.describe(f)
	keys := make([]string, 0, len(parts))
	for _, part := range parts {
		file.Bytes += part.Bytes
		keys = append(keys, part.Key)
	}
	var err error
	if file.SHA256, err = sumOf(digest); err != nil {
		return export.File{}, object{}, err
	}
	file.Key = d.task.FileKey(f)
	if len(keys) == 1 {
		file.Key = keys[0]
	}
	return file, object{key: file.Key, contentType: file.ContentType, parts: keys}, nil
}

// store creates an object, unless it is a single part.
func (d delivery) store(ctx context.Context, o object) error {
	switch {
	case len(o.parts) == 1:
		return nil
	case len(o.parts) > 1:
		if err := d.files.Compose(ctx, o.key, o.contentType, o.parts); err != nil {
			return fmt.Errorf("compose file: %w", err)
		}
		return nil
	}
	out, err := d.files.Create(ctx, o.key, o.contentType)
	if err != nil {
		return fmt.Errorf("create file: %w", err)
	}
	if _, err = out.Write(o.body); err != nil {
		out.Abort(context.WithoutCancel(ctx))
		return fmt.Errorf("write file: %w", err)
	}
	if err = out.Close(ctx); err != nil {
		return fmt.Errorf("close file: %w", err)
	}
	return nil
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

// report describes a task's outcome file, which lists the task's other files.
func (d delivery) report(task export.Task) (export.File, object, error) {
	body, err := json.Marshal(report{
		TaskID: task.ID, OrgConnectionID: task.ConnectionID, FHIRVersion: d.state.Server.Version, Scope: task.Scope,
		Options: task.Options, Stats: task.Stats, Outcome: task.Outcome, Files: task.Summaries(),
		Shortfall: task.Shortfall(),
	})
	if err != nil {
		return export.File{}, object{}, fmt.Errorf("encode outcome: %w", err)
	}
	file, sum := d.describe(export.Report), sha256.Sum256(body)
	file.Key, file.Bytes, file.SHA256 = task.FileKey(export.Report), int64(len(body)), hex.EncodeToString(sum[:])
	return file, object{key: file.Key, contentType: file.ContentType, body: body}, nil
}

// signing holds the keys that sign manifests, and the name of the release that makes them.
type signing struct {
	keys    manifest.Keys
	release string
}

// manifest signs the manifest of a task's files. An error of fault.Outage means that the key couldn't be used.
func (d delivery) manifest(ctx context.Context, task export.Task) (export.Manifest, object, error) {
	server := manifest.Server{FHIRVersion: d.state.Server.Version, Software: d.state.Server.Software}
	if d.session.Tokens().Records != nil {
		server.Network = manifest.TEFCA
	} else {
		server.FHIRBase = d.session.Tokens().FHIRBase
	}
	body, err := manifest.Encode(task, server, d.signing.release, d.pace.schedule.now())
	if err != nil {
		return export.Manifest{}, object{}, err
	}
	signature, err := manifest.Sign(ctx, d.signing.keys, body)
	if err != nil {
		return export.Manifest{}, object{}, err
	}
	key := task.ManifestKey()
	return export.Manifest{Key: key, Signature: signature},
		object{key: key, contentType: export.ManifestType, body: body}, nil
}
