package workgroup

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// ending is how a group of goroutines ended for the goroutine that waited for it.
type ending struct {
	Value   any  // that Repanic panicked with
	Exited  bool // by runtime.Goexit
	Crashed int  // calls of Group.Crashed
}

// run runs functions in a group, on a goroutine that may exit.
func run(work ...func()) (end ending) {
	var crashed atomic.Int32
	var caller sync.WaitGroup
	caller.Go(func() {
		end.Exited = true
		defer func() {
			if end.Value = recover(); end.Value != nil {
				end.Exited = false
			}
		}()
		group := Group{Crashed: func() { crashed.Add(1) }}
		for _, function := range work {
			group.Go(function)
		}
		group.Wait()
		group.Repanic()
		end.Exited = false
	})
	caller.Wait()
	end.Crashed = int(crashed.Load())
	return end
}

// Without recovery, a panic on one of the goroutines would end the process; if Goexit were not counted, the caller
// would continue as if the work were done.
func TestGroup_ReturnsPanicsAndExits(t *testing.T) {
	t.Parallel()
	failure := errors.New("broken")
	nothing, crash := func() {}, func() { panic("broken") }
	for name, test := range map[string]struct {
		work []func()
		want ending
	}{
		"no function":      {nil, ending{}},
		"no panic":         {[]func(){nothing, nothing}, ending{}},
		"a panic":          {[]func(){nothing, crash, nothing}, ending{Value: "broken", Crashed: 1}},
		"an error's panic": {[]func(){func() { panic(failure) }}, ending{Value: failure, Crashed: 1}},
		"several panics":   {[]func(){crash, crash, crash}, ending{Value: "broken", Crashed: 3}},
		"Goexit":           {[]func(){nothing, runtime.Goexit}, ending{Exited: true, Crashed: 1}},
		"Goexit twice":     {[]func(){runtime.Goexit, runtime.Goexit}, ending{Exited: true, Crashed: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			same := cmp.Comparer(func(a, b error) bool { return a == b })
			if diff := cmp.Diff(test.want, run(test.work...), same); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// The first end counts; later ones are counted only.
func TestGroup_TheFirstPanicIsReturned(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]func(){"a panic": func() { panic("first") }, "Goexit": runtime.Goexit} {
		began := make(chan struct{})
		var once sync.Once
		group := Group{Crashed: func() { once.Do(func() { close(began) }) }}
		group.Go(first)
		group.Go(func() {
			<-began
			panic("second")
		})
		group.Wait()
		var value any
		exited := true
		var caller sync.WaitGroup
		caller.Go(func() {
			defer func() { value = recover() }()
			group.Repanic()
			exited = false
		})
		caller.Wait()
		if want := map[string]any{"a panic": "first", "Goexit": nil}[name]; value != want || !exited {
			t.Errorf("%s: panicked with %v, want %v", name, value, want)
		}
	}
}
