// Package npm installs judges that are npm packages, once per machine and version, into the cache of whoever runs the
// tests. It owns the installing alone: what a judge is told and asked is the business of the tests that call it.
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

// installTime is what npm gets to fetch some small packages.
const installTime = 5 * time.Minute

// errAbsent says that this machine has no Node, which is no reason to fail.
var errAbsent = errors.New("the judge needs node and npm in PATH")

// Installed returns the folder with the node_modules of a judge, by its package.json and package-lock.json. It makes
// the folder when it is not there yet.
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

// MaySkip tells whether tests do without the judge after this error of Installed: on a machine without Node, or, but
// for CI, one that cannot fetch packages.
func MaySkip(err error) bool {
	return errors.Is(err, errAbsent) || err != nil && os.Getenv("CI") != "true"
}

func isThere(place string) bool {
	_, err := os.Stat(place)
	return err == nil
}

// installInto installs the judge in a folder of its own, which then takes its place in one step, so that installations
// at the same time do not meet.
func installInto(place string, files map[string][]byte) error {
	all := filepath.Dir(place)
	if err := os.MkdirAll(all, 0o755); err != nil { //nolint:gosec // a cache, as the user's others
		return err
	}
	fresh, err := os.MkdirTemp(all, "installing-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(fresh) }() // nothing is there any more once it has taken its place
	if err = install(fresh, files); err != nil {
		return err
	}
	if err = os.Rename(fresh, place); err != nil && !isThere(place) {
		return err
	}
	return nil // another process may have been faster
}

// install has npm fetch exactly what the lock file names. Scripts of packages are not run.
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
