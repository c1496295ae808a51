package ssm

import (
	"context"
	"regexp"
	"strings"
	"time"

	"recordbridge/infra/local/aws/wire"
)

const (
	typeText      = "String"
	maxValueBytes = 4096
	maxNameBytes  = 1011
	maxLevels     = 15
)

var (
	parameterName = regexp.MustCompile(`^[A-Za-z0-9_./-]+$`)
	reservedName  = regexp.MustCompile(`(?i)^/?(aws|ssm)`)
	awsPath       = regexp.MustCompile(`(?i)^/aws[^/]*/`)
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
	if err := checkName(in.Name); err != nil {
		return nil, err
	}
	if in.Value == "" || len(in.Value) > maxValueBytes {
		return nil, wire.Fail("ValidationException",
			"Standard tier parameters support a maximum parameter value of %d characters and no empty one.", maxValueBytes)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	old, exists := s.parameters[in.Name]
	if exists && !in.Overwrite {
		return nil, wire.Fail("ParameterAlreadyExists",
			"The parameter already exists. To overwrite this value, set the overwrite option in the request to true.")
	}
	kind := in.Type
	if kind == "" {
		kind = old.Type
	}
	switch {
	case kind == "":
		return nil, wire.Fail("ValidationException", "A parameter type is required when you create a parameter.")
	case kind != typeText:
		return nil, wire.Fail("ValidationException", "The embedded Parameter Store has no parameters of type '%s'.", kind)
	}
	next := parameter{Name: in.Name, Type: kind, Value: in.Value, Version: old.Version + 1, Modified: time.Now()}
	if err := s.journal.Append(serviceName, next); err != nil {
		return nil, err
	}
	s.parameters[in.Name] = next
	return putParameterOutput{Version: next.Version, Tier: "Standard"}, nil
}

// checkName checks that a new parameter name follows PutParameter's rules (API reference, Name).
func checkName(name string) error {
	levels := strings.Count(strings.TrimPrefix(name, "/"), "/") + 1
	switch {
	case len(name) > maxNameBytes || !parameterName.MatchString(name):
		return wire.Fail("ValidationException", "Parameter name: only letters, digits and _.-/ are allowed, %d at most.",
			maxNameBytes)
	case awsPath.MatchString(name):
		return wire.Fail("AccessDeniedException", "No access to reserved parameter name: %s.", name)
	case reservedName.MatchString(name):
		return wire.Fail("ValidationException",
			"Parameter name: can't be prefixed with \"aws\" or \"ssm\" (case-insensitive).")
	case levels > 1 && !strings.HasPrefix(name, "/"):
		return wire.Fail("ValidationException", "Parameter name must be a fully qualified name.")
	case strings.Contains(name, "//") || strings.HasSuffix(name, "/"):
		return wire.Fail("ValidationException", "Parameter name: sub-paths divided by slash must not be empty.")
	case levels > maxLevels:
		return wire.Fail("HierarchyLevelLimitExceededException",
			"Parameter name: a hierarchy can have at most %d levels.", maxLevels)
	}
	return nil
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

func (p parameter) show() parameterOutput {
	return parameterOutput{
		ARN: p.arn(), Name: p.Name, Type: p.Type, Value: p.Value, Version: p.Version, DataType: "text",
		LastModifiedDate: float64(p.Modified.UnixMilli()) / 1000,
	}
}

type getParameterInput struct {
	Name string
}

type getParameterOutput struct {
	Parameter parameterOutput
}

func (s *Server) getParameter(_ context.Context, in *getParameterInput) (any, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	p, ok := s.find(in.Name)
	if !ok {
		return nil, wire.Fail("ParameterNotFound", "Parameter %s not found.", in.Name)
	}
	return getParameterOutput{Parameter: p.show()}, nil
}

// find returns the parameter with this name or ARN.
func (s *Server) find(name string) (parameter, bool) {
	path, isARN := strings.CutPrefix(name, arnPrefix)
	if p, ok := s.parameters[path]; ok || !isARN {
		return p, ok
	}
	p, ok := s.parameters[strings.TrimPrefix(path, "/")] // in an ARN, a slash precedes a name that lacks one
	return p, ok
}
