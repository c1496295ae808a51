// Package published reads and changes the function versions that a stack's deployments published. Each version carries
// its release's name in the environment variable RELEASE.
package published

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"recordbridge/infra/ctl/cloudformation"
)

// Kept is the number of releases whose versions remain after a deployment.
const Kept = 10

const (
	live   = "live" // alias through which everything invokes the function
	latest = "$LATEST"
)

// Version is a published version of a function.
type Version struct {
	Number   string
	Release  string // empty if the release had no name, as up to 0.1.0
	Modified string // time of publication, in ISO 8601
}

// Function is a function of the stack.
type Function struct {
	ID       string // logical ID in the template
	Live     string // number of the version to which the live alias refers
	Versions []Version

	name    string
	isSplit bool            // whether the live alias also sends requests to a second version
	inUse   map[string]bool // versions to which an alias refers
}

// version returns the function's version of a release.
func (f Function) version(release string) (Version, bool) {
	i := slices.IndexFunc(f.Versions, func(v Version) bool { return v.Release == release })
	if i < 0 {
		return Version{}, false
	}
	return f.Versions[i], true
}

// Stack holds the functions of a deployed stack.
type Stack struct {
	Functions []Function // sorted by ID

	lambda api
}

// Read returns the stack with the given name.
func Read(ctx context.Context, cfg aws.Config, now func() time.Time, name string) (*Stack, error) {
	names, err := cloudformation.Functions(ctx, cfg, now, name)
	if err != nil {
		return nil, fmt.Errorf("list the functions of %s: %w", name, err)
	}
	s := &Stack{lambda: newAPI(cfg, now)}
	for _, id := range slices.Sorted(maps.Keys(names)) {
		f, err := s.lambda.read(ctx, names[id])
		if err != nil {
			return nil, err
		}
		f.ID = id
		s.Functions = append(s.Functions, f)
	}
	return s, nil
}

func (a api) read(ctx context.Context, name string) (Function, error) {
	f := Function{name: name, inUse: map[string]bool{}}
	aliases, err := a.aliases(ctx, name)
	if err != nil {
		return f, err
	}
	for _, alias := range aliases {
		f.inUse[alias.FunctionVersion] = true
		if alias.RoutingConfig != nil {
			for version := range alias.RoutingConfig.AdditionalVersionWeights {
				f.inUse[version] = true
			}
		}
		if alias.Name == live {
			f.Live = alias.FunctionVersion
			f.isSplit = alias.RoutingConfig != nil && len(alias.RoutingConfig.AdditionalVersionWeights) > 0
		}
	}
	versions, err := a.versions(ctx, name)
	if err != nil {
		return f, err
	}
	for _, v := range versions {
		if v.Version != latest {
			f.Versions = append(f.Versions, Version{v.Version, v.Environment.Variables["RELEASE"], v.LastModified})
		}
	}
	return f, nil
}

// Release describes a release whose versions the stack still has.
type Release struct {
	Name     string
	Modified string // publication of its first version
	Live     int    // number of functions that run it
}

// Releases returns the newest complete releases, newest first. A release is complete unless it lacks a version of a
// function that is older than the release, as after a failed deployment.
func (s *Stack) Releases() []Release {
	found := map[string]Release{}
	for _, f := range s.Functions {
		for _, v := range f.Versions {
			if v.Release == "" {
				continue
			}
			r, known := found[v.Release]
			if !known || v.Modified < r.Modified {
				r.Modified = v.Modified
			}
			if r.Name = v.Release; v.Number == f.Live {
				r.Live++
			}
			found[v.Release] = r
		}
	}
	complete := slices.DeleteFunc(slices.Collect(maps.Values(found)), func(r Release) bool {
		return slices.ContainsFunc(s.Functions, func(f Function) bool { return f.lacks(r) })
	})
	slices.SortFunc(complete, func(a, b Release) int {
		return cmp.Or(cmp.Compare(b.Modified, a.Modified), cmp.Compare(b.Name, a.Name))
	})
	return complete[:min(len(complete), Kept)]
}

// lacks reports whether a release should have published a version of the function but didn't.
func (f Function) lacks(r Release) bool {
	if _, ok := f.version(r.Name); ok {
		return false
	}
	return slices.ContainsFunc(f.Versions, func(v Version) bool { return v.Modified < r.Modified })
}

// Prune deletes the versions that belong to none of the newest complete releases and to which no alias refers. It
// returns their number.
func (s *Stack) Prune(ctx context.Context) (deleted int, err error) {
	kept := map[string]bool{}
	for _, r := range s.Releases() {
		kept[r.Name] = true
	}
	for _, f := range s.Functions {
		unnamed := Kept - len(kept) // releases without a name are older than those with one
		slices.SortFunc(f.Versions, func(a, b Version) int { return cmp.Compare(b.Modified, a.Modified) })
		for _, v := range f.Versions {
			if v.Release == "" && unnamed > 0 {
				unnamed--
				continue
			}
			if kept[v.Release] || f.inUse[v.Number] {
				continue
			}
			if err := s.lambda.deleteVersion(ctx, f.name, v.Number); err != nil {
				return deleted, fmt.Errorf("delete version %s of %s: %w", v.Number, f.ID, err)
			}
			deleted++
		}
	}
	return deleted, nil
}
