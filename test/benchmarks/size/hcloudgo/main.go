// Command hcloudgo lists addresses with hcloud-go.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
)

func main() {
	client := hcloud.NewClient(hcloud.WithToken(os.Getenv("HCLOUD_TOKEN")))
	addresses, _, err := client.PrimaryIP.List(context.Background(), hcloud.PrimaryIPListOpts{})
	if err != nil {
		log.Fatal(err)
	}
	for _, address := range addresses {
		fmt.Println(address.ID, address.IP, address.Type)
	}
}
