// Command godo lists volumes with godo.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/digitalocean/godo"
)

func main() {
	client := godo.NewFromToken(os.Getenv("DIGITALOCEAN_TOKEN"))
	volumes, _, err := client.Storage.ListVolumes(context.Background(), nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, volume := range volumes {
		fmt.Println(volume.ID, volume.SizeGigaBytes, volume.Region.Slug)
	}
}
