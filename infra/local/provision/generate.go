package provision

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"math/big"

	"recordbridge/infra/local/template"
)

const (
	lettersAndDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	punctuation      = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
)

// generate creates a secret's value as Secrets Manager does for GenerateSecretString. Unlike Secrets Manager, generate
// does not guarantee a character from every class, but this doesn't matter for 256-bit keys.
func generate(s template.Secret) (string, error) {
	alphabet := lettersAndDigits
	if !s.ExcludePunctuation {
		alphabet += punctuation
	}
	text := make([]byte, s.Length)
	for i := range text {
		n, err := rand.Int(rand.Reader, big.NewInt(int64(len(alphabet))))
		if err != nil {
			return "", fmt.Errorf("read randomness: %w", err)
		}
		text[i] = alphabet[n.Int64()]
	}
	if s.StringTemplate == "" {
		return string(text), nil
	}
	values := map[string]any{}
	if err := json.Unmarshal([]byte(s.StringTemplate), &values); err != nil {
		return "", fmt.Errorf("SecretStringTemplate: %w", err)
	}
	values[s.StringKey] = string(text)
	value, err := json.Marshal(values)
	if err != nil {
		return "", fmt.Errorf("encode the value: %w", err)
	}
	return string(value), nil
}
