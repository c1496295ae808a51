package build_test

import (
	"debug/elf"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"recordbridge/infra/local/build"
)

// project creates a module with two functions: greet, which uses shared/words, and part.
func project(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	write(t, root, "go.mod", "module example\n\ngo 1.26\n")
	write(t, root, "shared/words/words.go", "// Package words holds words.\npackage words\n\nimport _ \"embed\"\n\n"+
		"//go:embed hello.txt\nvar Hello string\n")
	write(t, root, "shared/words/hello.txt", "hello")
	write(t, root, "functions/greet/bootstrap/main.go",
		"package main\n\nimport (\n\t\"os\"\n\n\t\"example/shared/words\"\n)\n\n"+
			"func main() { os.Stdout.WriteString(words.Hello) }\n")
	write(t, root, "functions/part/bootstrap/main.go", "package main\n\nimport \"os\"\n\nfunc main() { "+
		"os.Stdout.WriteString(\"bye\") }\n")
	write(t, root, "functions/notyet/notyet.go", "// Package notyet has no bootstrap.\npackage notyet\n")
	return root
}

func write(t *testing.T, root, name, content string) {
	t.Helper()
	file := filepath.Join(root, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// made builds the project and returns the names of the binaries that the build wrote.
func made(t *testing.T, root string) []string {
	t.Helper()
	out := filepath.Join(root, "build")
	stat := func(folder string) time.Time {
		info, err := os.Stat(filepath.Join(out, folder, "bootstrap"))
		if err != nil {
			return time.Time{}
		}
		return info.ModTime()
	}
	before := map[string]time.Time{"greet": stat("greet"), "part": stat("part")}
	if err := build.Functions(t.Context(), build.Options{Root: root, Out: out, Progress: t.Output()}); err != nil {
		t.Fatal(err)
	}
	var changed []string
	for _, folder := range []string{"greet", "part"} {
		if stat(folder) != before[folder] {
			changed = append(changed, folder)
		}
	}
	return changed
}

func TestFunctionBuildReplacesChangedBinaries(t *testing.T) {
	t.Parallel()
	root := project(t)
	steps := []struct {
		name   string
		change func()
		want   string
	}{
		{"the first time", func() {}, "greet part"},
		{"nothing has changed", func() {}, ""},
		{"a function has changed", func() {
			write(t, root, "functions/part/bootstrap/main.go", "package main\n\nfunc main() {}\n")
		}, "part"},
		{"a package that one function uses has changed", func() {
			write(t, root, "shared/words/more.go", "package words\n\nconst More = 1\n")
		}, "greet"},
		{"an embedded file has changed", func() { write(t, root, "shared/words/hello.txt", "hi") }, "greet"},
		{"a binary is gone", func() { _ = os.Remove(filepath.Join(root, "build", "part", "bootstrap")) }, "part"},
		{"somebody else has made a binary", func() {
			later := time.Now().Add(time.Hour)
			if err := os.Chtimes(filepath.Join(root, "build", "greet", "bootstrap"), later, later); err != nil {
				t.Fatal(err)
			}
		}, "greet"},
		{"a file that no binary uses has changed", func() {
			write(t, root, "functions/notyet/notyet.go", "package notyet\n")
		}, ""},
	}
	for _, step := range steps {
		step.change()
		if got := strings.Join(made(t, root), " "); got != step.want {
			t.Errorf("%s: built %q, want %q", step.name, got, step.want)
		}
	}
	output, err := exec.CommandContext(t.Context(), filepath.Join(root, "build", "greet", "bootstrap")).Output()
	if err != nil || string(output) != "hi" {
		t.Errorf("the binary printed %q (%v), want hi", output, err)
	}
}

// TestFunctionBuildUsesSeparateFolderForOtherPlatforms checks that binaries for other platforms, such as containers on
// a Mac, do not replace this machine's.
func TestFunctionBuildUsesSeparateFolderForOtherPlatforms(t *testing.T) {
	t.Parallel()
	other, machine := build.Platform{OS: "linux", Architecture: "arm64"}, elf.EM_AARCH64
	if runtime.GOARCH == "arm64" {
		other, machine = build.Platform{OS: "linux", Architecture: "amd64"}, elf.EM_X86_64
	}
	here := build.Platform{OS: runtime.GOOS, Architecture: runtime.GOARCH}
	if got := here.Folder("build"); got != "build" {
		t.Errorf("this machine's binaries are in %s, want build", got)
	}
	out := other.Folder(t.TempDir())
	options := build.Options{Root: project(t), Out: out, Progress: t.Output(), Platform: other}
	if err := build.Functions(t.Context(), options); err != nil {
		t.Fatal(err)
	}
	program, err := elf.Open(filepath.Join(out, "greet", "bootstrap"))
	if err != nil {
		t.Fatal(err)
	}
	if err := program.Close(); err != nil || program.Machine != machine || filepath.Base(out) != other.Architecture {
		t.Errorf("got a binary for %v in %s (%v), want %v", program.Machine, out, err, machine)
	}
}

func TestFunctionBuildReturnsCompilerError(t *testing.T) {
	t.Parallel()
	root := project(t)
	write(t, root, "functions/part/bootstrap/main.go", "package main\n\nfunc main() { nonsense() }\n")
	err := build.Functions(t.Context(), build.Options{
		Root: root, Out: filepath.Join(root, "build"), Progress: io.Discard,
	})
	if err == nil || !strings.Contains(err.Error(), "undefined: nonsense") {
		t.Errorf("got %v, want the compiler's message", err)
	}
}
