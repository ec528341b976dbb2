package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/conformance"
	"github.com/shipping-go/shipping/dialect"
	"github.com/shipping-go/shipping/mockserver/internal/doctor"
)

func conformCommand(env environment) *cli.Command {
	return &cli.Command{
		Name: "conform", Usage: "check the conformance of a service and print a report", ArgsUsage: "[URL]",
		Description: `The default of URL is ` + baseURLVariable + `, else http://` + defaultAddr + `. Open
points of the specification are reported separately and are not failures.

Changes and charges, at most:
  without -write       none: GET requests, and empty POST requests, which the
                       service must refuse
  -write               7 webhook replays, 6 analyses, 1 purchase: the cheapest
                       document of the first draft, at the price in the draft;
                       nothing is purchased if no price is reliable
  -most AMOUNT         with -write, a purchase of at most AMOUNT although it is
                       not known which number of the offer is the price; 2000.00
                       is in the currency of the offer, "2000.00 NGN" in naira;
                       unless FILE names the price, a document whose offer
                       shows more numbers is preferred to a cheaper one
  -second-purchase     the same, and the same purchase a second time: a service
                       that fails this check charges the price twice
  -refused-purchases   like -write, and up to 4 purchases that the service must
                       refuse, of the second draft: a service that fails these
                       checks can charge all prices of that draft
These three refuse live keys. The report lists the purchases that were sent, and
the rules that no run can check.

-dialect FILE writes what was measured to FILE if there is none. Otherwise it
compares: a field that differs is a failed check. -update writes it anew, and
never changes a field that a person set. The last lines are the result.

The exit code is 0 if every check passed, 1 if a check failed, ` + fmt.Sprint(exitIncomplete) + ` if none failed
but one could not be made.`,
		Metadata: examples(
			"conform http://127.0.0.1:4010 -key sk_test_… -wallet VA-…",
			`conform -write          # after eval "$(mockserver env)"`,
			"conform -write -most 2000.00 -dialect service.json",
		),
		Flags: []cli.Flag{
			keyFlag(env),
			env.text("wallet", "", "the wallet whose transactions are listed", "SHIPPING_WALLET"),
			env.text("shipment", "", "the shipment to analyze, whose events are replayed", "SHIPPING_SHIPMENT"),
			env.text("invoice", "", "the URL of an uploaded invoice to analyze", "SHIPPING_INVOICE"),
			env.text("webhook", "", "the only webhook that receives replays", "SHIPPING_WEBHOOK"),
			env.text("request", "", "a regulatory request, which shows names without -write"),
			env.text("failing", "", "a shipment whose analysis fails, for -write"),
			env.toggle("write", "also make changes, and one purchase, which charges"),
			env.toggle("second-purchase", "like -write, and send the purchase a second time"),
			env.toggle("refused-purchases", "like -write, and send purchases to be refused"),
			env.text("dialect", "", "the file of what the service has decided"),
			env.toggle("update", "write what was measured to an existing file"),
			env.text("most", "", "the most that the purchase may cost, such as 2000.00"),
			env.time("patience", 30*time.Second, "the longest wait for a response or a document"),
			env.toggle("json", "print the report as JSON"),
		},
		Action: conform(env),
	}
}

func conform(env environment) cli.ActionFunc {
	return func(ctx context.Context, cmd *cli.Command) error {
		opts, err := conformOptions(cmd)
		if err != nil {
			return err
		}
		base, err := baseURL(cmd.Args().First(), env)
		switch {
		case err != nil:
			return err
		case cmd.String("key") == "":
			return exit{exitUsage, errors.New("no secret key: set it with -key or " + secretKeyVariable)}
		}
		file := dialectFile{path: cmd.String("dialect"), update: cmd.Bool("update")}
		if err := file.read(); err != nil {
			return err
		}
		w := newWire()
		defer w.CloseIdleConnections()
		report := conformance.Check(ctx, conformance.Target{
			BaseURL: base, Wallet: cmd.String("wallet"), Shipment: cmd.String("shipment"),
			Invoice: cmd.String("invoice"), Webhook: cmd.String("webhook"),
			Request: cmd.String("request"), Failing: cmd.String("failing"),
		}, append(opts, conformance.WithTransport(w), conformance.WithDialect(file.known))...)
		outcome, err := file.write(report)
		if err != nil {
			return err
		}
		err = printReport(cmd, report.Conforms(), report)
		to := cmd.Root().Writer
		if cmd.Bool("json") {
			to = cmd.Root().ErrWriter
		}
		if _, failed := io.WriteString(to, printableLines(outcome)); failed != nil {
			return failed
		}
		if err == nil && !report.Complete() {
			return exit{exitIncomplete, nil}
		}
		return err
	}
}

// conformOptions returns the options of the flags, or an error if they contradict each other.
func conformOptions(cmd *cli.Command) ([]conformance.Option, error) {
	key := cmd.String("key")
	opts := []conformance.Option{conformance.WithPatience(cmd.Duration("patience")), conformance.WithSecretKey(key)}
	writes := false
	for flag, option := range map[string]func() conformance.Option{
		"write": conformance.WithWrites, "second-purchase": conformance.WithSecondPurchase,
		"refused-purchases": conformance.WithRefusedPurchases,
	} {
		if !cmd.Bool(flag) {
			continue
		}
		if writes = true; strings.HasPrefix(key, "sk_live_") {
			return nil, fmt.Errorf("-%s can spend money: use a test key", flag)
		}
		opts = append(opts, option())
	}
	if most := cmd.String("most"); most != "" {
		if _, err := shipping.ParseBudget(most + map[bool]string{true: " XXX"}[!strings.Contains(most, " ")]); err != nil {
			return nil, fmt.Errorf("-most is %q: write an amount such as 2000.00 or \"2000.00 NGN\"", most)
		}
		if !writes {
			return nil, errors.New("-most limits the purchase of -write: add -write")
		}
		opts = append(opts, conformance.WithMost(most))
	}
	if cmd.Bool("update") {
		if cmd.String("dialect") == "" {
			return nil, errors.New("-update writes to the file of -dialect: add -dialect FILE")
		}
		opts = append(opts, conformance.WithUpdate())
	}
	return opts, nil
}

// dialectFile is the file of -dialect.
type dialectFile struct {
	path   string
	update bool
	known  *dialect.Dialect // nil if there is no file
}

// read reads the file if there is one.
func (f *dialectFile) read() error {
	if f.path == "" {
		return nil
	}
	known, err := dialect.Read(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	f.known = known
	return err
}

// write writes what a run has measured if there is no file or it is to be updated. It returns what became of the file.
func (f *dialectFile) write(report conformance.Report) (outcome string, err error) {
	measured := report.Dialect
	switch {
	case f.path == "":
		return "", nil
	case measured == nil:
		left := map[bool]string{true: "no file was written", false: "the file is unchanged"}[f.known == nil]
		return f.path + ": no request with the key succeeded: nothing was measured, and " + left + "\n", nil
	case f.known == nil:
		return fmt.Sprintf("%s: written, %d fields were measured\n", f.path, len(measured.Measured)), measured.Write(f.path)
	}
	done, added := "compared", "not in the file, -update adds it"
	if f.update {
		done, added = "updated", "added"
		f.known.Update(measured)
		err = f.known.Write(f.path)
	}
	var b strings.Builder
	differ := 0
	for _, d := range report.Differences {
		text := map[bool]string{true: " (set by hand, and stays)"}[d.ByHand]
		if !d.New {
			differ++
			fmt.Fprintf(&b, "  %s: %s in the file%s, %s measured\n", d.Field, quoted(d.Decided), text, quoted(d.Measured))
		} else {
			fmt.Fprintf(&b, "  %s: %s: %s\n", d.Field, added, quoted(d.Measured))
		}
	}
	return fmt.Sprintf("%s: %s, %d of %d measured fields differ%s\n%s", f.path, done, differ, len(measured.Measured),
		f.unproven(report), &b), err
}

// quoted returns a value of a field in quotes; "nothing" if it is empty.
func quoted(value string) string {
	if value == "" {
		return "nothing"
	}
	return strconv.Quote(value)
}

// unproven returns how many fields a run left out, and what they need. A comparison leaves out those of the file, and
// an update also those that only a purchase shows.
func (f *dialectFile) unproven(report conformance.Report) string {
	isProven := report.Dialect.Measured["purchase.quoted"] != "" // each proof decides it
	isOrder := func(p conformance.Purchase) bool { return !p.MustFail }
	isBought := slices.ContainsFunc(report.Purchases, isOrder)
	measured, inFile, left, needs := report.Dialect.Fields(), 0, 0, map[string]int{}
	for i, known := range f.known.Fields() {
		byRun := known.Observed != "by hand" && known.Observed != "a delivery"
		isKnown := byRun && (known.Set || known.Measured != "")
		if isKnown {
			inFile++
		}
		byPurchase := known.Observed == "a purchase"
		if measured[i].Measured != "" || byPurchase && isProven || !isKnown && !(f.update && byPurchase) {
			continue
		}
		left++
		switch isRead := known.Observed == "lists" || strings.HasPrefix(known.Observed, "re"); {
		case byPurchase && isBought:
			needs["the purchase did not show %d"]++
		case byPurchase:
			needs["%d need a purchase"]++
		case !report.Writes && !isRead:
			needs["%d need -write"]++
		default:
			needs["no response showed %d"]++
		}
	}
	if left == 0 {
		return ""
	}
	var parts []string
	for _, need := range slices.Sorted(maps.Keys(needs)) {
		parts = append(parts, fmt.Sprintf(need, needs[need]))
	}
	of := fmt.Sprintf(" of %d were not compared", inFile)
	if f.update {
		of = " were not measured"
	}
	return fmt.Sprintf("; %d%s: %s", left, of, strings.Join(parts, ", "))
}

func doctorCommand(env environment) *cli.Command {
	return &cli.Command{
		Name: "doctor", Usage: "test a webhook receiver with valid and invalid deliveries", ArgsUsage: "URL",
		Description: `Sends valid and invalid deliveries to the receiver: wrong signatures,
duplicates, and late, huge, slow and malformed deliveries. Prints a scorecard
with advice. The exit code is 0 if every delivery was handled correctly, else 1.
Valid deliveries reach the handler of the receiver, which may store them: their
shipments begin with SH-DOCTOR. Receivers on other machines are tested only with
-anywhere.`,
		Metadata: examples(
			"doctor http://127.0.0.1:8080/hooks -key sk_test_…",
			"doctor http://127.0.0.1:8080/hooks -other-key sk_test_… -json",
			"doctor http://127.0.0.1:8080 -key sk_test_… -dialect service.json",
		),
		Flags: []cli.Flag{
			keyFlag(env),
			env.text("other-key", "", "a second key that is accepted during key rotation"),
			env.text("dialect", "", "signatures: FILE, standard-webhooks, FIELD=VALUE"),
			env.time("patience", doctor.DefaultPatience, "the longest wait for a response"),
			env.time("within", doctor.DefaultWithin, "the time in which the receiver should respond"),
			env.toggle("anywhere", "allow other machines, if their owner consents"),
			env.toggle("json", "print the scorecard as JSON"),
		},
		Action: examine,
	}
}

func examine(ctx context.Context, cmd *cli.Command) error {
	if !cmd.Args().Present() {
		return exit{exitUsage, errors.New("no URL given, such as mockserver doctor http://127.0.0.1:8080/hooks")}
	}
	d, err := readDialect(cmd.String("dialect"))
	if err != nil {
		return err
	}
	card, err := doctor.Examine(ctx, doctor.Config{
		URL: cmd.Args().First(), Key: cmd.String("key"), OtherKey: cmd.String("other-key"),
		Notification: d.Notification, Patience: cmd.Duration("patience"),
		Within: cmd.Duration("within"), Anywhere: cmd.Bool("anywhere"),
	})
	if err != nil {
		return err
	}
	return printReport(cmd, card.Bad == 0, card)
}
