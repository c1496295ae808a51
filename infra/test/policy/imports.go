package policy

import (
	"slices"
	"strings"

	"recordbridge/infra/local/template"
)

// layers are the packages of shared/, lowest first (docs/architecture.md, "Layers").
func layers() [][]string {
	return [][]string{
		{"fault", "ids", "secret", "logx", "fhir", "ratelimit", "metric", "trace", "weburl", "retry", "timestamp", "cache"},
		{
			"org", "account", "audit", "cursor", "due", "catalog", "binding", "flow", "connection", "tokens", "export", "webhook", "eventlog", "notice", "refresh", "disconnect", "deliverylog", "pages", "lookalike", "operator", "smart/platform", "verification", "inquiry", "erase", "deletion", "usage", "maillimit", "mailtext", "tefca",
		},
		{"smart", "safehttp", "passkey", "tefca/identity/oidc", "tefca/ihe", "tefca/facilitated"},
		{"store", "queue", "blob", "kms", "mail"},
		{"httpapi", "window", "lambdarun", "config"},
		{"wiring"},
	}
}

const (
	domainLayer  = 1
	adapterLayer = 3
)

// layerOf gives the layer of a package of shared/; ok is false for one that has none.
func layerOf(name string) (layer int, ok bool) {
	layer = slices.IndexFunc(layers(), func(names []string) bool { return slices.Contains(names, name) })
	return layer, layer >= 0
}

// Layers finds packages of shared/ that import one of a higher layer, or that have no layer.
func Layers(packages []Package) []Finding {
	var found findings
	for _, p := range packages {
		name, isShared := shared(p.ImportPath)
		if !isShared || name == "testkit" {
			continue
		}
		own, ok := layerOf(name)
		if !ok {
			found.addf(p.ImportPath, "is in no layer of docs/architecture.md")
			continue
		}
		for _, i := range p.Imports {
			imported, isShared := shared(i)
			if !isShared {
				continue
			}
			if other, ok := layerOf(imported); !ok || other > own {
				found.addf(p.ImportPath, "imports %s, which is above it", i)
			}
		}
	}
	return found.sorted()
}

// Domain finds domain packages that link AWS or HTTP, by themselves or through others, and tokens with a logger.
func Domain(packages []Package) []Finding {
	var found findings
	for _, p := range packages {
		name, _ := shared(p.ImportPath)
		if layer, ok := layerOf(name); !ok || layer != domainLayer {
			continue
		}
		for _, d := range p.Deps {
			switch {
			case under(d, "github.com/aws"):
				found.addf(p.ImportPath, "links %s: the domain knows no AWS", d)
			case d == "net/http":
				found.addf(p.ImportPath, "links %s: the domain knows no transport", d)
			case d == module+"shared/logx" && name == "tokens":
				found.addf(p.ImportPath, "links %s: what cannot log cannot leak", d)
			}
		}
	}
	return found.sorted()
}

// Boundaries finds imports that go round the wiring: only functions/*/wiring, what they share (shared/wiring) and infra
// choose adapters and AWS clients, nothing shared knows a function, and no function knows another.
func Boundaries(packages []Package) []Finding {
	var found findings
	for _, p := range packages {
		for _, i := range p.Imports {
			if why := forbidden(p.ImportPath, i); why != "" {
				found.addf(p.ImportPath, "imports %s: %s", i, why)
			}
		}
	}
	return found.sorted()
}

// forbidden says why a package may not import another, or nothing.
func forbidden(importer, imported string) string {
	if under(importer, module+"infra") {
		return ""
	}
	owner, isShared := shared(importer)
	from, part, isFunction := function(importer)
	to, _, importsFunction := function(imported)
	wires := isFunction && part == "wiring" || owner == "wiring"
	starts := isFunction && part == "bootstrap" && under(imported, module+"shared/wiring") ||
		owner == "lambdarun" && imported == module+"shared/config"
	switch {
	case under(imported, module+"infra") && !playsPortal(importer, imported):
		return "infra is for laptops and tests"
	case importsFunction && isShared:
		return "nothing shared knows a function"
	case importsFunction && isFunction && from != to:
		return "a function knows no other"
	case under(imported, "github.com/aws") && !wires && !touchesAWS(owner):
		return "only wiring and adapters touch AWS"
	case choosable(imported) && !wires && !starts && !sameShared(importer, imported):
		return "only wiring picks an adapter"
	}
	return ""
}

// playsPortal tells whether a function's import is the sandbox EHR, which template.yaml deploys in test mode.
func playsPortal(importer, imported string) bool {
	name, _, _ := function(importer)
	return name == "sandboxehr" && under(imported, module+"infra/sandbox")
}

// touchesAWS tells which packages of shared/ may import the SDK: the adapters, the edges that face
// Lambda itself, and wiring.
func touchesAWS(name string) bool {
	layer, ok := layerOf(name)
	return ok && layer == adapterLayer || slices.Contains([]string{"lambdarun", "config", "wiring"}, name)
}

// choosable tells whether a package is an adapter, reads the environment or wires, which only wiring may pick.
func choosable(importPath string) bool {
	name, isShared := shared(importPath)
	layer, ok := layerOf(name)
	return isShared && (ok && layer == adapterLayer || name == "config" || name == "wiring")
}

// sameShared tells whether both packages stand in the same folder of shared/.
func sameShared(a, b string) bool {
	first, _ := shared(a)
	second, _ := shared(b)
	return first == second
}

// Lambdas finds what must not be in a deployed binary: the emulator, test code, and the template packages, which keep
// the linker from dropping unused methods and so double a binary (docs/architecture.md, "Builds").
func Lambdas(packages []Package) []Finding {
	var found findings
	for _, p := range packages {
		if _, part, ok := function(p.ImportPath); !ok || part != "bootstrap" {
			continue
		}
		for _, d := range p.Deps {
			name, _ := shared(d)
			kept := d == "testing" || under(d, "testing") || d == "net/http/httptest" ||
				d == "html/template" || d == "text/template" ||
				under(d, module+"infra") && !playsPortal(p.ImportPath, d) || name == "testkit" || d == module+"shared/store/storetest"
			if kept {
				found.addf(p.ImportPath, "links %s", d)
			}
		}
	}
	return found.sorted()
}

// Clients finds functions that link an SDK client whose service they may not call: what they do not use is dead weight
// in a cold start, and comes in by a shared wiring that is for others.
func Clients(packages []Package, functions []template.Function) []Finding {
	var found findings
	for _, f := range functions {
		at := slices.IndexFunc(packages, func(p Package) bool { return p.ImportPath == module+"functions/"+f.Folder+"/bootstrap" })
		if at < 0 {
			continue // the folder is missing, which Folders finds
		}
		for _, service := range callable() {
			links := slices.ContainsFunc(clientsOf(service), func(client string) bool { return slices.Contains(packages[at].Deps, client) })
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

// callable are the services that functions call. The SDK links others for itself (docs/adr/0009).
func callable() []string {
	return []string{"dynamodb", "kms", "s3", "secretsmanager", "ses", "sqs", "ssm"}
}

// clientsOf are the packages that call a service: the SDK's, and ours where there is one (docs/adr/0017).
func clientsOf(service string) []string {
	all := []string{"github.com/aws/aws-sdk-go-v2/service/" + service}
	switch service {
	case "secretsmanager":
		all = append(all, module+"shared/config/awssecret")
	case "ssm":
		all = append(all, module+"shared/config/awsparam")
	}
	return all
}
