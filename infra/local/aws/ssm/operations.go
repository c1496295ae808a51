package ssm

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"regexp"
	"slices"
	"time"

	"recordbridge/infra/local/aws/wire"
)

const (
	typeSecure    = "SecureString"
	maxValueBytes = 4096
	maxNameBytes  = 1011
	maxNames      = 10
)

var (
	parameterName = regexp.MustCompile(`^[A-Za-z0-9_./-]+$`)
	reservedName  = regexp.MustCompile(`(?i)^/?(aws|ssm)`)
)

type putParameterInput struct {
	Name      string
	Type      string
	Value     string
	Overwrite bool
}

type putParameterOutput struct {
	Version int64
	Tier    string
}

func (s *Server) putParameter(_ context.Context, in *putParameterInput) (any, error) {
	if len(in.Name) > maxNameBytes || !parameterName.MatchString(in.Name) {
		return nil, wire.Fail("ValidationException", "Parameter name: only letters, digits and _.-/ are allowed, %d at most.", maxNameBytes)
	}
	if reservedName.MatchString(in.Name) {
		return nil, wire.Fail("ValidationException", "Parameter name: can't be prefixed with \"aws\" or \"ssm\" (case-insensitive).")
	}
	if in.Value == "" || len(in.Value) > maxValueBytes {
		return nil, wire.Fail("ValidationException", "Standard tier parameters support a maximum parameter value of %d characters and no empty one.", maxValueBytes)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	old, exists := s.parameters[in.Name]
	if exists && !in.Overwrite {
		return nil, wire.Fail("ParameterAlreadyExists", "The parameter already exists. To overwrite this value, set the overwrite option in the request to true.")
	}
	kind := in.Type
	if kind == "" {
		kind = old.Type
	}
	if !slices.Contains([]string{"String", "StringList", typeSecure}, kind) {
		return nil, wire.Fail("ValidationException", "A parameter type is required when you create a parameter.")
	}
	next := parameter{Name: in.Name, Type: kind, Value: in.Value, Version: old.Version + 1, Modified: time.Now()}
	if err := s.journal.Append(serviceName, next); err != nil {
		return nil, err
	}
	s.parameters[in.Name] = next
	return putParameterOutput{Version: next.Version, Tier: "Standard"}, nil
}

type parameterOutput struct {
	ARN              string
	Name             string
	Type             string
	Value            string
	Version          int64
	DataType         string
	LastModifiedDate float64
}

// show returns the parameter as a caller sees it. Without decryption a SecureString comes as something that only
// looks like ciphertext, so that code which forgot WithDecryption fails here as it would in AWS.
func (p parameter) show(decrypt bool) parameterOutput {
	value := p.Value
	if p.Type == typeSecure && !decrypt {
		sum := sha256.Sum256([]byte(p.Value))
		value = "AQICAH" + base64.StdEncoding.EncodeToString(sum[:])
	}
	return parameterOutput{
		ARN: p.arn(), Name: p.Name, Type: p.Type, Value: value, Version: p.Version, DataType: "text",
		LastModifiedDate: float64(p.Modified.UnixMilli()) / 1000,
	}
}

type getParameterInput struct {
	Name           string
	WithDecryption bool
}

type getParameterOutput struct {
	Parameter parameterOutput
}

func (s *Server) getParameter(_ context.Context, in *getParameterInput) (any, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	p, ok := s.parameters[in.Name]
	if !ok {
		return nil, wire.Fail("ParameterNotFound", "Parameter %s not found.", in.Name)
	}
	return getParameterOutput{Parameter: p.show(in.WithDecryption)}, nil
}

type getParametersInput struct {
	Names          []string
	WithDecryption bool
}

type getParametersOutput struct {
	Parameters        []parameterOutput
	InvalidParameters []string
}

func (s *Server) getParameters(_ context.Context, in *getParametersInput) (any, error) {
	if len(in.Names) == 0 || len(in.Names) > maxNames {
		return nil, wire.Fail("ValidationException", "1 validation error detected: Value at 'names' failed to satisfy constraint: Member must have length between 1 and %d", maxNames)
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	out := getParametersOutput{Parameters: []parameterOutput{}, InvalidParameters: []string{}}
	for _, name := range in.Names {
		if p, ok := s.parameters[name]; ok {
			out.Parameters = append(out.Parameters, p.show(in.WithDecryption))
		} else {
			out.InvalidParameters = append(out.InvalidParameters, name)
		}
	}
	return out, nil
}
