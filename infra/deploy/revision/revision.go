// Package revision determines the release that a checkout of this repository contains.
package revision

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"recordbridge/shared/words/release"
)

// Unknown is the commit of a folder that is not a Git checkout.
const Unknown = "unknown"

// Of returns the release in the given folder, which contains the file .version.
func Of(ctx context.Context, folder string) (release.Release, error) {
	version, err := os.ReadFile(filepath.Join(folder, ".version")) //nolint:gosec // the caller names the checkout
	if err != nil {
		return release.Release{}, fmt.Errorf("determine the version: %w", err)
	}
	r := release.Release{Version: strings.TrimSpace(string(version)), Commit: Unknown}
	//nolint:gosec // our own arguments
	command := exec.CommandContext(ctx, "git", "-C", folder, "describe", "--always", "--abbrev=12", "--exclude=*",
		"--dirty=-changed")
	if commit, failed := command.Output(); failed == nil {
		r.Commit = strings.TrimSpace(string(commit))
	}
	return r, nil
}
