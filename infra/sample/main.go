// Command sample prints random sentences from a change for a reader to judge (CONTRIBUTING.md, "Reading check"). The
// command draws sentences from documents, the changelog, comments, test names, and strings in Go and TypeScript. Each
// sentence is printed with its group, file and line, but without its context, so that the reader judges it alone.
//
//	sample [-n 30] [-base origin/main] [-seed 1] [-group comment]
//
// A sentence belongs to the change if any of its lines were added or changed. With an empty -base, the command draws
// from the whole repository.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"recordbridge/infra/prose"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "sample:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("sample", flag.ContinueOnError)
	root := flags.String("root", ".", "the repository")
	count := flags.Int("n", 30, "number of sentences")
	base := flags.String("base", "", "commit that the change starts from; empty for the whole repository")
	fresh := rand.Uint64() //nolint:gosec // a sample, not a secret
	seed := flags.Uint64("seed", fresh, "seed of the selection; the same seed selects the same sentences")
	group := flags.String("group", "", "only this group: "+strings.Join(prose.Groups(), ", "))
	if err := flags.Parse(args); err != nil {
		return fmt.Errorf("command line: %w", err)
	}
	added, err := changed(*root, *base)
	if err != nil {
		return err
	}
	var all []prose.Sentence
	for _, path := range sortedKeys(added) {
		text, err := fs.ReadFile(os.DirFS(*root), path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("read a changed file: %w", err)
		}
		for _, s := range prose.Of(path, string(text)) {
			if touches(s, added[path]) && (*group == "" || s.Group == *group) {
				all = append(all, s)
			}
		}
	}
	random := rand.New(rand.NewPCG(*seed, 0)) //nolint:gosec // a sample, not a secret
	random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	fmt.Fprintf(out, "%d of %d sentences, seed %d\n", min(*count, len(all)), len(all), *seed)
	for _, s := range all[:min(*count, len(all))] {
		fmt.Fprintf(out, "%-9s %s:%d\n          %s\n", s.Group, s.Path, s.First, s.Text)
	}
	return nil
}

func touches(s prose.Sentence, added lines) bool {
	for n := s.First; n <= s.Last; n++ {
		if added[n] {
			return true
		}
	}
	return false
}

type lines map[int]bool

// emptyTree is the ID of Git's empty tree, which is valid in every repository.
const emptyTree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"

// changed returns the lines of each file that were added since base, by line number in the working tree. Files not
// tracked by Git are ignored.
func changed(root, base string) (map[string]lines, error) {
	if base == "" {
		base = emptyTree
	}
	command := exec.CommandContext(context.Background(), "git", "-C", root, //nolint:gosec // the caller's own commit
		"diff", "--unified=0", "--no-color", "--no-ext-diff", base, "--")
	diff, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("git diff %s: %w", base, err)
	}
	return parseDiff(string(diff)), nil
}

// hunk matches a hunk header and captures the first added line and the added line count.
var hunk = regexp.MustCompile(`^@@ -\S+ \+(\d+)(?:,(\d+))? @@`)

// parseDiff returns each file's added lines in a unified diff without context lines.
func parseDiff(diff string) map[string]lines {
	added := map[string]lines{}
	var path string
	for line := range strings.Lines(diff) {
		if name, ok := strings.CutPrefix(line, "+++ b/"); ok {
			path = strings.TrimRight(name, "\n")
			added[path] = lines{}
			continue
		}
		m := hunk.FindStringSubmatch(line)
		if m == nil || path == "" {
			continue
		}
		first, _ := strconv.Atoi(m[1])
		count, err := strconv.Atoi(m[2])
		if err != nil {
			count = 1 // Git omits the count if it is one
		}
		for i := range count {
			added[path][first+i] = true
		}
	}
	return added
}

func sortedKeys(m map[string]lines) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
