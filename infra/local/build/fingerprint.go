package build

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// listed is what `go list` tells of a package that matters to a binary.
type listed struct {
	ImportPath string
	Dir        string
	Standard   bool
	Module     *struct {
		Path, Version string
		Replace       *struct{ Path string }
	}
	GoFiles    []string
	SFiles     []string
	EmbedFiles []string
	Deps       []string
}

// fingerprints returns, by folder of the function, a hash of all that its binary is made from.
func fingerprints(ctx context.Context, root string) (map[string]string, error) {
	mains, err := filepath.Glob(filepath.Join(root, "functions", "*", "bootstrap", "*.go"))
	if err != nil {
		return nil, fmt.Errorf("find functions: %w", err)
	}
	result := make(map[string]string, len(mains))
	arguments := []string{"list", "-deps", "-tags", tags, "-json=ImportPath,Dir,Standard,Module,GoFiles,SFiles,EmbedFiles,Deps"}
	for _, file := range mains {
		folder := filepath.Base(filepath.Dir(filepath.Dir(file)))
		if _, seen := result[folder]; !seen && !strings.HasSuffix(file, "_test.go") {
			result[folder] = ""
			arguments = append(arguments, "./functions/"+folder+"/bootstrap")
		}
	}
	if len(result) == 0 {
		return result, nil
	}
	packages, err := list(ctx, root, arguments)
	if err != nil {
		return nil, err
	}
	toolchain, err := goTool(ctx, root, "env", "GOVERSION", "GOOS", "GOARCH", "GOAMD64", "GOARM64", "GOFLAGS", "GOEXPERIMENT")
	if err != nil {
		return nil, err
	}
	hashes := make(map[string]string, len(packages))
	for path, p := range packages {
		if hashes[path], err = p.hash(); err != nil {
			return nil, err
		}
	}
	for folder := range result {
		result[folder] = combine(toolchain, hashes, packages, folder)
	}
	return result, nil
}

func list(ctx context.Context, root string, arguments []string) (map[string]*listed, error) {
	output, err := goTool(ctx, root, arguments...)
	if err != nil {
		return nil, err
	}
	packages := make(map[string]*listed)
	for decoder := json.NewDecoder(bytes.NewReader(output)); ; {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, fmt.Errorf("read go list: %w", err)
		}
		packages[p.ImportPath] = &p
	}
}

// hash identifies a package: by its version when that fixes its content, else by its files.
func (p *listed) hash() (string, error) {
	if p.Standard { // fixed by the toolchain
		return "", nil
	}
	if p.Module != nil && p.Module.Version != "" && p.Module.Replace == nil {
		return p.Module.Path + "@" + p.Module.Version, nil
	}
	sum := sha256.New()
	for _, files := range [][]string{p.GoFiles, p.SFiles, p.EmbedFiles} {
		for _, name := range files {
			content, err := os.ReadFile(filepath.Join(p.Dir, name)) //nolint:gosec // go list names our own sources
			if err != nil {
				return "", fmt.Errorf("read source: %w", err)
			}
			_, _ = fmt.Fprintf(sum, "%s %d\n%s", name, len(content), content) // a hash takes everything
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// combine hashes the toolchain, the flags, and the package of the function with all that it depends on.
func combine(toolchain []byte, hashes map[string]string, packages map[string]*listed, folder string) string {
	sum := sha256.New()
	_, _ = fmt.Fprintf(sum, "%s%q\n", toolchain, flags()) // a hash takes everything
	for path, p := range packages {
		if !strings.HasSuffix(path, "/functions/"+folder+"/bootstrap") {
			continue
		}
		for _, dependency := range append(p.Deps, path) {
			_, _ = fmt.Fprintf(sum, "%s %s\n", dependency, hashes[dependency])
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// stamp notes beside the binary of folder what it was made from.
func stamp(out, folder, fingerprint string) error {
	identity, err := identify(binary(out, folder))
	if err != nil {
		return fmt.Errorf("stamp %s: %w", folder, err)
	}
	if err := os.WriteFile(stampFile(out, folder), []byte(fingerprint+" "+identity), 0o600); err != nil {
		return fmt.Errorf("stamp %s: %w", folder, err)
	}
	return nil
}

// stamped returns what the binary of folder was made from; "" when there is none, or when somebody else has made it.
func stamped(out, folder string) string {
	content, err := os.ReadFile(stampFile(out, folder))
	if err != nil {
		return ""
	}
	fingerprint, identity, _ := strings.Cut(string(content), " ")
	if now, err := identify(binary(out, folder)); err != nil || now != identity {
		return ""
	}
	return fingerprint
}

// identify tells a file from its successor without reading it.
func identify(file string) (string, error) {
	info, err := os.Stat(file)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d %d", info.Size(), info.ModTime().UnixNano()), nil
}

func stampFile(out, folder string) string { return filepath.Join(out, folder, ".made-from") }
