// Package corpus owns the scripts with which the embedded AWS and other servers are compared: requests and what has to
// come back, as data. A script belongs to one service, makes what it needs under names of its own, and says only what
// AWS promises: error codes and members, not the words of messages. This package reads and expands scripts and compares
// answers; package replay performs them.
//
// Scripts lie in scripts/<service>/<file>.yaml. A file is a mapping:
//
//	fixtures:                  # steps that scripts can ask for by name
//	  table: [<step>, ...]
//	scripts:
//	  - name: a put without its sort key is refused
//	    with: [table]          # fixtures, performed first and in this order
//	    steps: [<step>, ...]
//
// A step either waits ({wait: 2s}) or makes a call and says what comes back; see Step.
package corpus

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// Script is one comparison.
type Script struct {
	ID      string // <service>/<file>/<name>
	Service string // "dynamodb", "sqs", "s3", "kms", "secretsmanager", "ssm", "ses"
	Steps   []Step // those of its fixtures first
}

// Step is one call, or a wait. In its strings ${id} stands for a name that only this run of the script uses, and ${x}
// for what an earlier step saved as x.
type Step struct {
	Wait time.Duration `yaml:"wait"` // nothing else is set then

	// Call is the operation ("PutItem"); for S3 it is method and address ("PUT /${id}/key?partNumber=1").
	Call string `yaml:"call"`
	// In is the request of a JSON service, or the form of SES. Generators: {$repeat: 1024, of: ab} is a long text,
	// {$list: 101, of: <anything, with ${n}>} a long list.
	In any `yaml:"in"`
	// Prepares marks a call that only some servers need and others do not have: its outcome does not count.
	Prepares bool `yaml:"prepares"`
	// Each has the step performed once for each text, which ${each} stands for in it.
	Each []string `yaml:"each"`
	// Headers are S3's. Body is S3's, too, and of a JSON service a body that is sent as it is, instead of In; it may be
	// {$repeat: ...} or {$join: [<texts and $repeats>]}. In a header, ${md5} is what Content-MD5 has to say of the body.
	Headers map[string]string `yaml:"headers"`
	Body    any               `yaml:"body"`
	Sign    Sign              `yaml:"sign"`

	// Fails is the error code, without namespace; empty means that the call succeeds. Status is checked when set.
	Fails  string `yaml:"fails"`
	Status int    `yaml:"status"`
	// Gives is the part of the answer that has to be there: members of mappings that are not named may be anything, lists
	// are complete and in order. XML answers are mappings of their root's children. Special texts: <any>, <absent>,
	// <number>, <text>, <re:REGEXP>; special mappings: {$set: [...]} for a list in any order, {$has: [...]} for some of
	// its elements, {$count: 3}.
	Gives any `yaml:"gives"`
	// Answers are headers of the answer, with the special texts of Gives.
	Answers map[string]string `yaml:"answers"`
	// Text is the whole body of the answer; it may be {$repeat: ...}.
	Text any `yaml:"text"`
	// Save keeps parts of the answer: variable to path ("Messages.0.ReceiptHandle", or "header ETag").
	Save map[string]string `yaml:"save"`
}

// Sign is how a request is signed. The zero value signs properly, in the Authorization header.
type Sign struct {
	// How is "" for the header, "url" for a presigned URL, "none" for no signature.
	How     string        `yaml:"how"`
	Expires time.Duration `yaml:"expires"` // of a presigned URL; 0 is 15 minutes
	Ago     time.Duration `yaml:"ago"`     // how long before the call it was signed
	Secret  string        `yaml:"secret"`  // "wrong" signs with another secret
	// Tamper changes the request after it has been signed: "path", "query", "body", "header", "type", "method".
	Tamper string `yaml:"tamper"`
}

type file struct {
	Fixtures map[string][]Step `yaml:"fixtures"`
	Scripts  []struct {
		Name  string   `yaml:"name"`
		With  []string `yaml:"with"`
		Steps []Step   `yaml:"steps"`
	} `yaml:"scripts"`
}

// Load reads every script below fsys, in the order of their ids. A mistake in a file is an error that names it.
func Load(fsys fs.FS) ([]Script, error) {
	names, err := fs.Glob(fsys, "*/*.yaml")
	if err != nil {
		return nil, fmt.Errorf("list the scripts: %w", err)
	}
	var all []Script
	for _, name := range names {
		scripts, err := loadFile(fsys, name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, scripts...)
	}
	slices.SortFunc(all, func(a, b Script) int { return strings.Compare(a.ID, b.ID) })
	for i := 1; i < len(all); i++ {
		if all[i].ID == all[i-1].ID {
			return nil, fmt.Errorf("two scripts are called %q", all[i].ID)
		}
	}
	return all, nil
}

func loadFile(fsys fs.FS, name string) ([]Script, error) {
	text, err := fs.ReadFile(fsys, name)
	if err != nil {
		return nil, fmt.Errorf("read: %w", err)
	}
	decoder := yaml.NewDecoder(strings.NewReader(string(text)))
	decoder.KnownFields(true)
	var f file
	if err := decoder.Decode(&f); err != nil {
		return nil, fmt.Errorf("parse: %w", err)
	}
	service := path.Dir(name)
	scripts := make([]Script, 0, len(f.Scripts))
	for _, s := range f.Scripts {
		script := Script{ID: service + "/" + strings.TrimSuffix(path.Base(name), ".yaml") + "/" + s.Name, Service: service}
		for _, fixture := range s.With {
			steps, ok := f.Fixtures[fixture]
			if !ok {
				return nil, fmt.Errorf("%q wants the fixture %q, which is not there", s.Name, fixture)
			}
			script.Steps = append(script.Steps, steps...)
		}
		script.Steps = append(script.Steps, s.Steps...)
		if err := script.check(); err != nil {
			return nil, fmt.Errorf("%q: %w", s.Name, err)
		}
		scripts = append(scripts, script)
	}
	return scripts, nil
}

func (s Script) check() error {
	if strings.HasSuffix(s.ID, "/") || strings.ContainsAny(s.ID, "|`*") || len(s.Steps) == 0 {
		return errors.New("a script has a name without | ` and *, and at least one step")
	}
	asserts := false
	for i, step := range s.Steps {
		if (step.Wait > 0) == (step.Call != "") {
			return fmt.Errorf("step %d is either a wait or a call", i+1)
		}
		if step.Each != nil && len(step.Each) == 0 {
			return fmt.Errorf("step %d is performed for nothing", i+1)
		}
		asserts = asserts || step.asserts()
	}
	if !asserts {
		return errors.New("it expects nothing")
	}
	return nil
}

func (s Step) asserts() bool {
	return s.Fails != "" || s.Status != 0 || s.Gives != nil || s.Answers != nil || s.Text != nil
}
