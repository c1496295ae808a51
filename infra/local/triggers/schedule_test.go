package triggers_test

import (
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/local/triggers"
)

func everyMinute() []triggers.Schedule {
	return []triggers.Schedule{{Name: "SweeperFunctionEveryMinute", Function: "SweeperFunction", Every: time.Minute}}
}

func TestScheduleInvokesFunctionWithEventBridgeEventAtRate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sweeper, began := &function{}, time.Now()
		o := options(t, sweeper)
		o.Schedules = everyMinute()
		stop := run(t, o)
		<-time.After(3*time.Minute + time.Second)
		stop()

		names, calls, times := sweeper.invocations()
		if diff := cmp.Diff([]string{"SweeperFunction", "SweeperFunction", "SweeperFunction"}, names); diff != "" {
			t.Fatalf("functions (-want +got):\n%s", diff)
		}
		for i, at := range times {
			if got, want := at.Sub(began), time.Duration(i+1)*time.Minute; got != want {
				t.Errorf("run %d was %v after the start, want %v", i+1, got, want)
			}
		}
		var got map[string]any
		if err := json.Unmarshal(calls[0], &got); err != nil {
			t.Fatal(err)
		}
		want := map[string]any{
			"version": "0", "id": "id-1", "detail-type": "Scheduled Event", "source": "aws.events",
			"account": "000000000000", "region": "us-east-1", "time": "2000-01-01T00:01:00Z",
			"resources": []any{"arn:aws:events:us-east-1:000000000000:rule/SweeperFunctionEveryMinute"},
			"detail":    map[string]any{},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("event (-want +got):\n%s", diff)
		}
	})
}

func TestSlowScheduledRunDoesNotDelayNextRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sweeper := &function{respond: func([]byte) ([]byte, error) {
			<-time.After(90 * time.Second)
			return nil, errors.New("out of time")
		}}
		o := options(t, sweeper)
		o.Schedules = everyMinute()
		stop := run(t, o)
		<-time.After(2*time.Minute + time.Second)
		if _, calls, _ := sweeper.invocations(); len(calls) != 2 {
			t.Errorf("got %d runs in two minutes, want 2", len(calls))
		}
		stop()
	})
}

func TestFireInvokesFunctionWithScheduledEvent(t *testing.T) {
	t.Parallel()
	broken := errors.New("the table is gone")
	sweeper := &function{}
	o := options(t, sweeper)
	o.Schedules = everyMinute()
	byHand := triggers.New(o)

	if err := byHand.Fire(t.Context(), "SweeperFunction"); err != nil {
		t.Error(err)
	}
	if names, _, _ := sweeper.invocations(); len(names) != 1 || names[0] != "SweeperFunction" {
		t.Errorf("got %v, want one run of SweeperFunction", names)
	}
	sweeper.respond = func([]byte) ([]byte, error) { return nil, broken }
	if err := byHand.Fire(t.Context(), "SweeperFunction"); !errors.Is(err, broken) {
		t.Errorf("got %v, want the error of the function", err)
	}
	if err := byHand.Fire(t.Context(), "ConnectFunction"); !errors.Is(err, triggers.ErrNoSchedule) {
		t.Errorf("got %v, want ErrNoSchedule", err)
	}
}
