package world

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shipping-go/shipping/mockserver/internal/delivery"
	"github.com/shipping-go/shipping/mockserver/internal/regulatory"
	"github.com/shipping-go/shipping/mockserver/internal/spelling"
)

// Assumptions are the choices where the specification leaves a point open. The public type says what each means.
type Assumptions struct {
	OpenOperations          []string
	OneWorld                bool
	RuleFailureStatus       int
	MaxBody                 int64
	RefuseUnknownFields     bool
	RefuseUnknownParameters bool
	RefuseWrongParameters   bool
	TolerateWrongTypes      bool
	RequireContentType      bool
	CheckResponses          bool
	PerPageCap              int
	LastPageNull            bool
	ObjectBreakdown         bool
	UnknownWalletIsEmpty    bool
	ReplayToNobody          bool
	AnalyzeFailureOK        bool
	Purchasing              time.Duration
	GenerationScale         float64
	EvidenceAfter           time.Duration
	NoOther                 bool
	RequireProfiles         bool
	DeliverAnywhere         bool
	DeliveryAttempts        int
	DeliveryBackoff         time.Duration
	DeliveryTimeout         time.Duration
	DeliveryAccept          func(statusCode int) bool
}

func (a *Assumptions) BodyLimit() int64 {
	if a.MaxBody > 0 {
		return a.MaxBody
	}
	return 1 << 20
}

func (a *Assumptions) RuleFailure() int {
	if a.RuleFailureStatus >= 400 && a.RuleFailureStatus <= 599 {
		return a.RuleFailureStatus
	}
	return http.StatusBadRequest
}

func (a *Assumptions) settings() regulatory.Settings {
	settings := regulatory.DefaultSettings()
	settings.Purchasing, settings.EvidenceAfter, settings.NoOther = a.Purchasing, a.EvidenceAfter, a.NoOther
	settings.RequireProfiles = a.RequireProfiles
	if a.GenerationScale != 0 {
		settings.GenerationScale = a.GenerationScale
	}
	return settings
}

func (a *Assumptions) deliveryPolicy() delivery.Policy {
	policy := delivery.DefaultPolicy()
	if a.DeliveryAttempts > 0 {
		policy.Attempts = a.DeliveryAttempts
	}
	if a.DeliveryBackoff > 0 {
		policy.Backoff = a.DeliveryBackoff
	}
	if a.DeliveryTimeout > 0 {
		policy.Timeout = a.DeliveryTimeout
	}
	if a.DeliveryAccept != nil {
		policy.Accept = a.DeliveryAccept
	}
	return policy
}

// Set sets the assumption of a name.
func (a *Assumptions) Set(name, value string) error {
	if !slices.Contains(AssumptionNames(), name) {
		return fmt.Errorf("mockserver: unknown assumption %q%s", name, spelling.Suggestion(name, AssumptionNames()))
	}
	field := reflect.ValueOf(a).Elem().FieldByName(name)
	parsed, err := parseSetting(field.Type(), value)
	if err != nil {
		return fmt.Errorf("mockserver: assumption %s cannot be %q: write %s", name, value, settingForm(field.Type()))
	}
	field.Set(parsed.Convert(field.Type()))
	return nil
}

func parseSetting(kind reflect.Type, text string) (reflect.Value, error) {
	var value any
	var err error
	switch {
	case kind == reflect.TypeFor[time.Duration]():
		value, err = time.ParseDuration(text)
	case kind.Kind() == reflect.Bool:
		value, err = strconv.ParseBool(text)
	case kind.Kind() == reflect.Float64:
		value, err = strconv.ParseFloat(text, 64)
	case kind.Kind() == reflect.Slice:
		value = strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' })
	default:
		value, err = strconv.ParseInt(text, 10, kind.Bits())
	}
	return reflect.ValueOf(value), err
}

// settingForm says how a value is written.
func settingForm(kind reflect.Type) string {
	switch {
	case kind == reflect.TypeFor[time.Duration]():
		return "a duration such as 90s"
	case kind.Kind() == reflect.Bool:
		return "true or false"
	case kind.Kind() == reflect.Float64:
		return "a number"
	case kind.Kind() == reflect.Slice:
		return "names with commas between them"
	default:
		return "a whole number"
	}
}

// serverAssumptions are those that a single world cannot have: they hold before its key is read, or protect the
// machine.
func serverAssumptions() []string {
	return []string{"OpenOperations", "OneWorld", "MaxBody", "DeliverAnywhere"}
}

// setAll sets assumptions of a world from a JSON object.
func (a *Assumptions) setAll(values map[string]json.RawMessage) error {
	var problems []error
	for name, value := range values {
		if slices.Contains(serverAssumptions(), name) {
			problems = append(problems, fmt.Errorf("assumption %s is one of the whole server: start it with -assume %s=…, or WithAssumptions", name, name))
			continue
		}
		text := string(value)
		if len(value) > 0 && value[0] == '"' {
			if err := json.Unmarshal(value, &text); err != nil {
				problems = append(problems, err)
				continue
			}
		}
		problems = append(problems, a.Set(name, text))
	}
	return errors.Join(problems...)
}

// AssumptionNames returns the assumptions that text can set: all but functions.
func AssumptionNames() []string {
	var names []string
	for field := range reflect.TypeFor[Assumptions]().Fields() {
		if field.Type.Kind() != reflect.Func {
			names = append(names, field.Name)
		}
	}
	return names
}
