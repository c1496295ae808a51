// Package incident stages incidents, runs the commands of their runbooks as written, and checks that the commands have
// mended the incident.
package incident

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"recordbridge/infra/drill/runbook"
	"recordbridge/infra/drill/scene"
)

// Drill is an incident with its runbook.
type Drill struct {
	Name     string
	Incident string // one sentence for the operator
	Alarm    string // alarm that fires on AWS; empty if a person reports the incident
	// Runbook refers to the sections with the commands, in order, such as docs/operate/runbooks/keys.md#enable-a-key.
	Runbook []string
	// Stage stages the incident, sets the runbook's variables and returns the staged incident.
	Stage func(ctx context.Context, s *scene.Scene) (Staged, error)
}

// Staged is an incident that has happened.
type Staged struct {
	// Told returns the line that reports the incident: a log line in JSON, or another text.
	Told func(ctx context.Context) (string, error)
	// Others does what the runbook expects of others before its last section, such as AWS's recovery. Others may be
	// nil.
	Others func(ctx context.Context) error
	// Mended returns nil once the incident is mended, and otherwise what is still wrong.
	Mended func(ctx context.Context) error
	// End stops the servers of the drill. End may be nil.
	End func()
}

// Result is the result of a drill.
type Result struct {
	Told     time.Duration // time from the incident until a line reported it
	Commands int           // number of the runbook's commands
	Mended   time.Duration // time from the first command until the incident was mended
}

// Time limits for the line and for the end of the incident.
const (
	maxTold   = 30 * time.Second
	maxMended = 2 * time.Minute
)

// ErrNoAWS means that the runbook's commands need the AWS CLI, which isn't installed.
var ErrNoAWS = errors.New("the runbook's commands need the AWS CLI (aws)")

// Sections returns the drill's runbook sections, read from the repository at root.
func (d Drill) Sections(root string) ([]runbook.Section, error) {
	all := make([]runbook.Section, 0, len(d.Runbook))
	for _, reference := range d.Runbook {
		page, _, _ := strings.Cut(reference, "#")
		text, err := os.ReadFile(filepath.Join(root, page)) //nolint:gosec // a page of the repository
		if err != nil {
			return nil, fmt.Errorf("runbook: %w", err)
		}
		section, err := runbook.Find(reference, string(text))
		if err != nil {
			return nil, err
		}
		all = append(all, section)
	}
	return all, nil
}

// Run stages the drill on s, prints what the operator sees to out, and calls mend, which mends the incident. The drill
// fails if the incident was mended before mend was called, or isn't afterwards.
func (d Drill) Run(ctx context.Context, s *scene.Scene, out io.Writer, mend Mend) (Result, error) {
	sections, err := d.Sections(s.Root)
	if err != nil {
		return Result{}, err
	}
	fmt.Fprintf(out, "\n%s: %s\n", d.Name, d.Incident)
	began := time.Now()
	staged, err := d.Stage(ctx, s)
	if err != nil {
		return Result{}, fmt.Errorf("stage: %w", err)
	}
	if staged.End != nil {
		defer staged.End()
	}
	var result Result
	if result.Told, err = d.told(ctx, s, out, staged, began); err != nil {
		return Result{}, err
	}
	if staged.Mended(ctx) == nil {
		return Result{}, errors.New("the incident is mended before any command has run")
	}
	for _, section := range sections {
		fmt.Fprintf(out, "  runbook: %s, %q\n", section.Page, section.Heading)
		result.Commands += runbook.Commands(section.Script)
	}
	began = time.Now()
	if err := mend(ctx, sections, staged); err != nil {
		return Result{}, err
	}
	limited, cancel := context.WithTimeout(ctx, maxMended)
	defer cancel()
	if err := scene.Wait(limited, staged.Mended); err != nil {
		return Result{}, fmt.Errorf("the runbook does not mend the incident: %w", err)
	}
	result.Mended = time.Since(began)
	fmt.Fprintf(out, "  mended in %.1f s; told after %.1f s; commands: %d\n", result.Mended.Seconds(),
		result.Told.Seconds(), result.Commands)
	return result, nil
}

func (d Drill) told(ctx context.Context, s *scene.Scene, out io.Writer, staged Staged,
	began time.Time,
) (time.Duration, error) {
	limited, cancel := context.WithTimeout(ctx, maxTold)
	defer cancel()
	line := ""
	err := scene.Wait(limited, func(ctx context.Context) (err error) {
		line, err = staged.Told(ctx)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("nothing reports the incident: %w", err)
	}
	after := time.Since(began)
	if d.Alarm != "" {
		fmt.Fprintf(out, "  alarm on AWS: %s\n", d.Alarm)
	}
	fmt.Fprintf(out, "  line: %s\n", line)
	if strings.HasPrefix(line, "{") {
		d.explain(ctx, s, out, line)
	}
	d.examine(ctx, s, out)
	return after, nil
}

// explain prints how ctl explains a log line.
func (d Drill) explain(ctx context.Context, s *scene.Scene, out io.Writer, line string) {
	text, err := s.Ctl(ctx, line, "explain")
	if err != nil {
		text = err.Error()
	}
	for line := range strings.Lines(text) {
		fmt.Fprintf(out, "    %s\n", strings.TrimRight(line, "\n"))
	}
}

// examine prints the problems that ctl doctor finds. ctl doctor fails by design if it finds a problem.
func (d Drill) examine(ctx context.Context, s *scene.Scene, out io.Writer) {
	text, _ := s.Ctl(ctx, "", "doctor")
	var found struct {
		Findings []struct{ State, What, Do string }
	}
	if err := json.Unmarshal([]byte(text), &found); err != nil {
		fmt.Fprintf(out, "  ctl doctor: %v\n", err)
	}
	for _, f := range found.Findings {
		if f.State == "wrong" {
			fmt.Fprintf(out, "  ctl doctor: %s %s\n", f.What, f.Do)
		}
	}
}

// Mend mends a staged incident.
type Mend func(ctx context.Context, sections []runbook.Section, staged Staged) error

// AsWritten returns a Mend that runs the sections' commands as written. It calls Others before the last section.
func AsWritten(s *scene.Scene) Mend {
	return func(ctx context.Context, sections []runbook.Section, staged Staged) error {
		for i, section := range sections {
			if section.NeedsAWS() {
				if _, err := exec.LookPath("aws"); err != nil {
					return ErrNoAWS
				}
			}
			if i == len(sections)-1 && staged.Others != nil {
				if err := staged.Others(ctx); err != nil {
					return fmt.Errorf("what others do: %w", err)
				}
			}
			printed, err := section.Run(ctx, s.Root, s.Variables())
			if err != nil {
				return err
			}
			s.Printed += printed
		}
		return nil
	}
}
