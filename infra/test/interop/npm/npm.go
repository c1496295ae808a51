// Package npm installs judges from npm into the user's cache folder, once per version and machine. A judge is
// third-party software that tests use to verify this repository's code.
package npm

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// installTime is the time limit for installing a judge's packages.
const installTime = 5 * time.Minute

// errAbsent means that Node or npm is not in PATH. Because of this error, tests are skipped instead of failing.
var errAbsent = errors.New("the judge needs node and npm in PATH")

// Installed returns the folder that contains a judge's node_modules for the given package.json and package-lock.json.
// It installs the packages if the folder does not exist.
func Installed(name string, manifest, lock []byte) (string, error) {
	for _, tool := range []string{"node", "npm"} {
		if _, err := exec.LookPath(tool); err != nil {
			return "", fmt.Errorf("%w: %w", errAbsent, err)
		}
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	version := sha256.Sum256(append(bytes.Clone(manifest), lock...))
	place := filepath.Join(cache, "recordbridge-ci", name, hex.EncodeToString(version[:8]))
	if isThere(place) {
		return place, nil
	}
	return place, installInto(place, map[string][]byte{"package.json": manifest, "package-lock.json": lock})
}

// MaySkip reports whether tests may be skipped because of an error returned by Installed. Tests may be skipped if Node
// or npm is missing or, outside CI, if the installation failed.
func MaySkip(err error) bool {
	return errors.Is(err, errAbsent) || err != nil && os.Getenv("CI") != "true"
}

func isThere(place string) bool {
	_, err := os.Stat(place)
	return err == nil
}

// installInto installs the judge in a temporary folder and renames that folder to place, so that concurrent
// installations do not interfere.
func installInto(place string, files map[string][]byte) error {
	all := filepath.Dir(place)
	if err := os.MkdirAll(all, 0o755); err != nil { //nolint:gosec // a cache, as the user's others
		return err
	}
	fresh, err := os.MkdirTemp(all, "installing-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(fresh) }() // has no effect if the rename succeeded
	if err = install(fresh, files); err != nil {
		return err
	}
	if err = os.Rename(fresh, place); err != nil && !isThere(place) {
		return err
	}
	return nil // another process may have installed the judge in the meantime
}

// install installs exactly the packages in the lock file. It does not run the scripts of the installed packages.
func install(folder string, files map[string][]byte) error {
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), installTime)
	defer cancel()
	npm := exec.CommandContext(ctx, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	npm.Dir, npm.WaitDelay = folder, time.Second
	if output, err := npm.CombinedOutput(); err != nil {
		return fmt.Errorf("npm ci: %w\n%s", err, output)
	}
	return nil
}
