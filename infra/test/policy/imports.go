package policy

import (
	"slices"
	"strings"

	"recordbridge/infra/local/template"
)

// Domain reports domain packages that depend on AWS or HTTP, even indirectly. It also reports the tokens package if
// that package depends on a logger. depguard checks direct imports (.golangci.yml; docs/develop/architecture.md,
// "Rooms").
func Domain(packages []Package) []Finding {
	var found findings
	for _, p := range packages {
		if !inDomain(p.ImportPath) {
			continue
		}
		for _, d := range p.Deps {
			switch {
			case under(d, "github.com/aws"):
				found.addf(p.ImportPath, "links %s: the domain knows no AWS", d)
			case d == "net/http":
				found.addf(p.ImportPath, "links %s: the domain knows no HTTP", d)
			case d == module+"shared/words/logx" && p.ImportPath == module+"shared/connect/tokens":
				found.addf(p.ImportPath, "links %s: code that cannot log cannot leak", d)
			}
		}
	}
	return found.sorted()
}

// inDomain reports whether a package must not depend on AWS or HTTP.
func inDomain(importPath string) bool {
	rest, isShared := strings.CutPrefix(importPath, module+"shared/")
	speaksHTTP := func(folder string) bool { return under(rest, folder) }
	return isShared && !slices.ContainsFunc([]string{
		"adapters", "wiring", "platform/config", "platform/lambdarun", "platform/safehttp",
		"manage/passkey", "tefca/facilitated", "tefca/identity/oidc", "tefca/ihe",
	}, speaksHTTP)
}

// Boundaries reports functions that import another function's packages, which depguard can't check.
func Boundaries(packages []Package) []Finding {
	var found findings
	for _, p := range packages {
		from, _, isFunction := function(p.ImportPath)
		for _, i := range p.Imports {
			if to, _, ok := function(i); ok && isFunction && from != to {
				found.addf(p.ImportPath, "imports %s: a function knows no other", i)
			}
		}
	}
	return found.sorted()
}

// playsPortal reports whether importer belongs to the sandboxehr function and imported belongs to the sandbox.
// template.yaml deploys the sandbox EHR in test mode.
func playsPortal(importer, imported string) bool {
	name, _, _ := function(importer)
	return name == "sandboxehr" && under(imported, module+"infra/sandbox")
}

// Lambdas reports packages that a deployed binary must not contain: the emulator, test code and the standard library's
// template packages. The template packages prevent the linker from dropping unused methods, which doubles the binary's
// size (docs/develop/architecture.md, "Builds").
func Lambdas(packages []Package) []Finding {
	var found findings
	for _, p := range packages {
		if _, part, ok := function(p.ImportPath); !ok || part != "bootstrap" {
			continue
		}
		for _, d := range p.Deps {
			kept := d == "testing" || under(d, "testing") || d == "net/http/httptest" ||
				d == "html/template" || d == "text/template" ||
				under(d, module+"infra") && !playsPortal(p.ImportPath, d)
			if kept {
				found.addf(p.ImportPath, "links %s", d)
			}
		}
	}
	return found.sorted()
}

// Clients reports functions that link an SDK client for a service that they may not call. An AWS client that a function
// doesn't need usually comes from wiring shared with other functions, and slows down cold starts.
func Clients(packages []Package, functions []template.Function) []Finding {
	var found findings
	for _, f := range functions {
		at := slices.IndexFunc(packages, func(p Package) bool {
			return p.ImportPath == module+"functions/"+f.Folder+
				"/bootstrap"
		})
		if at < 0 {
			continue // the Folders rule reports the missing folder
		}
		for _, service := range callable() {
			links := slices.ContainsFunc(clientsOf(service),
				func(client string) bool { return slices.Contains(packages[at].Deps, client) })
			calls := slices.ContainsFunc(f.Statements, func(s template.Statement) bool {
				return slices.ContainsFunc(s.Actions, func(a string) bool { return strings.HasPrefix(a, service+":") })
			})
			if links && !calls {
				found.addf(f.LogicalID, "links the client of %s, which it may not call", service)
			}
		}
	}
	return found.sorted()
}

// callable returns the services that functions may call. The SDK itself links clients for other services
// (docs/adr/0009).
func callable() []string {
	return []string{"dynamodb", "kms", "s3", "secretsmanager", "ses", "sqs", "ssm"}
}

// clientsOf returns the client packages for a service: the SDK's package and, if one exists, this repository's package
// (docs/adr/0017).
func clientsOf(service string) []string {
	all := []string{"github.com/aws/aws-sdk-go-v2/service/" + service}
	switch service {
	case "secretsmanager":
		all = append(all, module+"shared/platform/config/awssecret")
	case "ssm":
		all = append(all, module+"shared/platform/config/awsparam")
	}
	return all
}
