package main

import (
	"bufio"
	"context"
	"embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// assets contains the record viewer's script if `make recordbridge` built the command.
//
//go:embed assets
var assets embed.FS

// view writes a record as one HTML file and opens it. It sends nothing.
func (t tool) view(ctx context.Context, flags *flag.FlagSet, args []string) error {
	flags.Usage = func() {
		fmt.Fprintln(t.out, `usage: recordbridge view [flags] FILE...

Shows FHIR NDJSON files in your browser. The page works offline and sends nothing. Files may be gzipped.`)
		flags.PrintDefaults()
	}
	to := flags.String("out", "", "HTML `file` to write (default: a file in a new temporary folder)")
	noOpen := flags.Bool("no-open", false, "don't open the page in a browser")
	if err := flags.Parse(args); err != nil {
		return err // The flag package has already printed the mistake.
	}
	if flags.NArg() == 0 {
		return errors.New("name at least one NDJSON file")
	}
	script, err := readViewer(assets)
	if err != nil {
		return err
	}
	path, err := writePage(*to, script, flags.Args())
	if err != nil {
		return err
	}
	fmt.Fprintf(t.out, "Wrote %s. It contains the whole record. Delete it when you no longer need it.\n", path)
	if *noOpen {
		return nil
	}
	program := browser(runtime.GOOS)
	// The browser outlives this command, which therefore neither waits for it nor stops it.
	//nolint:gosec // The program is fixed, and the path is absolute, so no program reads it as a flag.
	opener := exec.CommandContext(context.WithoutCancel(ctx), program[0], append(program[1:], path)...)
	if err := opener.Start(); err != nil {
		fmt.Fprintln(t.out, "No browser could be started. Open the file yourself.")
	}
	return nil
}

// readViewer returns the record viewer's script.
func readViewer(folder fs.FS) ([]byte, error) {
	script, err := fs.ReadFile(folder, "assets/record-view.js")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New("this command was built without the record viewer: run make recordbridge (needs Node 20)")
	}
	if err != nil {
		return nil, fmt.Errorf("read the record viewer: %w", err)
	}
	return script, nil
}

// browser returns the command that opens a file in the default browser of an operating system.
func browser(system string) []string {
	switch system {
	case "darwin":
		return []string{"open"}
	case "windows":
		return []string{"rundll32", "url.dll,FileProtocolHandler"}
	default:
		return []string{"xdg-open"}
	}
}

// writePage writes the page to a file that only the current user can read, and returns its absolute path. It replaces
// an existing file only after the page is complete.
func writePage(to string, script []byte, files []string) (path string, err error) {
	if to == "" {
		folder, failure := os.MkdirTemp("", "recordbridge-view-")
		if failure != nil {
			return "", fmt.Errorf("create a folder: %w", failure)
		}
		to = filepath.Join(folder, "record.html")
	}
	if path, err = filepath.Abs(to); err != nil {
		return "", fmt.Errorf("find the file to write: %w", err)
	}
	page, err := os.CreateTemp(filepath.Dir(path), ".recordbridge-view-*")
	if err != nil {
		return "", fmt.Errorf("create the page: %w", err)
	}
	//nolint:gosec // The user chose the folder.
	defer func() { _ = os.Remove(page.Name()) }() // fails if the page was renamed
	if err := errors.Join(fill(page, script, files), page.Close()); err != nil {
		return "", err
	}
	if err := os.Rename(page.Name(), path); err != nil { //nolint:gosec // The user chose the path.
		return "", fmt.Errorf("write the page: %w", err)
	}
	return path, nil
}

// fill writes the page with the records in files.
func fill(to io.Writer, script []byte, files []string) error {
	w := bufio.NewWriter(to)
	head, tail, err := around(script)
	if err != nil {
		return err
	}
	if _, err := w.WriteString(head); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	for _, file := range files {
		if err := addRecord(w, file); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	if _, err := w.WriteString(tail); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	return nil
}
