package config_test

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/platform/config"
)

type settings struct {
	WorkTable string         `env:"WORK_TABLE,required"`
	Quota     int            `env:"QUOTA"`
	Deprecate bool           `env:"DEPRECATE"`
	FileLife  time.Duration  `env:"FILE_LIFE,required"`
	Ranges    []netip.Prefix `env:"ALLOWED_RANGES"`
	Origins   []string       `env:"ORIGINS"`
}

func from(variables map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		text, ok := variables[name]
		return text, ok
	}
}

func TestLoadFromFillsStruct(t *testing.T) {
	t.Parallel()
	got, err := config.LoadFrom[settings](from(map[string]string{
		"WORK_TABLE": "work", "QUOTA": "600", "DEPRECATE": "true", "FILE_LIFE": "192h",
		"ALLOWED_RANGES": "127.0.0.0/8, ::1/128", "ORIGINS": "a,,b",
	}))
	if err != nil {
		t.Fatal(err)
	}
	want := settings{
		WorkTable: "work", Quota: 600, Deprecate: true, FileLife: 192 * time.Hour, Origins: []string{"a", "b"},
		Ranges: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")},
	}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b netip.Prefix) bool { return a == b })); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
}

func TestLoadFromAllowsMissingOptionalVariables(t *testing.T) {
	t.Parallel()
	got, err := config.LoadFrom[settings](from(
		map[string]string{"WORK_TABLE": "w", "FILE_LIFE": "1h", "ALLOWED_RANGES": "", "QUOTA": " "}))
	if err != nil || got.Ranges != nil || got.Quota != 0 || got.Origins != nil {
		t.Errorf("got %+v, %v", got, err)
	}
}

type Limits struct {
	FlowTable string `env:"FLOW_TABLE,required"`
	Quota     int    `env:"QUOTA"`
}

type Keyed struct {
	Limits

	Secret string `env:"SECRET,required"`
}

func TestLoadFromFillsEmbeddedStruct(t *testing.T) {
	t.Parallel()
	type environment struct {
		Keyed

		Table string `env:"TABLE,required"`
	}
	got, err := config.LoadFrom[environment](from(
		map[string]string{"TABLE": "t", "SECRET": "s", "FLOW_TABLE": "f", "QUOTA": "3"}))
	if want := (environment{Keyed{Limits{"f", 3}, "s"}, "t"}); err != nil || got != want {
		t.Errorf("got %+v, %v", got, err)
	}
	_, err = config.LoadFrom[environment](from(nil))
	if err == nil || !strings.Contains(err.Error(), "FLOW_TABLE is required") ||
		!strings.Contains(err.Error(), "SECRET is required") {
		t.Errorf("without any variable: %v", err)
	}
}

func TestLoadFromErrorListsAllProblemsWithoutValues(t *testing.T) {
	t.Parallel()
	_, err := config.LoadFrom[settings](from(map[string]string{
		"WORK_TABLE": "", "QUOTA": "SENTINEL", "DEPRECATE": "SENTINEL", "FILE_LIFE": "8 SENTINEL days",
		"ALLOWED_RANGES": "127.0.0.0/8,SENTINEL",
	}))
	if err == nil {
		t.Fatal("no error")
	}
	for _, name := range []string{"WORK_TABLE is required", "QUOTA", "DEPRECATE", "FILE_LIFE", "ALLOWED_RANGES"} {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("the error does not name %s: %v", name, err)
		}
	}
	if strings.Contains(err.Error(), "SENTINEL") {
		t.Errorf("the error shows a value: %v", err)
	}
}

func TestLoadFromRejectsUntaggedField(t *testing.T) {
	t.Parallel()
	nothing := from(nil)
	load := map[string]func() error{
		"no tag": func() error { _, err := config.LoadFrom[struct{ Table string }](nothing); return err },
		"unknown option": func() error {
			_, err := config.LoadFrom[struct {
				Table string `env:"TABLE,optional"`
			}](nothing)
			return err
		},
		"required twice": func() error {
			_, err := config.LoadFrom[struct {
				Table string `env:"TABLE,required,required"`
			}](nothing)
			return err
		},
		"empty option": func() error {
			_, err := config.LoadFrom[struct {
				Table string `env:"TABLE,"`
			}](nothing)
			return err
		},
		"unknown type": func() error {
			_, err := config.LoadFrom[struct {
				Table float64 `env:"TABLE"`
			}](nothing)
			return err
		},
		"not exported": func() error {
			_, err := config.LoadFrom[struct {
				table string `env:"TABLE"`
			}](nothing)
			return err
		},
		"read twice": func() error {
			_, err := config.LoadFrom[struct {
				One string `env:"TABLE"`
				Two string `env:"TABLE"`
			}](nothing)
			return err
		},
		"read twice, here and in a part": func() error {
			_, err := config.LoadFrom[struct {
				Limits

				FlowTable string `env:"FLOW_TABLE"`
			}](nothing)
			return err
		},
		"a part by its address": func() error {
			_, err := config.LoadFrom[struct{ *Limits }](nothing)
			return err
		},
		"not a struct": func() error { _, err := config.LoadFrom[string](nothing); return err },
	}
	for name, load := range load {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := load(); err == nil {
				t.Error("no error")
			}
		})
	}
}

func TestLoadReadsProcessEnvironment(t *testing.T) {
	t.Setenv("WORK_TABLE", "work")
	t.Setenv("FILE_LIFE", "1h")
	got, err := config.Load[settings]()
	if err != nil || got.WorkTable != "work" {
		t.Errorf("got %+v, %v", got, err)
	}
}
