// Package config reads the process environment, which no other package reads. The package fills each function's
// settings struct and creates the AWS configuration that all SDK clients share. Package config itself defines no
// settings. Apart from the function's AWS credentials, the environment contains no secrets. The subpackages awssecret
// and awsparam read secrets and parameters. The subpackages are separate so that each function links only the clients
// that it uses.
package config

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Load fills a T from the environment. T must be a struct whose exported fields all have env tags:
//
//	WorkTable string        `env:"WORK_TABLE,required"` // "required" is the only option
//	FileLife  time.Duration `env:"FILE_LIFE"`           // in time.ParseDuration's format
//	Allowed   []netip.Prefix `env:"ALLOWED_RANGES"`     // lists are separated by commas
//
// A field's type must be string, int, bool, time.Duration, []string or []netip.Prefix. Fields of embedded structs are
// included, so that functions can share part of their environment. An empty variable is treated as missing. If an
// optional variable is missing, its field keeps the zero value. The error lists every problem with the struct and the
// environment.
func Load[T any]() (T, error) {
	return LoadFrom[T](os.LookupEnv) //nolint:forbidigo // this is the one reader
}

// LoadFrom is like Load, but reads variables using lookup.
func LoadFrom[T any](lookup func(string) (string, bool)) (T, error) {
	var settings T
	variables, err := variablesOf(reflect.TypeFor[T]())
	if err != nil {
		return settings, err
	}
	target := reflect.ValueOf(&settings).Elem()
	var faults []error
	for _, v := range variables {
		text, _ := lookup(v.name)
		text = strings.TrimSpace(text)
		switch {
		case text != "":
			faults = append(faults, v.set(target.FieldByIndex(v.index), text))
		case v.required:
			faults = append(faults, fmt.Errorf("%s is required", v.name))
		}
	}
	if err := errors.Join(faults...); err != nil {
		return settings, fmt.Errorf("configuration: %w", err)
	}
	return settings, nil
}

type variable struct {
	index    []int
	name     string
	required bool
}

// variablesOf parses the tags of a settings struct. The error lists every problem found in the struct.
func variablesOf(settings reflect.Type) ([]variable, error) {
	if settings.Kind() != reflect.Struct {
		return nil, fmt.Errorf("configuration: %v is not a struct", settings)
	}
	var variables []variable
	var faults []error
	seen := map[string]bool{}
	for _, field := range fieldsOf(settings, nil) {
		v, err := variableOf(field)
		if err == nil && seen[v.name] {
			err = fmt.Errorf("%s is read twice", v.name)
		}
		seen[v.name] = true
		faults = append(faults, err)
		variables = append(variables, v)
	}
	if err := errors.Join(faults...); err != nil {
		return nil, fmt.Errorf("configuration struct %v: %w", settings, err)
	}
	return variables, nil
}

// fieldsOf returns a struct's fields. Each field's Index is relative to the outermost struct. Embedded structs are
// replaced by their fields, including those hidden by an outer field of the same name.
func fieldsOf(settings reflect.Type, outer []int) []reflect.StructField {
	var all []reflect.StructField
	for i := range settings.NumField() {
		field := settings.Field(i)
		field.Index = append(slices.Clone(outer), i)
		if field.Anonymous && field.IsExported() && field.Type.Kind() == reflect.Struct {
			all = append(all, fieldsOf(field.Type, field.Index)...)
			continue
		}
		all = append(all, field)
	}
	return all
}

func variableOf(field reflect.StructField) (variable, error) {
	name, options, hasOptions := strings.Cut(field.Tag.Get("env"), ",")
	switch {
	case !field.IsExported() || name == "":
		return variable{}, fmt.Errorf("field %s has no env tag or is not exported", field.Name)
	case hasOptions && options != "required":
		return variable{}, fmt.Errorf("field %s has the unknown option %q", field.Name, options)
	}
	switch reflect.Zero(field.Type).Interface().(type) {
	case string, int, bool, time.Duration, []string, []netip.Prefix:
		return variable{index: field.Index, name: name, required: hasOptions}, nil
	}
	return variable{}, fmt.Errorf("field %s has the unknown type %v", field.Name, field.Type)
}

// set parses text and stores the value in a field. Errors name the variable but never contain its value.
func (v variable) set(target reflect.Value, text string) error {
	value, err := parse(target.Interface(), text)
	if err != nil {
		return fmt.Errorf("%s is not a valid %v", v.name, target.Type())
	}
	target.Set(reflect.ValueOf(value))
	return nil
}

// parse parses text as a value of like's type, which must be one that variableOf accepts.
func parse(like any, text string) (value any, err error) {
	switch like.(type) {
	case int:
		value, err = strconv.Atoi(text)
	case bool:
		value, err = strconv.ParseBool(text)
	case time.Duration:
		value, err = time.ParseDuration(text)
	case []string:
		return list(text), nil
	case []netip.Prefix:
		var prefixes []netip.Prefix
		for _, item := range list(text) {
			prefix, parseErr := netip.ParsePrefix(item)
			if parseErr != nil {
				return nil, fmt.Errorf("address range: %w", parseErr)
			}
			prefixes = append(prefixes, prefix)
		}
		return prefixes, nil
	default:
		return text, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read a setting: %w", err)
	}
	return value, nil
}

func list(text string) []string {
	var items []string
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, item)
		}
	}
	return items
}
