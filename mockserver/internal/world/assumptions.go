package world

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver/internal/delivery"
	"github.com/shipping-go/shipping/mockserver/internal/regulatory"
	"github.com/shipping-go/shipping/mockserver/internal/spelling"
)

// Assumptions are the choices for open points of the specification. The public type documents each field.
type Assumptions struct {
	OpenOperations          []string
	OneWorld                bool
	RuleFailureStatus       int
	FundsStatus             int
	AnalyzeStatus           int
	PurchaseStatus          int
	ProblemRefusals         bool
	OtherRefusalNames       bool
	MaxBody                 int64
	RefuseUnknownFields     bool
	RefuseUnknownParameters bool
	RefuseWrongParameters   bool
	TolerateWrongTypes      bool
	RequireContentType      bool
	CheckResponses          bool
	PerPageCap              int
	LastPageNull            bool
	EmptyHasNoPages         bool
	OldestFirst             bool
	ObjectBreakdown         bool
	UnknownWalletIsEmpty    bool
	ReplayToNobody          bool
	AnalyzeFailureOK        bool
	WrapRecord              bool
	OtherRecordNames        bool
	MinimalRecord           bool
	MinimalPurchase         bool
	Purchasing              time.Duration
	UnknownState            time.Duration
	GenerationScale         float64
	EvidenceAfter           time.Duration
	NoOther                 bool
	RequireProfiles         bool
	DeliverAnywhere         bool
	DeliveryAttempts        int
	DeliveryBackoff         time.Duration
	DeliveryTimeout         time.Duration
	DeliveryAccept          func(statusCode int) bool
	SHA256Signature         bool
	NoDeliveryHeaders       bool
}

func (a *Assumptions) BodyLimit() int64 { return cmp.Or(a.MaxBody, 1<<20) }

// RuleFailure returns the status of a request that breaks a rule.
func (a *Assumptions) RuleFailure() int { return cmp.Or(a.RuleFailureStatus, http.StatusBadRequest) }

// FundsFailure returns the status of a purchase that exceeds the balance of the wallet.
func (a *Assumptions) FundsFailure() int { return cmp.Or(a.FundsStatus, a.RuleFailure()) }

// ShapesReplies reports whether an assumption changes the format of replies.
func (a *Assumptions) ShapesReplies() bool {
	return a.AnalyzeStatus != 0 || a.PurchaseStatus != 0 || a.ProblemRefusals || a.OtherRefusalNames || a.WrapRecord ||
		a.OtherRecordNames || a.MinimalRecord || a.MinimalPurchase || a.UnknownState > 0
}

// defaultGenerationScale makes every built-in form ready within two seconds, so that nobody waits for a first purchase.
const defaultGenerationScale = 0.05

func (a *Assumptions) settings() regulatory.Settings {
	settings := regulatory.DefaultSettings()
	settings.Purchasing, settings.EvidenceAfter, settings.NoOther = a.Purchasing, a.EvidenceAfter, a.NoOther
	settings.RequireProfiles = a.RequireProfiles
	settings.GenerationScale = cmp.Or(a.GenerationScale, defaultGenerationScale)
	return settings
}

func (a *Assumptions) deliverySettings() delivery.Settings {
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
	return delivery.Settings{Policy: policy, SHA256: a.SHA256Signature, NoIDs: a.NoDeliveryHeaders}
}

// Set sets the field of a name to a value in text.
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

// settingForm describes the format of a value.
func settingForm(kind reflect.Type) string {
	switch {
	case kind == reflect.TypeFor[time.Duration]():
		return "a duration such as 90s"
	case kind.Kind() == reflect.Bool:
		return "true or false"
	case kind.Kind() == reflect.Float64:
		return "a number"
	case kind.Kind() == reflect.Slice:
		return "names separated by commas"
	default:
		return "a whole number"
	}
}

// serverAssumptions returns the fields that a single world cannot set: they apply before its key is read, or protect
// the machine.
func serverAssumptions() []string {
	return []string{"OpenOperations", "OneWorld", "MaxBody", "DeliverAnywhere"}
}

// Contrary makes the other valid choice at each point that the specification leaves open.
func (a *Assumptions) Contrary() {
	a.OpenOperations = []string{shipping.OpListCountries, shipping.OpListWebhooks}
	a.RuleFailureStatus, a.FundsStatus, a.AnalyzeStatus, a.PurchaseStatus = 422, 402, 201, 202
	a.ProblemRefusals, a.OtherRefusalNames, a.AnalyzeFailureOK = true, true, true
	a.MaxBody, a.RefuseUnknownFields, a.RefuseUnknownParameters, a.RefuseWrongParameters = 256<<10, true, true, true
	a.TolerateWrongTypes, a.RequireContentType = true, true
	a.PerPageCap, a.LastPageNull, a.EmptyHasNoPages, a.OldestFirst = 100, true, true, true
	a.ObjectBreakdown, a.UnknownWalletIsEmpty, a.ReplayToNobody = true, true, true
	a.WrapRecord, a.OtherRecordNames, a.MinimalRecord, a.MinimalPurchase = true, true, true, true
	a.Purchasing, a.UnknownState, a.GenerationScale, a.EvidenceAfter = 50*time.Millisecond, 30*time.Millisecond, 0.02, 200*time.Millisecond
	a.NoOther = true
	a.DeliveryAttempts, a.DeliveryBackoff, a.DeliveryTimeout = 5, 100*time.Millisecond, 5*time.Second
	a.DeliveryAccept = func(statusCode int) bool { return statusCode == http.StatusOK }
	a.SHA256Signature, a.NoDeliveryHeaders = true, true
}

// Presets returns the names of the sets of assumptions that a world can be opened with.
func Presets() []string { return []string{"default", "contrary"} }

// apply sets the assumptions of a preset: none for "" and default. Assumptions that apply to the whole server keep their
// values.
func (a *Assumptions) apply(preset string) error {
	switch preset {
	case "", "default":
	case "contrary":
		server := *a
		a.Contrary()
		a.OpenOperations, a.OneWorld, a.MaxBody, a.DeliverAnywhere = server.OpenOperations, server.OneWorld, server.MaxBody, server.DeliverAnywhere
	default:
		return fmt.Errorf("unknown preset %q%s", preset, spelling.Suggestion(preset, Presets()))
	}
	return nil
}

// setAll sets assumptions of a world from a JSON object.
func (a *Assumptions) setAll(values map[string]json.RawMessage) error {
	var problems []error
	for name, value := range values {
		if slices.Contains(serverAssumptions(), name) {
			problems = append(problems, errServerAssumption(name))
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

// AssumptionNames returns the names of the fields that text can set: all except functions.
func AssumptionNames() []string {
	var names []string
	for field := range reflect.TypeFor[Assumptions]().Fields() {
		if field.Type.Kind() != reflect.Func {
			names = append(names, field.Name)
		}
	}
	return names
}
