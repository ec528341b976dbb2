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

// run runs functions in a group, on a goroutine that may exit. first is called at the first crash.
func run(first func(), work ...func()) (end ending) {
	var crashed atomic.Int32
	var caller sync.WaitGroup
	caller.Go(func() {
		end.Exited = true
		defer func() {
			if end.Value = recover(); end.Value != nil {
				end.Exited = false
			}
		}()
		group := Group{Crashed: func() {
			if crashed.Add(1) == 1 {
				first()
			}
		}}
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
			if diff := cmp.Diff(test.want, run(nothing, test.work...), same); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// The first end counts; later ones are counted only.
func TestGroup_TheFirstPanicIsReturned(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		first func()
		want  ending
	}{
		"a panic": {func() { panic("first") }, ending{Value: "first", Crashed: 2}},
		"Goexit":  {runtime.Goexit, ending{Exited: true, Crashed: 2}},
	} {
		began := make(chan struct{})
		second := func() {
			<-began
			panic("second")
		}
		if diff := cmp.Diff(test.want, run(func() { close(began) }, test.first, second)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
