package incident_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"recordbridge/infra/drill/incident"
	"recordbridge/infra/drill/runbook"
	"recordbridge/infra/drill/scene"
	"recordbridge/infra/local/own"
	"recordbridge/infra/local/runfile"
)

const root = "../../.."

// assigned matches the variables that a script sets, and used those that it reads.
var (
	assigned = regexp.MustCompile(`(?m)(?:^\s*|for |; )([A-Za-z_]+)(?:=| in )`)
	used     = regexp.MustCompile(`\$\{?([A-Za-z_]+)`)
)

// TestRunbookSectionsAreComplete checks that every drill's runbook has commands that need nothing but the shell
// functions and the variables that the section describes.
func TestRunbookSectionsAreComplete(t *testing.T) {
	t.Parallel()
	for _, d := range incident.All() {
		sections, err := d.Sections(root)
		if err != nil {
			t.Errorf("%s: %v", d.Name, err)
		}
		for _, section := range sections {
			text, err := os.ReadFile(filepath.Join(root, section.Page))
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(section.Script, "<") {
				t.Errorf("%s, %q has a placeholder:\n%s", section.Page, section.Heading, section.Script)
			}
			own := assigned.FindAllStringSubmatch(section.Script, -1)
			known := append(make([]string, 0, len(own)+2), "ORG", "MODE") // docs/operate/drills.md
			for _, name := range own {
				known = append(known, name[1])
			}
			for _, name := range used.FindAllStringSubmatch(section.Script, -1) {
				if !slices.Contains(known, name[1]) && !strings.Contains(string(text), "`"+name[1]+"`") {
					t.Errorf("%s, %q doesn't say where %s comes from", section.Page, section.Heading, name[1])
				}
			}
		}
	}
}

// TestDrillsPageListsEveryDrill checks the page's table against the drills.
func TestDrillsPageListsEveryDrill(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root, "docs/operate/drills.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range incident.All() {
		if !strings.Contains(string(text), "\n| `"+d.Name+"` | "+d.Incident+" |") {
			t.Errorf("docs/operate/drills.md has no row for %s: %s", d.Name, d.Incident)
		}
	}
}

// ineffective is an incident that no command mends.
func ineffective(mended func() error) incident.Drill {
	return incident.Drill{
		Name: "ineffective", Incident: "Nothing helps.", Runbook: []string{"page.md#mend"},
		Stage: func(context.Context, *scene.Scene) (incident.Staged, error) {
			return incident.Staged{
				Told:   func(context.Context) (string, error) { return "a line", nil },
				Mended: func(context.Context) error { return mended() },
			}, nil
		},
	}
}

// sceneWith returns a scene without a stack, in a repository that contains only page.md.
func sceneWith(t *testing.T, page string) *scene.Scene {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "page.md"), []byte(page), 0o600); err != nil {
		t.Fatal(err)
	}
	stack := &own.Stack{Run: runfile.Run{Organisations: []runfile.Organisation{{ID: "org", Mode: "test"}}}}
	return scene.New(stack, dir, "true")
}

var errBroken = errors.New("still broken")

func TestDrillFailsWhenCommandsDoNotMend(t *testing.T) {
	t.Parallel()
	s := sceneWith(t, "# Page\n\n## Mend\n\n```sh\ntrue\n```\n")
	ctx, cancel := context.WithCancel(t.Context())
	calls := 0
	d := ineffective(func() error {
		if calls++; calls > 3 {
			cancel() // stands for the end of the time limit
		}
		return errBroken
	})
	_, err := d.Run(ctx, s, io.Discard, incident.AsWritten(s))
	if !errors.Is(err, errBroken) || !strings.Contains(err.Error(), "does not mend") {
		t.Errorf("got %v, want that the runbook does not mend the incident", err)
	}
}

func TestDrillFailsWhenIncidentNeedsNoCommand(t *testing.T) {
	t.Parallel()
	s := sceneWith(t, "# Page\n\n## Mend\n\n```sh\ntrue\n```\n")
	_, err := ineffective(func() error { return nil }).Run(t.Context(), s, io.Discard, incident.AsWritten(s))
	if err == nil || !strings.Contains(err.Error(), "before any command") {
		t.Errorf("got %v, want that the incident was mended before any command", err)
	}
}

func TestDrillFailsWhenCommandFails(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"a failing command": "false\ntrue", "an undefined variable": `echo "$NOWHERE"`, "an undefined function": "nowhere",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := sceneWith(t, "# Page\n\n## Mend\n\n```sh\n"+script+"\n```\n")
			_, err := ineffective(func() error { return errBroken }).Run(t.Context(), s, io.Discard, incident.AsWritten(s))
			if err == nil || errors.Is(err, errBroken) || !strings.Contains(err.Error(), `page.md, "Mend"`) {
				t.Errorf("got %v, want the failure of the command", err)
			}
		})
	}
}

func TestFindReturnsCommandsOfSectionOnly(t *testing.T) {
	t.Parallel()
	const page = "# Page\n\n```sh\nbefore\n```\n\n## Mend it, now\n\n```\nquery\n```\n\n1. A step:\n\n   ```sh\n   " +
		"first \\\n" +
		"     second\n   # note\n   ```\n\n### Then\n\n```sh\nthird\n```\n\n## After\n\n```sh\nafter\n```\n"
	got, err := runbook.Find("page.md#mend-it-now", page)
	if err != nil {
		t.Fatal(err)
	}
	if want := "first \\\n  second\n# note\nthird\n"; got.Script != want {
		t.Errorf("script %q, want %q", got.Script, want)
	}
	if n := runbook.Commands(got.Script); n != 2 {
		t.Errorf("%d commands, want 2", n)
	}
	for _, missing := range []string{"page.md#nowhere", "page.md#page-2"} {
		if _, err := runbook.Find(missing, page); err == nil {
			t.Errorf("%s was found", missing)
		}
	}
}
