// Package corpus provides the scripts that compare the embedded AWS with other servers. A script lists requests and
// their expected responses. Each script tests a single service and creates the resources that it needs under unique
// names. Scripts check only behaviour that AWS guarantees, such as error codes and response fields, and not the wording
// of messages. Package corpus parses and expands scripts and compares responses; package replay runs scripts.
//
// Scripts are stored in scripts/<service>/<file>.yaml. A file is a mapping:
//
//	fixtures:                  # named steps that scripts can include
//	  table: [<step>, ...]
//	scripts:
//	  - name: a put without its sort key is refused
//	    with: [table]          # fixtures, run first, in this order
//	    steps: [<step>, ...]
//
// A step either waits ({wait: 2s}) or makes a call and checks the response; see Step.
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

// Script is a sequence of steps that tests a single behaviour.
type Script struct {
	ID      string // <service>/<file>/<name>
	Service string // "dynamodb", "sqs", "s3", "kms", "secretsmanager", "ssm" or "ses"
	Steps   []Step // the fixtures' steps, followed by the script's
}

// Step is a call or a wait. In a step's strings, ${id} expands to a name that is unique to this run of the script. A
// variable ${x} expands to the value that an earlier step saved as x.
type Step struct {
	Wait time.Duration `yaml:"wait"` // duration to wait; if set, the step makes no call

	// Call is the name of an operation, such as "PutItem". For S3, Call is an HTTP method and a URL path ("PUT
	// /${id}/key?partNumber=1").
	Call string `yaml:"call"`
	// In is a JSON service's request body, or the form parameters for SES. Generators build large values: {$repeat:
	// 1024, of: ab} builds a long string, and {$list: 101, of: <anything, with ${n}>} builds a long list.
	In any `yaml:"in"`
	// Prepares marks a setup call that only some servers support or require. The call may succeed or fail; its status
	// and error code are ignored.
	Prepares bool `yaml:"prepares"`
	// Each lists the strings for which the step is repeated; each one replaces ${each} in the step.
	Each []string `yaml:"each"`
	// Headers holds an S3 request's headers, in which ${md5} expands to the body's Content-MD5. Body is the body of an
	// S3 request. For a JSON service, Body replaces In and is sent without JSON encoding. Body may be {$repeat: ...} or
	// {$join: [<texts and $repeats>]}.
	Headers map[string]string `yaml:"headers"`
	Body    any               `yaml:"body"`
	Sign    Sign              `yaml:"sign"`

	// Fails is the expected error code without its namespace. If neither Fails nor Status is set, the call must
	// succeed. Status is the expected HTTP status, if set.
	Fails  string `yaml:"fails"`
	Status int    `yaml:"status"`
	// Response is the expected part of the response. Mappings in the actual response may have additional members. Lists
	// must match completely and in order. An XML response is a mapping of the root element's children. Special strings:
	// <any>, <absent>, <number>, <text>, <re:REGEXP>. Special mappings: {$set: [...]} matches a list in any order,
	// {$has: [...]} matches a list that contains these elements, and {$count: 3} matches a list of that length.
	Response any `yaml:"gives"`
	// Answers holds the expected response headers. The special strings of Response are valid as header values.
	Answers map[string]string `yaml:"answers"`
	// Text is the expected response body, compared as text. Text may also be a generator of the form {$repeat: ...}.
	Text any `yaml:"text"`
	// Save maps variable names to paths in the response, such as "Messages.0.ReceiptHandle" or "header ETag". Later
	// steps can use the variables.
	Save map[string]string `yaml:"save"`
}

// Sign controls how a request is signed. The zero value produces a valid signature in the Authorization header.
type Sign struct {
	// How selects the kind of signature: "" for a header, "url" for a presigned URL, or "none" for an unsigned request.
	How     string        `yaml:"how"`
	Expires time.Duration `yaml:"expires"` // lifetime of the presigned URL; defaults to 15 minutes
	Ago     time.Duration `yaml:"ago"`     // age of the signature at the time of the call
	Secret  string        `yaml:"secret"`  // "wrong" selects an incorrect secret key
	// Tamper is the part of the request to change after signing: "path", "query", "body", "header", "type" or "method".
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

// Load reads every script in fsys and returns the scripts sorted by ID. Errors in a script include its file name.
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
	return s.Fails != "" || s.Status != 0 || s.Response != nil || s.Answers != nil || s.Text != nil
}
