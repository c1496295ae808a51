package control

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/google/uuid"

	"recordbridge/infra/local/aws/wire"
	"recordbridge/infra/local/triggers"
)

// Mappings holds the event source mappings of the stack's functions.
type Mappings interface {
	Mappings() []triggers.Mapping
	Enable(function, queueARN string, enabled bool) bool
}

// Lambda serves Lambda's control plane. Set the fields before the first call.
type Lambda struct {
	stateless

	Stack    string // functions are named after the stack, a hyphen and their logical ID
	Mappings Mappings
	Versions *Versions // nil if functions run in containers
}

const (
	arnPrefix    = "arn:aws:lambda:us-east-1:000000000000:function:"
	mappingsPath = "/2015-03-31/event-source-mappings"
	functionPath = "/2015-03-31/functions/{function}"
	live         = "live" // alias that SAM's AutoPublishAlias creates
)

// Name implements wire.Service.
func (*Lambda) Name() string { return "lambda" }

type route struct {
	operation string
	act       func(r *http.Request) (any, error)
}

// Operation implements wire.Service.
func (l *Lambda) Operation(r *http.Request) string {
	operation, _ := l.match(r)
	return operation
}

// Serve implements wire.Service.
func (l *Lambda) Serve(w http.ResponseWriter, r *http.Request, _ wire.Call) {
	operation, serve := l.match(r)
	if operation == "" {
		writeLambdaError(w, wire.Fail("UnknownOperationException", "the operation is not part of the embedded AWS"))
		return
	}
	serve.ServeHTTP(w, r)
}

// mappingShown is a mapping in Lambda's format.
type mappingShown struct {
	ID       string `json:"UUID"`
	Source   string `json:"EventSourceArn"`
	Function string `json:"FunctionArn"`
	State    string
	Reason   string `json:"StateTransitionReason"`
	Batch    int    `json:"BatchSize"`
}

// MappingID returns the UUID of the mapping between a queue and a function, given the function's logical ID.
func MappingID(stack, function, queueARN string) string {
	return uuid.NewSHA1(uuid.NameSpaceURL, []byte(stack+"-"+function+" "+queueARN)).String()
}

func (l *Lambda) shown(m triggers.Mapping) mappingShown {
	name := l.Stack + "-" + m.Function
	one := mappingShown{
		ID:     MappingID(l.Stack, m.Function, m.QueueARN),
		Source: m.QueueARN, Function: arnPrefix + name + ":" + live, State: "Enabled", Reason: "USER_INITIATED",
		Batch: m.BatchSize,
	}
	if !m.Enabled {
		one.State = "Disabled"
	}
	return one
}

func (l *Lambda) listMappings(r *http.Request) (any, error) {
	query := r.URL.Query()
	for name := range query {
		if name != "FunctionName" && name != "EventSourceArn" {
			return nil, invalid("%s is not part of the embedded AWS", name)
		}
	}
	function := ""
	if name := query.Get("FunctionName"); name != "" {
		base, alias, _ := strings.Cut(strings.TrimPrefix(name, arnPrefix), ":")
		if alias != live { // mappings belong to the alias, not to $LATEST
			return map[string]any{"EventSourceMappings": []mappingShown{}}, nil
		}
		function = arnPrefix + base + ":" + live
	}
	all := []mappingShown{}
	for _, m := range l.Mappings.Mappings() {
		one, source := l.shown(m), query.Get("EventSourceArn")
		if (function == "" || one.Function == function) && (source == "" || one.Source == source) {
			all = append(all, one)
		}
	}
	return map[string]any{"EventSourceMappings": all}, nil
}

func (l *Lambda) updateMapping(r *http.Request) (any, error) {
	var in struct {
		Enabled *bool
	}
	if err := decode(r, &in); err != nil {
		return nil, err
	}
	for _, m := range l.Mappings.Mappings() {
		one := l.shown(m)
		if one.ID != r.PathValue("uuid") {
			continue
		}
		if in.Enabled != nil && *in.Enabled != m.Enabled {
			l.Mappings.Enable(m.Function, m.QueueARN, *in.Enabled)
			one.State = map[bool]string{true: "Enabling", false: "Disabling"}[*in.Enabled]
		}
		return one, nil
	}
	return nil, missing("The resource you requested does not exist.")
}

func decode(r *http.Request, in any) error {
	decoder := json.NewDecoder(r.Body)
	decoder.DisallowUnknownFields() // callers can't unknowingly rely on unsupported parameters
	if err := decoder.Decode(in); err != nil {
		return invalid("%v", err)
	}
	return nil
}

func invalid(format string, args ...any) error {
	return wire.Fail("InvalidParameterValueException", format, args...)
}

func missing(message string) error {
	return &wire.Error{Code: "ResourceNotFoundException", Message: message, Status: http.StatusNotFound}
}

func writeLambdaError(w http.ResponseWriter, err error) {
	failure, ok := errors.AsType[*wire.Error](err)
	if !ok {
		failure = &wire.Error{Code: "ServiceException", Message: err.Error(), Status: http.StatusInternalServerError}
	}
	w.Header().Set("X-Amzn-Errortype", failure.Code)
	writeLambda(w, max(failure.Status, http.StatusBadRequest),
		map[string]string{"Type": "User", "message": failure.Message})
}

func writeLambda(w http.ResponseWriter, status int, value any) {
	body, err := json.Marshal(value)
	if err != nil {
		status, body = http.StatusInternalServerError, nil
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client may have disconnected
}

// routes returns the served operations by method and path.
func (l *Lambda) routes() map[string]route {
	all := map[string]route{
		"GET " + mappingsPath:             {"ListEventSourceMappings", l.listMappings},
		"GET " + mappingsPath + "/{$}":    {"ListEventSourceMappings", l.listMappings}, // the AWS CLI's URL
		"PUT " + mappingsPath + "/{uuid}": {"UpdateEventSourceMapping", l.updateMapping},
	}
	if l.Versions != nil {
		all["GET "+functionPath+"/versions"] = route{"ListVersionsByFunction", l.listVersions}
		all["GET "+functionPath+"/aliases/{alias}"] = route{"GetAlias", l.getAlias}
		all["PUT "+functionPath+"/aliases/{alias}"] = route{"UpdateAlias", l.updateAlias}
		all["PUT "+functionPath+"/code"] = route{"UpdateFunctionCode", l.updateCode}
	}
	return all
}

// match returns the operation that r requests, and its handler.
func (l *Lambda) match(r *http.Request) (operation string, serve http.Handler) {
	mux := http.NewServeMux()
	for pattern, one := range l.routes() {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			out, err := one.act(r)
			if err != nil {
				writeLambdaError(w, err)
				return
			}
			writeLambda(w, http.StatusOK, out)
		})
	}
	_, pattern := mux.Handler(r)
	return l.routes()[pattern].operation, mux
}
