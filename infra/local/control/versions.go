package control

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"recordbridge/infra/local/aws/wire"
)

// Code is the runner's code of the functions.
type Code interface {
	// Replace makes a function's next process run another executable, and reports whether the function exists.
	Replace(function, bootstrap string) bool
}

// Version is a published version of a function.
type Version struct {
	Bootstrap string // path of the executable
	Modified  time.Time
}

// Versions holds the published versions of every function, by logical ID, and the version to which each live alias
// refers. Version 1 is the code with which the runner started.
type Versions struct {
	Code Code
	Dir  string // folder for the executables of later versions

	mu   sync.Mutex
	all  map[string][]Version
	live map[string]int // one-based
}

// NewVersions returns the first versions of the functions, given their executables by logical ID.
func NewVersions(dir string, code Code, bootstraps map[string]string) *Versions {
	v := &Versions{Code: code, Dir: dir, all: map[string][]Version{}, live: map[string]int{}}
	for function, bootstrap := range bootstraps {
		v.all[function], v.live[function] = []Version{{bootstrap, time.Now()}}, 1
	}
	return v
}

// maxCode is the maximum size of a request with code (Lambda quotas: 50 MB, zipped, in base64).
const maxCode = 70 << 20

type versionShown struct {
	FunctionName string
	FunctionARN  string `json:"FunctionArn"`
	Version      string
	LastModified string
}

type aliasShown struct {
	ARN     string `json:"AliasArn"`
	Name    string
	Version string `json:"FunctionVersion"`
}

func (l *Lambda) versionShown(function string, number int, of Version) versionShown {
	name, version := l.Stack+"-"+function, strconv.Itoa(number)
	return versionShown{name, arnPrefix + name + ":" + version, version, of.Modified.UTC().Format(time.RFC3339)}
}

// functionOf returns the logical ID of the function that a request's path names. The caller must hold the lock.
func (l *Lambda) functionOf(r *http.Request) (string, error) {
	name := strings.TrimPrefix(r.PathValue("function"), arnPrefix)
	function, ok := strings.CutPrefix(name, l.Stack+"-")
	if len(l.Versions.all[function]) == 0 || !ok {
		return "", missing("Function not found: " + arnPrefix + name)
	}
	return function, nil
}

func (l *Lambda) listVersions(r *http.Request) (any, error) {
	l.Versions.mu.Lock()
	defer l.Versions.mu.Unlock()
	function, err := l.functionOf(r)
	if err != nil {
		return nil, err
	}
	all := l.Versions.all[function]
	latest := l.versionShown(function, len(all), all[len(all)-1])
	latest.Version, latest.FunctionARN = "$LATEST", arnPrefix+latest.FunctionName+":$LATEST"
	shown := []versionShown{latest}
	for i, one := range all {
		shown = append(shown, l.versionShown(function, i+1, one))
	}
	return map[string]any{"Versions": shown}, nil
}

func (l *Lambda) getAlias(r *http.Request) (any, error) {
	l.Versions.mu.Lock()
	defer l.Versions.mu.Unlock()
	function, err := l.functionOf(r)
	if err != nil {
		return nil, err
	}
	return l.alias(r, function)
}

func (l *Lambda) alias(r *http.Request, function string) (any, error) {
	at := arnPrefix + l.Stack + "-" + function + ":" + r.PathValue("alias")
	if r.PathValue("alias") != live {
		return nil, missing("Cannot find alias arn: " + at)
	}
	return aliasShown{at, live, strconv.Itoa(l.Versions.live[function])}, nil
}

func (l *Lambda) updateAlias(r *http.Request) (any, error) {
	var in struct {
		FunctionVersion string
	}
	if err := decode(r, &in); err != nil {
		return nil, err
	}
	l.Versions.mu.Lock()
	defer l.Versions.mu.Unlock()
	function, err := l.functionOf(r)
	if err != nil {
		return nil, err
	}
	if _, err = l.alias(r, function); err != nil {
		return nil, err
	}
	number, err := strconv.Atoi(in.FunctionVersion)
	all := l.Versions.all[function]
	if err != nil || number < 1 || number > len(all) {
		return nil, missing("Function not found: " + arnPrefix + l.Stack + "-" + function + ":" + in.FunctionVersion)
	}
	l.Versions.live[function] = number
	l.Versions.Code.Replace(function, all[number-1].Bootstrap)
	return l.alias(r, function)
}

// updateCode publishes a version. Lambda can also update the code without publishing it, which isn't supported.
func (l *Lambda) updateCode(r *http.Request) (any, error) {
	r.Body = http.MaxBytesReader(nil, r.Body, maxCode)
	var in struct {
		ZipFile []byte
		Publish bool
	}
	if err := decode(r, &in); err != nil {
		return nil, err
	}
	if !in.Publish {
		return nil, invalid("an update that isn't published is not part of the embedded AWS")
	}
	l.Versions.mu.Lock()
	defer l.Versions.mu.Unlock()
	function, err := l.functionOf(r)
	if err != nil {
		return nil, err
	}
	number := len(l.Versions.all[function]) + 1
	file := filepath.Join(l.Versions.Dir, function+"-"+strconv.Itoa(number), "bootstrap")
	if err := unzip(in.ZipFile, file); err != nil {
		return nil, err
	}
	published := Version{file, time.Now()}
	l.Versions.all[function] = append(l.Versions.all[function], published)
	hash := sha256.Sum256(in.ZipFile)
	return struct {
		versionShown

		CodeSha256 string
	}{l.versionShown(function, number, published), base64.StdEncoding.EncodeToString(hash[:])}, nil
}

// unzip writes the bootstrap in an archive to a file.
func unzip(archive []byte, to string) error {
	files, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return invalid("Could not unzip uploaded file. Please check your file, then try to upload again.")
	}
	from, err := files.Open("bootstrap")
	if err != nil {
		return invalid("the archive contains no bootstrap")
	}
	code, err := io.ReadAll(io.LimitReader(from, maxCode))
	if err != nil {
		return &wire.Error{Code: "InvalidParameterValueException", Message: err.Error()}
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil { //nolint:gosec // a folder of the runner's own
		return fmt.Errorf("store the code: %w", err)
	}
	return os.WriteFile(to, code, 0o700) //nolint:gosec // an executable of a known function
}
