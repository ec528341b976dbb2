package seed

import (
	"time"

	"github.com/shipping-go/shipping/mockserver/internal/regulatory"
)

// What seeded worlds are made of. Companies, people, streets and addresses are invented; the goods
// carry real HS codes, so that analysis has realistic results.

// article is something that is shipped.
type article struct {
	description, hsCode string // a few have no code, as in life
	price, weight       string // US dollars and kilograms a piece
	madeIn              string
}

func articles() map[string]article {
	return map[string]article{
		"watch":      {"Stainless steel wristwatch, quartz, leather strap", "910211", "129.90", "0.18", "CH"},
		"bag":        {"Handmade leather shoulder bag", "420221", "84.50", "0.95", "NG"},
		"mango":      {"Dried mango slices, 250 g", "080450", "6.75", "0.26", "GH"},
		"supplement": {"Moringa food supplement, 120 capsules", "210690", "18.40", "0.21", "KE"},
		"sneakers":   {"Canvas sneakers, rubber sole", "640411", "42.00", "0.82", "VN"},
		"shirt":      {"Men's cotton shirt, woven", "620520", "27.99", "0.24", "NG"},
		"powerbank":  {"Power bank, lithium-ion, 20,000 mAh", "850760", "31.20", "0.41", "CN"},
		"sunglasses": {"Polarised sunglasses", "900410", "24.60", "0.06", "IT"},
		"perfume":    {"Eau de parfum, 50 ml", "330300", "58.00", "0.23", "FR"},
		"crate":      {"Wooden packing crate, pine", "441510", "35.00", "11.50", "NG"},
		"cocoa":      {"Cocoa powder, unsweetened, 1 kg", "180500", "12.30", "1.02", "GH"},
		"cashew":     {"Cashew nuts, shelled, 500 g", "080132", "9.90", "0.51", "NG"},
		"mask":       {"Carved ceremonial mask, over 100 years old", "970610", "950.00", "2.10", "NG"},
		"bolts":      {"Steel reinforcing bar, 12 mm, cut lengths", "721420", "1.85", "2.60", "TR"},
		"seeds":      {"Okra seeds for sowing, 50 g", "120991", "3.20", "0.05", "KE"},
		"book":       {"Paperback novel", "490199", "14.00", "0.32", "GB"},
		"mug":        {"Stoneware mug", "691200", "8.25", "0.38", "GH"},
		"laptop":     {"Notebook computer, 14 inch", "847130", "640.00", "1.35", "CN"},
		"scarf":      {"Silk scarf, hand-dyed", "", "33.00", "0.09", "UG"},
		"phonecase":  {"Silicone telephone case", "392690", "4.10", "0.04", "CN"},
	}
}

// places by a short name.
func places() map[string]regulatory.Address {
	return map[string]regulatory.Address{
		"lagos":    {Name: "Ngozi Adebayo", Company: "Harbour Row Trading", Line1: "14 Broad Street", City: "Lagos", State: "Lagos", PostalCode: "101231", Country: "NG", Phone: "+2348000000101", Email: "ngozi@harbourrow.example"},
		"abuja":    {Name: "Ibrahim Musa", Line1: "7 Gana Crescent", City: "Abuja", State: "FCT", PostalCode: "904101", Country: "NG", Phone: "+2348000000102", Email: "ibrahim@mail.example"},
		"accra":    {Name: "Akosua Mensah", Company: "Volta Goods", Line1: "22 Ring Road East", City: "Accra", State: "Greater Accra", PostalCode: "GA107", Country: "GH", Phone: "+233300000103", Email: "akosua@volta.example"},
		"nairobi":  {Name: "Wanjiru Kamau", Company: "Savanna Foods", Line1: "3 Moi Avenue", City: "Nairobi", State: "Nairobi", PostalCode: "00100", Country: "KE", Phone: "+254700000104", Email: "wanjiru@savanna.example"},
		"kampala":  {Name: "Grace Nakato", Line1: "9 Kampala Road", City: "Kampala", State: "Central", PostalCode: "10101", Country: "UG", Phone: "+256700000105", Email: "grace@mail.example"},
		"newyork":  {Name: "Dana Whitfield", Company: "Fulton Imports", Line1: "410 Fulton Street", Line2: "Suite 12", City: "New York", State: "NY", PostalCode: "10038", Country: "US", Phone: "+12125550106", Email: "dana@fulton.example"},
		"houston":  {Name: "Marcus Hill", Line1: "1802 Travis Street", City: "Houston", State: "TX", PostalCode: "77002", Country: "US", Phone: "+17135550107", Email: "marcus@mail.example"},
		"seattle":  {Name: "Priya Raman", Company: "Elliott Bay Market", Line1: "95 Pike Street", City: "Seattle", State: "WA", PostalCode: "98101", Country: "US", Phone: "+12065550108", Email: "priya@elliottbay.example"},
		"london":   {Name: "Oliver Grant", Company: "Thames Row Ltd", Line1: "31 Leadenhall Street", City: "London", State: "England", PostalCode: "EC3A 1AA", Country: "GB", Phone: "+442079460109", Email: "oliver@thamesrow.example"},
		"hamburg":  {Name: "Jörg Lüders", Company: "Speicher 12 GmbH", Line1: "Am Sandtorkai 12", City: "Hamburg", State: "Hamburg", PostalCode: "20457", Country: "DE", Phone: "+494000000110", Email: "joerg@speicher12.example"},
		"toronto":  {Name: "Élise Tremblay", Line1: "220 Queen Street West", City: "Toronto", State: "ON", PostalCode: "M5V 1Z4", Country: "CA", Phone: "+14165550111", Email: "elise@mail.example"},
		"shenzhen": {Name: "Li Wei", Company: "Bao'an Components", Line1: "88 Xixiang Road", City: "Shenzhen", State: "Guangdong", PostalCode: "518102", Country: "CN", Phone: "+8675500000112", Email: "liwei@baoan.example"},
	}
}

// order is a line of goods: so many pieces of an article.
type order struct {
	article string
	pieces  int
}

// voyage is a shipment to be seeded.
type voyage struct {
	from, to string
	status   string
	age      time.Duration // before the epoch
	goods    []order
}

const day = 24 * time.Hour

// voyages run from the newest to the oldest. The first matches several forms, the last two none.
func voyages() []voyage {
	return []voyage{
		{"lagos", "newyork", "confirmed", 6 * time.Hour, []order{{"watch", 2}, {"bag", 3}, {"mango", 24}, {"shirt", 10}}},
		{"nairobi", "seattle", "in-transit", 2 * day, []order{{"supplement", 40}, {"mango", 60}}},
		{"lagos", "houston", "pending", 3 * day, []order{{"sneakers", 6}, {"sunglasses", 12}}},
		{"accra", "newyork", "in-transit", 5 * day, []order{{"cocoa", 30}, {"mug", 8}}},
		{"shenzhen", "houston", "in-transit", 6 * day, []order{{"powerbank", 50}, {"phonecase", 200}}},
		{"lagos", "london", "delivered", 9 * day, []order{{"perfume", 4}, {"shirt", 6}}},
		{"lagos", "newyork", "draft", 10 * day, []order{{"crate", 2}, {"mask", 1}}},
		{"kampala", "seattle", "delivered", 12 * day, []order{{"scarf", 15}, {"seeds", 100}}},
		{"lagos", "hamburg", "delivered", 15 * day, []order{{"bag", 5}, {"cashew", 40}}},
		{"lagos", "houston", "cancelled", 18 * day, []order{{"bolts", 120}}},
		{"london", "lagos", "delivered", 22 * day, []order{{"laptop", 1}, {"book", 3}}},
		{"accra", "toronto", "delivered", 26 * day, []order{{"cocoa", 12}, {"mug", 20}}},
		{"hamburg", "newyork", "delivered", 31 * day, []order{{"watch", 1}}},
		{"nairobi", "london", "delivered", 37 * day, []order{{"seeds", 30}, {"supplement", 10}}},
		{"lagos", "abuja", "delivered", 41 * day, []order{{"shirt", 3}, {"sneakers", 1}}},
		{"newyork", "houston", "delivered", 45 * day, []order{{"book", 12}, {"mug", 2}}},
	}
}

// carrier is who moves a shipment, and one of its services.
type carrier struct {
	name, slug, service string
	localCode, code     string // metadata; empty where the carrier has none
	price               string // US dollars for a first kilogram
	etaMinutes          int
	eta                 string
	insured             bool
}

func carriers() []carrier {
	return []carrier{
		{"DHL Express Worldwide", "dhl-express", "Door to door by the end of the next possible working day", "P", "P", "61.35", 4237, "Within 3 days", false},
		{"FedEx International Priority", "fedex", "Time-definite delivery by air", "", "IP", "58.20", 4320, "Within 3 days", false},
		{"FedEx International Economy", "fedex", "Slower and cheaper delivery by air", "", "IE", "41.75", 8640, "Within 6 days", false},
		{"UPS Worldwide Saver", "ups", "Delivery by the end of the day", "65", "UPS-WS", "55.10", 5040, "Within 4 days", true},
		{"Aramex Priority", "aramex", "Express delivery with clearance", "", "PPX", "37.90", 7200, "Within 5 days", false},
		{"Harbour Sea Freight", "harbour-sea", "Consolidated sea freight, port to door", "", "", "12.29", 40320, "Within 28 days", true},
		{"Kite Same Day", "kite", "Bicycle and motorcycle in one city", "", "", "3.99", 1440, "Within 24 hours", false},
	}
}

// purse is a wallet to seed, and the value of a US dollar in its currency.
type purse struct {
	currency, name string
	perDollar      string
	opening        string // first funding
	share          int    // of a hundred seeded debits
}

// purses run in the order of the account. The first has plenty; the last has next to nothing.
func purses() []purse {
	return []purse{
		{"NGN", "Main wallet", "1476.04", "48000000.00", 64},
		{"USD", "Dollar wallet", "1", "12500.00", 12},
		{"EUR", "Euro wallet", "0.9214", "6400.00", 6},
		{"GBP", "Sterling wallet", "0.7846", "5200.00", 6},
		{"KES", "Kenya wallet", "129.35", "780000.00", 5},
		{"UGX", "Uganda wallet", "3712.5", "19500000.00", 4},
		{"GHS", "Ghana wallet", "15.48", "92000.00", 3},
		{"NGN", "Petty cash", "1476.04", "1250.00", 0},
	}
}
