package cost

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/shipping-go/shipping/internal/jsonread"
	"github.com/shipping-go/shipping/internal/randomtest"
)

// No random offer of an ordinary service costs less than the service charges for it, by its own model: exact
// fractions, rounded to cents by halves. Most costs are exact, and few are unclear.
func TestOffers_NoOrdinaryOfferCostsLessThanItsCharge(t *testing.T) {
	t.Parallel()
	number := randomtest.New(t).Number("SHIPPING_OFFERS", 1_000)
	exact, higher, unclear, s := 0, 0, 0, service{randomtest.Random(t)}
	for range number {
		offer, charge := s.offer()
		draft := jsonread.Parse(`{"currency":"NGN","available_documents":[{"slug":"FDA",` + offer + `}]}`)
		cost, err := Read(draft, nil, "").Cost("FDA")
		if err != nil {
			unclear++
			continue
		}
		most, _ := new(big.Rat).SetString(text(cost.Most))
		switch charged := rounded(charge); most.Cmp(charged) {
		case -1:
			t.Errorf("%s costs %s, and %s is charged", offer, text(cost.Most), charged.FloatString(2))
		case 0:
			exact++
		default:
			higher++
		}
	}
	t.Logf("of %d offers, %d exact, %d higher, %d unclear", number, exact, higher, unclear)
	if exact*100 < 60*number {
		t.Errorf("only %d of %d costs are exact", exact, number)
	}
}

// service draws the offers of a service.
type service struct{ *rand.Rand }

func (s service) oneOf(texts ...string) string { return texts[s.IntN(len(texts))] }

// money returns an amount with two decimals.
func (s service) money(most int64) *big.Rat { return big.NewRat(1+s.Int64N(most*100), 100) }

func sum(of ...*big.Rat) *big.Rat {
	total := new(big.Rat)
	for _, n := range of {
		total.Add(total, n)
	}
	return total
}

// rounded rounds to cents.
func rounded(n *big.Rat) *big.Rat {
	cents, _ := new(big.Rat).SetString(n.FloatString(2))
	return cents
}

// write writes a number as PostgreSQL, Python, JavaScript or PHP do.
func (s service) write(n *big.Rat) string {
	f, _ := n.Float64()
	switch s.IntN(8) {
	case 0: // numeric in JSON, or as text
		return n.FloatString(2)
	case 1:
		return `"` + n.FloatString(4+s.IntN(9)) + `"`
	case 2: // Decimal
		return `"` + n.FloatString(2) + `"`
	case 3: // number_format
		return `"` + s.oneOf("", "NGN ", "₦") + thousands(n.FloatString(2)) + `"`
	case 4: // json_encode with serialize_precision 17
		return strconv.FormatFloat(f, 'g', 17, 64)
	case 5: // arithmetic with doubles
		return strconv.FormatFloat(f/3*3, 'f', -1, 64)
	}
	return strconv.FormatFloat(f, 'f', -1, 64) // JSON.stringify
}

func thousands(number string) string {
	for i := len(number) - 6; i > 0; i -= 3 {
		number = number[:i] + "," + number[i:]
	}
	return number
}

// charge is the name of a charge, in the style of a service.
func (s service) charge() string {
	name := s.oneOf("tax", "vat", "gst", "sales_tax", "government_fee", "handling", "service_charge", "stamp_duty", "levy",
		"rush", "courier", "notary", "port_dues", "platform", "customs_entry", "inspection", "legalisation", "surcharge",
		"insurance", "express", "urgency", "commission", "shipping_cost", "agency", "storage", "gebuehr", "timbre", "iva")
	return s.oneOf(name, name, name+"_amount", strings.ToUpper(name), name+strconv.Itoa(1+s.IntN(3)), "additional_"+name)
}

// offer returns the members of an offer, and its charge.
func (s service) offer() (members string, charge *big.Rat) {
	price := s.money(s.Int64N(50_000) + 1)
	shown := s.write(price)
	if s.IntN(8) == 0 { // converted, and shown with what the service computes with
		price.Mul(price, big.NewRat(1+s.Int64N(1_000_000), 7_919))
		shown = `"` + price.FloatString(12) + `"`
	}
	parts := []string{s.priced(price, shown)}
	add := func(format string, values ...any) { parts = append(parts, fmt.Sprintf(format, values...)) }
	amounts, total := []*big.Rat{}, new(big.Rat).Set(price)
	for range max(0, s.IntN(5)-1) {
		amounts = append(amounts, s.money(2_000))
	}
	used := map[string]bool{}
	for i, n := range amounts {
		name := s.charge()
		if used[name] {
			continue
		}
		used[name], total = true, sum(total, n)
		switch s.IntN(6) {
		case 0:
			add(`"%s":{"amount":%s,"currency":"NGN"}`, name, s.write(n))
		case 1:
			add(`"extras_%d":[{"label":"%s","value":%s}]`, i, name, s.write(n))
		default:
			add(`"%s":%s`, name, s.write(n))
		}
	}
	if s.IntN(5) == 0 {
		rate := big.NewRat(1+s.Int64N(40), 2)
		total.Mul(total, sum(big.NewRat(1, 1), new(big.Rat).Quo(rate, big.NewRat(100, 1))))
		plain := strings.TrimSuffix(rate.FloatString(1), ".0")
		add("%s", s.oneOf(`"tax_rate":`+plain, `"vatPercent":"`+plain+`"`, `"duty":"`+plain+` %"`,
			`"excise":{"value":`+plain+`,"type":"percent"}`, `"vat_rate":`+sum(rate).Quo(rate, big.NewRat(100, 1)).FloatString(3)))
	}
	if s.IntN(3) == 0 {
		add(`"%s":%s`, s.oneOf("total", "grand_total", "total_amount", "amount_due", "totalPrice", "final"),
			s.write(rounded(total)))
	}
	if s.IntN(5) == 0 {
		one := new(big.Rat).Mul(price, big.NewRat(1+s.Int64N(99), 100))
		one = rounded(one)
		add(`"%s":[{"label":"document","amount":%s},{"label":"VAT","amount":%s}]`, s.oneOf("breakdown", "price_components"),
			one.FloatString(2), sum(price, new(big.Rat).Neg(one)).FloatString(12))
	}
	for range s.IntN(4) {
		add("%s", s.oneOf(`"note":"none"`, `"price_id":4711`, `"created_at":1764150000`, `"form_code":"7501"`,
			`"exchange_rate":1550.25`, `"weight":12.5`, `"line_number":3`, `"automated":true`, `"reference":null`,
			`"valid_until":"2026-12-01"`, `"reasons":[{"hs":"610510"}]`, `"default_amount":31.35`,
			`"original_price":"4711.00"`, `"discount":-5`, `"quantity":1`, `"country":"NG"`, `"pages":3`, `"tax_note":"7.5% VAT"`,
			`"fee_currency":"USD"`))
	}
	s.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	return strings.Join(unrepeated(parts), ","), total
}

// priced returns the member with the price as it is shown, and perhaps other forms of it.
func (s service) priced(price *big.Rat, shown string) string {
	minor := strconv.Itoa(int(math.Round(func() float64 { f, _ := price.Float64(); return f * 100 }())))
	return s.oneOf(`"amount":`+shown, `"price":`+shown, `"amount":`+shown+`,"currency":"NGN"`,
		`"price":{"amount":`+shown+`,"currency":"NGN"}`, `"amount":`+shown+`,"flat_amount":`+minor,
		`"amount":`+shown+`,"net_amount":`+shown)
}

// unrepeated removes members whose names are given before.
func unrepeated(members []string) (kept []string) {
	seen := map[string]bool{}
	for _, member := range members {
		name, _, _ := strings.Cut(member, ":")
		if !seen[name] {
			kept = append(kept, member)
		}
		seen[name] = true
	}
	return kept
}
