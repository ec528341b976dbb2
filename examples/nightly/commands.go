package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/batch"
)

// commandOf returns what a person does about a shipment that no run completes; nil for the job itself.
func commandOf(args []string) func(ctx context.Context, args []string) error {
	switch append(args, "")[0] {
	case "resolve":
		return resolve
	case "retry":
		return retry
	}
	return nil
}

// resolve records the finding of a person about shipments in the journal.
func resolve(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("nightly resolve", flag.ExitOnError)
	folder := flags.String("out", "", "the `folder` of the journal")
	outcome := flags.String("outcome", "", "what the wallet's transactions show: \"charged\" or \"not charged\"")
	note := flags.String("note", "", "how this was found, for the journal")
	flags.Usage = func() {
		fmt.Fprintln(flags.Output(), "nightly resolve -out FOLDER -outcome OUTCOME -note TEXT SHIPMENT...; each is required")
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *folder == "" {
		return errors.New("nightly: -out is missing: pass the folder of the journal, such as -out /var/lib/nightly")
	}
	if flags.NArg() == 0 {
		return errors.New("nightly: pass the ids of the shipments after the options, such as SH-0123456789")
	}
	path := filepath.Join(*folder, "batch.journal")
	if _, err := os.Stat(path); err != nil { // OpenFile would create it
		return fmt.Errorf("nightly: -out: %w: pass the folder of the night", err)
	}
	journal, err := batch.OpenFile(path)
	if err != nil {
		return err
	}
	var failed error
	var recorded []string
	for _, shipment := range flags.Args() {
		err := batch.Resolve(ctx, journal, shipment, shipping.PurchaseOutcome(*outcome), *note)
		if err == nil {
			recorded = append(recorded, shipment)
		}
		failed = errors.Join(failed, err)
	}
	failed = errors.Join(failed, printStates(journal, recorded))
	return errors.Join(failed, journal.Close())
}

// printStates prints what the next night does with shipments.
func printStates(journal *batch.File, shipments []string) error {
	records, err := journal.Records()
	last := map[string]shipping.Step{}
	for _, record := range batch.Latest(records) {
		last[record.Key] = record.Step
	}
	for _, shipment := range shipments {
		switch last[shipment] {
		case batch.StepClosed:
			fmt.Printf("recorded: shipment %s is closed: no night buys anything for it\n", shipment)
		case batch.StepCompleted:
			fmt.Printf("recorded: the charge of %s is closed: runs purchase other shipments again\n", shipment)
		default:
			fmt.Printf("recorded: the next run continues with shipment %s\n", shipment)
		}
	}
	return err
}

// retry generates the documents of failed requests again; the next run completes their shipments.
func retry(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("nightly retry", flag.ExitOnError)
	flags.Usage = func() { fmt.Fprintln(flags.Output(), "nightly retry REQUEST...; documents.csv has the requests") }
	client, err := shipping.NewClientFromEnv()
	if err = errors.Join(flags.Parse(args), err); err == nil && flags.NArg() == 0 {
		err = errors.New("nightly: pass the ids of requests, which documents.csv has, such as nightly retry RD-0123456789")
	}
	if err != nil {
		return err
	}
	var failed error
	for _, id := range flags.Args() {
		switch request, err := client.Regulatory.Retry(ctx, id); {
		case err == nil:
			fmt.Printf("request %s is %s: run the same night again in some minutes\n", id, request.Status)
		case !strings.Contains(fmt.Sprint(failed), err.Error()): // without the route, all have the same error
			failed = errors.Join(failed, err)
		}
	}
	return failed
}
