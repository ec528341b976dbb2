// Command gogithub lists users with go-github.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/google/go-github/v88/github"
)

func main() {
	client, err := github.NewClient(github.WithAuthToken(os.Getenv("GITHUB_TOKEN")))
	if err != nil {
		log.Fatal(err)
	}
	users, _, err := client.Users.ListAll(context.Background(), nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, user := range users {
		fmt.Println(user.GetLogin(), user.GetID(), user.GetType())
	}
}
