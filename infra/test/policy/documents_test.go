package policy_test

import (
	"strings"
	"testing"

	"recordbridge/infra/test/policy"
)

const makefile = `.PHONY: run test
RUNNER := ./build/runner
# comment: not a target
run: build ## Starts everything
	@echo build: done
test build-%: ; go test ./...
build::
`

func TestLongLinesCheckFindsProseBeyondLimit(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word ", 25)
	finds(t, policy.LongLines(files(t, map[string]string{
		"docs/a.md": "short\n\n```sh\n" + long + "\n```\n" + long + "\n| " + long + " |\n", "docs/b.txt": long,
	})), "docs/a.md:6: is longer than 120 columns")
}

func TestPagesCheckFindsLongPagesAndMissingContents(t *testing.T) {
	t.Parallel()
	long, sections := strings.Repeat("a\n", 200), "# A\n"+strings.Repeat("\n## B\n", 6)
	finds(t, policy.Pages(files(t, map[string]string{
		"docs/operate/a.md": long, "docs/operate/b.md": long + "b\n", "docs/operate/failures.md": long + "| row |\n",
		"docs/develop/c.md": sections, "docs/develop/d.md": sections + "\nContents: [B](#b)\n",
		"docs/guide/e.md": long + "b\n",
	})),
		"docs/develop/c.md: has 6 sections and no contents",
		"docs/operate/b.md: has 201 lines, more than 200",
	)
}

func TestExamplesCheckFindsLongPrograms(t *testing.T) {
	t.Parallel()
	short := "// comment\n\n" + strings.Repeat("\tf()\n\n# comment\n", 199)
	finds(t, policy.Examples(files(t, map[string]string{
		"docs/examples/a/main.ts": short, "docs/examples/b/main.py": short + "f()\n",
		"docs/examples/b/lock.txt": short + "f()\n",
	})), "docs/examples/b/main.py: has 200 lines of code, not fewer than 200")
}

func TestLinksCheckFindsBrokenLinks(t *testing.T) {
	t.Parallel()
	finds(t, policy.Links(files(t, map[string]string{
		"README.md": "# Top\n[a](docs/a.md) [b](docs/a.md#one-two--three \"t\") [c](#top) [d](docs) " +
			"[e](https://x.example/y)\n" +
			"[f](docs/gone.md) [g](docs/a.md#gone) [h](#gone) [i](../outside.md) [j](/docs/a.md) [k](mailto:a@b.example)\n" +
			"![l](gone.png) [m](<docs/a.md>)\n`[n](code.md)`\n```\n[o](block.md)\n# no heading\n```\n[p][q]\n\n[q]: " +
			"gone-too.md\n",
		"docs/a.md": "## One, `two` & [three](b.json)!\n[back](../README.md) [data](b.json) [again](#same-1) " +
			"[third](#same-2)\n## Same\n## Same\n", "docs/b.json": "{}",
	})),
		"README.md: the link #gone leads nowhere",
		"README.md: the link ../outside.md leads nowhere",
		"README.md: the link /docs/a.md leads nowhere",
		"README.md: the link docs/a.md#gone leads nowhere",
		"README.md: the link docs/gone.md leads nowhere",
		"README.md: the link gone-too.md leads nowhere",
		"README.md: the link gone.png leads nowhere",
		"docs/a.md: the link #same-2 leads nowhere",
	)
}

func TestCommandsCheckFindsInvalidCommands(t *testing.T) {
	t.Parallel()
	finds(t, policy.Commands(files(t, map[string]string{
		"Makefile": makefile, "infra/ctl/main.go": "package main", "infra/test/e2e/e_test.go": "package e2e_test",
		"README.md": "```sh\nmake run # make sure\ngo run ./infra/ctl -outputs x list\ngo test ./infra/... ./gone/...\n" +
			"```\n" +
			"Type `make test SEED=1` or `make demo`, and make a note. `RECORDBRIDGE=1 make gone` is none; `make build-x` is " +
			"one. `make build-<name>`.\n",
		"docs/a.md": "```\ncd x && make build stop\ngo run ./infra/cli list\n```\n",
	})),
		"README.md: go test ./infra/... ./gone/...: there is no ./gone",
		"README.md: make build-x: the Makefile has no such target",
		"README.md: make demo: the Makefile has no such target",
		"README.md: make gone: the Makefile has no such target",
		"docs/a.md: go run ./infra/cli list: there is no ./infra/cli",
		"docs/a.md: make stop: the Makefile has no such target",
	)
}

func TestEvidenceCheckFindsMissingTest(t *testing.T) {
	t.Parallel()
	finds(t, policy.Evidence(files(t, map[string]string{
		"docs/operate/hipaa.md": "`shared/a`, `infra/a_test.go` and `kms:Decrypt`\n", "shared/a/a.go": "package a\n",
	})), "docs/operate/hipaa.md: there is no infra/a_test.go")
}

func TestMentionsCheckFindsMissingDocuments(t *testing.T) {
	t.Parallel()
	finds(t, policy.Mentions(files(t, map[string]string{
		"docs/a.md": "docs/gone.md", "README.md": "",
		"a/a.go":        "package a\n\n// See docs/a.md, README.md and docs/b.md.\nvar _ = \"CONTRIBUTING.md\"\n",
		"a/a_test.go":   "package a\n\n// docs/c.md\n",
		"template.yaml": "Description: docs/operate/runbooks/x.md, other/docs/y.md",
	})),
		"a/a.go: there is no CONTRIBUTING.md",
		"a/a.go: there is no docs/b.md",
		"template.yaml: there is no docs/operate/runbooks/x.md",
	)
}

func TestCitationsCheckFindsDocumentOutsideRepository(t *testing.T) {
	t.Parallel()
	finds(t, policy.Citations(files(t, map[string]string{
		"a/a.go": "package a\n\n// See decisions\n// section 6.\nvar _ = \"spec 4.2\"\n\n// As RFC 9700 section 4.1, AWS " +
			"issue 1556 and docs/develop/architecture.md say.\nvar _ = 1\n",
		"a/b.go": "package a\n\n// See fhir notes 1.6.\n",
		"a/c.go": "package a\n\n// Seen (notes on platforms, section 1.6).\n", "Makefile": "# issue 5 item 7\n",
		"a.py": "# style.md section 7\n", "b.yaml": "# spec section 4.2",
		"docs/reference/deviations.md": "spec 6.2", "docs/openapi.yaml": "spec 6.2",
	})),
		`Makefile: cites "issue 5", which is not in the repository`,
		`a.py: cites "style.md", which is not in the repository`,
		`a/a.go:3: cites "decisions section", which is not in the repository`,
		`a/b.go:3: cites "fhir notes", which is not in the repository`,
		`a/c.go:3: cites "notes on platforms, section", which is not in the repository`,
		`b.yaml: cites "spec section", which is not in the repository`,
	)
}

func TestCompatibilityCheckFindsRowWithoutExistingTest(t *testing.T) {
	t.Parallel()
	finds(t, policy.Compatibility(files(t, map[string]string{
		"docs/reference/compatibility.md": "# Clients\n| Client | Test |\n|---|---|\n| a | `TestA` |\n| b | `TestB` |\n" +
			"| c | by hand " +
			"|\n| d | `a title` |\n| e | `no title`, `TestA` |\n| f | `a journey` |\n",
		"a/a_test.go":  "package a\n\nfunc TestA() {}\n",
		"a/a.go":       "package a\n\nfunc TestB() {}\n",
		"ui/a.test.ts": "test(\"a title\", () => {});\n",
		"ui/a.spec.ts": "test(\"a journey\", async () => {});\n// test(\"no title\"\n",
	})),
		"docs/reference/compatibility.md: the row of c names no test",
		"docs/reference/compatibility.md: there is no test TestB",
		"docs/reference/compatibility.md: there is no test no title",
	)
}
