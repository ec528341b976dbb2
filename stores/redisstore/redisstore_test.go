package redisstore_test

import (
	"crypto/rand"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/stores/internal/servers"
	"github.com/shipping-go/shipping/stores/redisstore"
	"github.com/shipping-go/shipping/webhook"
	"github.com/shipping-go/shipping/webhook/storetest"
)

// socketVariable is where the tests find the server.
const socketVariable = "REDISSTORE_TEST_SOCKET"

// TestMain starts a Redis for the tests.
func TestMain(m *testing.M) {
	servers.Main(m, func() (func() error, error) {
		server, err := servers.StartRedis()
		if err != nil {
			return nil, err
		}
		return server.Close, os.Setenv(socketVariable, server.Socket())
	})
}

func connect(t *testing.T, socket string) *redis.Client {
	t.Helper()
	client := redis.NewClient(&redis.Options{Network: "unix", Addr: socket})
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func TestStore_DoesAsAReceiverNeeds(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) webhook.Store {
		return redisstore.New(connect(t, os.Getenv(socketVariable)), rand.Text(), redisstore.Options{})
	})
	storetest.RunLeases(t, func(t *testing.T) webhook.Store {
		return redisstore.New(connect(t, os.Getenv(socketVariable)), rand.Text(), redisstore.Options{Lease: 4 * time.Second})
	})
}

func TestStore_ReceiversOfOtherNamesHaveEachNotificationOnceMore(t *testing.T) {
	t.Parallel()
	client, name := connect(t, os.Getenv(socketVariable)), rand.Text()
	for _, key := range [][2]string{{name, "b:c"}, {name + ":b", "c"}, {name + "%3Ab", "c"}} {
		store := redisstore.New(client, key[0], redisstore.Options{})
		shippingtest.Diff(t, fmt.Sprint(key), webhook.Claimed, shippingtest.Must(store.Claim(t.Context(), key[1], "one"))(t))
	}
}

// A key ends with its lease, and after Accept with Keep. One that kept the shorter time would let a notification be
// handled again.
func TestStore_KeepsKeysForTheirTime(t *testing.T) {
	t.Parallel()
	client, name := connect(t, os.Getenv(socketVariable)), rand.Text()
	store := redisstore.New(client, name, redisstore.Options{Lease: time.Hour, Keep: 100 * time.Hour})
	lasts := func(least, most time.Duration) {
		t.Helper()
		if left, err := client.PTTL(t.Context(), "shipping:webhook:"+name+":WD-1").Result(); left <= least || left > most ||
			err != nil {
			t.Errorf("the key lasts for %s, want up to %s; %v", left, most, err)
		}
	}
	shippingtest.Must(store.Claim(t.Context(), "WD-1", "one"))(t)
	lasts(30*time.Minute, time.Hour)
	shippingtest.NoError(t, store.Accept(t.Context(), "WD-1", "one"))
	lasts(time.Hour, 100*time.Hour)
}

// A script is sent once, and only its hash after that.
func TestStore_SendsEachScriptOnce(t *testing.T) {
	t.Parallel()
	client := connect(t, servers.Another(t, servers.StartRedis).Socket())
	store := redisstore.New(client, "orders", redisstore.Options{})
	for _, id := range []string{"WD-1", "WD-2", "WD-3"} {
		shippingtest.Diff(t, "claim", webhook.Claimed, shippingtest.Must(store.Claim(t.Context(), id, "one"))(t))
	}
	stats, err := client.Info(t.Context(), "commandstats").Result()
	if err != nil || !strings.Contains(stats, "cmdstat_eval:calls=1,") ||
		!strings.Contains(stats, "cmdstat_evalsha:calls=3,") {
		t.Errorf("%v\n%s", err, stats)
	}
}

// Connections that end, and a crash of the server, lose no notification, and none is handled twice.
func TestStore_SurvivesItsServer(t *testing.T) {
	t.Parallel()
	server := servers.Another(t, servers.StartRedis)
	client := connect(t, server.Socket())
	servers.Outlasts(t, redisstore.New(client, "orders", redisstore.Options{}), server,
		func() error { return client.Do(t.Context(), "CLIENT", "KILL", "TYPE", "normal").Err() })
}
