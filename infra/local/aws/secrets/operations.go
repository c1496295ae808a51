package secrets

import (
	"context"
	"crypto/rand"
	"regexp"
	"time"

	"github.com/google/uuid"

	"recordbridge/infra/local/aws/wire"
)

const (
	maxValueBytes  = 64 << 10
	minTokenLength = 32
	maxTokenLength = 64
)

var secretName = regexp.MustCompile(`^[A-Za-z0-9/_+=.@-]{1,512}$`)

// value holds the fields common to the inputs of CreateSecret and PutSecretValue. The SDK sets ClientRequestToken,
// which becomes the version's ID.
type value struct {
	SecretString       *string
	ClientRequestToken string
	// The following parameters are not supported.
	SecretBinary  []byte
	VersionStages []string
}

func (v value) check() error {
	if token := len(v.ClientRequestToken); v.ClientRequestToken != "" &&
		(token < minTokenLength || token > maxTokenLength) {
		return wire.Fail("InvalidParameterException", "ClientRequestToken must be %d-%d characters long.", minTokenLength,
			maxTokenLength)
	}
	if v.SecretString == nil || len(v.SecretBinary) > 0 || len(v.VersionStages) > 0 {
		return unsupported("a secret that is no text, or has stages of its own")
	}
	if len(*v.SecretString) > maxValueBytes {
		return wire.Fail("ValidationException",
			"1 validation error detected: Value at 'secretString' failed to satisfy constraint: Member must have length less "+
				"than or equal to %d", maxValueBytes)
	}
	return nil
}

func unsupported(what string) error {
	return wire.Fail("InvalidParameterException", "The embedded Secrets Manager does not know %s.", what)
}

func (v value) version(now time.Time) *version {
	id := v.ClientRequestToken
	if id == "" {
		id = uuid.NewString()
	}
	return &version{ID: id, Text: *v.SecretString, Created: now}
}

type createSecretInput struct {
	value

	Name string
}

type versionOutput struct {
	ARN           string
	Name          string
	VersionID     string   `json:"VersionId"`
	VersionStages []string `json:",omitempty"`
}

func (s *Server) createSecret(_ context.Context, in *createSecretInput) (any, error) {
	if !secretName.MatchString(in.Name) {
		return nil, wire.Fail("ValidationException",
			"Invalid name. Must be a valid name containing alphanumeric characters, or any of the following: -/_+=.@!")
	}
	if err := in.check(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if taken, ok := s.secrets[in.Name]; ok {
		if v := taken.Current; v.ID == in.ClientRequestToken && v.Text == *in.SecretString {
			// a retry of a request whose response was lost
			return versionOutput{ARN: taken.ARN, Name: taken.Name, VersionID: v.ID}, nil
		}
		return nil, wire.Fail("ResourceExistsException",
			"The operation failed because the secret %s already exists.", in.Name)
	}
	next := secret{Name: in.Name, ARN: arnPrefix + in.Name + "-" + rand.Text()[:6], Current: in.version(time.Now())}
	return versionOutput{ARN: next.ARN, Name: next.Name, VersionID: next.Current.ID}, s.commit(next)
}

type putSecretValueInput struct {
	value

	SecretID string `json:"SecretId"`
}

func (s *Server) putSecretValue(_ context.Context, in *putSecretValueInput) (any, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	found, err := s.find(in.SecretID)
	if err != nil {
		return nil, err
	}
	next := secret{Name: found.Name, ARN: found.ARN, Current: in.version(time.Now())}
	out := versionOutput{ARN: found.ARN, Name: found.Name, VersionID: next.Current.ID, VersionStages: stages()}
	switch {
	case found.Current.ID != next.Current.ID:
		return out, s.commit(next)
	case found.Current.Text != next.Current.Text:
		return nil, wire.Fail("ResourceExistsException",
			"You can't use ClientRequestToken %s because that value is already in use for a version of secret %s.",
			next.Current.ID, found.ARN)
	default:
		return out, nil // a retry of a request whose response was lost
	}
}

type getSecretValueInput struct {
	SecretID string `json:"SecretId"`
	// The following parameters are not supported.
	VersionID    string `json:"VersionId"`
	VersionStage string
}

type getSecretValueOutput struct {
	versionOutput

	SecretString string
	CreatedDate  float64 // Unix time in seconds
}

func (s *Server) getSecretValue(_ context.Context, in *getSecretValueInput) (any, error) {
	if in.VersionID != "" || in.VersionStage != "" {
		return nil, unsupported("another version than the current one")
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	found, err := s.find(in.SecretID)
	if err != nil {
		return nil, err
	}
	return getSecretValueOutput{
		versionOutput: versionOutput{ARN: found.ARN, Name: found.Name, VersionID: found.Current.ID, VersionStages: stages()},
		SecretString:  found.Current.Text, CreatedDate: float64(found.Current.Created.UnixMilli()) / 1000,
	}, nil
}

// stages returns the staging labels of a secret's only version.
func stages() []string { return []string{"AWSCURRENT"} }
