package policy_test

import (
	"testing"

	"recordbridge/infra/test/policy"
)

func TestRevealedCheckFindsDisclosedSecrets(t *testing.T) {
	t.Parallel()
	const told = ": a secret is opened into a log line, a text or an error"
	finds(t, policy.Revealed(files(t, map[string]string{
		"a/good.go": `package a

func good() {
	slog.Any("token", token)
	header.Set("Authorization", "Bearer "+token.Reveal())
	mark := ring.Sign([]byte(token.Reveal()))
	logger.Info("x", slog.Int("version", mark.Version))
	value := token.Reveal()
	use(value)
	value = "x"
	fmt.Errorf("of %s", value)
}

func other() { fmt.Errorf("of %s", value) }
`,
		"a/bad.go": `package a

func bad() {
	slog.String("token", token.Reveal())
	fmt.Sprintf("%s", strings.ToLower(token.Reveal()))
	logger.InfoContext(ctx, "x", "token", token.Reveal())
	value, err := token.Reveal(), f()
	fmt.Errorf("of %s: %w", value, err)
	raw := []byte(string(token.Reveal()))
	fault.BadRequest("of " + hex(raw))
	errors.New(token.Reveal()[:4])
	f.Because(errorOf(value))
	logx.Add(ctx, slog.Int("length", 1), slog.String("k", func() string { return value }()))
}
`,
	})),
		"a/bad.go:10"+told, "a/bad.go:11"+told, "a/bad.go:12"+told, "a/bad.go:13"+told,
		"a/bad.go:4"+told, "a/bad.go:5"+told, "a/bad.go:6"+told, "a/bad.go:8"+told,
	)
}
