// Package corpus holds the scripts that compare the embedded AWS with other servers. A script is data: requests and
// their expected responses. Each script tests a single service and creates all resources that it needs under unique
// names. Scripts check only behaviour that AWS guarantees, such as error codes and members, but not the wording of
// messages. Package corpus parses and expands scripts and compares responses; package replay runs scripts.
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
	Service string // "dynamodb", "sqs", "s3", "kms", "secretsmanager", "ssm", "ses"
	Steps   []Step // the fixtures' steps, then the script's own steps
}

// Step is a call or a wait. In a step's strings, ${id} expands to a name that is unique to this run of the script. ${x}
// expands to the value that an earlier step saved as x.
type Step struct {
	Wait time.Duration `yaml:"wait"` // period to wait; all other fields are then empty

	// Call is the operation ("PutItem"). For S3, Call is the method and URL path ("PUT /${id}/key?partNumber=1").
	Call string `yaml:"call"`
	// In is the request body for a JSON service, or the form parameters for SES. Generators build large values.
	// {$repeat: 1024, of: ab} produces a long string, and {$list: 101, of: <anything, with ${n}>} produces a long list.
	In any `yaml:"in"`
	// Prepares marks a setup call that only some servers support or need. The runner ignores the call's result.
	Prepares bool `yaml:"prepares"`
	// Each lists strings. The step runs once for each string, with ${each} replaced by the string.
	Each []string `yaml:"each"`
	// Headers holds an S3 request's headers. In a header, ${md5} stands for the body's Content-MD5. Body is an S3
	// request's body. For a JSON service, Body is sent unmodified instead of In. Body may be {$repeat: ...} or {$join:
	// [<texts and $repeats>]}.
	Headers map[string]string `yaml:"headers"`
	Body    any               `yaml:"body"`
	Sign    Sign              `yaml:"sign"`

	// Fails is the expected error code without its namespace. If Fails is empty, the call must succeed. Status, if set,
	// is the expected HTTP status.
	Fails  string `yaml:"fails"`
	Status int    `yaml:"status"`
	// Response is the expected part of the response. Mappings in the response may have additional members. Lists must
	// match completely and in order. An XML response is a mapping of the root element's children. Special strings:
	// <any>, <absent>, <number>, <text>, <re:REGEXP>. Special mappings: {$set: [...]} matches a list in any order,
	// {$has: [...]} matches a list that contains these elements, and {$count: 3} matches a list of this length.
	Response any `yaml:"gives"`
	// Answers holds the expected response headers. Header values may use Response's special strings.
	Answers map[string]string `yaml:"answers"`
	// Text is the expected response body, compared as text. Text may be {$repeat: ...}.
	Text any `yaml:"text"`
	// Save stores parts of the response in variables. Save maps each variable's name to a path
	// ("Messages.0.ReceiptHandle" or "header ETag").
	Save map[string]string `yaml:"save"`
}

// Sign controls how a request is signed. The zero value selects a correct signature in the Authorization header.
type Sign struct {
	// How selects the kind of signature: "" for a header, "url" for a presigned URL, or "none" for an unsigned request.
	How     string        `yaml:"how"`
	Expires time.Duration `yaml:"expires"` // presigned URL's lifetime; 0 means 15 minutes
	Ago     time.Duration `yaml:"ago"`     // time between signing and the call
	Secret  string        `yaml:"secret"`  // "wrong" signs with an incorrect secret
	// Tamper names the part of the request that changes after signing: "path", "query", "body", "header", "type" or
	// "method".
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

// Load reads every script in fsys and returns the scripts ordered by ID. Errors name the script's file.
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
