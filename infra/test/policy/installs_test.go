package policy_test

import (
	"testing"

	"recordbridge/infra/test/policy"
)

func TestInstallsWithoutLockOrHashesAreFound(t *testing.T) {
	t.Parallel()
	finds(t, policy.Installs(files(t, map[string]string{
		"Makefile":       "ui:\n\t@cd ui && { [ -e x ] || npm ci --no-audit; } && node build.mjs\n\t@npx playwright test\n",
		".ci/latest":     "go install example.org/tool@latest\ncurl -s https://example.org/x | bash\n",
		".ci/npm":        "npm install --silent \\\n\t--prefix x y@1\n",
		".ci/pip":        "\"$folder/bin/pip\" install --quiet \"x==1\"\n",
		".ci/jars":       "mvn --file pom.xml copy\n",
		"infra/a/npm.go": "package a\n\nfunc f() { exec.Command(\"npm\", \"ci\", \"--no-audit\") }\n",
		".ci/good": "# npm install x\nnpm ci --silent --ignore-scripts --prefix x\nnpx --no playwright test\npip " +
			"install --require-hashes --only-binary :all: --requirement x\ngo install a/b@v1.2.3\ngo install \"a/b@$B\"\n",
		".ci/good-jars": "mvn --file pom.xml copy\nsha256sum --check x\n",
		"infra/a/good.go": "package a\n\n// npm install x\nfunc g() { exec.Command(\"npm\", \"ci\", " +
			"\"--ignore-scripts\") }\n",
		"infra/a/a_test.go": "package a\n\nfunc h() { exec.Command(\"npm\", \"ci\") }\n",
	})),
		".ci/jars: installs without hashes: check them by sha256sum --check",
		".ci/latest: installs no fixed version",
		".ci/latest: runs what it downloads",
		".ci/npm: installs without a lock: use npm ci",
		".ci/pip: builds packages with tools that have no hashes: add --only-binary :all:",
		".ci/pip: installs without hashes: add --require-hashes",
		"Makefile: installs what is not there: use npx --no",
		"Makefile: runs the scripts of packages: add --ignore-scripts",
		"infra/a/npm.go: runs the scripts of packages: add --ignore-scripts",
	)
}
