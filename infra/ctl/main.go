package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"recordbridge/infra/ctl/wiring"
	"recordbridge/shared/ids"
	"recordbridge/shared/operator"
	"recordbridge/shared/safehttp"
	"recordbridge/shared/secret"
)

func main() {
	if err := run(context.Background(), os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "ctl:", err)
		os.Exit(1)
	}
}

const usage = `usage: ctl -outputs FILE COMMAND [flags]

  organisation create -name NAME [-plan free|paid] [-website URL] [-privacy URL] [-logo URL]
                      [-email ADDRESS ...]
  organisation emails -org ID [-email ADDRESS ... | -none]
  organisation list
  credential create   -org ID -mode test|live -redirect URI [-redirect URI ...] [-origin ORIGIN ...]
  credential add-key  -public-id ID
  credential revoke   -public-id ID [-all]
  webhook create      -org ID -mode test|live -url URL [-type TYPE ...] [-rate N] [-signing-key] [-header-file FILE|-]
  webhook list        -org ID -mode test|live
  webhook types       -org ID -mode test|live -id ID [-type TYPE ... | -none]
  webhook rotate      -org ID -mode test|live -id ID [-expire-now]
  webhook disable     -org ID -mode test|live -id ID
  webhook enable      -org ID -mode test|live -id ID
  webhook replay      -org ID -mode test|live (-delivery ID | -id ID -failed-since TIME | -id ID -from TIME -to TIME)
  webhook log         -org ID -mode test|live [-id ID] [-delivery ID] [-type TYPE] [-status STATUS] [-from TIME] [-to TIME]
                      [-after POSITION] [-limit N]
  webhook delivery    -org ID -mode test|live -delivery ID
  webhook simulate    -org ID -mode test|live -type TYPE [-id ID]
  webhook test        -org ID -mode test|live
  endpoint create     -fhir-base URL -mode test|live -name NAME [-platform TYPE] [-origin ORIGIN ...] [-issuer ISSUER]
                      [-client-id ID [-client-auth ID] [-scope SCOPES | -access rs|read]] [-override YAML] [-unpinned] [-again]
  endpoint list       [-mode test|live]
  endpoint show       -id ID
  endpoint approve    -id ID [-origin ORIGIN ...] [-issuer ISSUER]
  endpoint override   -endpoint ID -override YAML
  endpoint test       (-id ID | -fhir-base URL [-platform TYPE]) -mode test|live [-org ID] [-token-request]
  platform list
  platform show       -platform TYPE
  client create       -method client_secret_basic|client_secret_post -secret-file FILE|- -origin ORIGIN [-origin ORIGIN ...]
                      [-org ID -mode test|live]
  client create       -method private_key_jwt [-algorithm RS384|ES384] [-key-id KID] [-org ID -mode test|live]
  client rotate       -id ID -secret-file FILE|- [-org ID -mode test|live]
  client rotate       -id ID -key-id KID [-org ID -mode test|live]
  client origins      -id ID -origin ORIGIN [-origin ORIGIN ...] [-org ID -mode test|live]
  registration set    (-endpoint ID | -platform TYPE) -mode test|live -client-id ID [-client-auth ID | -public] [-scope SCOPES]
                      [-own-callback] [-org ID]
  registration show   (-endpoint ID | -platform TYPE) -mode test|live [-org ID]
  registration callback (-endpoint ID | -fhir-base URL | -platform TYPE) -mode test|live [-org ID]
  keys jwks           [-rsa]

Clients and registrations are shared by all organisations unless -org names one. A client secret is read from a file, or
from the input with "-secret-file -", and never from an argument, which others on the machine could see. So are the
headers that a webhook is to be sent with: a file of lines NAME=VALUE. Times are like 2026-11-21T09:30:00Z.`

// commands are the functions behind the words. Secrets come in through input; outputs is the file that says which stack it is.
func commands(input io.Reader, outputs string) map[string]command {
	return map[string]command{
		"organisation create":   createOrganisation,
		"organisation list":     listOrganisations,
		"organisation emails":   emails,
		"credential create":     createCredential,
		"credential add-key":    addKey,
		"credential revoke":     revokeKeys,
		"webhook create":        reading(input, createWebhook),
		"webhook list":          listWebhooks,
		"webhook types":         webhookTypes,
		"webhook rotate":        rotateWebhook,
		"webhook disable":       disableWebhook,
		"webhook enable":        enableWebhook,
		"webhook replay":        replayWebhook,
		"webhook log":           listDeliveries,
		"webhook delivery":      showDelivery,
		"webhook simulate":      simulateEvent,
		"webhook test":          testWebhook,
		"endpoint create":       createEndpoint,
		"endpoint list":         listEndpoints,
		"endpoint show":         showEndpoint,
		"endpoint approve":      approveEndpoint,
		"endpoint override":     overrideEndpoint,
		"endpoint test":         probing(outputs, testEndpoint),
		"platform list":         listPlatforms,
		"platform show":         showPlatform,
		"client create":         reading(input, createClient),
		"client rotate":         reading(input, rotateClient),
		"client origins":        setOrigins,
		"registration set":      setRegistration,
		"registration show":     showRegistration,
		"registration callback": showCallback,
		"keys jwks":             showKeys,
	}
}

// command parses its flags and returns what is printed.
type command func(ctx context.Context, o *operator.Operator, args []string) (any, error)

func run(ctx context.Context, args []string, input io.Reader, out io.Writer) error {
	flags := flag.NewFlagSet("ctl", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	outputs := flags.String("outputs", "", "")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) || flags.Arg(0) == "help" {
		return tell(out, usage)
	} else if err != nil {
		return fmt.Errorf("%w\n%s", err, usage)
	}
	if flags.NArg() < 2 {
		return fmt.Errorf("no command\n%s", usage)
	}
	rest := flags.Args()
	chosen, ok := commands(input, *outputs)[rest[0]+" "+rest[1]]
	if asks(rest[1]) {
		return tell(out, usage)
	}
	if !ok {
		return fmt.Errorf("there is no command %q\n%s", strings.Join(rest[:2], " "), usage)
	}
	if len(rest) > 2 && asks(rest[2]) && *outputs == "" { // with a stack the command itself tells more
		return tell(out, usageOf(rest[0]+" "+rest[1]))
	}
	o, err := open(ctx, *outputs)
	if err != nil {
		return err
	}
	result, err := chosen(ctx, o, rest[2:])
	if help, ok := errors.AsType[*helpError](err); ok {
		return tell(out, help.text)
	}
	if printed, ok := errors.AsType[printedError](err); ok {
		return errors.Join(show(out, printed.shown()), err)
	}
	if err != nil {
		return err
	}
	return show(out, result)
}

func show(out io.Writer, result any) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(result)
}

// printedError is one that has something to print all the same.
type printedError interface {
	error
	shown() any
}

// unfinishedError says that something was made, and that what had to follow, such as its audit row, has failed.
type unfinishedError struct {
	result any
	cause  error
}

func (u *unfinishedError) Error() string {
	return "what is printed was made, but a later step failed: " + u.cause.Error()
}

func (u *unfinishedError) Unwrap() error { return u.cause }

func (u *unfinishedError) shown() any { return u.result }

// showing is what a command returns that makes a secret: it can never be shown again, so once it is made it is printed,
// whatever fails afterwards.
func showing(result any, made secret.Text, err error) (any, error) {
	if err == nil || made.Empty() {
		return result, err
	}
	return nil, &unfinishedError{result: result, cause: err}
}

func asks(word string) bool { return slices.Contains([]string{"help", "-h", "-help", "--help"}, word) }

// usageOf is what usage has of one command.
func usageOf(command string) string {
	var lines []string
	within := false
	for line := range strings.Lines(usage) {
		if !strings.HasPrefix(line, "     ") { // not the rest of the line before
			within = strings.HasPrefix(line, "  "+command+" ")
		}
		if within {
			lines = append(lines, line)
		}
	}
	return strings.TrimRight(strings.Join(lines, ""), "\n")
}

func tell(out io.Writer, text string) error {
	_, err := fmt.Fprintln(out, text)
	return err
}

// open opens the stack whose outputs are in a file.
func open(ctx context.Context, outputs string) (*operator.Operator, error) {
	cfg, named, err := configuration(ctx, outputs)
	if err != nil {
		return nil, err
	}
	return wiring.Open(ctx, cfg, named, wiring.Options{
		Now: time.Now, NewID: ids.Random, Random: rand.Reader, Actor: "operator",
		HTTP: safehttp.New(safehttp.Options{Allow: wiring.PrivateRanges(named)}),
	})
}

// readOutputs reads the outputs of a stack as CloudFormation lists them, or as one JSON object.
func readOutputs(file string) (map[string]string, error) {
	if file == "" {
		return nil, errors.New("-outputs is required: the file with the stack's outputs")
	}
	body, err := os.ReadFile(file) //nolint:gosec // the operator names the file
	if err != nil {
		return nil, fmt.Errorf("read outputs: %w", err)
	}
	outputs := map[string]string{}
	if json.Unmarshal(body, &outputs) == nil {
		return outputs, nil
	}
	var list []struct {
		OutputKey   string
		OutputValue string
	}
	if err := json.Unmarshal(body, &list); err != nil {
		return nil, fmt.Errorf("%s holds no outputs: %w", file, err)
	}
	for _, entry := range list {
		outputs[entry.OutputKey] = entry.OutputValue
	}
	return outputs, nil
}
