package workflow_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/shipping-go/shipping/internal/workflow"
)

var errStep = errors.New("this step fails")

// script is a flow that records its steps and fails at one of them.
type script struct {
	fails string
	steps []string
}

func (s *script) do(step string) error {
	s.steps = append(s.steps, step)
	if s.fails == step {
		return errStep
	}
	return nil
}

// flow returns a flow over drafts that are numbered by how often they were read.
func (s *script) flow() *workflow.Flow[int, string] {
	return &workflow.Flow[int, string]{
		Edit:  func(context.Context, int) error { return s.do("edit") },
		Read:  func(context.Context) (int, error) { return 2, s.do("read") },
		Check: func(draft int) error { return s.do("check " + string(rune('0'+draft))) },
		Select: func(int) ([]string, error) {
			return []string{"FDA", "WATCH"}, s.do("select")
		},
		Reserve: func(_ context.Context, draft int, documents []string) error {
			return s.do("reserve " + string(rune('0'+draft)) + " " + strings.Join(documents, ","))
		},
		Purchase: func(_ context.Context, _ int, documents []string) error {
			return s.do("purchase " + strings.Join(documents, ","))
		},
		Done: func(step workflow.Step, _ int) { s.steps = append(s.steps, "done "+string(step)) },
	}
}

var all = []string{
	"check 1", "edit", "read", "done edit", "check 2", "select", "done select", "reserve 2 FDA,WATCH", "purchase FDA,WATCH",
}

func TestFlow_TakesTheStepsInOrder(t *testing.T) {
	t.Parallel()
	s := &script{}
	draft, purchased, err := s.flow().Run(t.Context(), 1)
	if err != nil || !purchased || draft != 2 || !slices.Equal(s.steps, all) {
		t.Errorf("%d, %t, %v after %q", draft, purchased, err, s.steps)
	}
}

// Nothing follows a step that failed, above all no purchase.
func TestFlow_EndsAtTheFirstStepThatFails(t *testing.T) {
	t.Parallel()
	for fails, want := range map[string]workflow.Step{
		"check 1": workflow.Edit, "edit": workflow.Edit, "read": workflow.Edit, "check 2": workflow.Select, "select": workflow.Select,
		"reserve 2 FDA,WATCH": workflow.Reserve, "purchase FDA,WATCH": workflow.Purchase,
	} {
		s := &script{fails: fails}
		_, purchased, err := s.flow().Run(t.Context(), 1)
		failed, ok := errors.AsType[*workflow.Error](err)
		if !ok || failed.Step != want || !errors.Is(err, errStep) || purchased || s.steps[len(s.steps)-1] != fails {
			t.Errorf("%s: %t, %v after %q", fails, purchased, err, s.steps)
		}
		if err.Error() != string(want)+": this step fails" {
			t.Errorf("%s: %v", fails, err)
		}
	}
}

func TestFlow_PurchasesNothingUnlessItIsSelected(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*workflow.Flow[int, string]){
		"no Select":        func(f *workflow.Flow[int, string]) { f.Select = nil },
		"nothing selected": func(f *workflow.Flow[int, string]) { f.Select = func(int) ([]string, error) { return nil, nil } },
		"no Edit, no Select": func(f *workflow.Flow[int, string]) {
			f.Edit, f.Select, f.Check = nil, nil, nil
		},
	} {
		s := &script{}
		flow := s.flow()
		change(flow)
		_, purchased, err := flow.Run(t.Context(), 1)
		if err != nil || purchased || slices.ContainsFunc(s.steps, func(step string) bool { return strings.HasPrefix(step, "reserve") }) {
			t.Errorf("%s: %t, %v after %q", name, purchased, err, s.steps)
		}
	}
}

func TestFlow_WithoutOptionalSteps(t *testing.T) {
	t.Parallel()
	s := &script{}
	flow := s.flow()
	flow.Edit, flow.Read, flow.Reserve, flow.Done = nil, nil, nil, nil
	draft, purchased, err := flow.Run(t.Context(), 1)
	if err != nil || !purchased || draft != 1 || !slices.Equal(s.steps, []string{"check 1", "select", "purchase FDA,WATCH"}) {
		t.Errorf("%d, %t, %v after %q", draft, purchased, err, s.steps)
	}
}
