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
	"slices"
	"strings"
)

// listed is the output of `go list -export` for one package.
type listed struct {
	ImportPath string
	// BuildID is Go's hash of the compiled package and of its inputs, including the toolchain.
	BuildID string
	Deps    []string
}

// fingerprints compiles the functions, and returns a hash of everything linked into each binary, by function directory.
func fingerprints(ctx context.Context, o Options) (map[string]string, error) {
	mains, err := filepath.Glob(filepath.Join(o.Root, "functions", "*", "bootstrap"))
	if err != nil {
		return nil, fmt.Errorf("find functions: %w", err)
	}
	result := make(map[string]string, len(mains))
	if len(mains) == 0 {
		return result, nil
	}
	arguments := slices.Concat([]string{"list", "-export", "-deps", "-json=ImportPath,BuildID,Deps"}, flags())
	for _, at := range mains {
		arguments = append(arguments, mainPackage(filepath.Base(filepath.Dir(at))))
	}
	packages, err := list(ctx, o, arguments)
	if err != nil {
		return nil, err
	}
	for _, at := range mains {
		folder := filepath.Base(filepath.Dir(at))
		result[folder] = combine(packages, folder)
	}
	return result, nil
}

func mainPackage(folder string) string { return "./functions/" + folder + "/bootstrap" }

func list(ctx context.Context, o Options, arguments []string) (map[string]*listed, error) {
	output, err := o.goTool(ctx, arguments...)
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

// combine hashes the flags, the function's package and all of its dependencies.
func combine(packages map[string]*listed, folder string) string {
	sum := sha256.New()
	_, _ = fmt.Fprintf(sum, "%q\n", flags()) // writing to a hash never fails
	for path, p := range packages {
		if !strings.HasSuffix(path, "/functions/"+folder+"/bootstrap") {
			continue
		}
		for _, dependency := range append(p.Deps, path) {
			_, _ = fmt.Fprintf(sum, "%s %s\n", dependency, packages[dependency].BuildID)
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// stamp writes the fingerprint of folder's binary to a file next to it.
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

// stamped returns the recorded fingerprint of folder's binary. If no fingerprint is recorded, or if another program
// built the binary, stamped returns "".
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

// identify returns text that distinguishes a file from its later versions, based on size and modification time.
func identify(file string) (string, error) {
	info, err := os.Stat(file)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d %d", info.Size(), info.ModTime().UnixNano()), nil
}

func stampFile(out, folder string) string { return filepath.Join(out, folder, ".made-from") }
