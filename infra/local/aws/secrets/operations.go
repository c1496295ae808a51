package secrets

import (
	"bytes"
	"context"
	"crypto/rand"
	"regexp"
	"slices"
	"time"

	"github.com/google/uuid"

	"recordbridge/infra/local/aws/wire"
)

const (
	maxValueBytes  = 64 << 10
	minTokenLength = 32
	maxTokenLength = 64
	maxStages      = 20
	maxStageLength = 256
)

var secretName = regexp.MustCompile(`^[A-Za-z0-9/_+=.@-]{1,512}$`)

// value is what CreateSecret and PutSecretValue take. The SDK fills in ClientRequestToken, which names the version.
type value struct {
	SecretString       *string
	SecretBinary       []byte
	ClientRequestToken string
}

func (v value) empty() bool { return v.SecretString == nil && len(v.SecretBinary) == 0 }

func (v value) check() error {
	if token := len(v.ClientRequestToken); v.ClientRequestToken != "" && (token < minTokenLength || token > maxTokenLength) {
		return wire.Fail("InvalidParameterException", "ClientRequestToken must be %d-%d characters long.", minTokenLength, maxTokenLength)
	}
	if v.SecretString != nil && len(v.SecretBinary) > 0 {
		return wire.Fail("InvalidParameterException", "You can't specify both a binary secret value and a string secret value in the same secret.")
	}
	for member, long := range map[string]bool{
		"secretBinary": len(v.SecretBinary) > maxValueBytes, "secretString": v.SecretString != nil && len(*v.SecretString) > maxValueBytes,
	} {
		if long {
			return tooLong(member, maxValueBytes)
		}
	}
	return nil
}

func tooLong(member string, most int) error {
	return wire.Fail("ValidationException", "1 validation error detected: Value at '%s' failed to satisfy constraint: Member must have length less than or equal to %d", member, most)
}

func (v value) version(now time.Time) *version {
	id := v.ClientRequestToken
	if id == "" {
		id = uuid.NewString()
	}
	return &version{ID: id, Text: v.SecretString, Bytes: v.SecretBinary, Created: now}
}

type createSecretInput struct {
	value

	Name        string
	Description string
}

type versionOutput struct {
	ARN           string
	Name          string
	VersionID     string   `json:"VersionId,omitempty"`
	VersionStages []string `json:"VersionStages,omitempty"`
}

func (s *Server) createSecret(_ context.Context, in *createSecretInput) (any, error) {
	if !secretName.MatchString(in.Name) {
		return nil, wire.Fail("ValidationException", "Invalid name. Must be a valid name containing alphanumeric characters, or any of the following: -/_+=.@!")
	}
	if err := in.check(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if taken, ok := s.secrets[in.Name]; ok {
		if v := taken.Versions[in.ClientRequestToken]; v != nil && v.same(in.version(v.Created)) {
			return versionOutput{ARN: taken.ARN, Name: taken.Name, VersionID: v.ID}, nil // the repetition of a request whose answer was lost
		}
		return nil, wire.Fail("ResourceExistsException", "The operation failed because the secret %s already exists.", in.Name)
	}
	now := time.Now()
	r := record{Name: in.Name, ARN: arnPrefix + in.Name + "-" + rand.Text()[:6], Description: in.Description, At: now}
	out := versionOutput{ARN: r.ARN, Name: r.Name}
	if !in.empty() {
		r.Version, r.Stages = in.version(now), []string{stageCurrent}
		out.VersionID = r.Version.ID
	}
	return out, s.commit(r)
}

type putSecretValueInput struct {
	value

	SecretID      string `json:"SecretId"`
	VersionStages []string
}

func (s *Server) putSecretValue(_ context.Context, in *putSecretValueInput) (any, error) {
	if in.empty() {
		return nil, wire.Fail("InvalidRequestException", "You must provide either SecretString or SecretBinary.")
	}
	if err := in.check(); err != nil {
		return nil, err
	}
	if err := checkStages(in.VersionStages); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	found, err := s.find(in.SecretID)
	if err != nil {
		return nil, err
	}
	stages := in.VersionStages
	if first := len(found.Versions) == 0; len(stages) == 0 || first && !slices.Contains(stages, stageCurrent) {
		stages = append(slices.Clone(stages), stageCurrent)
	}
	now := time.Now()
	next := in.version(now)
	out := versionOutput{ARN: found.ARN, Name: found.Name, VersionID: next.ID, VersionStages: stages}
	if old, known := found.Versions[next.ID]; known {
		if !old.same(next) {
			return nil, wire.Fail("ResourceExistsException", "You can't use ClientRequestToken %s because that value is already in use for a version of secret %s.", next.ID, found.ARN)
		}
		return out, nil // the repetition of a request whose answer was lost
	}
	return out, s.commit(record{Name: found.Name, Version: next, Stages: stages, At: now})
}

func checkStages(stages []string) error {
	if len(stages) > maxStages {
		return tooLong("versionStages", maxStages)
	}
	for _, stage := range stages {
		if stage == "" || len(stage) > maxStageLength {
			return tooLong("versionStages.member", maxStageLength)
		}
	}
	return nil
}

func (v *version) same(other *version) bool {
	if (v.Text == nil) != (other.Text == nil) || (v.Text != nil && *v.Text != *other.Text) {
		return false
	}
	return bytes.Equal(v.Bytes, other.Bytes)
}

type getSecretValueInput struct {
	SecretID     string `json:"SecretId"`
	VersionID    string `json:"VersionId"`
	VersionStage string
}

type getSecretValueOutput struct {
	versionOutput

	SecretString *string `json:"SecretString,omitempty"`
	SecretBinary []byte  `json:"SecretBinary,omitempty"`
	CreatedDate  float64
}

func (s *Server) getSecretValue(_ context.Context, in *getSecretValueInput) (any, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	found, err := s.find(in.SecretID)
	if err != nil {
		return nil, err
	}
	stage, id := in.VersionStage, in.VersionID
	if stage == "" && id == "" {
		stage = stageCurrent
	}
	if id == "" {
		id = found.Stages[stage]
	}
	v, ok := found.Versions[id]
	if !ok {
		return nil, wire.Fail("ResourceNotFoundException", "Secrets Manager can't find the specified secret value for staging label or version: %s%s", in.VersionID, stage)
	}
	if stage != "" && found.Stages[stage] != id {
		return nil, wire.Fail("InvalidRequestException", "You provided a VersionStage that is not associated to the provided VersionId.")
	}
	return getSecretValueOutput{
		versionOutput: versionOutput{ARN: found.ARN, Name: found.Name, VersionID: id, VersionStages: found.stagesOf()[id]},
		SecretString:  v.Text, SecretBinary: v.Bytes, CreatedDate: seconds(v.Created),
	}, nil
}

type describeSecretInput struct {
	SecretID string `json:"SecretId"`
}

type describeSecretOutput struct {
	ARN                string
	Name               string
	Description        string `json:",omitempty"`
	CreatedDate        float64
	LastChangedDate    float64
	VersionIDsToStages map[string][]string `json:"VersionIdsToStages"`
}

func (s *Server) describeSecret(_ context.Context, in *describeSecretInput) (any, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	found, err := s.find(in.SecretID)
	if err != nil {
		return nil, err
	}
	return describeSecretOutput{
		ARN: found.ARN, Name: found.Name, Description: found.Description, VersionIDsToStages: found.stagesOf(),
		CreatedDate: seconds(found.Created), LastChangedDate: seconds(found.Changed),
	}, nil
}

// stagesOf returns the staging labels of every version that has one.
func (s *secret) stagesOf() map[string][]string {
	out := map[string][]string{}
	for stage, id := range s.Stages {
		out[id] = append(out[id], stage)
	}
	return out
}

// seconds is AWS JSON's form of a time.
func seconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }
