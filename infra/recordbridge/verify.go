package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
)

// manifestKeys is the path of the JWK Set with which the service signs manifests.
const manifestKeys = "/.well-known/manifest-jwks.json"

// maxVerified limits a manifest, a signature and a JWK Set. A manifest of 150 resource types has about 10 KB.
const maxVerified = 1 << 20

// verify verifies a manifest's signature and the files that the manifest lists.
func (t tool) verify(ctx context.Context, flags *flag.FlagSet, args []string) error {
	runFile := flags.String("run-file", ".local/run.json",
		"`file` that make run wrote, used unless RECORDBRIDGE_URL is set")
	signatureFile := flags.String("signature", "", "`file` with the signature; FILE.jws if empty")
	keysFile := flags.String("keys", "", "`file` with the service's manifest-jwks.json; fetched if empty")
	folder := flags.String("files", "", "`folder` with the exported files; the manifest's folder if empty")
	flags.Usage = func() {
		fmt.Fprintln(t.out, "usage: recordbridge verify [flags] FILE, where FILE is an export's manifest.json")
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() != 1 {
		return errors.New("name one manifest, such as recordbridge verify manifest.json; write flags before it")
	}
	file := flags.Arg(0)
	content, err := readSmall(file)
	if err != nil {
		return err
	}
	if *signatureFile == "" {
		*signatureFile = file + ".jws"
	}
	signature, err := readSmall(*signatureFile)
	if err != nil {
		return fmt.Errorf("read the signature (-signature names its file): %w", err)
	}
	keys, err := t.manifestKeys(ctx, *keysFile, *runFile)
	if err != nil {
		return err
	}
	m, err := parseManifest(content, string(signature), keys)
	if err != nil {
		return fmt.Errorf("%s can't be trusted, and the files weren't checked: %w", file, err)
	}
	fmt.Fprintf(t.out, "The manifest's signature is valid.\n%s\n", m.origin())
	if *folder == "" {
		*folder = filepath.Dir(file)
	}
	if err := t.verifyFiles(*folder, m); err != nil {
		return err
	}
	fmt.Fprint(t.out, m.contents())
	return nil
}

// verifyFiles prints one line for each file of the manifest, and returns an error if any differs.
func (t tool) verifyFiles(folder string, m manifest) error {
	root, err := os.OpenRoot(folder) // so that no name in the manifest can lead out of the folder
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	failures := 0
	for _, f := range m.Files {
		if err := f.verify(root, m.Counts); err != nil {
			failures++
			fmt.Fprintf(t.out, "  FAILED  %s: %s\n", printable(f.Name), printable(err.Error()))
			continue
		}
		fmt.Fprintf(t.out, "  ok      %s: %d bytes, %d resources\n", printable(f.Name), f.Bytes, f.Resources)
	}
	if failures > 0 {
		return fmt.Errorf("files that are missing or differ from the manifest: %d of %d", failures, len(m.Files))
	}
	return nil
}

// manifestKeys returns the service's JWK Set from a file, or from the service if the file's name is empty.
func (t tool) manifestKeys(ctx context.Context, file, runFile string) ([]byte, error) {
	if file != "" {
		return readSmall(file)
	}
	base := strings.TrimRight(t.getenv("RECORDBRIDGE_URL"), "/")
	if base == "" {
		a, err := ofRunFile(runFile)
		if err != nil {
			return nil, err
		}
		base = a.baseURL
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, base+manifestKeys, http.NoBody)
	if err != nil {
		return nil, err
	}
	response, err := t.client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("fetch the keys (-keys reads them from a file): %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("fetch the keys: %s%s responded with status %d", base, manifestKeys, response.StatusCode)
	}
	return readLimited(response.Body)
}

func readSmall(path string) ([]byte, error) {
	file, err := os.Open(path) //nolint:gosec // the developer names the file
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	content, err := readLimited(file)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return content, nil
}

func readLimited(r io.Reader) ([]byte, error) {
	content, err := io.ReadAll(io.LimitReader(r, maxVerified+1))
	if err != nil {
		return nil, err
	}
	if len(content) > maxVerified {
		return nil, fmt.Errorf("more than %d bytes", maxVerified)
	}
	return content, nil
}
