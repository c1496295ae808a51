package lambda

import (
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Prefix is the path under which Subprocesses must be served.
const Prefix = "/_runtime/"

// environment returns the complete environment for an instance of f: the template's variables, Lambda's variables and
// the URL of the embedded AWS. Of the runner's own environment, only PATH, HOME and TMPDIR are included.
func (s *Subprocesses) environment(f Function, instance string) []string {
	all := maps.Clone(f.Environment)
	if all == nil {
		all = make(map[string]string)
	}
	for _, name := range []string{"PATH", "HOME", "TMPDIR"} {
		if value, ok := os.LookupEnv(name); ok {
			all[name] = value
		}
	}
	maps.Copy(all, map[string]string{
		// AWS_ENDPOINT_URL directs AWS calls to the embedded AWS (docs/develop/architecture.md). The embedded AWS
		// identifies callers by their access keys.
		"AWS_ENDPOINT_URL":      "http://" + s.options.Address,
		"AWS_ENDPOINT_URL_S3":   s.options.ObjectsURL,
		"AWS_ACCESS_KEY_ID":     f.ID,
		"AWS_SECRET_ACCESS_KEY": s.options.SecretKey,
		// Prevent the function from using this machine's configuration for real AWS accounts.
		"AWS_CONFIG_FILE":             os.DevNull,
		"AWS_SHARED_CREDENTIALS_FILE": os.DevNull,
		"AWS_EC2_METADATA_DISABLED":   "true",
		// Lambda sets the following variables.
		"AWS_REGION":                      s.options.Region,
		"AWS_DEFAULT_REGION":              s.options.Region,
		"AWS_LAMBDA_RUNTIME_API":          s.options.Address + strings.TrimSuffix(Prefix, "/") + "/" + instance,
		"AWS_LAMBDA_FUNCTION_NAME":        f.Name,
		"AWS_LAMBDA_FUNCTION_VERSION":     "$LATEST",
		"AWS_LAMBDA_FUNCTION_MEMORY_SIZE": strconv.Itoa(f.MemoryMB),
		"AWS_LAMBDA_INITIALIZATION_TYPE":  "on-demand",
		"AWS_LAMBDA_LOG_GROUP_NAME":       f.LogGroup,
		"AWS_LAMBDA_LOG_STREAM_NAME":      instance,
		"LAMBDA_TASK_ROOT":                ".",
		"_HANDLER":                        "bootstrap",
		"TZ":                              ":UTC",
	})
	list := make([]string, 0, len(all))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		list = append(list, name+"="+all[name])
	}
	return list
}
